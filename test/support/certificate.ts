import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import path from 'node:path'

/** Makes a self-signed certificate, with its files in a folder. NODE_EXTRA_CA_CERTS takes `file`. @param names as openssl writes them */
export function makeCertificate(folder: string, { days = '2', host = 'localhost', names = 'DNS:localhost' } = {}) {
  const [keyFile, file] = [path.join(folder, `${days}.key`), path.join(folder, `${days}.pem`)]
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', days]
  const subject = ['-subj', `/CN=${host}`, '-addext', `subjectAltName=${names}`]
  execFileSync('openssl', ['req', '-x509', ...kind, ...subject, '-keyout', keyFile, '-out', file], { stdio: 'pipe' })
  return { key: readFileSync(keyFile), cert: readFileSync(file), file }
}
