/** What the doctor makes of a platform that answers strangely, and of what stands between a site and its visitors. */
import { rmSync } from 'node:fs'
import https from 'node:https'
import net from 'node:net'
import type { RequestHandler } from 'express'
import type { Emulator } from '../../lib/emulator'
import { makeCertificate } from '../support/certificate'
import { startFront } from '../support/front'
import { makeProject } from '../support/project'
import { useRedis } from '../support/redis'
import {
  answering,
  type Change,
  codeFor,
  examineByCommand,
  examined,
  helpOf,
  listenLocally,
  prefix,
  sharedScene,
  withClock,
} from './doctor-scene'

const { scene, doctor } = sharedScene()
const redis = useRedis()

type Fault = Parameters<Emulator['faults']['add']>[0]

test.each<[string, Fault, what: string, says: RegExp]>([
  [
    'answers for another client',
    { operation: 'sessionstatus', kind: 'wrong_audience' },
    'client',
    /^WRONG: .*for another client ID \(audience\)\n-> set clientId \(SSO2_CLIENT_ID\)/,
  ],
  [
    'fails',
    { operation: 'sessionstatus', kind: 'status', code: 500 },
    'client',
    /^WRONG: no token from POST .*\n-> the SSO system is slow or down/,
  ],
  [
    'gives a session that does not exist another error',
    { operation: 'sessionstatus', kind: 'error', code: 'session_terminated' },
    'client',
    /^WRONG: an unexpected answer about a session that does not exist: session_terminated$/,
  ],
  [
    'sends the browser back with an error',
    { operation: 'identify', kind: 'error', code: 'invalid_token' },
    'landing page',
    /^WRONG: .*with the error invalid_token$/,
  ],
  [
    'sends the browser back with an old token',
    { operation: 'identify', kind: 'expired' },
    'landing page',
    /^WRONG: .*with a token that the site refuses \(expired\)\n-> see clock$/,
  ],
  ['drops tickets', { operation: 'token', kind: 'down' }, 'token endpoint', /^WRONG: POST .*\n-> check tokenUrl/],
  ['drops user calls', { operation: 'me', kind: 'down' }, 'user path', /^WRONG: GET .*: no answer .*\n-> check apiUrl/],
  ['forges a token', { operation: 'identify', kind: 'wrong_signature' }, 'landing page', /^WRONG: .*\n-> see client$/],
  ['mixes up sessions', { operation: 'sessionstatus', kind: 'wrong_session' }, 'client', /^WRONG: .* refuses .*\)$/],
])('a platform that %s', async (_how, fault, what, says) => {
  scene.emulator.faults.add(fault)
  const report = await withClock(doctor, 5)
  expect(report.of(what)).toMatch(says)
  expect(report.code).toBe(codeFor(says))
})

