import express5, { type Request } from 'express'
import type { Sso2, Sso2Options } from '../../lib'
import { clientFailingAt } from '../flows/failing-store'
import {
  ada,
  addPages,
  type Gates,
  healthWithStore,
  logIn,
  type Setup,
  sessionIdOf,
  startSetup,
  view,
  visitor,
} from '../flows/setup'
import { express4 } from '../safety/address-support'
import type { Browser } from '../support/agent'
import { loggerTo } from '../support/log-lines'

/*
 * What a landing and a login form do beside the session: which session follows, what the form shows again, what the log and other handlers
 * see. test/decide/landing.test.ts has the decisions.
 */

let setup: Setup
let lines: string[]
let queries: unknown[]
/** By how much the clock of the sites is wrong, in milliseconds. */
let skew: number

/** Pages, after a handler that notes the parsed query of each landing when it is answered. */
const build = (express: typeof express5) => (sso: Sso2, gates: Gates) => {
  const app = express().use((req, res, next) => {
    if (req.path === '/sso2/landing') res.on('finish', () => queries.push(req.query['t']))
    next()
  })
  app.use(sso)
  app.get('/regenerate', (req: Request, res) => req.session.regenerate(() => res.json({})))
  return addPages(app, sso, gates)
}
async function start(express = express5, site: Partial<Sso2Options> = {}): Promise<void> {
  lines = []
  queries = []
  skew = 0
  let now = Date.now
  const clock = { now: () => now() + skew }
  setup = await startSetup({ build: build(express), site: { logger: loggerTo(lines), clock, ...site } })
  now = () => setup.emulator.clock.now()
}
beforeEach(() => start())
afterEach(() => setup.close())

const at = (path: string) => `${setup.morning.url}${path}`
const asPage = { 'sec-fetch-dest': 'document', 'sec-fetch-mode': 'navigate', accept: 'text/html' }
const go = (browser: Browser, url: string, headers = {}) =>
  browser.fetchJson(url, { headers: { ...asPage, ...headers } })
const addressOf = ({ headers }: Awaited<ReturnType<Browser['fetchJson']>>) => String(headers.location)
const cookiesOf = (browser: Browser) =>
  ['sso2.sid', 'sso2.b'].map((name) => `${name}=${browser.cookie(name) ?? ''}`).join('; ')

/** A browser whose session moves, while another of its tabs is on the way through Identify. @returns how that tab lands */
async function movedMeanwhile(move: (browser: Browser) => Promise<unknown>) {
  const browser = setup.browser()
  const identify = addressOf(await go(browser, at('/news')))
  const binding = `sso2.b=${browser.cookie('sso2.b')}`
  await browser.visit(at('/'))
  const old = browser.cookie('sso2.sid')
  await move(browser)
  const landing = addressOf(await go(browser, identify))
  const tab = setup.browser()
  const answer = await go(tab, landing, { cookie: `sso2.sid=${old}; ${binding}` })
  return { browser, tab, answer }
}

describe('a landing with the cookie of a session that has just moved', () => {
  test('takes over the session that followed, if the token is of its SSO session', async () => {
    const { browser, tab, answer } = await movedMeanwhile((one) => logIn(one, setup.morning, ada))
    expect(answer).toMatchObject({ status: 303, headers: { location: at('/news') } })
    expect(sessionIdOf(tab)).toBe(sessionIdOf(browser))
  })

  test('goes on in the session that followed, if the token is of a new SSO session', async () => {
    const { browser, tab } = await movedMeanwhile(async (one) => {
      await one.fetchJson(at('/regenerate'))
      one.dropCookies(({ name }) => name === 'sso2emu')
      setup.emulator.clock.advance(2)
    })
    expect(sessionIdOf(tab)).toBe(sessionIdOf(browser))
    expect(view(await tab.visit(at('/x')))).toEqual({ status: 'anon', url: '/x' })
  })
})

