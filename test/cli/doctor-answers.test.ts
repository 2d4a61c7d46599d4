/** What the doctor makes of a platform that answers strangely, and of what stands between a site and its visitors. */
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import type http from 'node:http'
import https from 'node:https'
import net, { type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Redis } from 'ioredis'
import { refusedTokenFinding } from '../../lib/cli/doctor-sso'
import type { Emulator } from '../../lib/emulator'
import { built, runCommand } from '../emulator/command'
import { redisUrl } from '../flows/network'
import { startRedis } from '../support/redis'
import { answering, examine, prefix, type Report, readReport, type Scene, startScene } from './doctor-scene'

let scene: Scene
beforeAll(async () => {
  scene = await startScene()
})
afterAll(() => scene.close())
afterEach(() => scene.emulator.faults.clear())

const doctor = (changes: Record<string, string> = {}) => examine({ ...scene.environment, ...changes })

/** Examines a site of its own, of which the doctor may know something else than is so. */
async function examined(options: Parameters<typeof startScene>[0], changes: Record<string, string> = {}) {
  const other = await startScene(options)
  const report = await examine({ ...other.environment, ...changes })
  await other.close()
  return report
}

type Fault = Parameters<Emulator['faults']['add']>[0]

test.each<[string, Fault, what: string, says: RegExp]>([
  [
    'answers for another client',
    { operation: 'sessionstatus', kind: 'wrong_audience' },
    'client',
    /^WRONG: .*for another client ID \(audience\)\n-> set clientId \(SSO2_CLIENT_ID\)/,
  ],
  [
    'answers about another session',
    { operation: 'sessionstatus', kind: 'wrong_session' },
    'client',
    /^WRONG: the doctor refuses the answer of the SSO system \(session_mismatch\)$/,
  ],
  [
    'answers with an error that does not belong there',
    { operation: 'sessionstatus', kind: 'error', code: 'account_frozen' },
    'client',
    /^WRONG: an unexpected answer about a session that does not exist: account_frozen$/,
  ],
  [
    'has a clock that is a little behind',
    { operation: 'sessionstatus', kind: 'skew', seconds: -3 },
    'clock',
    /^note: this machine is [2-5] s ahead of the SSO system\n-> sudo timedatectl set-ntp true/,
  ],
  [
    'sends the browser back with an old token',
    { operation: 'identify', kind: 'expired' },
    'landing page',
    /^WRONG: .*with a token that the site refuses \(expired\)\n-> see clock$/,
  ],
  [
    'sends the browser back with a token of another secret',
    { operation: 'identify', kind: 'wrong_signature' },
    'landing page',
    /^WRONG: .*with a token that the site refuses \(signature\)\n-> see client$/,
  ],
  [
    'sends the browser back with an error',
    { operation: 'identify', kind: 'error', code: 'session_terminated' },
    'landing page',
    /^WRONG: Identify redirects to the landing page of the site .* with the error session_terminated$/,
  ],
])('an SSO system that %s', async (_how, fault, what, says) => {
  scene.emulator.faults.add(fault)
  const report = await doctor()
  expect(report.of(what)).toMatch(says)
  expect(report.code).toBe(says.source.startsWith('^WRONG') ? 1 : 0)
})

test.each([
  [0, /Check the organisation "a-press"$/, 'organisationId'],
  [1, /Check the organisation "a-press", or this machine's clock, which may be a second ahead$/, 'organisationId'],
  [2, /this machine's clock is 2 s ahead$/, 'sudo timedatectl'],
])(
  'a refused token is laid to a clock that is %i s ahead only where a slow answer cannot look like that',
  (offset, says, help) => {
    const finding = refusedTokenFinding({ organisationId: 'a-press' }, offset)
    expect(finding).toMatchObject({
      state: 'wrong',
      says: expect.stringMatching(says),
      help: expect.stringContaining(help),
    })
  },
)

test('a token that the SSO system refuses because this machine is ahead is told with the cure', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'sso2-doctor-'))
  const ahead = path.join(folder, 'ahead.cjs')
  writeFileSync(ahead, 'const { now } = Date\nDate.now = () => now() + 8_000')
  const environment = { ...scene.environment, NODE_OPTIONS: `--require ${ahead}`, SSO2_CLOCK_TOLERANCE_SECONDS: '30' }
  const { code, stdout } = await runCommand(built, ['doctor'], environment)
  rmSync(folder, { recursive: true })
  expect(readReport(code ?? -1, stdout).of('client')).toMatch(
    /^WRONG: the SSO system refuses the token of the doctor \(invalid_token\): this machine's clock is (?:[789]|1[01]) s ahead\n-> sudo timedatectl/,
  )
  expect(code).toBe(1)
})

