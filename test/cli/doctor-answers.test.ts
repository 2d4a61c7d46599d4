/** What the doctor makes of a platform that answers strangely, and of what stands between a site and its visitors. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import https from 'node:https'
import net from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { RequestHandler } from 'express'
import { Redis } from 'ioredis'
import { refusedTokenFinding } from '../../lib/cli/doctor-sso'
import type { Emulator } from '../../lib/emulator'
import { runCommand } from '../emulator/command'
import { makeProject } from '../examples/project'
import { makeCertificate } from '../support/certificate'
import { startRedis } from '../support/redis'
import { redisUrl } from '../support/setup'
import {
  answering,
  type Change,
  codeFor,
  examine,
  examineByCommand,
  examined,
  helpOf,
  listenLocally,
  prefix,
  readReport,
  sharedScene,
  withClock,
} from './doctor-scene'

const { scene, doctor } = sharedScene()

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
  const report = await withClock(doctor, 5)
  expect(report.of(what)).toMatch(says)
  expect(report.code).toBe(codeFor(says))
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
  const { code, of } = await withClock(async () => {
    const { code, stdout } = await runCommand(['doctor'], environment)
    return readReport(code ?? -1, stdout)
  }, 11)
  rmSync(folder, { recursive: true })
  expect(of('client')).toMatch(
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
  [
    404,
    { server: 'nginx/1.27' },
    /^WRONG: .*HTTP 404 from nginx\/1\.27: this is not the landing.*\n-> app\.use\(sso\) before pages/,
  ],
  [
    301,
    { location: 'https://www.news.example/sso2/landing' },
    /^WRONG: .*\n-> SSO2_SITE_URL=https:\/\/www\.news\.example {3}if the site is there$/,
  ],
])('a place of the site that answers %i %j', async (status, headers, says) => {
  const front = await answering(status, headers, 'a page')
  const report = await doctor({ SSO2_SITE_URL: front.url })
  await front.close()
  expect(report.of('site')).toMatch(says)
  expect(report.code).toBe(1)
})

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
    'drops our cookies',
    ({ 'set-cookie': _dropped, ...headers }) => headers,
    'cookies',
    /^WRONG: the cookie sso2\.b does not arrive.*\n-> the proxy must pass Set-Cookie on$/,
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

// a slow answer makes the machine seem a little behind
test.each([
  [
    -60,
    /^WRONG: the site's machine is (59|6[0-9]) s behind the SSO system\n-> sudo timedatectl set-ntp true {3}on that machine$/m,
  ],
  [
    60,
    /^WRONG: the site's machine is (5[0-9]|6[0-3]) s ahead of the SSO system\n-> sudo timedatectl set-ntp true {3}on that machine$/m,
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
  const mail = await doctor({ SSO2_SITE_URL: `http://127.0.0.1:${await listenLocally(noise)}` })
  noise.close()
  expect(mail.of('site')).toMatch(
    /^WRONG: GET http:\S+: .*\(HPE_\w+\)\n-> the server does not answer in HTTP, it may use TLS/,
  )
  const endless = await answering(200, {}, 'x'.repeat(4 * 1024 * 1024))
  const flood = await doctor({ SSO2_SITE_URL: endless.url })
  await endless.close()
  expect(flood.of('site')).toMatch(/^WRONG: GET http:\S+: no answer that can be read\n/)
  expect(flood.code).toBe(1)
})

test('a site that identifies at its login page alone is no fault, and a front page that comes before sso is told', async () => {
  const known = await examined({ site: { identify: 'on-demand', session: { prefix } } })
  expect(known.of('first visit')).toMatch(/^ok: GET .*\/login answers HTTP 302/)
  expect(known.code).toBe(0)
  const front: RequestHandler = (req, res, next) => (req.path === '/' ? void res.send('front') : next())
  const early = await examined({ before: [front] })
  expect(early.of('first visit')).toMatch(
    /^note: GET .*\/ answers HTTP 200 and does not redirect to Identify\. The login page does\n-> app\.use/,
  )
  expect(early.code).toBe(0)
})

/** Answers of a token endpoint that refuses, and of what is none. */
const tokenAnswers: [status: number, body: string, says: RegExp, help: RegExp | undefined][] = [
  [400, '{"error":"invalid_grant"}', /^ok: .*HTTP 400/, undefined],
  [
    401,
    '{"error":"invalid_client"}',
    /^WRONG: .*HTTP 401: the token endpoint refuses the client ID/,
    /clientAuth: 'basic'/,
  ],
  [
    400,
    '{"error":"unsupported_grant_type"}',
    /^WRONG: .*HTTP 400: the token endpoint does not support the grant type/,
    /grantType/,
  ],
  [400, '{"error":"invalid_request"}', /^WRONG: .*HTTP 400: the token endpoint misses a parameter/, /ticketParameter/],
  [403, '{"message":"no"}', /^note: .*HTTP 403 without a known error code/, undefined],
  [200, '<html>', /^WRONG: .*HTTP 200 to a made-up ticket: this is not/, /^check tokenUrl \(SSO2_TOKEN_URL\)/],
  [200, '{"access_token":"canary"}', /^WRONG: .* issues an access token/, undefined],
  [302, '', /^WRONG: .*a redirect is not followed \(HTTP 302\)/, /^check tokenUrl \(SSO2_TOKEN_URL\)/],
  [405, '', /^WRONG: .*HTTP 405: there is no token endpoint/, /^check tokenUrl \(SSO2_TOKEN_URL\)/],
  [503, '', /^WRONG: .*HTTP 503: the token endpoint fails/, undefined],
  [429, '', /^note: .*HTTP 429: the token endpoint limits requests/, undefined],
  [400, '["invalid_grant"]', /^note: .*HTTP 400 without a known error code\. A login/, undefined],
  [400, '{"error":"no_such_code"}', /^note: .*HTTP 400 without a known error code \(no_such_code\)/, undefined],
  [400, '{"error":"<b>what it was given</b>"}', /^note: .*HTTP 400 without a known error code\. A login/, undefined],
]

