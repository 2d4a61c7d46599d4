import { format, inspect } from 'node:util'
import express5, { type Request } from 'express'
import {
  type ExchangeContext,
  type LoadUserContext,
  NotLoggedInError,
  PlatformApi,
  type SessionToken,
  type Sso2,
  Sso2Client,
  Sso2ConfigError,
  type Sso2Options,
  sso2,
} from '../../lib'
import {
  ada,
  addPages,
  edsger,
  type Gates,
  grace,
  logInAtLast,
  present,
  type Setup,
  sessionSecret,
  useSetup,
} from '../support/setup'
import { Canaries, canaryKinds, takeSecrets } from './canaries'

const express4 = require('express4') as typeof express5
const canaries = new Canaries()
/** Everything that a person or a program may see of an object, with what the object is. */
const shown: { what: string; text: string }[] = []

/** Prints an object in every way that there is. */
function show(what: string, value: unknown): void {
  const add = (text: unknown) => void shown.push({ what, text: String(text) })
  for (const customInspect of [true, false])
    add(inspect(value, { depth: 20, showHidden: true, getters: false, customInspect }))
  add(format('%s %o %O', value, value, value))
  for (const print of [
    String,
    (given: unknown) => JSON.stringify(given),
    (given: unknown) => inspect(structuredClone(given)),
  ]) {
    try {
      add(print(value))
    } catch (error) {
      add(error)
    }
  }
  for (const text of walk(value)) add(text)
}

/** All own members, hidden and symbols too, of a value and of what it leads to, its prototypes and causes among it. */
function* walk(value: unknown, seen = new Set<unknown>(), depth = 0): Generator<string> {
  if (typeof value === 'string') yield value
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null || seen.has(value) || depth > 6)
    return
  seen.add(value)
  if (value instanceof Map || value instanceof Set) yield* walk([...value], seen, depth + 1)
  for (const key of [...Object.getOwnPropertyNames(value), ...Object.getOwnPropertySymbols(value)]) {
    yield String(key)
    const described = Object.getOwnPropertyDescriptor(value, key)
    yield* walk(described?.value, seen, depth + 1)
  }
  yield* walk(Object.getPrototypeOf(value), seen, depth + 1)
}

const leaksOf = (what: RegExp) => {
  const texts = shown.filter((one) => what.test(one.what))
  expect(texts.length).toBeGreaterThan(0)
  const found = texts.flatMap(({ what, text }) =>
    canaries.find(text).map((kind) => `${kind}, by ${what}: ${text.slice(0, 80)}`),
  )
  return [...new Set(found)].slice(0, 20)
}

/** What hooks were given. */
const exchanges: ExchangeContext[] = []
const namings: LoadUserContext[] = []
/** Requests for the landing page, after their answers. */
const landings: { version: string; req: Request }[] = []
/** What Session Status answered about a user who is logged in. */
let token: SessionToken
const at = (path: string, site = setup.morning) => `${site.url}${path}`
const build = (express: typeof express5, version: string) => (sso: Sso2, gates: Gates) => {
  const app = express()
  app.use((req, res, next) => {
    res.once('finish', () => {
      if (req.path === '/sso2/landing') landings.push({ version, req })
      if (req.path === '/login') show('body', req.body)
    })
    next()
  })
  app.use(express.urlencoded({ extended: true }), express.json(), express.text())
  app.use(sso)
  app.use((req, res, next) => {
    show('req.sso2', req.sso2)
    // it leads to request and socket, megabytes of text: one page is enough
    if (req.path === '/keep') {
      shown.push({ what: 'req.session', text: inspect(req.session, { depth: 20, showHidden: true }) })
      shown.push({ what: 'request', text: inspect([req, res.locals], { depth: 8, showHidden: true }) })
    }
    show('data of req.session', { ...req.session })
    next()
  })
  return addPages(app, sso, gates)
}

/** The first site is on Express 5, the second one on Express 4. */
const builds = [build(express5, 'Express 5'), build(express4, 'Express 4')]

function siteOptions(name: string): Partial<Sso2Options> {
  return {
    exchangeTicket: async (ticket, context) => {
      exchanges.push(context)
      canaries.add('ticket', ticket)
      const { tokenUrl, clientId, clientSecret } = setup.emulator.siteOptions(name)
      const form = { grant_type: 'authorization_code', code: ticket, client_id: clientId, client_secret: clientSecret }
      const response = await fetch(tokenUrl, { method: 'POST', body: new URLSearchParams(form) })
      return (await response.json()) as { access_token: string; expires_in: number }
    },
    loadUser: async (context) => {
      namings.push(context)
      canaries.add('access token', context.accessToken)
      canaries.add('SSO session ID', context.sid)
      const item = (await context.api.get('/external/api/v1/me'))['item'] as { account_id: string; username: string }
      return { accountId: item.account_id, username: item.username }
    },
  }
}