test.each<[status: number, headers: Record<string, string>, says: RegExp]>([
  [502, {}, /^WRONG: .*HTTP 502: the proxy does not reach the site\n-> start the site/],
  [
    302,
    { location: '/maintenance' },
    /^WRONG: .*HTTP 302: a proxy redirects the landing page\n-> the proxy must pass the path/,
  ],
  [302, {}, /^WRONG: .*HTTP 302: a proxy redirects the landing page\n/],
  [302, { location: 'http://[' }, /^WRONG: .*HTTP 302: a proxy redirects the landing page\n/],
  [
    200,
    { 'x-powered-by': 'PHP/8.4' },
    /^WRONG: .*HTTP 200 from PHP\/8\.4: this is not the landing page of this package\n/,
  ],
])('a place of the site that answers %i %j', async (status, headers, says) => {
  const front = await answering(status, headers, 'a page')
  const report = await doctor({ SSO2_SITE_URL: front.url })
  await front.close()
  expect(report.of('site')).toMatch(says)
  expect(report.code).toBe(1)
})

type Change = (headers: http.IncomingHttpHeaders) => http.IncomingHttpHeaders
const cookies =
  (change: (line: string) => string): Change =>
  ({ 'set-cookie': lines, ...headers }) => ({ ...headers, ...(lines ? { 'set-cookie': lines.map(change) } : {}) })
const leading =
  (change: (location: string) => string): Change =>
  ({ location, ...headers }) => ({ ...headers, ...(location === undefined ? {} : { location: change(location) }) })

test.each<[string, Change, what: string, says: RegExp]>([
  [
    'takes a flag from our cookies',
    cookies((line) => line.replace('; HttpOnly', '')),
    'cookies',
    /^WRONG: a proxy changes the cookie sso2\.b \(HttpOnly\)\n-> remove the rules of the proxy that rewrite cookies/,
  ],
  [
    'gives our cookies to a whole domain',
    cookies((line) => `${line}; Domain=localhost`),
    'cookies',
    /^WRONG: a proxy changes the cookie sso2\.b \(Domain\)\n/,
  ],
  [
    'takes out that nothing may be kept',
    ({ 'cache-control': _dropped, ...headers }) => headers,
    'caches',
    /^WRONG: Cache-Control: no-store does not arrive: .*\n-> the proxy or CDN must not change Cache-Control/,
  ],
  [
    'leads back to another place',
    leading((location) => location.replace(/&r=.*/, '&r=http%3A%2F%2Felsewhere.example%2F')),
    'return address',
    /^WRONG: the return address is http:\/\/elsewhere\.example and not siteUrl\n-> give doctor and site the same siteUrl/,
  ],
  [
    'takes out where to lead back to',
    leading((location) => location.replace(/&r=.*/, '')),
    'return address',
    /^WRONG: the return address is no address and not siteUrl\n/,
  ],
])('a proxy that %s', async (_how, answers, what, says) => {
  const report = await examined({ answers })
  expect(report.of(what)).toMatch(says)
  expect(report.code).toBe(1)
})

test.each([
  [
    -60,
    /^WRONG: the site's machine is (59|60|61) s behind the SSO system\n-> sudo timedatectl set-ntp true {3}on that machine$/m,
  ],
  [
    60,
    /^WRONG: the site's machine is (59|60|61) s ahead of the SSO system\n-> sudo timedatectl set-ntp true {3}on that machine$/m,
  ],
])('a site whose machine has a clock that is %i s off is told', async (seconds, says) => {
  const answers: Change = (headers) => ({ ...headers, date: new Date(Date.now() + seconds * 1000).toUTCString() })
  const report = await examined({ answers })
  expect([report.of('site'), report.code]).toEqual([expect.stringMatching(says), 1])
})

test('a site that answers what is no HTTP, or without end, is told', async () => {
  const noise = net.createServer((socket) =>
    socket
      .on('error', () => {})
      .resume()
      .end('220 mail.example ESMTP\r\n'),
  )
  await once(noise.listen(0, '127.0.0.1'), 'listening')
  const mail = await doctor({ SSO2_SITE_URL: `http://127.0.0.1:${(noise.address() as AddressInfo).port}` })
  noise.close()
  expect(mail.of('site')).toMatch(
    /^WRONG: GET http:\S+: .*\(HPE_\w+\)\n-> check siteUrl \(SSO2_SITE_URL\): the address at which browsers/,
  )
  const endless = await answering(200, {}, 'x'.repeat(4 * 1024 * 1024))
  const flood = await doctor({ SSO2_SITE_URL: endless.url })
  await endless.close()
  expect([flood.of('site'), flood.code]).toEqual([
    expect.stringMatching(/^WRONG: GET http:\S+: no answer that can be read\n/),
    1,
  ])
})

