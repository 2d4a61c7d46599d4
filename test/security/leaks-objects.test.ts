import { format, inspect } from 'node:util'
import express from 'express'
import {
  type ExchangeContext,
  type LoadUserContext,
  PlatformApi,
  type Sso2,
  Sso2Client,
  Sso2ConfigError,
  type Sso2Options,
  sso2,
} from '../../lib'
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
const build = (sso: Sso2, gates: Gates) => {
  const app = express()
  app.use((req, res, next) => {
    if (req.path === '/login') res.once('finish', () => show('body', req.body))
    next()
  })
  app.use(express.urlencoded({ extended: true }), express.json(), sso)
  app.use((req, _res, next) => {
    if (['/first', '/keep', '/sensitive'].includes(req.path)) show('req.sso2', req.sso2)
    next()
  })
  return addPages(app, sso, gates)
}

const setup: Setup = useSetup({
  build,
  site: {
    exchangeTicket: (ticket, context) => {
      exchanges.push(context)
      canaries.add('ticket', ticket)
      return exchange(setup, ticket, context)
    },
    loadUser: async (context) => {
      namings.push(context)
      canaries.add('access token', context.accessToken)
      canaries.add('SSO session ID', context.sid)
      const item = (await context.api.get('/external/api/v1/me'))['item'] as { account_id: string; username: string }
      return { accountId: item.account_id, username: item.username }
    },
  },
})
beforeAll(async () => {
  canaries.add('password', ada.password)
  canaries.add('wrong password', 'a-wrong-password-of-ada')
  canaries.add('session secret', sessionSecret)
  canaries.add('client secret', setup.emulator.siteOptions('morning').clientSecret)
  await flows(setup.morning)
  for (const { sid } of setup.emulator.sessions()) canaries.add('SSO session ID', sid)
})

async function flows({ url }: Setup['morning']): Promise<void> {
  const browser = setup.browser()
  const { trail } = await browser.visit(`${url}/first?a=1`)
  for (const hop of trail)
    takeSecrets(canaries, hop.url, hop.url.includes('/sso2/landing?') ? 'Session Token' : 'request token')
  const wrong = { username: 'ada', password: 'a-wrong-password-of-ada' }
  await browser.fetchJson(`${url}/login`, { json: wrong })
  await browser.submit(`${url}/login`, wrong)
  await browser.fetchJson(`${url}/login`, { json: ada, headers: { 'sec-fetch-site': 'cross-site' } })
  await logInAtLast(browser, { url })
  for (const path of ['/account', '/keep', '/sensitive']) await browser.visit(url + path)
  await browser.submit(`${url}/logout-all`, { return_to: '/' })
}

test('[S5] req.sso2 shows status and user alone, however it is printed', () => {
  const printed = shown.filter(({ what, text }) => what === 'req.sso2' && text.startsWith('{"'))
  expect(printed.length).toBeGreaterThan(1)
  for (const { text } of printed)
    expect(['status', 'user']).toEqual(expect.arrayContaining(Object.keys(JSON.parse(text))))
  expectNoLeak(/^req\.sso2$/)
})

test('[F8] no password stays on a request of the login page, not when it is refused either', () =>
  expectNoLeak(/^body$/))

test('[O6] hooks are given access token and session ID as their documented fields and nowhere else', () => {
  expect(Math.min(exchanges.length, namings.length)).toBeGreaterThan(0)
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
    () => new PlatformApi({ apiUrl, accessToken: async () => `${token}\n` }).marketplaceGroups(),
    () => new PlatformApi({ apiUrl, accessToken: 'x' }).get(token),
  ]
  for (const run of runs) await showFailure('arguments', run)
  expectNoLeak(/^arguments$/)
})

test('[O6] a wrong option is named by its error, its value is not', async () => {
  const canary = 'canary of an option\u0000 0123456789'
  canaries.add('client secret', canary)
  const good = { ...setup.emulator.siteOptions('morning'), siteUrl: setup.morning.url, sessionSecret }
  const expectNamed = async (options: object, named: string) => {
    const error = await showFailure('options', () => sso2(options as Sso2Options))
    expect(error).toBeInstanceOf(Sso2ConfigError)
    expect(String(error)).toContain(named)
  }
  for (const option of ['ssoUrl', 'clientSecret', 'sessionSecret', 'redis', 'session', 'routes', 'loadUser'])
    for (const value of [canary, [canary], { cookieName: canary, login: canary }])
      await expectNamed({ ...good, [option]: value }, option)
  expectNoLeak(/^options$/)
})
