import type { Browser } from '../support/agent'
import { clientFailingAt } from '../support/failing-store'
import { basket, document, hop, type Keeping, type PausableSetup, startPausableSetup } from '../support/pausable-setup'
import { useRedis } from '../support/redis'
import { eventually, resumeStore, untilRetried, view } from '../support/setup'
import { expectNoUser, loginsAtSso } from '../support/signed-out'

/*
 * A logout of all sessions stays one of all, and ends the others on this site too, once this browser returns: while Redis takes no writes or is
 * away, while the SSO system is down, and after a logout of one session that was not confirmed.
 */

const redis = useRedis()
let setup: PausableSetup
afterEach(() => setup.close())

const post = (browser: Browser, path: string) => browser.fetchJson(setup.at(path), { json: {} })
const logoutCookie = (browser: Browser) => browser.cookie('sso2.o')
const isBack = () => resumeStore(redis, setup.newest().sso)
const accountsLoggedOut = () => setup.emulator.calls({ operation: 'logoutall' }).map(({ claims }) => claims['aid'])
const ssoIsDown = (...operations: ('logout' | 'logoutall')[]) => {
  for (const operation of operations) setup.emulator.faults.add({ operation, kind: 'down' })
}

/** Both are logged in here. The laptop will log out everywhere. */
async function phoneAndLaptop(keeping: Keeping = 'Redis'): Promise<[Browser, Browser]> {
  setup = await startPausableSetup({ keeping, site: { redis: redis.url() } })
  return [await setup.loggedInBrowser(), await setup.loggedInBrowser()]
}

const isLoggedIn = async (browser: Browser) =>
  basket(await browser.fetchJson(setup.at('/basket'))).status === 'loggedin'

async function expectPhoneOut(phone: Browser, laptop: Browser): Promise<void> {
  await eventually(async () => {
    expect(view(await laptop.visit(setup.at('/'))).status).not.toBe('loggedin')
    // a retry in the background ends the sessions here first, then at the SSO system
    return !(await isLoggedIn(phone)) && loginsAtSso(setup).length === 0
  })
  await expectNoUser(setup, phone)
}

const pending = { status: 'none', logout: 'pending' }
const byRoute = async (laptop: Browser) => expect((await post(laptop, '/logout-all')).json).toEqual(pending)

const ssoDown = () => ssoIsDown('logout', 'logoutall')

/** `again`: what happens before the user logs out everywhere once more, while the first logout is pending. */
test.each<[what: string, keeping: Keeping, begin: () => unknown, again?: () => unknown]>([
  ['Redis is away', 'Redis', redis.hang],
  ['Redis is away', 'a session of its own', redis.hang],
  ['Redis takes no writes', 'Redis', redis.refuseWrites],
  ['the SSO system is down', 'Redis', ssoDown],
  ['the SSO system is down, and again while Redis is away', 'Redis', () => ssoIsDown('logoutall'), redis.hang],
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

test('[S17] after a logout of all while Redis hung, a landing of another tab sends it once Redis is back', async () => {
  const [phone, laptop] = await phoneAndLaptop()
  const landing = await hop(laptop, (await laptop.fetchJson(setup.at('/identify-me'))).json.identify)
  redis.hang()
  await byRoute(laptop)
  expect(accountsLoggedOut()).toEqual([])
  await isBack()
  await laptop.fetchJson(landing)
  await expectPhoneOut(phone, laptop)
  expect(new Set(accountsLoggedOut())).toEqual(new Set(['account-ada']))
})

test('[S17] logout of all: not confirmed, while a landing of the same SSO session is slow → it is still sent as one of all', async () => {
  const [, laptop] = await phoneAndLaptop()
  laptop.dropCookies(({ name }) => name === 'sso2.sid')
  const identify = [await hop(laptop, setup.at('/?tab=1')), await hop(laptop, setup.at('/?tab=2'))]
  const [one = '', two = ''] = [await hop(laptop, identify[0] ?? ''), await hop(laptop, identify[1] ?? '')]
  const held = setup.naming.close()
  const landing = laptop.fetchJson(two, { headers: document })
  await held.arrived
  await laptop.fetchJson(one, { headers: document })
  ssoIsDown('logoutall')
  await byRoute(laptop)
  held.open()
  await landing
  setup.emulator.faults.clear()
  await eventually(async () => loginsAtSso(setup).length === 0)
})

describe('"log out", then "log out everywhere"', () => {
  test.each<[when: string, result: string, begin: () => void, end: () => unknown]>([
    ['while the SSO system is down', 'pending', ssoDown, () => setup.emulator.faults.clear()],
    ['without an outage', 'no_session', () => {}, () => {}],
  ])('[S17] %s: %s, and as the browser has no session any more, the other sessions stay', async (...row) => {
    const [, result, begin, end] = row
    const [phone, laptop] = await phoneAndLaptop()
    begin()
    await post(laptop, '/logout')
    expect((await post(laptop, '/logout-all')).json.logout).toBe(result)
    await end()
    setup.emulator.faults.clear()
    await eventually(async () => {
      await laptop.visit(setup.at('/'))
      return loginsAtSso(setup).length === 1
    })
    expect(await isLoggedIn(phone)).toBe(true)
    await expectNoUser(setup, laptop)
    expect(accountsLoggedOut()).toEqual([])
  })
})

test('[S17] a retry in the background is repeated within seconds, if Redis does not answer in the middle of it', async () => {
  let [isArmed, hasFailed] = [false, false]
  const client = clientFailingAt((command) => {
    if (!isArmed || hasFailed || command.name !== 'get' || !String(command.args[0]).includes('logout:{')) return false
    hasFailed = true
    return true
  }, redis.url())
  setup = await startPausableSetup({ site: { redis: client } })
  const browser = await setup.loggedInBrowser()
  ssoIsDown('logout')
  expect((await post(browser, '/logout')).json.logout).toBe('pending')
  isArmed = true
  setup.emulator.clock.advance(400)
  setup.emulator.faults.clear()
  await untilRetried(setup.emulator, async () => hasFailed && loginsAtSso(setup).length === 0)
  client.disconnect()
})
