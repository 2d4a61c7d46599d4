import type { Command, Redis } from 'ioredis'
import { clientFailingAt, type FailingStore, failingStore } from '../flows/failing-store'
import {
  ada,
  eventually,
  grace,
  loggedInBrowser,
  present,
  redisUrl,
  resumeStore,
  untilRetried,
  view,
} from '../flows/setup'
import type { Browser } from '../support/agent'
import { useRedis } from '../support/redis'
import { basket, hop, type Keeping, type PausableSetup, startPausableSetup } from './pausable-setup'
import { expectNoUser, loginsAtSso } from './signed-out'

/*
 * A logout of all sessions stays one of all, and ends the others on this site too: while Redis takes no writes or is away, while the SSO
 * system is down, and after a logout of one session that was not confirmed. A logout that is not confirmed is retried within seconds.
 */

const redis = useRedis()
let setup: PausableSetup
/** A Redis that goes away for the first process only. */
let store: FailingStore | undefined
afterEach(async () => {
  await setup.close()
  store?.client.disconnect()
  store = undefined
})

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

/** A newer login of the account, on the other site. */
const newerLogin = () => loggedInBrowser(setup, ada, setup.evening)

/** The newer login is not ended: the SSO system was told of the logout of all so often, and not again. */
async function expectStays(newer: Browser, calls = 1): Promise<void> {
  setup.emulator.clock.advance(361)
  expect(view(await newer.visit(`${setup.evening.url}/`)).status).toBe('loggedin')
  expect(accountsLoggedOut()).toHaveLength(calls)
}

const noLogoutWaits = () => eventually(async () => (await setup.keys()).every((key) => !key.includes('logouts:')))

const has = (command: Command, text: string) => command.args.some((arg) => String(arg).includes(text))

const pending = { status: 'none', logout: 'pending' }
const byRoute = async (laptop: Browser) => expect((await post(laptop, '/logout-all')).json).toEqual(pending)
const byHandler = async (laptop: Browser) =>
  expect((await post(laptop, '/leave-all')).json).toEqual({ result: 'pending' })

test.each([
  ['Redis', 'the route', byRoute],
  ['a session of its own', 'the route', byRoute],
  ['Redis', 'a handler of the site', byHandler],
] as const)(
  '[S17] (%s, by %s) while Redis takes no writes the SSO system is told, and the other sessions end here later',
  async (keeping, _by, logOutAll) => {
    const [phone, laptop] = await phoneAndLaptop(keeping)
    await redis.refuseWrites()
    await logOutAll(laptop)
    expect(accountsLoggedOut()).toEqual(['account-ada'])
    expect(loginsAtSso(setup)).toEqual([])
    expect(logoutCookie(laptop)).toBeDefined()
    await expectNoUser(setup, laptop, 1)
    await redis.takeWrites()
    await isBack()
    await expectPhoneOut(phone, laptop)
  },
)

const ssoDown = () => ssoIsDown('logout', 'logoutall')

