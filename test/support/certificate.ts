import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import path from 'node:path'

interface CertificateOptions {
  readonly days?: string
  readonly host?: string
  /** Names of the server, as openssl writes them. */
  readonly names?: string
}

/** Makes a self-signed certificate of this machine, with its files in a folder: `file` is the certificate, for NODE_EXTRA_CA_CERTS. */
export function makeCertificate(folder: string, options: CertificateOptions = {}) {
  const { days = '2', host = 'localhost', names = 'DNS:localhost' } = options
  const [keyFile, file] = [path.join(folder, `${days}.key`), path.join(folder, `${days}.pem`)]
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', days]
  const subject = ['-subj', `/CN=${host}`, '-addext', `subjectAltName=${names}`]
  execFileSync('openssl', ['req', '-x509', ...kind, ...subject, '-keyout', keyFile, '-out', file], { stdio: 'pipe' })
  return { key: readFileSync(keyFile), cert: readFileSync(file), file }
}
