import type { Browser } from '../support/agent'
import { basket, type Keeping, type PausableSetup, startPausableSetup } from '../support/pausable-setup'
import { useRedis } from '../support/redis'
import { eventually, resumeStore, view } from '../support/setup'
import { expectNoUser, loginsAtSso } from '../support/signed-out'

/*
 * A logout of all sessions stays one of all, and ends the others on this site too, once this browser returns: while Redis takes no writes or is
 * away, while the SSO system is down, and before a logout of one session.
 */

const redis = useRedis()
let setup: PausableSetup
afterEach(() => setup.close())

const post = (browser: Browser, path: string) => browser.fetchJson(setup.at(path), { json: {} })
const logoutCookie = (browser: Browser) => browser.cookie('sso2.o')
const isBack = () => resumeStore(redis, setup.newest().sso)
const accountsLoggedOut = () => setup.emulator.calls({ operation: 'logoutall' }).map(({ claims }) => claims['aid'])
const ssoIsDown = () => setup.emulator.faults.add({ operation: 'logoutall', kind: 'down' })

/** Both are logged in here. The laptop will log out everywhere. */
async function phoneAndLaptop(keeping: Keeping = 'Redis'): Promise<[Browser, Browser]> {
  setup = await startPausableSetup({ keeping, site: { redis: redis.url() } })
  return [await setup.loggedInBrowser(), await setup.loggedInBrowser()]
}

const isLoggedIn = async (browser: Browser) =>
  basket(await browser.fetchJson(setup.at('/basket'))).status === 'loggedin'

async function expectPhoneOut(phone: Browser, laptop: Browser): Promise<void> {
  setup.emulator.clock.advance(8) // the retry in the background is due
  await eventually(async () => {
    expect(view(await laptop.visit(setup.at('/'))).status).not.toBe('loggedin')
    // a retry in the background ends the sessions here first, then at the SSO system
    return !(await isLoggedIn(phone)) && loginsAtSso(setup).length === 0
  })
  await expectNoUser(setup, phone)
}

const byRoute = async (laptop: Browser) =>
  expect((await post(laptop, '/logout-all')).json).toEqual({ status: 'none', logout: 'pending' })

/** `again`: what happens before the user logs out everywhere once more, while the first logout is pending. */
test.each<[what: string, keeping: Keeping, begin: () => unknown, again?: () => unknown]>([
  ['Redis is away', 'Redis', redis.hang],
  ['Redis is away', 'a session of its own', redis.hang],
  ['Redis takes no writes', 'Redis', redis.refuseWrites],
  ['the SSO system is down, and again while Redis is away', 'Redis', ssoIsDown, redis.hang],
])('[S17] a logout of all while %s (%s) is kept as one of all, and ends the other sessions', async (...row) => {
  const [, keeping, begin, again] = row
  const [phone, laptop] = await phoneAndLaptop(keeping)
  await begin()
  await byRoute(laptop)
  if (again) {
    again()
    await byRoute(laptop)
  }
  expect(logoutCookie(laptop)).toBeDefined()
  setup.emulator.faults.clear()
  redis.resume()
  await redis.takeWrites()
  await isBack()
  await expectPhoneOut(phone, laptop)
  expect(new Set(accountsLoggedOut())).toEqual(new Set(['account-ada']))
})

test('a logout of all while Redis is away, and then one of this session → Logout all, and the phone is out', async () => {
  const [phone, laptop] = await phoneAndLaptop()
  await redis.hang()
  await byRoute(laptop)
  redis.resume()
  await redis.takeWrites()
  await isBack()
  await post(laptop, '/logout')
  expect(accountsLoggedOut()).toEqual(['account-ada'])
  await expectNoUser(setup, phone)
})