const setup = useSetup({ build: (sso, gates) => present(builds.shift())(sso, gates), site: siteOptions })
beforeAll(async () => {
  for (const { password } of [ada, grace, edsger]) canaries.add('password', password)
  canaries.add('wrong password', 'a-wrong-password-of-ada')
  canaries.add('session secret', sessionSecret)
  for (const site of ['morning', 'evening'])
    canaries.add('client secret', setup.emulator.siteOptions(site).clientSecret)
  for (const site of [setup.morning, setup.evening]) await flows(site)
  for (const { sid } of setup.emulator.sessions()) canaries.add('SSO session ID', sid)
})

async function flows(site: Setup['morning']): Promise<void> {
  const browser = setup.browser()
  const { trail } = await browser.visit(at('/first?a=1', site))
  for (const { url } of trail)
    takeSecrets(canaries, url, url.includes('/sso2/landing?') ? 'Session Token' : 'request token')
  const landing = present(trail.find(({ url }) => url.includes('/sso2/landing?'))).url
  await setup.browser().visit(landing)
  for (const method of ['HEAD', 'POST']) await browser.fetchJson(landing, { method })
  await browser.visit(landing, { headers: { 'sec-purpose': 'prefetch' } })
  await browser.visit(`${landing}&t=twice`)
  const otp = setup.emulator.issueOtp('grace')
  canaries.add('one-time password', otp)
  await browser.fetchJson(at('/login', site), { json: { username: 'ada', password: 'a-wrong-password-of-ada' } })
  await browser.submit(at('/login', site), { username: 'ada', password: 'a-wrong-password-of-ada' })
  await browser.fetchJson(at('/login', site), { json: ada, headers: { 'sec-fetch-site': 'cross-site' } })
  await browser.fetchJson(at('/login', site), { json: ada, method: 'PUT' })
  const text = { method: 'POST', headers: { 'content-type': 'text/plain' } }
  await browser.fetchJson(at('/login', site), { ...text, json: ada })
  const second = setup.browser()
  await second.visit(at('/', site))
  await second.fetchJson(at('/login', site), { json: { username: 'grace', password: otp } })
  await logInAtLast(browser, site)
  for (const path of ['/account', '/keep', '/sensitive', '/logout', '/logout-all']) await browser.visit(at(path, site))
  const sid = present(canaries.of('SSO session ID').at(-1))
  token = await site.sso.client.sessionStatus({ sid, lks: 'anon', ipa: '127.0.0.1', uas: 'test' })
  canaries.add('ticket', token.at ?? '')
  await browser.visit(at('/', site === setup.morning ? setup.evening : setup.morning))
  await browser.submit(at('/logout-all', site), { return_to: '/' })
}

test('[O6] what an object holds anywhere is found: hidden, under a symbol, in a cause, in a clone', () => {
  for (const kind of canaryKinds) expect([kind, canaries.of(kind).length > 0]).toEqual([kind, true])
  const hidden = Object.defineProperty({}, 'x', { value: ada.password })
  const caused = new Error('x', { cause: { [Symbol('y')]: new Map([[1, ada.password]]) } })
  for (const value of [hidden, caused, { deep: { list: [ada.password] } }]) {
    show('planted', value)
    expect(leaksOf(/^planted$/).join()).toContain('password')
    shown.splice(0, shown.length, ...shown.filter(({ what }) => what !== 'planted'))
  }
})

test('[S5] req.sso2 shows status and user alone, however it is printed', () => {
  const printed = shown.filter(({ what, text }) => what === 'req.sso2' && text.startsWith('{"'))
  expect(printed.length).toBeGreaterThan(10)
  for (const { text } of printed)
    expect(['status', 'user']).toEqual(expect.arrayContaining(Object.keys(JSON.parse(text))))
  expect(leaksOf(/^req\.sso2$/)).toEqual([])
})

test('[S5] req.session and the request show none of them, at full depth', () => {
  expect(leaksOf(/^req\.session$/)).toEqual([])
  expect(leaksOf(/^data of req\.session$/)).toEqual([])
  expect(leaksOf(/^request$/)).toEqual([])
})

test('[O6] hooks are given access token and session ID as their documented fields and nowhere else', () => {
  expect(exchanges.length + namings.length).toBeGreaterThan(4)
  for (const context of exchanges) {
    expect(Object.keys(context).sort()).toEqual(['sid', 'signal'])
    show('hook', context.signal)
  }
  for (const context of namings) {
    expect(Object.keys(context).sort()).toEqual(['accessToken', 'api', 'sid'])
    show('hook', context.api)
  }
  expect(leaksOf(/^hook$/)).toEqual([])
})