test('a site that identifies at its login page alone is no fault, whether the doctor knows it or not', async () => {
  const site = { identify: 'on-demand', session: { prefix } } as const
  const known = await examined({ site }, { SSO2_IDENTIFY: 'on-demand' })
  expect([known.of('first visit'), known.code]).toEqual([
    expect.stringMatching(/^ok: GET .*\/login answers HTTP 302/),
    0,
  ])
  const unknown = await examined({ site })
  expect([unknown.of('first visit'), unknown.code]).toEqual([
    expect.stringMatching(
      /^note: GET .*\/ answers HTTP 404 and does not redirect to Identify\. The login page does\n-> app\.use/,
    ),
    0,
  ])
})

test.each<[status: number, body: string, says: RegExp]>([
  [429, '', /^note: .*HTTP 429: the token endpoint limits requests/],
  [400, '["invalid_grant"]', /^note: .*HTTP 400 without a known error code\. A login/],
  [400, '{"error":"no_such_code"}', /^note: .*HTTP 400 without a known error code \(no_such_code\)/],
  [400, '{"error":"<b>what it was given</b>"}', /^note: .*HTTP 400 without a known error code\. A login/],
])('a token endpoint that answers %i %s', async (status, body, says) => {
  const server = await answering(status, {}, body)
  const report = await doctor({ SSO2_TOKEN_URL: `${server.url}/token` })
  await server.close()
  expect([report.of('token endpoint'), report.code]).toEqual([expect.stringMatching(says), 0])
})

/** A REST API and a token endpoint that answer everything with one status each. */
async function withApi(rest: number, token: number, changes: Record<string, string> = {}): Promise<Report> {
  const servers = await Promise.all([rest, token].map((status) => answering(status, {}, '{"error":"invalid_grant"}')))
  const [api = '', tokens = ''] = servers.map(({ url }) => url)
  const report = await doctor({ SSO2_API_URL: api, SSO2_TOKEN_URL: `${tokens}/token`, ...changes })
  await Promise.all(servers.map((server) => server.close()))
  return report
}

test('a REST API that can tell nothing now, or not without a token that is not to be had, is worth a note', async () => {
  const busy = await withApi(429, 400)
  expect([busy.of('user path'), busy.code]).toEqual([
    expect.stringMatching(/^note: .*HTTP 429: the REST API limits requests/),
    0,
  ])
  const blind = await withApi(401, 400)
  expect([blind.of('user path'), blind.code]).toEqual([
    expect.stringMatching(/^note: .*HTTP 401 to each path without a valid access token\. The first login shows/),
    0,
  ])
})

test('no other user path is recommended where the usual one is not there either', async () => {
  const report = await withApi(404, 400, { SSO2_USER_PATH: '/users/current' })
  expect(report.of('user path')).toMatch(
    /^WRONG: .*\/users\/current answers HTTP 404: there is no REST API at this address\n-> check apiUrl \(SSO2_API_URL\)/,
  )
  expect(report.code).toBe(1)
})

test('a Redis that is limited and evicts nothing is well, and one that has evicted says how much', async () => {
  const server = await startRedis({ args: ['--maxmemory', '64mb', '--maxmemory-policy', 'noeviction'] })
  const well = await doctor({ REDIS_URL: server.url })
  expect([well.of('Redis').split('\n')[1], well.code]).toEqual(['ok: eviction policy noeviction', 0])
  const admin = new Redis(server.url)
  await admin.config('SET', 'maxmemory-policy', 'allkeys-random')
  const pipeline = admin.pipeline()
  for (let index = 0; index < 100; index += 1) pipeline.set(`full:${index}`, 'x'.repeat(10_000))
  await pipeline.exec()
  await admin.config('SET', 'maxmemory', '1mb')
  expect((await doctor({ REDIS_URL: server.url })).of('Redis')).toMatch(
    /eviction policy allkeys-random \(\d+ keys so far\):/,
  )
  admin.disconnect()
  await server.stop()
})

test('a variables file that cannot be read is told, and nothing is examined', async () => {
  const report = await examine({ REDIS_URL: redisUrl() }, ['--env-file', '/not/there/.env'])
  expect([report.output, report.code]).toEqual([
    expect.stringMatching(
      /^WRONG +configuration +\/not\/there\/\.env cannot be read: ENOENT\n +-> --env-file.*\n +See docs\/doctor\.md#configuration\n$/,
    ),
    1,
  ])
})