test.each<[status: number, headers: Record<string, string>, says: RegExp]>([
  [502, {}, /^WRONG: .*HTTP 502: the proxy does not reach the site\n-> start the site/],
  [
    301,
    { location: 'https://www.news.example/sso2/landing' },
    /^WRONG: .*\n-> SSO2_SITE_URL=https:\/\/www\.news\.example {3}if the site is there$/,
  ],
  [
    308,
    { location: '/sso2/landing/' },
    /^WRONG: .*: a proxy redirects the landing page\n-> the proxy must pass the path/,
  ],
  [307, { location: 'http://[' }, /^WRONG: .*: a proxy redirects the landing page\n-> the proxy must pass/],
  [200, { 'content-encoding': 'br' }, /^WRONG: .*the body has a content-encoding.*\n-> check siteUrl \(SSO2_SITE_/],
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
    'gives our cookies to all of a domain',
    cookies((line) => `${line}; Domain=localhost`),
    'cookies',
    /^WRONG: a proxy changes the cookie sso2\.b \(Domain\)/,
  ],
  [
    'takes our cookies out',
    ({ 'set-cookie': _dropped, ...headers }) => headers,
    'cookies',
    /^WRONG: the cookie sso2\.b does not arrive\n-> the proxy must pass Set-Cookie on/,
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
  ['loses r', leading((to) => to.replace(/&r=.*/, '')), 'return address', /^WRONG: .* is no address and not siteUrl/],
])('a proxy that %s', async (_how, answers, what, says) => {
  const report = await examined({ answers })
  expect(report.of(what)).toMatch(says)
  expect(report.code).toBe(1)
})

test.each([
  ['ahead of', 60_000, /^WRONG: the site's machine is (5[0-9]|6[0-3]) s ahead of.*\n-> .*on that machine$/m],
  ['behind', -60_000, /^WRONG: the site's machine is (5[7-9]|6[0-9]) s behind.*\n-> .*on that machine$/m],
])('a site whose machine has a clock that is a minute %s the SSO system is told', async (_direction, ms, says) => {
  const answers: Change = (headers) => ({ ...headers, date: new Date(Date.now() + ms).toUTCString() })
  const report = await examined({ answers })
  // a slow answer makes the machine seem a little behind
  expect(report.of('site')).toMatch(says)
  expect(report.code).toBe(1)
})

test('a Redis that takes connections and never answers is told', async () => {
  const silent = net.createServer((socket) => void socket.resume())
  const report = await doctor({ REDIS_URL: `redis://127.0.0.1:${await listenLocally(silent)}` })
  silent.close()
  expect(report.of('Redis')).toMatch(
    /^WRONG: Redis takes the connection, and does not answer within 3 s\n-> restart it/,
  )
})

test('an old Redis, whose user may not select the database, is told', async () => {
  const answer = (command: string) => (/\binfo\b/i.test(command) ? '$19\r\nredis_version:6.2.1\r\n' : '-NOPERM no\r\n')
  const old = net.createServer((socket) => {
    socket.on('data', (commands) => socket.write(String(commands).split(/^\*/m).slice(1).map(answer).join('')))
  })
  const report = await doctor({ REDIS_URL: `redis://127.0.0.1:${await listenLocally(old)}/1` })
  old.close()
  expect(report.of('Redis')).toMatch(/^note: version 6\.2\.1 is not tested\n-> use Redis 7 or later\nok: .*unknown/)
  expect(report.of('Redis')).toMatch(/^WRONG: Redis refuses the connection: NOPERM\n-> allow the Redis user INFO/m)
})

test('a Redis that ends each connection is told', async () => {
  const closing = net.createServer((socket) => void socket.end())
  const report = await doctor({ REDIS_URL: `redis://127.0.0.1:${await listenLocally(closing)}` })
  closing.close()
  expect(report.of('Redis')).toMatch(/^WRONG: Redis cannot be reached: the connection was closed\n-> redis-cli/)
})

test('a Redis that answers later than a site waits is told', async () => {
  const front = await startFront(Number(new URL(redis.url()).port))
  front.delay(400)
  const report = await doctor({ REDIS_URL: `redis://127.0.0.1:${front.port}` })
  await front.down()
  expect(report.of('Redis')).toMatch(
    /^WRONG: Redis answers after 4\d\d ms\. After 300 ms a site takes it as down\n-> run Redis near the site$/m,
  )
})

test('a site that answers what is no HTTP is told', async () => {
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
  expect(mail.code).toBe(1)
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
  const closed: RequestHandler = (req, res, next) => (req.path === '/sso2/landing' ? next() : void res.sendStatus(503))
  expect((await examined({ before: [closed] })).of('first visit')).toMatch(/^WRONG: .* HTTP 503 .*\n-> see site$/)
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
  [400, '{"error":"invalid_request"}', /^WRONG: .*HTTP 400: the token endpoint misses a parameter/, /ticketParameter/],
  [302, '', /^WRONG: .*HTTP 302 to a made-up ticket: this is not/, /^check tokenUrl \(SSO2_TOKEN_URL\)/],
  [429, '', /^note: .*HTTP 429: the token endpoint limits requests/, undefined],
  [200, '<html>', /^WRONG: .*HTTP 200 to a made-up ticket: this is not/, /^check tokenUrl \(SSO2_TOKEN_URL\)/],
  [400, '{"error":"<b>what it was given</b>"}', /^note: .*HTTP 400 without a known error code\. A login/, undefined],
  [400, '{"error":"slow_down"}', /^note: .*without a known error code \(slow_down\)/, undefined],
  [400, '{"error":"unsupported_grant_type"}', /^WRONG: .*does not support the grant type/, /grantType/],
  [200, '{"access_token":"canary"}', /^WRONG: .*issues an access token for a made-up ticket/, undefined],
  [403, '[]', /^note: .*HTTP 403 without a known error code\. A login/, undefined],
  [503, '[]', /^WRONG: .*HTTP 503: the token endpoint fails/, undefined],
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
  [
    'shows to a good token that it is not',
    (_path, token) => (token.length > 48 ? 404 : 401),
    /^WRONG: .*HTTP 404 to a valid access token: the path does not exist/,
  ],
  ['is a page', () => 200, /^WRONG: .*HTTP 200 to a made-up access token: this is not/],
  ['fails', () => 503, /^WRONG: .*HTTP 503: the REST API fails/],
  ['is nowhere', () => 404, /^WRONG: .*: there is no REST API at this address\n-> check apiUrl \(SSO2_API_URL\)/],
  ['has had enough requests', () => 429, /^note: .*HTTP 429: the REST API limits requests/],
  ['refuses every token first', () => 401, /^note: .*HTTP 401 to each path without a valid access token/],
  [
    'refuses a good token too, for it has no user',
    (_path, token) => (token.length > 48 ? 403 : 401),
    /^ok: .*HTTP 401 to a made-up access token, and HTTP 403 to a valid one without a user/,
  ],
])('a REST API that %s', async (_how, statusOf, says) => {
  const server = await answering((path, { authorization = '' }) => statusOf(path, authorization), {}, '{}')
  const report = await doctor({ SSO2_API_URL: server.url, SSO2_USER_PATH: '/me' })
  await server.close()
  expect(report.of('user path')).toMatch(says)
  expect(report.code).toBe(codeFor(says))
})

test('a Redis that is limited and evicts nothing is well, and one that evicts is wrong, and says how much it has evicted', async () => {
  const admin = redis.commands()
  await admin.config('SET', 'maxmemory', '64mb')
  const looked = () => doctor({ REDIS_URL: redis.url() })
  const well = await looked()
  expect([well.of('Redis').split('\n')[1], well.code]).toEqual(['ok: eviction policy noeviction', 0])
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
})

test('a certificate is told with what is left of it, and one of an unknown authority with what helps', async () => {
  const folder = makeProject()
  const made = makeCertificate(folder)
  const server = https.createServer(made, (_req, res) => {
    res.writeHead(404).end()
  })
  const url = `https://localhost:${await listenLocally(server)}`
  const environment = { ...scene.environment, SSO2_API_URL: url, NODE_EXTRA_CA_CERTS: made.file }
  const trusted = await examineByCommand(environment, [], folder)
  const unknown = await doctor({ SSO2_API_URL: url.replace('localhost', '127.0.0.1') })
  server.close()
  server.closeAllConnections()
  rmSync(folder, { recursive: true })
  expect(trusted.of('apiUrl')).toMatch(
    /^note: https:\/\/localhost:\d+ answers at \S+, certificate valid for 1 days\n-> renew the certificate$/,
  )
  expect(unknown.of('apiUrl')).toMatch(
    /^WRONG: .*: DEPTH_ZERO_SELF_SIGNED_CERT\n-> its certificate is of an unknown authority: NODE_EXTRA_CA_CERTS=/,
  )
})
