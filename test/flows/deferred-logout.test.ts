import type { Browser } from '../support/agent'
import { useRedis } from '../support/redis'
import { eventually, loggedInBrowser, present, resumeStore, type Setup, startSetup, untilRetried, view } from './setup'

/*
 * Redis hangs before a logout can read its session, and the browser does not return. The process that received the logout
 * remembers the session's key, and ends the session here and at the SSO system when Redis is back.
 */

const redis = useRedis()
let setup: Setup
beforeEach(async () => {
  setup = await startSetup({ site: { redis: redis.url() } })
})
afterEach(() => setup.close())

const at = (path: string) => `${setup.morning.url}${path}`
const stillIn = () => setup.emulator.sessions().filter(({ status }) => status === 'loggedin').length
const opens = async (cookie: string) => {
  const { json } = await setup.browser().fetchJson(at('/'), { headers: { cookie } })
  return json.status
}

/** Sends one POST while Redis hangs. @returns the cookie that the browser had */
async function logOutUnread(path: string): Promise<{ browser: Browser; cookie: string }> {
  const browser = await loggedInBrowser(setup)
  const cookie = `sso2.sid=${present(browser.cookie('sso2.sid'))}`
  redis.hang()
  const { json } = await browser.fetchJson(at(path), { json: {} })
  expect(json).toMatchObject({ status: 'none', logout: 'pending' })
  expect(setup.countCalls('logout') + setup.countCalls('logoutall')).toBe(0)
  return { browser, cookie }
}

/** @returns after how many milliseconds the SSO system has ended the sessions */
async function untilEnded(): Promise<number> {
  const begun = performance.now()
  await eventually(async () => stillIn() === 0)
  return performance.now() - begun
}

test('[S22] one POST and no further visit: the SSO system is informed within 10 s of the return of Redis', async () => {
  const { cookie } = await logOutUnread('/logout')
  await new Promise((resolve) => setTimeout(resolve, 2500))
  redis.resume()
  expect(await untilEnded()).toBeLessThan(10_000)
  expect(setup.countCalls('logout')).toBe(1)
  expect(await opens(cookie)).toBe('none')
})

test('[S22] a logout of all sessions ends those of other browsers too', async () => {
  const other = await loggedInBrowser(setup)
  const { cookie } = await logOutUnread('/logout-all')
  redis.resume()
  expect(await untilEnded()).toBeLessThan(10_000)
  expect(setup.countCalls('logoutall')).toBe(1)
  expect(await opens(cookie)).toBe('none')
  expect(await opens(`sso2.sid=${present(other.cookie('sso2.sid'))}`)).toBe('none')
})

test('[S22] with the SSO system away as well, the logout waits in Redis until it is back', async () => {
  const { browser, cookie } = await logOutUnread('/logout')
  setup.emulator.faults.add({ operation: 'logout', kind: 'down' })
  await resumeStore(redis, setup.morning.sso)
  await eventually(async () => (await opens(cookie)) === 'none')
  expect(stillIn()).toBe(1)
  expect(view(await browser.visit(at('/')))).toMatchObject({ status: 'none', degraded: 'logout_pending' })
  setup.emulator.faults.clear()
  await untilRetried(setup.emulator, async () => stillIn() === 0)
})

test('[S22] a browser with the cookie of an earlier logout and a newer session stays logged in', async () => {
  const { browser } = await logOutUnread('/logout')
  const mark = { cookie: `sso2.o=${present(browser.cookie('sso2.o'))}` }
  await resumeStore(redis, setup.morning.sso)
  await untilEnded()
  const later = await loggedInBrowser(setup)
  const headers = { cookie: `sso2.sid=${present(later.cookie('sso2.sid'))}; ${mark.cookie}` }
  // the retry notes the end of the earlier logout a moment after the SSO system has ended it
  await eventually(async () => {
    const { json } = await setup.browser().fetchJson(at('/'), { headers })
    return json.status === 'loggedin' && json.degraded === undefined
  })
})
