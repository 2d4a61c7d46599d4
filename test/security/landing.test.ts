import type { Browser } from '../support/agent'
import { document, hearEvents, landingToken } from '../support/landing'
import { hop, identifyRedirects } from '../support/pausable-setup'
import { ada, grace, logInAtLast, present, useSetup, view, visitor } from '../support/setup'

const setup = useSetup()
const events = hearEvents()
/** The first landing, as `landing outcome reason`. */
const landed = () => events.heard.find((event) => event.startsWith('landing '))
const at = (path: string) => `${setup.morning.url}${path}`

afterAll(events.stop)

/** A browser logged in at the SSO system, and its landing address, which no browser has opened yet. */
async function unusedLanding() {
  const browser = await visitor(setup)
  await logInAtLast(browser, setup.morning, ada)
  browser.dropCookies(({ name }) => name === 'sso2.sid')
  const landing = await hop(browser, await hop(browser, at('/page')))
  expect(new URL(landing).pathname).toBe('/sso2/landing')
  events.clear()
  return { browser, landing, tickets: setup.countCalls('token') }
}

type Prepare = (browser: Browser) => Promise<unknown>

const beginFlow: Prepare = (browser) => hop(browser, at('/'))
const logInAsGrace: Prepare = (browser) => logInAtLast(browser, setup.morning, grace)

test.each<[string, Prepare, string | undefined, string]>([
  ['a binding of its own', beginFlow, undefined, 'unbound'],
  ['a login of its own', logInAsGrace, 'grace', 'unbound'],
])('[L1] a landing address planted in a browser with %s changes nothing', async (_, prepare, username, reason) => {
  const other = setup.browser()
  await prepare(other)
  const id = username && other.cookie('sso2.sid')
  const { landing, tickets } = await unusedLanding()
  const loggedInBrowser = () => setup.emulator.sessions().filter(({ status }) => status === 'loggedin').length
  const [mine, identified] = [loggedInBrowser(), setup.countCalls('identify')]
  const visit = await other.visit(landing, { from: 'http://elsewhere.example/' })
  expect(view(visit).username).toBe(username)
  expect(setup.countCalls('token')).toBe(tickets)
  expect(landed()).toMatch(new RegExp(` ${reason}$`))
  expect(events.heard.join()).not.toContain('log_in')
  if (username) expect(other.cookie('sso2.sid')).toBe(id)
  expect(setup.countCalls('identify') - identified).toBe(username ? 0 : 1) // a flow of its own
  expect(identifyRedirects(visit)).toBe(username ? 0 : 1)
  expect(view(await other.visit(at('/'))).username).toBe(username)
  expect(loggedInBrowser()).toBe(mine)
})

test('[L3] a landing address opened 50 times at once in its browser, and again: one exchange, and one login', async () => {
  const { browser, landing, tickets } = await unusedLanding()
  const opened = Array.from({ length: 50 }, () => browser.fetchJson(landing, { headers: document }))
  expect((await Promise.all(opened)).map(({ status }) => status)).toEqual(Array(50).fill(303))
  const id = browser.cookie('sso2.sid')
  expect(view(await browser.visit(landing)).username).toBe('ada')
  expect([browser.cookie('sso2.sid'), setup.countCalls('token')]).toEqual([id, tickets + 1])
})

test('[L3, L4] a landing address used by its browser is refused in another, with its binding or, when Redis has lost its data, with another', async () => {
  const { browser, landing, tickets } = await unusedLanding()
  await browser.visit(landing)
  const cookie = `sso2.b=${present(browser.cookie('sso2.b'))}` // even with the binding cookie of the user
  events.clear()
  const stolen = await setup.browser().fetchJson(landing, { headers: { ...document, cookie } })
  expect(landed()).toBe('landing unchanged replayed')
  expect(String(stolen.headers['set-cookie'])).not.toContain('sso2.sid')
  await setup.redis.del(...(await setup.keys()))
  const other = setup.browser()
  await hop(other, at('/'))
  expect(view(await other.visit(landing)).status).toBe('anon')
  expect(setup.countCalls('token')).toBe(tickets + 1)
})

test('[L1] a binding cookie that is not of ours is replaced before a redirect is bound to it', async () => {
  const cookie = 'sso2.b=deleted'
  const page = await setup.browser().fetchJson(`${setup.morning.url}/`, { headers: { ...document, cookie } })
  expect([page.status, String(page.headers['set-cookie'])]).toEqual([302, expect.stringMatching(/^sso2\.b=[\w-]{22};/)])
})

test.each([
  ['a HEAD', 'HEAD', {}, 405],
  ['a POST', 'POST', {}, 405],
  ['a prefetch', 'GET', { 'sec-purpose': 'prefetch' }, 503],
])('[L12] %s of the landing address leaves the token usable', async (_, method, headers, status) => {
  const { browser, landing, tickets } = await unusedLanding()
  const answer = await browser.fetchJson(landing, { method, headers: { ...document, ...headers } })
  expect(answer.status).toBe(status)
  expect(setup.countCalls('token')).toBe(tickets)
  expect(view(await browser.visit(landing)).username).toBe('ada')
  expect(setup.countCalls('token')).toBe(tickets + 1)
})

test.each([
  ['of another secret', (good: string) => `${good.slice(0, -9)}AAAAAAAA${good.slice(-1)}`, 'signature'],
  ['with an error', () => landingToken(setup, { sid: 's-of-error', err: 'invalid_token' }), 'claims'],
  [
    'for a sister site',
    () => landingToken(setup, { aud: 'evening', sid: 's-of-another', sts: 'loggedin' }),
    'audience',
  ],
])('[L6, L11] a token %s in a flow of its own leaves a logged-in visitor as is', async (_what, spoil, reason) => {
  const browser = await visitor(setup)
  await logInAtLast(browser, setup.morning, ada)
  const [id, tickets] = [browser.cookie('sso2.sid'), setup.countCalls('token')]
  const landing = new URL(await hop(browser, (await browser.fetchJson(at('/identify-me'))).json.identify))
  landing.searchParams.set('t', spoil(present(landing.searchParams.get('t'))))
  events.clear()
  expect(view(await browser.visit(landing.href)).username).toBe('ada')
  expect(landed()).toMatch(new RegExp(` ${reason}$`))
  expect([browser.cookie('sso2.sid'), setup.countCalls('token')]).toEqual([id, tickets])
})
