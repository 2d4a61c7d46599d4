import { CONFIRMED_SECONDS } from '../../lib/decide/logout-mark'
import type { Browser } from '../support/agent'
import { document, hop, type Keeping, type PausableSetup, startPausableSetup } from '../support/pausable-setup'
import { useRedis } from '../support/redis'
import { ada, loggedInBrowser, logInAtLast, present, resumeStore, view } from '../support/setup'
import { expectLoginWorks, expectNoUser, expectOver, loginsAtSso } from '../support/signed-out'

/*
 * After a logout whose SSO session this site cannot tell any more, or which the SSO system has not confirmed: neither a second logout,
 * nor a redirect from Identify, nor a late response to a login logs the user in. The cookie `sso2.o` stands for the logout until then.
 */

const redis = useRedis()
let setup: PausableSetup
afterEach(() => setup.close())

const start = async (keeping: Keeping = 'Redis') => {
  setup = await startPausableSetup({ keeping, site: { redis: redis.url() } })
}
const post = (browser: Browser) => browser.fetchJson(setup.at('/logout'), { json: {} })
const submit = (browser: Browser) => browser.submit(setup.at('/logout'), { return_to: '/news' })
const logoutCookie = (browser: Browser) => browser.cookie('sso2.o')
/** So long a login that a landing finds is taken for an older one. */
const RECENT_SECONDS = CONFIRMED_SECONDS
const newestLogin = () => present(loginsAtSso(setup).at(-1)).sid
const logoutsOf = (sid: string) => setup.emulator.calls({ operation: 'logout', sid }).length
const notLoggedIn = /^(none|anon)$/
const isBack = () => resumeStore(redis, setup.first.sso)

/** The landing address of a tab that is on its way back from Identify. */
const landingOf = async (browser: Browser, tab: string) => hop(browser, await hop(browser, setup.at(tab)))

/** The fault is over, for a process whose breaker has not met it, and the loop guard's minute as well. */
async function overcome(): Promise<void> {
  setup.emulator.faults.clear()
  setup.emulator.clock.advance(61)
  setup.serveFrom(await setup.addReadyProcess())
}

test.each(['Redis', 'a session of its own'] as const)(
  '[S17] (%s) Redis lost its data: a landing after the logout ends its SSO session, and the logout cookie stays until that is confirmed',
  async (keeping) => {
    await start(keeping)
    const browser = await setup.loggedInBrowser()
    await redis.commands().flushall()
    const sid = newestLogin()
    const landing = await landingOf(browser, '/slow-tab')
    expect((await post(browser)).json).toEqual({ status: 'none', logout: 'pending' })
    expect(logoutCookie(browser)).toBeDefined()
    setup.emulator.faults.add({ operation: 'logout', kind: 'down' })
    await browser.fetchJson(landing, { headers: document })
    expect(logoutCookie(browser)).toBeDefined()
    await expectNoUser(setup, browser)
    await overcome()
    await expectLoginWorks(setup, browser)
    expect(setup.emulator.sessions().find((session) => session.sid === sid)?.status).not.toBe('loggedin')
  },
)

test.each(['Redis', 'a session of its own'] as const)(
  '[S17, S22] (%s) neither a logout while Redis hangs nor another one after it logs the user in',
  async (keeping) => {
    await start(keeping)
    const browser = await setup.loggedInBrowser()
    const sid = newestLogin()
    redis.hang()
    for (let times = 0; times < 2; times += 1) expect(view(await submit(browser)).status).toBe('none')
    expect(logoutCookie(browser)).toBeDefined()
    await isBack()
    expect(view(await submit(browser)).status).toMatch(notLoggedIn)
    await expectNoUser(setup, browser)
    expect(logoutsOf(sid)).toBeGreaterThan(0)
    await expectLoginWorks(setup, browser)
  },
)

test('[S17] after a script has logged out twice, a later login on the other site stays', async () => {
  await start()
  const browser = await setup.loggedInBrowser()
  expect((await post(browser)).json.logout).toBe('confirmed')
  expect((await post(browser)).json.logout).toBe('no_session')
  setup.emulator.clock.advance(RECENT_SECONDS + 1)
  expect(logoutCookie(browser)).toBeUndefined()
  await logInAtLast(browser, setup.evening)
  expect(view(await browser.visit(setup.at('/')))).toEqual({ status: 'loggedin', username: 'ada', url: '/' })
  expect(loginsAtSso(setup)).toHaveLength(1)
})

test.each<[whose: string, click: (browser: Browser) => Promise<{ body: string }>]>([
  ['of a form', submit],
  ['of a script', async (browser) => post(browser).then(() => browser.visit(setup.at('/news')))],
])(
  '[S17] a logout %s without a session here ends the login of the other site, and logs nobody in',
  async (_whose, click) => {
    await start()
    const browser = setup.browser()
    await logInAtLast(browser, setup.evening)
    expect(loginsAtSso(setup)).toHaveLength(1)
    await overcome()
    expect(view(await click(browser)).status).toMatch(notLoggedIn)
    expect(loginsAtSso(setup)).toEqual([])
    await expectOver(setup, browser)
  },
)

test('[S17] a landing in progress during a logout without a session logs nobody in', async () => {
  await start()
  const browser = await loggedInBrowser(setup, ada, setup.evening)
  const held = setup.exchanging.close()
  const landing = browser.visit(setup.at('/slow-tab'))
  await held.arrived
  expect((await post(browser)).json.logout).toBe('no_session')
  held.open()
  await landing
  await expectNoUser(setup, browser)
  expect(loginsAtSso(setup)).toEqual([])
  await expectLoginWorks(setup, browser)
})

test('[S17] a browser without any login has no logout left after it comes back from Identify', async () => {
  await start()
  const browser = setup.browser()
  expect((await post(browser)).json.logout).toBe('no_session')
  expect(logoutCookie(browser)).toBeDefined()
  expect(view(await browser.visit(setup.at('/news'))).status).toBe('anon')
  expect(logoutCookie(browser)).toBeUndefined()
})