test.each(tokenAnswers)('a token endpoint that answers %i %s', async (status, body, says, help) => {
  const server = await answering(status, { location: '/elsewhere' }, body)
  const report = await doctor({ SSO2_TOKEN_URL: `${server.url}/token` })
  await server.close()
  expect(report.of('token endpoint')).toMatch(says)
  expect(helpOf(report.of('token endpoint')) ?? '').toMatch(help ?? /^$/)
  expect(report.code).toBe(codeFor(says))
  expect(report.output).not.toContain('canary')
})

test.each<[string, (path: string, authorization: string) => number, RegExp]>([
  ['refuses every path alike', () => 401, /^note: .*HTTP 401 to each path without a valid access token/],
  [
    'shows to a good token that the path is there',
    (_path, token) => (token.length > 48 ? 403 : 401),
    /^ok: .* and HTTP 403 to a valid one without a user/,
  ],
  [
    'shows to a good token that it is not',
    (_path, token) => (token.length > 48 ? 404 : 401),
    /^WRONG: .*HTTP 404 to a valid access token: the path does not exist/,
  ],
  ['is a page', () => 200, /^WRONG: .*HTTP 200 to a made-up access token: this is not/],
  ['is broken', () => 500, /^WRONG: .*HTTP 500: the REST API fails/],
  ['is busy', () => 429, /^note: .*HTTP 429: the REST API limits requests/],
])('a REST API that %s', async (_how, statusOf, says) => {
  const server = await answering((path, { authorization = '' }) => statusOf(path, authorization), {}, '{}')
  const report = await doctor({ SSO2_API_URL: server.url })
  await server.close()
  expect(report.of('user path')).toMatch(says)
  expect(report.code).toBe(codeFor(says))
})