describe('a landing whose token Redis cannot mark as used', () => {
  let isFailing: boolean
  let redis: ReturnType<typeof clientFailingAt>
  beforeEach(async () => {
    isFailing = true
    redis = clientFailingAt(({ args }) => isFailing && args.some((arg) => String(arg).includes('used:{')))
    await setup.close()
    await start(express5, { redis })
  })
  afterEach(() => redis.disconnect())

  test('begins no session, and the page is shown without another redirect', async () => {
    const browser = setup.browser()
    expect(view(await browser.visit(at('/x')))).toMatchObject({ status: 'none', url: '/x' })
    isFailing = false
    await healthWithStore(setup.morning.sso)
    expect(view(await browser.visit(at('/x')))).toMatchObject({ status: 'none' })
    expect(setup.countCalls('identify')).toBe(1)
  })

  test('shows a page instead of the login form, which says that no user can log in now', async () => {
    const { status, body } = await setup.browser().visit(at('/login'))
    expect(status).toBe(503)
    expect(body).toContain('Logging in does not work at the moment.')
  })
})

test('a landing with the token that began the session does not keep the browser from another redirect', async () => {
  const browser = setup.browser()
  const landing = addressOf(await go(browser, addressOf(await go(browser, at('/x')))))
  const binding = browser.cookie('sso2.b')
  await go(browser, landing)
  const tab = setup.browser()
  await go(tab, landing, { cookie: `sso2.sid=${browser.cookie('sso2.sid')}; sso2.b=${binding}` })
  expect(view(await tab.visit(at('/x')))).toMatchObject({ status: 'anon' })
})

test('a landing without an address to return to leads to the start page', async () => {
  expect(addressOf(await go(await visitor(setup), at('/sso2/landing?t=none')))).toBe(at('/'))
})

test.each([
  ['ahead of', 50],
  ['behind', -50],
])('a clock that is %s the SSO system is named in the log', async (words, seconds) => {
  const browser = setup.browser()
  const identify = addressOf(await go(browser, at('/')))
  const landing = addressOf(await go(browser, identify))
  skew = seconds * 1000
  await go(setup.browser(), landing, { cookie: cookiesOf(browser) })
  expect(lines.filter((line) => line.includes(`${words} the SSO system`))).toHaveLength(1)
})

test('a refused token is named in the log with its reason', async () => {
  const browser = setup.browser()
  const address = new URL(addressOf(await go(browser, addressOf(await go(browser, at('/'))))))
  address.searchParams.set('t', `${address.searchParams.get('t')}x`)
  await go(browser, address.href)
  expect(lines.filter((line) => line.includes('(signature)'))).toHaveLength(1)
})

test.each([
  ['Express 4', express4],
  ['Express 5', express5],
])('under %s no other handler finds a landing token in the parsed query', async (_name, express) => {
  await setup.close()
  await start(express)
  await visitor(setup)
  await go(setup.browser(), at('/sso2/landing'))
  expect(queries).toEqual(['***', undefined])
})

describe('the login form', () => {
  const form = (fields: Record<string, string>, browser: Browser) => browser.submit(at('/login'), fields)

  test('shows the typed name again, 256 letters of it at most', async () => {
    const browser = await visitor(setup)
    expect((await form({ username: 'ada', password: 'not-it' }, browser)).body).toContain('value="ada"')
    const { status, body } = await form({ username: 'a'.repeat(300), password: 'x' }, browser)
    expect([status, body.includes(`value="${'a'.repeat(256)}"`)]).toEqual([400, true])
  })

  test('shows no name, if none was typed', async () => {
    const { body } = await form({ password: 'x' }, await visitor(setup))
    expect(/<input[^>]*name="username"[^>]*>/.exec(body)?.[0]).not.toMatch(/value="[^"]/)
  })

  test('is shown to a user whose login could not be completed, so that the user can try again', async () => {
    const browser = await visitor(setup)
    setup.emulator.faults.add({ operation: 'token', kind: 'status', code: 503 })
    expect((await form({ ...ada }, browser)).status).toBe(503)
    expect(await browser.visit(at('/login'))).toMatchObject({ status: 200, url: at('/login') })
  })

  test('of another origin is refused, and a line names the option that may be wrong', async () => {
    const browser = await visitor(setup)
    const bot = await setup.browser().fetchJson(at('/login'), { method: 'POST', headers: { 'sec-fetch-site': 'none' } })
    const { status } = await browser.submit(at('/login'), { ...ada }, { from: 'https://www.example/' })
    expect([bot.status, status]).toEqual([403, 403])
    expect(lines.filter((line) => line.includes('that siteUrl (SSO2_SITE_URL) is the address'))).toHaveLength(1)
  })

  test('names the methods of its address', async () => {
    const { status, headers } = await setup.browser().fetchJson(at('/login'), { method: 'DELETE' })
    expect([status, headers['allow']]).toEqual([405, 'GET, HEAD, POST'])
  })
})