test('[O6] sso, its members, the client and the API show none of them', () => {
  const { sso } = setup.morning
  show('sso', sso)
  for (const [name, member] of Object.entries(sso)) show(`sso.${name}`, member)
  expect(leaksOf(/^sso/)).toEqual([])
})

test('[O6] a Session Token gives its session ID and ticket when asked, and prints neither', () => {
  expect(canaries.of('SSO session ID')).toContain(token.sid)
  expect(token.at).toBeDefined()
  show('token', token)
  expect(leaksOf(/^token$/)).toEqual([])
})

describe.each(['Express 5', 'Express 4'])('on %s', (version) => {
  const requests = () => landings.filter((landing) => landing.version === version).map(({ req }) => req)

  test('[O7] no request for the landing page holds its token when the answer is done', () => {
    expect(requests().length).toBeGreaterThan(5)
    for (const req of requests()) {
      const { url, originalUrl, query } = req
      const caches = ['_parsedUrl', '_parsedOriginalUrl'].map((name) => Reflect.get(req, name))
      show(`landing ${version}`, { url, originalUrl, query, caches, rest: [req.res?.req.url, req.params, req.route] })
      shown.push({ what: `landing ${version}`, text: inspect(req, { depth: 5, showHidden: true }) })
    }
    expect(leaksOf(new RegExp(`^landing ${version}$`))).toEqual([])
  })
})

test('[F8] no password stays on a request of the login page, not when it is refused either', () => {
  expect(leaksOf(/^body$/)).toEqual([])
})

async function failureOf(run: () => unknown): Promise<unknown> {
  try {
    await run()
  } catch (error) {
    return error
  }
  throw new Error('it did not fail')
}

test('[O6] errors of bad arguments and of a missing login show none of them', async () => {
  const options = setup.emulator.siteOptions('morning')
  const { client } = setup.morning.sso
  const token = `two words ${present(canaries.of('access token')[0])}`
  const sessionToken = present(canaries.of('Session Token')[0])
  const apiUrl = options.apiUrl
  const runs = [
    () => client.readLanding(`${sessionToken}x`),
    () => client.readLanding({ t: sessionToken }),
    () => new Sso2Client({ ...options, ssoUrl: options.clientSecret }),
    () => new Sso2Client({ ...options, clientId: '' }),
    () => new PlatformApi({ apiUrl, accessToken: token }),
    () => new PlatformApi({ apiUrl: token, accessToken: 'x' }),
    () => new PlatformApi({ apiUrl, accessToken: async () => `${token}\n` }).marketplaceGroups(),
    () => new PlatformApi({ apiUrl, accessToken: 'x' }).get(token),
    () => new PlatformApi({ apiUrl, accessToken: 'x' }).administrators({ group: [token] } as never),
    () => Promise.reject(new NotLoggedInError()),
  ]
  for (const run of runs) show('error of arguments', await failureOf(run))
  expect(leaksOf(/^error of arguments$/)).toEqual([])
})

const variables = [
  'SSO2_URL',
  'SSO2_CLIENT_ID',
  'SSO2_CLIENT_SECRET',
  'SSO2_SITE_URL',
  'SSO2_SESSION_SECRET',
  'REDIS_URL',
]
const secretOptions = ['ssoUrl', 'clientId', 'clientSecret', 'siteUrl', 'sessionSecret', 'redis']
const others = ['userPath', 'recheckSeconds', 'session', 'routes', 'trustedReturnOrigins', 'loginLimit', 'loadUser']

test('[O6] a wrong option, also of the environment, is named by its error, its value is not', async () => {
  const canary = 'canary of an option\u0000 0123456789'
  canaries.add('client secret', canary)
  const good = { ...setup.emulator.siteOptions('morning'), siteUrl: setup.morning.url, sessionSecret }
  const wrong = async (options: object, named: string) => {
    const error = await failureOf(() => sso2(options as Sso2Options))
    expect(error).toBeInstanceOf(Sso2ConfigError)
    expect(String(error)).toContain(named)
    show('error of options', error)
  }
  for (const [index, option] of [...secretOptions, ...others].entries()) {
    for (const value of [canary, [canary], { attempts: canary, cookieName: canary, login: canary }])
      await wrong({ ...good, [option]: value }, option)
    const variable = variables[index]
    if (variable === undefined) continue
    const before = process.env[variable]
    process.env[variable] = `${canary.replace('\u0000', ' ')} `
    await wrong({ ...good, [option]: undefined }, variable)
    if (before === undefined) delete process.env[variable]
    else process.env[variable] = before
  }
  expect(leaksOf(/^error of options$/)).toEqual([])
})
