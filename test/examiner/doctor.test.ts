import cookieParser from 'cookie-parser'
import type { RequestHandler } from 'express'
import { makeConfig } from '../../lib/config'
import { makeDoctorSignature, siteReport } from '../../lib/decide/doctor-protocol'
import { browserCalls } from '../support/calls'
import { freePort } from '../support/ports'
import { useRedis } from '../support/redis'
import { eventually, sessionSecret } from '../support/setup'
import {
  type Change,
  codeFor,
  disguised,
  examine,
  examined,
  helpOf,
  prefix,
  type Report,
  type Scene,
  type SceneOptions,
  sharedScene,
  startScene,
  withClock,
} from './doctor-scene'

const { doubleCsrf } = require('csrf-csrf') as {
  doubleCsrf(options: object): { doubleCsrfProtection: RequestHandler }
}

const { scene, doctor, command } = sharedScene()
const redis = useRedis()

/** What is wrong, and what was not looked at for that. */
const linesOf = ({ output }: Report) => output.split('\n').filter((line) => /^WRONG|not checked/.test(line))

const platformSubjects = 'client, clock, landing page, token endpoint, user path'
const visitSubjects = 'first visit, return address, cookies, caches, long addresses'
/** All that needs the site to answer. Its login form needs neither Redis nor the platform. */
const siteSubjects = visitSubjects.replace('long', 'login form, long')

test('a set-up that is right has no wrong line, and exit 0', async () => {
  const report = await withClock(() => command(['--long-addresses']), 3)
  expect(report.output).not.toContain('WRONG')
  expect(report.code).toBe(0)
  const atFirst = 'configuration, ssoUrl, tokenUrl, apiUrl, siteUrl'
  expect(report.subjects.join(', ')).toBe(`${atFirst}, ${platformSubjects}, Redis, site, proxy, ${siteSubjects}`)
  expect(report.of('ssoUrl')).toMatch(/^note: .* without TLS/)
  expect(report.of('client')).toMatch(/^ok: /)
  expect(report.of('clock')).toMatch(/within 1 s|[23] s ahead/) // a slow answer looks like that
  expect(report.of('landing page')).toBe(
    `ok: Identify redirects to the landing page of the site: HTTP 302 to ${scene.siteUrl}/sso2/landing`,
  )
  expect(report.of('token endpoint')).toMatch(/^ok: POST .* answers HTTP 400 .*invalid_grant/)
  expect(report.of('user path')).toMatch(/^ok: GET .* answers HTTP 401/)
  expect(report.of('site')).toBe(`ok: ${scene.siteUrl} is this site, client "morning-post"`)
  expect(report.of('cookies')).toMatch(/^ok: sso2\.b: HttpOnly, SameSite=Lax/)
  expect(report.of('Redis')).toMatch(/^ok: version \d/)
  expect(report.of('login form')).toMatch(/^ok: POST .*\/login answers HTTP 400/)
  expect(report.of('long addresses')).toBe('ok: a page with an address of 2048 characters passes through Identify')
})

test('a CSRF middleware in front of sso is told with its fix, without a call to Authenticate', async () => {
  const csrf = doubleCsrf({ getSecret: () => 'a-secret-of-the-site', getSessionIdentifier: () => 'one' })
  const other = await startScene({ before: [cookieParser(), csrf.doubleCsrfProtection] })
  try {
    const report = await examine(other.environment)
    expect(report.of('login form')).toMatch(
      /^WRONG: POST .*\/login answers HTTP 403.*\n-> mount sso before the CSRF middleware/,
    )
    expect(report.code).toBe(1)
    expect(browserCalls(other.emulator, 'authenticate')).toEqual([])
  } finally {
    await other.close()
  }
})

