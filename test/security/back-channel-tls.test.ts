import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import https from 'node:https'
import net, { type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { PlatformApi, Sso2UnavailableError } from '../../lib'
import { answerTo, bodyOf, call, device, secret } from '../support/back-channel'
import { makeCertificate } from '../support/certificate'

const folder = mkdtempSync(join(tmpdir(), 'express-sso2-tls-'))
const { key, cert, file: certificate } = makeCertificate(folder)
let server: https.Server
let port: number
/** Requests that came through, passwords and all. */
const seen: string[] = []

beforeAll(async () => {
  server = https.createServer({ cert, key }, async (req, res) => {
    const body = await bodyOf(req)
    seen.push(`${req.method} ${req.url}`)
    res.end(req.method === 'POST' ? answerTo(body, { sts: 'anon' }) : '{"items":[]}')
  })
  server.listen(0, 'localhost')
  await once(server, 'listening')
  port = (server.address() as AddressInfo).port
})
beforeEach(() => {
  seen.length = 0
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
  rmSync(folder, { recursive: true })
})

/** What a site may try in order to switch verification off: there are no such options. */
const attempts = [{}, { rejectUnauthorized: false }]

test.each(attempts)('[O2] a self-signed certificate is refused, with the options %j', async (more) => {
  const url = `https://localhost:${port}`
  const api = new PlatformApi({ apiUrl: url, accessToken: 'an-access-token', ...more })
  const sid = 'the-session'
  for (const run of [
    () => call((client) => client.sessionStatus({ sid, lks: 'anon', ...device }), url, more),
    () => call((client) => client.authenticate({ sid, usr: 'ada', pwd: 'a-password', ...device }), url, more),
    () => call((client) => client.logout({ sid, ...device }), url, more),
    () => call((client) => client.logoutAll({ aid: 'the-account', ...device }), url, more),
    () => api.marketplaceGroups(),
  ]) {
    const error: unknown = await run().catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(Sso2UnavailableError)
    expect(String(error)).toContain('no answer')
  }
  expect(seen).toEqual([])
})

const script = `
const { Sso2Client } = require(process.env.PACKAGE)
const client = new Sso2Client({
  ssoUrl: process.env.SSO, clientId: 'the-site', clientSecret: process.env.SECRET, organisationId: 'the-publisher',
  timeoutMs: 20_000,
})
client.sessionStatus({ sid: 'the-session', lks: 'anon', ipa: '127.0.0.1', uas: 'test' }).then(
  ({ sts }) => console.log(sts),
  (error) => console.log(error.message),
)`

/** The built package in a process of its own, under another environment. */
async function ask(environment: Record<string, string>, host = 'localhost') {
  const env = {
    PATH: process.env['PATH'],
    PACKAGE: join(__dirname, '../../dist'),
    SSO: `https://${host}:${port}/sso`,
    SECRET: secret,
    ...environment,
  }
  return promisify(execFile)(process.execPath, ['-e', script], { env })
}

test('[O2] with the certificate named by NODE_EXTRA_CA_CERTS the same call works', async () => {
  expect((await ask({})).stdout).toMatch(/SELF_SIGNED/)
  expect(seen).toEqual([])
  expect((await ask({ NODE_EXTRA_CA_CERTS: certificate })).stdout.trim()).toBe('anon')
  expect(seen).toEqual(['POST /sso/sessionstatus'])
})

test('[O2] a certificate of another host is refused, though it is trusted', async () => {
  const { address } = server.address() as AddressInfo // the certificate is of a name, and of no address
  const { stdout } = await ask({ NODE_EXTRA_CA_CERTS: certificate }, net.isIPv6(address) ? `[${address}]` : address)
  expect(stdout).toMatch(/ALTNAME/)
  expect(seen).toEqual([])
})

test('[O2] a proxy named by the environment sees nothing', async () => {
  let connections = 0
  const proxy = net.createServer((socket) => {
    connections += 1
    socket.destroy()
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  const address = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
  const names = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'http_proxy', 'https_proxy', 'all_proxy']
  const proxies = Object.fromEntries(names.map((name) => [name, address]))
  expect((await ask({ NODE_EXTRA_CA_CERTS: certificate, ...proxies })).stdout.trim()).toBe('anon')
  expect(connections).toBe(0)
  proxy.close()
})