/** `again`: what happens before the user logs out everywhere once more, while the first logout is pending. */
test.each<[what: string, keeping: Keeping, begin: () => unknown, again?: () => unknown]>([
  ['Redis is away', 'Redis', redis.hang],
  ['Redis is away', 'a session of its own', redis.hang],
  ['the SSO system is down', 'Redis', ssoDown],
  ['the SSO system is down and Redis takes no writes', 'Redis', () => redis.refuseWrites().then(ssoDown)],
  ['Redis is away, twice', 'Redis', redis.hang, () => {}],
  ['the SSO system is down, twice', 'Redis', ssoDown, () => {}],
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

test('[S17] a logout of all while Redis is away, and the process ends: a login form that was open does not forget it', async () => {
  const [phone, laptop] = await phoneAndLaptop()
  const ofLaptop = present(loginsAtSso(setup).at(-1)).sid
  redis.hang()
  await byRoute(laptop)
  await setup.first.sso.close()
  redis.resume()
  setup.serveFrom(await setup.addReadyProcess())
  setup.emulator.terminate(ofLaptop)
  expect((await laptop.submit(setup.at('/login'), { ...ada, return_to: '/' })).url).toContain('notice=session_ended')
  await expectPhoneOut(phone, laptop)
})

test.each([
  ['is back, sends it', true],
  ['is still away, leaves it pending', false],
])('[S17] after a logout of all while Redis hung a landing of another tab, if Redis %s', async (_what, isBackFirst) => {
  const [phone, laptop] = await phoneAndLaptop()
  const landing = await hop(laptop, (await laptop.fetchJson(setup.at('/identify-me'))).json.identify)
  redis.hang()
  await byRoute(laptop)
  expect(accountsLoggedOut()).toEqual([])
  if (isBackFirst) await isBack()
  await laptop.fetchJson(landing)
  if (!isBackFirst) {
    expect(logoutCookie(laptop)).toBeDefined()
    await isBack()
  }
  await expectPhoneOut(phone, laptop)
  expect(new Set(accountsLoggedOut())).toEqual(new Set(['account-ada']))
})

describe('"log out", then "log out everywhere"', () => {
  test.each<[when: string, begin: () => void, end: () => unknown]>([
    ['while Redis hangs', redis.hang, isBack],
    ['while the SSO system is down', ssoDown, () => setup.emulator.faults.clear()],
    ['after an outage of Logout alone', () => ssoIsDown('logout'), () => {}],
    ['without an outage', () => {}, () => {}],
  ])('[S17] %s: the browser has no session any more, so the other sessions stay', async (_when, begin, end) => {
    const [phone, laptop] = await phoneAndLaptop()
    begin()
    await post(laptop, '/logout')
    expect((await post(laptop, '/logout-all')).json.logout).toBe('no_session')
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

describe('"log out everywhere" while Redis takes no writes', () => {
  test('[S17] is finished, and is not sent again by another process, if the SSO system has confirmed it and the process ends', async () => {
    const [phone, laptop] = await phoneAndLaptop()
    await redis.refuseWrites()
    await byRoute(laptop)
    expect(accountsLoggedOut()).toHaveLength(1)
    const newer = await newerLogin()
    setup.serveFrom(setup.addProcess())
    await setup.first.sso.close() // only the browser's cookie knows of the logout now
    await redis.takeWrites()
    await isBack()
    await eventually(async () => {
      await laptop.visit(setup.at('/'))
      return !(await isLoggedIn(phone))
    })
    await expectNoUser(setup, phone)
    await expectStays(newer)
  })

  test.each(['/logout-all', '/logout'])('[S17] and %s at another process: one call', async (second) => {
    store = failingStore()
    setup = await startPausableSetup({ site: { redis: store.client } })
    const [phone, laptop] = [await setup.loggedInBrowser(), await setup.loggedInBrowser()]
    ssoIsDown('logoutall')
    store.goAwayAfter(1, false)
    await byRoute(laptop)
    const failed = accountsLoggedOut().length
    setup.emulator.faults.clear()
    setup.serveFrom(setup.addProcess({ redis: redisUrl() }))
    await eventually(async () => (await setup.newest().sso.health()).store === 'ok')
    expect((await post(laptop, second)).json.logout).toBe('confirmed')
    expect(accountsLoggedOut()).toHaveLength(failed + 1)
    const newer = await newerLogin()
    await store.comeBack(setup.first.sso)
    await noLogoutWaits()
    expect(await isLoggedIn(phone)).toBe(false)
    await expectStays(newer, failed + 1)
  })
})

test.each(['by itself', 'when the browser returns'])(
  '[S17] a confirmed logout of all that Redis did not finish is not sent again %s, so a newer login stays',
  async (way) => {
    store = failingStore()
    setup = await startPausableSetup({ site: { redis: store.client } })
    const browser = await setup.loggedInBrowser()
    const cookie = `sso2.sid=${present(browser.cookie('sso2.sid'))}`
    store.goAwayAfter(1, false)
    await byRoute(browser)
    expect(accountsLoggedOut()).toHaveLength(1)
    const newer = await newerLogin()
    await store.comeBack(setup.first.sso)
    if (way === 'when the browser returns') await browser.fetchJson(setup.at('/'))
    const withCookie = () => setup.browser().fetchJson(setup.at('/'), { headers: { cookie } })
    await eventually(async () => view(await withCookie()).status !== 'loggedin')
    await noLogoutWaits()
    await expectStays(newer)
  },
)

test('[S17] a confirmed logout of all is not sent again by another process, if Redis stops after it has queued the logout', async () => {
  let [isDisturbed, isQueued] = [false, false]
  const client = clientFailingAt((command) => {
    const isRevocation = command.name.startsWith('eval') && has(command, 'out:{')
    const isRefused = isRevocation || (isQueued && has(command, '{logouts'))
    if (isDisturbed && command.name === 'zadd') isQueued = true
    return isDisturbed && isRefused
  }, redis.url())
  setup = await startPausableSetup({ site: { redis: client } })
  const [browser, other] = [await setup.loggedInBrowser(), await setup.loggedInBrowser(grace)]
  isDisturbed = true
  await byRoute(browser)
  expect(accountsLoggedOut()).toHaveLength(1)
  const newer = await newerLogin()
  const noneIsPending = async () => (await redis.commands().keys('*logouts:*')).length === 0
  setup.serveFrom(setup.addProcess({ redis: redis.url() }))
  ssoIsDown('logout')
  await post(other, '/logout') // now the second process looks at the queue every second
  setup.emulator.faults.clear()
  await untilRetried(setup.emulator, noneIsPending)
  isDisturbed = false
  await isBack()
  await eventually(noneIsPending)
  await expectStays(newer)
  client.disconnect()
})

describe('a retry in the background', () => {
  /** Rejects a command of the first retry, as if Redis did not answer. */
  function clientThatFails(fits: (command: Command) => boolean): { client: Redis; hasFailed: () => boolean } {
    let [hasTaken, hasFailed] = [false, false]
    const client = clientFailingAt((command) => {
      const isTake = command.name.startsWith('eval') && has(command, 'logouts:{')
      if (isTake) command.promise.then((due) => (hasTaken ||= Array.isArray(due) && due.length > 0)).catch(() => {})
      if (hasFailed || !hasTaken || !fits(command)) return false
      hasFailed = true
      return true
    }, redis.url())
    return { client, hasFailed: () => hasFailed }
  }
  test.each<[step: string, fits: (command: Command) => boolean]>([
    ['its logout', (command) => command.name === 'mget' && has(command, 'pend:')],
    ['the revocation', (command) => command.name.startsWith('eval') && has(command, 'out:{') && has(command, 'sid:{')],
  ])('[S17] is repeated within seconds if Redis does not answer at %s', async (_step, fits) => {
    const { client, hasFailed } = clientThatFails(fits)
    setup = await startPausableSetup({ site: { redis: client } })
    const browser = await setup.loggedInBrowser()
    ssoIsDown('logout')
    expect((await post(browser, '/logout')).json.logout).toBe('pending')
    setup.emulator.clock.advance(400) // the logout has waited long, so a failed retry would wait long too
    setup.emulator.faults.clear()
    await eventually(async () => hasFailed())
    // the time for which the logout belongs to the failed retry, or to a next one whose lock a busy machine still holds
    await untilRetried(setup.emulator, async () => loginsAtSso(setup).length === 0, 6)
    client.disconnect()
  })
})