test("a login page of the site's own, whose check of forms is the site's, is not judged, with and without --module", async () => {
  const ownForm: RequestHandler = (req, res, next) => (req.path === '/login' ? void res.sendStatus(403) : next())
  const id = 'http://id.localhost:1'
  const own = { routes: { login: `${id}/login` }, trustedReturnOrigins: [id] }
  for (const site of [{ routes: { login: false } }, own] as const) {
    const report = await examined({ before: [ownForm], site: { session: { prefix }, ...site } })
    expect([report.of('login form'), report.output.match(/WRONG/), report.code]).toEqual(['', null, 0])
    const demand = { session: { prefix }, ...site, identify: 'on-demand' } as const
    const onDemand = await examined({ before: [ownForm], site: demand }, {}, ['--long-addresses'])
    expect(onDemand.of('first visit')).toMatch(/^note: identify is 'on-demand' and the login page is the site's own/)
    expect([onDemand.output.match(/WRONG/), onDemand.code]).toEqual([null, 0])
  }
})

test('it changes nothing here, and leaves one anonymous session at the SSO system', async () => {
  // whatever name doctor or site may give a key, it is found in this Redis
  const { emulator, environment, sso, close } = await startScene({ site: { redis: redis.url() } })
  await eventually(async () => (await sso.health()).store === 'ok')
  const before = await redis.commands().keys('*') // the key by which the site's health() looks
  const { code } = await examine({ ...environment, REDIS_URL: redis.url() })
  const keys = await redis.commands().keys('*')
  await close()
  expect([code, keys]).toEqual([0, before])
  // the site may look for itself what became of the doctor's visit, by the first two of these
  const calls = emulator.calls().map(({ operation, outcome }) => `${operation} ${outcome}`)
  expect([...new Set(calls)].sort()).toEqual([
    'identify anon',
    'me invalid_token',
    'sessionstatus session_not_found',
    'token invalid_grant',
  ])
  expect(new Set(emulator.sessions().map(({ status }) => status))).toEqual(new Set(['anon']))
})

const elsewhere = (address: string, ending: string) => address.replace(/\/\w+$/, ending)

/** What is wrong, under which subject it is said, what is said, and the line that helps. */
const faults: [
  name: string,
  change: (right: Scene['environment']) => object,
  what: string,
  says: RegExp,
  help: RegExp,
][] = [
  [
    'another secret',
    () => ({ SSO2_CLIENT_SECRET: 'canary-secret-that-is-not-the-right-one-0123' }),
    'client',
    /signed with another secret/,
    /^set clientSecret \(SSO2_CLIENT_SECRET\) to the secret of the API client "morning-post" in the admin portal$/,
  ],
  [
    'another client ID',
    () => ({ SSO2_CLIENT_ID: 'somebody-else' }),
    'client',
    /HTTP 400\): the API client "somebody-else" does not exist/,
    /^set clientId \(SSO2_CLIENT_ID\) to the API client of this site in the admin portal, and turn its SSO2 flag on$/,
  ],
  [
    'another organisation',
    () => ({ SSO2_ORGANISATION_ID: 'another-press' }),
    'client',
    /invalid_token.* The secret is right\. Check the organisation "another-press"/,
    /^set organisationId \(SSO2_ORGANISATION_ID\) to /,
  ],
  [
    'another path of the SSO system, seen by a browser',
    ({ SSO2_URL = '' }) => ({ SSO2_URL: elsewhere(SSO2_URL, '/sso2') }),
    'landing page',
    /Identify answers HTTP 404 without a redirect/,
    /^SSO2_URL=http:\/\/127\.0\.0\.1:\d+\/sso {3}for the emulator$/,
  ],
  [
    'another issuer',
    () => ({ SSO2_IDENTIFIER: 'another-sso' }),
    'client',
    /has another issuer than "another-sso"/,
    /^set ssoIdentifier \(SSO2_IDENTIFIER\)/,
  ],
  [
    'another path of the token endpoint',
    ({ SSO2_TOKEN_URL = '' }) => ({ SSO2_TOKEN_URL: elsewhere(SSO2_TOKEN_URL, '/tokens') }),
    'token endpoint',
    /HTTP 404: there is no token endpoint/,
    /^SSO2_TOKEN_URL=http:\/\/127\.0\.0\.1:\d+\/oauth\/token {3}for the emulator$/,
  ],
  [
    'another user path',
    () => ({ SSO2_USER_PATH: '/nobody' }),
    'user path',
    /HTTP 404: there is no REST API at this address/,
    /^SSO2_USER_PATH=\S+ {3}answers as expected \(HTTP 401\)$/,
  ],
  [
    'a name that does not exist',
    () => ({ SSO2_API_URL: 'https://nowhere.invalid' }),
    'apiUrl',
    /(ENOTFOUND|EAI_AGAIN)/,
    /^DNS does not /,
  ],
]

