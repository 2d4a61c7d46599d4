import type { Request } from 'express'
import type { Browser } from '../support/agent'
import { basket, hop, type Keeping, type PausableSetup, startPausableSetup } from '../support/pausable-setup'
import { useRedis } from '../support/redis'
import { ada, eventually, resumeStore, view, visitor } from '../support/setup'
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
  const onLogout = ({ session }: Request) => void Object.assign(session, { basket: ['written at logout'] })
  setup = await startPausableSetup({ keeping, site: { redis: redis.url(), onLogout } })
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
  const cookie = laptop.cookie('sso2.sid')
  await begin()
  await byRoute(laptop)
  if (begin !== ssoIsDown) expect(laptop.cookie('sso2.sid')).toBe(cookie) // of the session that a later page is to end
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

const waits = { status: 'none', degraded: 'logout_pending' }
test.each<[what: string, isKept: boolean, begin: (laptop: Browser) => unknown, page: object, accounts: string[]]>([
  ['logs out everywhere', false, () => {}, { status: 'anon' }, ['account-ada']],
  ['waits while Redis takes no writes', true, redis.refuseWrites, waits, ['account-ada']],
  ['waits while Redis takes no writes and the session cookie is lost', false, loseCookie, waits, []],
])('a landing of the session after a logout of all without Redis %s', async (_what, isKept, begin, page, accounts) => {
  const [phone, laptop] = await phoneAndLaptop()
  const landing = await hop(laptop, (await laptop.fetchJson(setup.at('/identify-me'))).json.identify)
  await redis.hang()
  await byRoute(laptop)
  redis.resume()
  await isBack()
  await begin(laptop)
  const next = await hop(laptop, landing)
  await redis.takeWrites()
  await isBack()
  expect(laptop.cookie('sso2.sid') !== undefined).toBe(isKept)
  expect(view(await laptop.visit(next))).toEqual({ ...page, url: '/' })
  expect([accountsLoggedOut(), await isLoggedIn(phone)]).toEqual([accounts, accounts.length === 0])
})

test('a landing of the session after a confirmed logout of all shows no user until the SSO system has confirmed it again', async () => {
  const [, laptop] = await phoneAndLaptop()
  const landing = await hop(laptop, (await laptop.fetchJson(setup.at('/identify-me'))).json.identify)
  expect((await post(laptop, '/logout-all')).json.logout).toBe('confirmed')
  setup.emulator.faults.add({ operation: 'logout', kind: 'down' })
  const next = await hop(laptop, landing)
  setup.emulator.clock.advance(5) // longer than a failed landing keeps the browser from Identify
  expect(view(await laptop.visit(next))).toEqual({ ...waits, url: '/' })
})

async function loseCookie(laptop: Browser): Promise<void> {
  laptop.dropCookies(({ name }) => name === 'sso2.sid')
  await redis.refuseWrites()
}

test('a logout of all while the SSO system is down → a login of another device is void there too, until it is up, and data put since are kept', async () => {
  const [, laptop] = await phoneAndLaptop()
  const tablet = await visitor(setup)
  const before = loginsAtSso(setup)
  ssoIsDown()
  await byRoute(laptop)
  const logIn = () => tablet.fetchJson(setup.at('/login'), { json: ada })
  expect((await logIn()).json).toMatchObject({ error: 'unavailable' })
  expect(loginsAtSso(setup)).toEqual(before)
  await tablet.fetchJson(setup.at('/put?item=map'))
  expect(basket(await tablet.fetchJson(setup.at('/basket')))).toMatchObject({ basket: ['map'] })
  setup.emulator.faults.clear()
  setup.emulator.clock.advance(8)
  await eventually(async () => {
    await tablet.visit(setup.at('/'))
    return (await logIn()).status === 200
  })
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