test('no user path can be checked, and none is recommended, without a token or where the usual path is not there', async () => {
  const [rest, missing, tokens] = await Promise.all(
    [401, 404, 400].map((status) => answering(status, {}, '{"error":"invalid_grant"}')),
  )
  const tokenUrl = `${tokens?.url}/token`
  const blind = await doctor({ SSO2_API_URL: rest?.url ?? '', SSO2_TOKEN_URL: tokenUrl })
  const lost = await doctor({
    SSO2_API_URL: missing?.url ?? '',
    SSO2_TOKEN_URL: tokenUrl,
    SSO2_USER_PATH: '/users/current',
  })
  await Promise.all([rest, missing, tokens].map((server) => server?.close()))
  expect(blind.of('user path')).toMatch(
    /^note: .*HTTP 401 to each path without a valid access token\. The first login shows/,
  )
  expect(lost.of('user path')).toMatch(
    /^WRONG: .*\/users\/current answers HTTP 404: there is no REST API at this address\n-> check apiUrl \(SSO2_API_URL\)/,
  )
  expect([blind.code, lost.code]).toEqual([0, 1])
})

test('a Redis that is limited and evicts nothing is well, and one that evicts is wrong, and says how much it has evicted', async () => {
  const server = await startRedis({ args: ['--maxmemory', '64mb', '--maxmemory-policy', 'noeviction'] })
  const looked = () => doctor({ REDIS_URL: server.url })
  const well = await looked()
  expect([well.of('Redis').split('\n')[1], well.code]).toEqual(['ok: eviction policy noeviction', 0])
  const admin = new Redis(server.url)
  await admin.config('SET', 'maxmemory-policy', 'allkeys-lru')
  const evicting = await looked()
  expect(evicting.of('Redis')).toMatch(/^WRONG: eviction policy allkeys-lru: if memory is full, Redis deletes logins/m)
  expect([helpOf(evicting.of('Redis')), evicting.code]).toEqual([
    'redis-cli -u "$REDIS_URL" CONFIG SET maxmemory-policy noeviction   and the same in redis.conf',
    1,
  ])
  const pipeline = admin.pipeline()
  for (let index = 0; index < 100; index += 1) pipeline.set(`full:${index}`, 'x'.repeat(10_000))
  await pipeline.exec()
  await admin.config('SET', 'maxmemory', '1mb')
  expect((await looked()).of('Redis')).toMatch(/eviction policy allkeys-lru \(\d+ keys so far\):/)
  admin.disconnect()
  await server.stop()
})

test('a variables file that cannot be read is told, and nothing is examined', async () => {
  const report = await examine({ REDIS_URL: redisUrl() }, ['--env-file', '/not/there/.env'])
  expect([report.output, report.code]).toEqual([
    expect.stringMatching(
      /^WRONG +configuration +\/not\/there\/\.env cannot be read: ENOENT\n +-> --env-file.*\n +See docs\/commands\.md#configuration\n$/,
    ),
    1,
  ])
})

describe('in a folder of its own', () => {
  const folder = makeProject()
  const command = (args: string[], changes: Record<string, string>) =>
    examineByCommand({ ...scene.environment, ...changes }, args, folder)
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
    writeFileSync(path.join(folder, 'sso.js'), text)
    const report = await command(['--module', 'sso.js'], { SSO2_TOKEN_URL: `${refusing.url}/token` })
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

  test.each([
    [
      '2',
      'localhost',
      /^note: https:\/\/localhost:\d+ answers at \S+, certificate valid for 1 days\n-> renew the certificate$/,
    ],
    ['90', '127.0.0.1', /^ok: https:\/\/127\.0\.0\.1:\d+ answers at 127\.0\.0\.1, certificate valid for 89 days$/],
  ])('a certificate for %s days, of %s, is told with what is left of it', async (days, host, says) => {
    const made = makeCertificate(folder, { days, host, names: 'DNS:localhost,IP:127.0.0.1' })
    const server = https.createServer(made, (_req, res) => {
      res.writeHead(404).end()
    })
    const url = `https://${host}:${await listenLocally(server, host)}`
    const trusted = await command([], { SSO2_API_URL: url, NODE_EXTRA_CA_CERTS: made.file })
    const unknown = await doctor({ SSO2_API_URL: url })
    server.close()
    server.closeAllConnections()
    expect(trusted.of('apiUrl')).toMatch(says)
    expect(unknown.of('apiUrl')).toMatch(
      /^WRONG: .*: DEPTH_ZERO_SELF_SIGNED_CERT\n-> its certificate is of an unknown authority: NODE_EXTRA_CA_CERTS=/,
    )
  })
})