test.each(faults)('%s is found, with what helps, and exit 1', async (_name, change, what, says, help) => {
  const report = await doctor({ ...change(scene.environment) } as Record<string, string>)
  expect(report.of(what)).toMatch(/^WRONG/m)
  expect(report.of(what)).toMatch(says)
  expect(helpOf(report.of(what))).toMatch(help)
  expect(report.code).toBe(1)
  expect(report.output).not.toContain('canary')
  for (const secret of [scene.environment['SSO2_CLIENT_SECRET'] ?? '', sessionSecret])
    expect(report.output).not.toContain(secret)
})

test('a landing page on another path than the platform uses is found', async () => {
  const other = await startScene({ landing: '/callback' })
  const report = await examine(other.environment)
  const platform = await disguised(other.emulator)
  const [ssoUrl, tokenUrl] = ['/sso', '/nowhere'].map((ending) => platform.url + ending) as [string, string]
  const real = await examine({ ...other.environment, SSO2_URL: ssoUrl, SSO2_TOKEN_URL: tokenUrl })
  platform.close()
  const moved = await examine({ ...other.environment, SSO2_SITE_URL: 'http://localhost:1' })
  await other.close()
  const [own, its] = ['/sso2/landing', '/callback'].map((ending) => other.siteUrl + ending)
  expect(report.of('landing page').split('\n')).toEqual([
    `WRONG: Identify redirects with HTTP 302 to ${its}, but the landing page of the site is ${own}: browsers do not return to it`,
    `-> express-sso2 emulator --site ${other.siteUrl}   or, if the platform is right, sso2({ routes: { landing: '/callback' } })`,
  ])
  expect([report.of('site').slice(0, 2), report.code]).toEqual(['ok', 1])
  expect(helpOf(moved.of('landing page'))).toMatch(new RegExp(`or, if .* right, SSO2_SITE_URL=${other.siteUrl}$`))
  expect(helpOf(moved.of('siteUrl'))).toMatch(/^nothing listens at localhost:1: start the site, or correct siteUrl/)
  expect(helpOf(real.of('landing page'))).toBe(
    `set the landing page of API client "morning-post" in the admin portal to ${own}   or, if the platform is right, sso2({ routes: { landing: '/callback' } })`,
  )
  expect(helpOf(real.of('token endpoint'))).toMatch(
    /^check tokenUrl \(SSO2_TOKEN_URL\): the address of the token endpoint/,
  )
})

test('the landing page tells only the doctor how the site is set up', async () => {
  const { environment, siteUrl } = scene
  const clock = { now: () => Date.now() }
  const keysOf = (changes: object) => makeConfig({}, { ...environment, ...changes }, clock).macKeys()
  const keys = keysOf({})
  const now = Math.floor(Date.now() / 1000)
  const ask = async (path: string, mark?: string) => {
    const headers = { accept: 'application/json', ...(mark === undefined ? {} : { 'x-sso2-doctor': mark }) }
    const answer = await fetch(siteUrl + path, { headers, redirect: 'manual' })
    return [answer.status, answer.headers.get('cache-control'), await answer.text()]
  }
  const told = await ask('/sso2/landing', makeDoctorSignature(keys, now))
  expect(told.slice(0, 2)).toEqual([200, 'no-store'])
  expect(Object.keys(JSON.parse(String(told[2]))).sort()).toEqual(Object.keys(siteReport.shape).sort())
  for (const secret of [sessionSecret, environment['SSO2_CLIENT_SECRET'] ?? '']) expect(told[2]).not.toContain(secret)
  const foreign = keysOf({ SSO2_SESSION_SECRET: 'another-session-secret-of-32-bytes-0123' })
  for (const mark of [undefined, '', makeDoctorSignature(foreign, now)])
    expect(await ask('/sso2/landing', mark)).toEqual([400, 'no-store', '{"error":"bad_request"}'])
  expect(await ask('/sso2/landing?t=x', makeDoctorSignature(keys, now))).toEqual([303, 'no-store', ''])
})