/** The command itself, in a folder in which a site has installed the package. */
async function command(folder: string, args: string[], environment: Record<string, string> = {}): Promise<Report> {
  const { code, stdout } = await runCommand(
    built,
    ['doctor', ...args],
    { ...scene.environment, ...environment },
    folder,
  )
  return readReport(code ?? -1, stdout)
}

describe('in a folder of its own', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'sso2-doctor-'))
  const file = (name: string) => path.join(folder, name)
  beforeAll(() => {
    mkdirSync(file('node_modules'))
    symlinkSync(path.dirname(built), file('node_modules/express-sso2'), 'dir')
  })
  afterAll(() => rmSync(folder, { recursive: true }))

  test('what a module has set by code is left to the module: its landing page, its Redis, its ticket exchange', async () => {
    const refusing = await answering(401, {}, '{"error":"invalid_client"}')
    const text = `
      const { sso2 } = require('express-sso2')
      const { Redis } = require(${JSON.stringify(require.resolve('ioredis'))})
      const lost = async () => { throw Object.assign(new Error('lost'), { code: 'ECONNRESET' }) }
      exports.one = sso2({ routes: { landing: false }, redis: new Redis(process.env.REDIS_URL) })
      exports.two = sso2({ exchangeTicket: lost, identify: 'on-demand', routes: { login: false } })
      exports.three = sso2({ ticketExchange: { clientAuth: 'basic' } })`
    writeFileSync(file('sso.js'), text)
    const report = await command(folder, ['--module', 'sso.js'], { SSO2_TOKEN_URL: `${refusing.url}/token` })
    await refusing.close()
    expect(report.of('landing page')).toMatch(
      /^note: Identify redirects with .*; routes\.landing is false, so the site must serve this page itself$/m,
    )
    expect(report.of('site')).toMatch(/^note: GET .*; routes\.landing is false, so the doctor cannot ask for more$/m)
    expect(report.of('Redis').match(/^ok: version/gm)).toHaveLength(3)
    expect(report.of('token endpoint')).toMatch(/^WRONG: exchangeTicket of the site cannot connect: ECONNRESET$/m)
    expect(report.of('token endpoint')).toMatch(/clientAuth: 'post'/)
    expect(report.code).toBe(1)
  })

  test('a problem of an option that has no variable is told by the option', async () => {
    writeFileSync(file('bad.js'), "require('express-sso2').sso2({ brand: { color: 'canary' } })")
    const report = await command(folder, ['--module', 'bad.js'])
    expect([report.of('configuration'), report.code]).toEqual([
      expect.stringMatching(/^WRONG: brand\.color must be /),
      1,
    ])
  })

  test('a module that throws what is no error is told', async () => {
    writeFileSync(file('odd.js'), "throw 'canary'")
    const report = await command(folder, ['--module', 'odd.js'])
    expect([report.of('configuration'), report.code]).toEqual([
      'WRONG: odd.js cannot be loaded: error: unknown error',
      1,
    ])
  })

  test.each([
    [
      '2',
      'localhost',
      /^note: https:\/\/localhost:\d+ answers at \S+, certificate valid for 1 days\n-> renew the certificate$/,
    ],
    ['90', '127.0.0.1', /^ok: https:\/\/127\.0\.0\.1:\d+ answers at 127\.0\.0\.1, certificate valid for 89 days$/],
  ])('a certificate for %s days, of %s, is told with what is left of it', async (days, host, says) => {
    const [key, cert] = [file(`${days}.key`), file(`${days}.pem`)]
    const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', days]
    const subject = ['-subj', `/CN=${host}`, '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1']
    execFileSync('openssl', ['req', '-x509', ...kind, ...subject, '-keyout', key, '-out', cert], { stdio: 'pipe' })
    const server = https.createServer({ key: readFileSync(key), cert: readFileSync(cert) }, (_req, res) => {
      res.writeHead(404).end()
    })
    await once(server.listen(0, host), 'listening')
    const url = `https://${host}:${(server.address() as AddressInfo).port}`
    const trusted = await command(folder, [], { SSO2_API_URL: url, NODE_EXTRA_CA_CERTS: cert })
    const unknown = await doctor({ SSO2_API_URL: url })
    server.close()
    server.closeAllConnections()
    expect(trusted.of('apiUrl')).toMatch(says)
    expect(unknown.of('apiUrl')).toMatch(/^WRONG: .*: DEPTH_ZERO_SELF_SIGNED_CERT\n-> NODE_EXTRA_CA_CERTS=/)
  })
})
