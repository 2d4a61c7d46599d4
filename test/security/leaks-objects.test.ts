import { format, inspect } from 'node:util'
import express5, { type Request } from 'express'
import {
  type ExchangeContext,
  type LoadUserContext,
  NotLoggedInError,
  PlatformApi,
  type Sso2,
  Sso2Client,
  Sso2ConfigError,
  type Sso2Options,
  sso2,
} from '../../lib'
import { express4 } from '../support/addresses'
import { exchange } from '../support/pausable-setup'
import { ada, addPages, type Gates, logInAtLast, present, type Setup, sessionSecret, useSetup } from '../support/setup'
import { Canaries, takeSecrets } from './canaries'

/* What a person or a program sees of the objects that a site gets: printed, serialised, copied, walked. */

const canaries = new Canaries()
const shown: { what: string; text: string }[] = []

/** Prints an object in every way that there is. */
function show(what: string, value: unknown): void {
  const add = (text: unknown) => void shown.push({ what, text: String(text) })
  for (const customInspect of [true, false])
    add(inspect(value, { depth: 20, showHidden: true, getters: false, customInspect }))
  add(format('%s %o %O', value, value, value))
  const clone = (given: unknown) => inspect(structuredClone(given))
  for (const print of [String, (given: unknown) => JSON.stringify(given), clone]) {
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
  const isObject = (typeof value === 'object' && value !== null) || typeof value === 'function'
  if (!isObject || seen.has(value) || depth > 6) return
  seen.add(value)
  if (value instanceof Map || value instanceof Set) yield* walk([...value], seen, depth + 1)
  for (const key of Reflect.ownKeys(value)) {
    yield String(key)
    yield* walk(Object.getOwnPropertyDescriptor(value, key)?.value, seen, depth + 1)
  }
  yield* walk(Object.getPrototypeOf(value), seen, depth + 1)
}

function expectNoLeak(what: RegExp): void {
  const texts = shown.filter((one) => what.test(one.what))
  expect(texts.length).toBeGreaterThan(0)
  const found = texts.flatMap(({ what, text }) =>
    canaries.find(text).map((kind) => `${kind}, by ${what}: ${text.slice(0, 80)}`),
  )
  expect([...new Set(found)].slice(0, 20)).toEqual([])
}

/** What hooks were given. */
const exchanges: ExchangeContext[] = []
const namings: LoadUserContext[] = []
/** Requests for the landing page, after their answers. */
const landings: { version: string; req: Request }[] = []

const build = (express: typeof express5, version: string) => (sso: Sso2, gates: Gates) => {
  const app = express()
  app.use((req, res, next) => {
    res.once('finish', () => {
      if (req.path === '/sso2/landing') landings.push({ version, req })
      if (req.path === '/login') show('body', req.body)
    })
    next()
  })
  app.use(express.urlencoded({ extended: true }), express.json(), express.text(), sso)
  app.use((req, res, next) => {
    if (['/first', '/keep', '/sensitive'].includes(req.path)) show('req.sso2', req.sso2)
    // it leads to request and socket, megabytes of text: one page is enough
    if (req.path === '/keep') {
      shown.push({ what: 'request', text: inspect(req.session, { depth: 20, showHidden: true }) })
      shown.push({ what: 'request', text: inspect([req, res.locals], { depth: 8, showHidden: true }) })
    }
    next()
  })
  return addPages(app, sso, gates)
}

/** The first site is on Express 5, the second one on Express 4. */
const builds = [build(express5, 'Express 5'), build(express4, 'Express 4')]
const setup: Setup = useSetup({
  build: (sso, gates) => present(builds.shift())(sso, gates),
  site: (name) => ({
    exchangeTicket: (ticket, context) => {
      exchanges.push(context)
      canaries.add('ticket', ticket)
      return exchange(setup, ticket, context, name)
    },
    loadUser: async (context) => {
      namings.push(context)
      canaries.add('access token', context.accessToken)
      canaries.add('SSO session ID', context.sid)
      const item = (await context.api.get('/external/api/v1/me'))['item'] as { account_id: string; username: string }
      return { accountId: item.account_id, username: item.username }
    },
  }),
})
beforeAll(async () => {
  canaries.add('password', ada.password)
  canaries.add('wrong password', 'a-wrong-password-of-ada')
  canaries.add('session secret', sessionSecret)
  for (const site of ['morning', 'evening'])
    canaries.add('client secret', setup.emulator.siteOptions(site).clientSecret)
  for (const site of [setup.morning, setup.evening]) await flows(site)
  for (const { sid } of setup.emulator.sessions()) canaries.add('SSO session ID', sid)
})

async function flows({ url }: Setup['morning']): Promise<void> {
  const browser = setup.browser()
  const { trail } = await browser.visit(`${url}/first?a=1`)
  for (const hop of trail)
    takeSecrets(canaries, hop.url, hop.url.includes('/sso2/landing?') ? 'Session Token' : 'request token')
  const landing = present(trail.find((hop) => hop.url.includes('/sso2/landing?'))).url
  await setup.browser().visit(landing)
  await browser.fetchJson(landing, { method: 'HEAD' })
  await browser.visit(landing, { headers: { 'sec-purpose': 'prefetch' } })
  await browser.visit(`${landing}&t=twice`)
  const wrong = { username: 'ada', password: 'a-wrong-password-of-ada' }
  await browser.fetchJson(`${url}/login`, { json: wrong })
  await browser.submit(`${url}/login`, wrong)
  await browser.fetchJson(`${url}/login`, { json: ada, headers: { 'sec-fetch-site': 'cross-site' } })
  await browser.fetchJson(`${url}/login`, { json: ada, method: 'PUT' })
  await browser.fetchJson(`${url}/login`, { method: 'POST', headers: { 'content-type': 'text/plain' }, json: ada })
  await logInAtLast(browser, { url })
  for (const path of ['/account', '/keep', '/sensitive', '/logout']) await browser.visit(url + path)
  await browser.submit(`${url}/logout-all`, { return_to: '/' })
}

test('[S5] req.sso2 shows status and user alone, however it is printed', () => {
  const printed = shown.filter(({ what, text }) => what === 'req.sso2' && text.startsWith('{"'))
  expect(printed.length).toBeGreaterThan(4)
  for (const { text } of printed)
    expect(['status', 'user']).toEqual(expect.arrayContaining(Object.keys(JSON.parse(text))))
  expectNoLeak(/^req\.sso2$/)
})

test('[S5] req.session and the request show none of them, at full depth', () => expectNoLeak(/^request$/))

test('[F8] no password stays on a request of the login page, not when it is refused either', () =>
  expectNoLeak(/^body$/))

test('[O6] hooks are given access token and session ID as their documented fields and nowhere else', () => {
  expect(Math.min(exchanges.length, namings.length)).toBeGreaterThan(1)
  for (const context of exchanges) {
    expect(Object.keys(context).sort()).toEqual(['sid', 'signal'])
    show('hook', context.signal)
  }
  for (const context of namings) {
    expect(Object.keys(context).sort()).toEqual(['accessToken', 'api', 'sid'])
    show('hook', context.api)
  }
  expectNoLeak(/^hook$/)
})

test('[O6] sso, its members, the client and the API show none of them', () => {
  const { sso } = setup.morning
  show('sso', sso)
  for (const [name, member] of Object.entries(sso)) show(`sso.${name}`, member)
  expectNoLeak(/^sso/)
})

test.each(['Express 5', 'Express 4'])(
  '[O7] on %s no request for the landing page holds its token in the end',
  (name) => {
    const requests = landings.filter(({ version }) => version === name)
    expect(requests.length).toBeGreaterThan(4)
    for (const { req } of requests) {
      const { url, originalUrl, query } = req
      const caches = ['_parsedUrl', '_parsedOriginalUrl'].map((cache) => Reflect.get(req, cache))
      show(`landing ${name}`, { url, originalUrl, query, caches, rest: [req.res?.req.url, req.params, req.route] })
    }
    expectNoLeak(new RegExp(`^landing ${name}$`))
  },
)

async function showFailure(what: string, run: () => unknown): Promise<unknown> {
  const error = await Promise.resolve()
    .then(run)
    .then(
      () => {
        throw new Error('it did not fail')
      },
      (reason: unknown) => reason,
    )
  show(what, error)
  return error
}

test('[O6] errors of bad arguments and of a missing login show none of them', async () => {
  const options = setup.emulator.siteOptions('morning')
  const { client } = setup.morning.sso
  const token = `two words ${present(canaries.of('access token')[0])}`
  const sessionToken = present(canaries.of('Session Token')[0])
  const { apiUrl } = options
  const runs = [
    () => client.readLanding(`${sessionToken}x`),
    () => new Sso2Client({ ...options, ssoUrl: options.clientSecret }),
    () => new PlatformApi({ apiUrl, accessToken: token }),
    () => new PlatformApi({ apiUrl: token, accessToken: 'x' }),
    () => new PlatformApi({ apiUrl, accessToken: async () => `${token}\n` }).marketplaceGroups(),
    () => new PlatformApi({ apiUrl, accessToken: 'x' }).get(token),
    () => Promise.reject(new NotLoggedInError()),
  ]
  for (const run of runs) await showFailure('arguments', run)
  expectNoLeak(/^arguments$/)
})

test('[O6] a wrong option, also of the environment, is named by its error, its value is not', async () => {
  const canary = 'canary of an option\u0000 0123456789'
  canaries.add('client secret', canary)
  const good = { ...setup.emulator.siteOptions('morning'), siteUrl: setup.morning.url, sessionSecret }
  const expectNamed = async (options: object, named: string) => {
    const error = await showFailure('options', () => sso2(options as Sso2Options))
    expect(error).toBeInstanceOf(Sso2ConfigError)
    expect(String(error)).toContain(named)
  }
  for (const option of [
    'ssoUrl',
    'clientSecret',
    'sessionSecret',
    'redis',
    'userPath',
    'session',
    'routes',
    'loadUser',
  ])
    for (const value of [canary, [canary], { attempts: canary, cookieName: canary, login: canary }])
      await expectNamed({ ...good, [option]: value }, option)
  process.env['SSO2_CLIENT_SECRET'] = `${canary.replace('\u0000', ' ')} `
  await expectNamed({ ...good, clientSecret: undefined }, 'SSO2_CLIENT_SECRET')
  delete process.env['SSO2_CLIENT_SECRET']
  expectNoLeak(/^options$/)
})