test('clocks 34 s apart are told with direction and cure, either way', async () => {
  const ahead = await startScene({ platform: { tokenTime: 'virtual', clockAheadSeconds: 34 } })
  const behind = await examine(ahead.environment)
  await ahead.close()
  expect(behind.of('clock')).toMatch(
    /^WRONG: this machine is 3[1-5] s behind the SSO system\n-> sudo timedatectl set-ntp true/,
  )
  expect(behind.of('client')).toMatch(
    /^note: the answer of the SSO system has the right signature, but the clocks differ/,
  )
  expect([behind.of('landing page'), behind.code]).toEqual([
    expect.stringMatching(/HTTP 400.*\n.*secret and clock in the lines above$/),
    1,
  ])
  scene.emulator.faults.add({ operation: 'sessionstatus', kind: 'skew', seconds: -34 })
  expect((await doctor()).of('clock')).toMatch(/^WRONG: this machine is 3[3-7] s ahead of the SSO system/)
  scene.emulator.faults.clear()
  scene.emulator.faults.add({ operation: 'sessionstatus', kind: 'skew', seconds: -3 })
  const little = await withClock(() => doctor({ SSO2_ORGANISATION_ID: 'another-press' }), 5)
  expect(little.of('clock')).toMatch(/^note: this machine is [3-5] s ahead of the SSO system\n-> sudo timedatectl/)
  expect(little.of('client')).toMatch(/^WRONG: .*\(invalid_token\): this machine's clock is [3-5] s ahead\n-> sudo/)
})

const naming =
  (visitor: string): Change =>
  (headers) => ({ ...headers, 'x-forwarded-for': `${headers['x-forwarded-for']}, ${visitor}` })
/** What nginx does with `proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for`. */
const adding = naming('198.51.100.4')

const trusting = (hops: number) => `app.set('trust proxy', ${hops})   before app.use(sso)`

test.each<[string, SceneOptions, RegExp, string | undefined]>([
  ['trusted', { proxy: adding, trust: 1 }, /^ok: one proxy, trusted/, undefined],
  [
    'that the application does not trust',
    { proxy: adding },
    /^WRONG: one proxy, and the application trusts 0: all users share one address/,
    trusting(1),
  ],
  [
    'behind another, and the application trusts one',
    { proxy: (headers) => adding(adding(headers)), trust: 1 },
    /^WRONG: 2 proxies, and the application trusts 1: all users share one address/,
    trusting(2),
  ],
  [
    'that the application counts twice',
    { proxy: adding, trust: 2 },
    /^note: one proxy, and the application trusts more: an attacker can choose an address/,
    trusting(1),
  ],
  [
    'that names what is no address',
    { proxy: naming('unknown'), trust: 1 },
    /^WRONG: one proxy, but the application knows no address of a visitor/,
    trusting(1),
  ],
  [
    'that names no addresses, before a site on a Unix socket',
    { isOnSocket: true, site: { session: { prefix } } },
    /^WRONG: the proxy adds no X-Forwarded-For: all users share its address/,
    'nginx: proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;',
  ],
  [
    'that is not there, yet trusted',
    { trust: 1 },
    /^note: no proxy, but the application trusts X-Forwarded-For/,
    "remove app.set('trust proxy', …), if there is no proxy",
  ],
])('a proxy %s', async (_how, options, says, help) => {
  const report = await examined(options)
  expect(report.of('proxy')).toMatch(says)
  expect([helpOf(report.of('proxy')), report.code]).toEqual([help, codeFor(says)])
})

test('long addresses are left out, because they fill access logs: behind a proxy a note says how to send them', async () => {
  const paths: string[] = []
  const before: RequestHandler[] = [(req, _res, next) => void (paths.push(req.originalUrl) && next())]
  const report = await examined({ proxy: adding, trust: 1, before })
  expect(report.of('long addresses')).toMatch(/^note: not checked.*\n-> express-sso2 doctor --long-addresses/)
  expect(Math.max(...paths.map(({ length }) => length))).toBeLessThan(100)
  expect((await doctor()).subjects).not.toContain('long addresses')
})

const REQUESTS = /^nginx: large_client_header_buffers 4 16k;/
test.each<[where: string, longest: number, status: number, says: RegExp, help: RegExp]>([
  ['for long addresses', 2000, 414, /^note: a page with an address of 2048 characters gets HTTP 414$/m, REQUESTS],
  ['for the way back', 2600, 431, /gets HTTP 431 when Identify redirects back to the site$/m, REQUESTS],
  [
    'for the redirect',
    2000,
    502,
    /gets HTTP 502 when the site redirects to Identify$/m,
    /^nginx: proxy_buffer_size 16k;/,
  ],
])('a way that has no room %s is told', async (_where, longest, status, says, help) => {
  const narrow: RequestHandler = (req, res, next) =>
    req.originalUrl.length > longest ? void res.sendStatus(status) : next()
  const report = await examined({ before: [narrow] }, {}, ['--long-addresses'])
  expect(report.of('long addresses')).toMatch(says)
  expect(helpOf(report.of('long addresses'))).toMatch(help)
})

const reading: RequestHandler = (req, _res, next) => void req.resume().once('end', next)
const getsOnly: RequestHandler = (req, res, next) => (req.method === 'GET' ? next() : void res.sendStatus(405))
test.each<[what: string, SceneOptions, says: RegExp]>([
  [
    'a middleware that reads forms',
    { before: [reading] },
    /another middleware reads the form first\n-> mount sso before/,
  ],
  [
    'a proxy that passes no POST on',
    { before: [getsOnly] },
    /HTTP 405: the form does not reach sso\n-> the proxy must/,
  ],
  [
    'a proxy that changes Sec-Fetch-Site',
    { proxy: (headers) => ({ ...headers, ...(headers.origin ? { 'sec-fetch-site': 'cross-site' } : {}) }) },
    /a proxy changes Origin or Sec-Fetch-Site\n-> the proxy must pass both headers on unchanged/,
  ],
])('%s before the login form is told', async (_what, options, says) => {
  const report = await examined(options)
  expect(report.of('login form')).toMatch(says)
  expect(report.code).toBe(1)
})

test('a Redis that refuses us, one without the database, one without TLS, one that is full, and a replica are told', async () => {
  const admin = redis.commands()
  const redisLine = async (address = redis.url()) => (await doctor({ REDIS_URL: address })).of('Redis')
  expect(await redisLine(`${redis.url()}/99`)).toMatch(/^WRONG: .* no database 99\n-> REDIS_URL=redis:.*\/0/m)
  expect(await redisLine(redis.url().replace('redis:', 'rediss:'))).toMatch(/^WRONG: .*; rediss:\/\/ is for .* TLS/s)
  await admin.config('SET', 'requirepass', 'canary')
  expect(await redisLine()).toMatch(
    /^WRONG: Redis refuses the connection: NOAUTH\n-> REDIS_URL=redis:\/\/:<password>@host:6379/,
  )
  await admin.config('SET', 'requirepass', '')
  await admin.config('SET', 'maxmemory', '100')
  expect(await redisLine()).toMatch(/^WRONG: the memory of Redis is full/m)
  await admin.config('SET', 'maxmemory', '0')
  await admin.replicaof('127.0.0.1', 1)
  expect(await redisLine()).toMatch(/^WRONG: this Redis is a replica/m)
})

test('no Redis gets a note', async () => {
  const report = await doctor({ REDIS_URL: '' })
  expect([report.of('Redis'), report.code]).toEqual([expect.stringMatching(/^note: not configured/), 0])
})

test('a Redis that is away for a running site alone is told, and one that is away for the doctor too is one line', async () => {
  const redisAway = 'redis://127.0.0.1:1'
  const other = await startScene({ site: { redis: redisAway } })
  const ofSite = await examine(other.environment)
  const ofBoth = await examine({ ...other.environment, REDIS_URL: redisAway })
  await other.close()
  const unchecked = `note   not checked       ${visitSubjects} (need Redis)`
  expect(ofSite.of('site')).toContain('WRONG: the site cannot reach its Redis')
  expect(linesOf(ofSite).slice(1)).toEqual([unchecked])
  expect(linesOf(ofBoth)).toEqual(['WRONG  Redis             Redis cannot be reached: ECONNREFUSED', unchecked])
  expect([ofSite.code, ofBoth.code]).toEqual([1, 1])
})

test('a site below a path that is mounted elsewhere is told where to mount it', async () => {
  const report = await doctor({ SSO2_SITE_URL: `${scene.siteUrl}/evening` })
  expect(report.of('site')).toMatch(/^WRONG: GET .*\/evening\/sso2\/landing answers HTTP 404/)
  expect(helpOf(report.of('site'))).toMatch(
    /^app\.use\('\/evening', sso\), or app\.use\(sso\) if the proxy removes the path, before pages and error pages\. /,
  )
})

test('what answers at the address of the site is named', async () => {
  const emulator = await doctor({ SSO2_SITE_URL: scene.environment['SSO2_API_URL'] ?? '' })
  expect(emulator.of('site')).toMatch(/^WRONG: GET .* answers HTTP 404: this is the emulator, not the site/)
  const other = await doctor({ SSO2_SESSION_SECRET: 'another-session-secret-of-32-bytes-0123' })
  expect([other.of('site'), other.code]).toEqual([
    expect.stringMatching(/^note: .* the site has another sessionSecret/),
    0,
  ])
  const confused = await doctor({ SSO2_SITE_URL: scene.siteUrl.replace('localhost', '127.0.0.1') })
  expect(confused.of('site')).toMatch(/^WRONG: (GET|the site at)/)
})

test('a platform that is down is one line, what could not be looked at another, and the rest is examined', async () => {
  const origin = `http://localhost:${await freePort()}`
  const report = await doctor({ SSO2_URL: `${origin}/sso`, SSO2_TOKEN_URL: `${origin}/token`, SSO2_API_URL: origin })
  expect(linesOf(report)).toEqual([
    `WRONG  ssoUrl            ${origin} cannot be reached: ECONNREFUSED`,
    `note   not checked       tokenUrl, apiUrl, ${platformSubjects}, ${visitSubjects} (need ${origin})`,
  ])
  expect(report.of('ssoUrl')).toMatch(/\n-> nothing listens there/)
  expect([report.of('site').slice(0, 2), report.of('Redis').slice(0, 2), report.code]).toEqual(['ok', 'ok', 1])
  // where the SSO system alone is down, token endpoint and user path are looked at
  const ofSso = await doctor({ SSO2_URL: `${origin}/sso` })
  expect(linesOf(ofSso)).toEqual([
    `WRONG  ssoUrl            ${origin} cannot be reached: ECONNREFUSED`,
    `note   not checked       client, clock, landing page, ${visitSubjects} (need ${origin})`,
  ])
  expect([ofSso.of('token endpoint').slice(0, 2), ofSso.of('user path').slice(0, 2)]).toEqual(['ok', 'ok'])
})
