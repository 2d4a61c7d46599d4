import { CONFIRMED_SECONDS } from '../../lib/decide/logout-mark'
import type { Browser, ScriptAnswer } from '../support/agent'
import {
  basket,
  breakSeals,
  document,
  hop,
  type Keeping,
  keepings,
  type PausableSetup,
  startPausableSetup,
} from '../support/pausable-setup'
import { ada, eventually, logInAtLast, present, view, visitor } from '../support/setup'
import { expectLoginWorks, expectNoUser, expectOver, loginsAtSso } from '../support/signed-out'

/* After the response to `POST /logout` no earlier or later request logs the user in without a password. */

let setup: PausableSetup

afterEach(() => setup.close())

const post = (browser: Browser, path = '/logout', json = {}) => browser.fetchJson(setup.at(path), { json })
const idOf = (browser: Browser) => browser.cookie('sso2.sid') ?? browser.cookie('connect.sid')
const isOurs = ({ name }: { name: string }) => /^(sso2|connect)\.sid$/.test(name)

describe.each(keepings)('with %s, two tabs that land while the SSO session is logged in', (keeping) => {
  beforeEach(async () => {
    setup = await startPausableSetup({ keeping })
  })

  /** The browser is known to the SSO system and has no session here: two tabs are on their way to the landing. */
  async function twoTabs(browser: Browser): Promise<[string, string]> {
    browser.dropCookies(isOurs)
    const [one, two] = [await hop(browser, setup.at('/?tab=1')), await hop(browser, setup.at('/?tab=2'))]
    return [await hop(browser, one), await hop(browser, two)]
  }

  const slow = (browser: Browser, address: string) => browser.fetchJson(address, { headers: document })

  test.each([
    ['/logout', 'confirmed'],
    ['/logout-all', 'confirmed'],
    ['/logout', 'pending'],
  ] as const)('[L13] (%s is %s) the slow one does not log the user in', async (path, result) => {
    const browser = await setup.loggedInBrowser()
    const [one, two] = await twoTabs(browser)
    const held = setup.naming.close()
    const landing = slow(browser, two)
    await held.arrived
    await slow(browser, one)
    expect(basket(await browser.fetchJson(setup.at('/basket')))).toMatchObject({ status: 'loggedin', username: 'ada' })
    if (result === 'pending') setup.emulator.faults.add({ operation: 'logout', kind: 'down' })
    expect((await post(browser, path)).json).toEqual({ status: 'none', logout: result })
    held.open()
    expect((await landing).headers['set-cookie']?.join()).toMatch(/sso2\.l=\d+\.logout_pending;/)
    await expectNoUser(setup, browser)
    setup.emulator.clock.advance(CONFIRMED_SECONDS + 1)
    expect(browser.cookie('sso2.o') === undefined).toBe(result === 'confirmed')
    if (result === 'pending') return
    expect(loginsAtSso(setup)).toEqual([])
    await expectLoginWorks(setup, browser)
  })

  test('[L13] a tab lands anonymous that left for Identify before a login at another site → the logout stays', async () => {
    const browser = setup.browser()
    const [early] = await twoTabs(browser)
    await logInAtLast(browser, setup.evening, ada)
    setup.emulator.clock.advance(2)
    expect((await post(browser)).json).toMatchObject({ status: 'none' })
    await slow(browser, early)
    await expectNoUser(setup, browser)
    expect(loginsAtSso(setup)).toEqual([])
    await expectLoginWorks(setup, browser)
  })
})

test.each(keepings)('[L13] (%s) logout of all: while another device logs in → this login is void', async (keeping) => {
  setup = await startPausableSetup({ keeping })
  const laptop = await setup.loggedInBrowser()
  const phone = await visitor(setup)
  const held = setup.naming.close()
  const login = post(phone, '/login?return_to=/', ada)
  await held.arrived
  expect((await post(laptop, '/logout-all')).json).toEqual({ status: 'none', logout: 'confirmed' })
  held.open()
  expect((await login).status).toBe(503)
  await expectNoUser(setup, phone)
})

describe.each(['Redis', 'memory'] as const)('with %s, a logout with the cookie of just before', (keeping) => {
  beforeEach(async () => {
    setup = await startPausableSetup({ keeping })
  })

  /** The logout left the browser before the answer that moved the session came in. */
  const postWith = (id: string, path = '/logout'): Promise<ScriptAnswer> =>
    setup.browser().fetchJson(setup.at(path), { json: {}, headers: { cookie: `sso2.sid=${id}` } })

  const moves: [what: string, path: string, move: (browser: Browser) => Promise<unknown>][] = [
    ['the login', '/logout', (browser) => logInAtLast(browser, setup.morning)],
    ['the login', '/logout-all', (browser) => logInAtLast(browser, setup.morning)],
    [
      'the check that saw a login elsewhere',
      '/logout',
      async (browser) => {
        await logInAtLast(browser, setup.evening)
        setup.emulator.clock.advance(361)
        await browser.visit(setup.at('/'))
      },
    ],
  ]
  test.each(moves)('[S16] %s ends the session that followed (%s)', async (_what, path, move) => {
    const browser = await visitor(setup)
    const old = present(idOf(browser))
    await move(browser)
    expect(idOf(browser)).not.toBe(old)
    expect(basket(await browser.fetchJson(setup.at('/basket')))).toMatchObject({ status: 'loggedin' })
    expect((await postWith(old, path)).json).toEqual({ status: 'none', logout: 'confirmed' })
    expect(loginsAtSso(setup)).toEqual([])
    await expectOver(setup, browser)
  })

  test('[S16] a login while the handler of a logout waits is ended as well', async () => {
    const browser = await visitor(setup)
    const gate = setup.gates.add()
    const logout = setup.browser().fetchJson(setup.at(`/leave-all?gate=${gate.name}`), {
      json: {},
      headers: { cookie: `sso2.sid=${idOf(browser)}` },
    })
    await gate.arrived
    await logInAtLast(browser, setup.morning)
    gate.open()
    expect((await logout).json).toEqual({ result: 'confirmed' })
    expect(basket(await browser.fetchJson(setup.at('/basket')))).toMatchObject({ status: 'none' })
  })

  test('[S16] another logout: no error, and no session until the SSO system has confirmed the logout', async () => {
    const browser = await setup.loggedInBrowser()
    const tab = setup.browser()
    tab.takeCookie(`sso2.sid=${idOf(browser)}`, setup.at('/'))
    setup.emulator.faults.add({ operation: 'logout', kind: 'down' })
    for (const one of [browser, tab]) {
      expect((await post(one)).json).toEqual({ status: 'none', logout: 'pending' })
      expect(idOf(one)).toBeUndefined()
      expect(view(await one.visit(setup.at('/')))).toEqual({ status: 'none', degraded: 'logout_pending', url: '/' })
    }
    setup.emulator.faults.clear()
    setup.emulator.clock.advance(8)
    await eventually(async () => view(await tab.visit(setup.at('/'))).status === 'anon')
    expect(loginsAtSso(setup)).toEqual([])
  })
})

const newSecret = 'the-secret-of-after-the-rotation-of-secrets-0123456789'

const useNewSecret = async () => setup.serveFrom(await setup.addReadyProcess({ sessionSecret: newSecret }))
const ofNextVersion = (text: string) => JSON.stringify({ ...JSON.parse(text), v: 99 })
/** Each unreadable record is in test/unit/record.test.ts. */
const unreadable: [what: string, keeping: Keeping, spoil: () => Promise<unknown>][] = [
  ['sealed with a secret that is gone', 'a session of its own', useNewSecret],
  ['of an unknown version', 'Redis', () => setup.editRecords(ofNextVersion)],
  ['whose seal is broken', 'Redis', () => breakSeals(setup)],
]
test.each(unreadable)('[O21, S15] a record %s (%s): the logout is pending, no user is shown', async (...row) => {
  const [, keeping, spoil] = row
  setup = await startPausableSetup({ keeping })
  const browser = await setup.loggedInBrowser()
  await spoil()
  expect((await post(browser)).json).toEqual({ status: 'none', logout: 'pending' })
  expect(browser.cookie('sso2.o')).toBeDefined()
  await expectOver(setup, browser)
})

test('[S15] logout of all with a record whose seal is broken: the sessions of other devices end here, too', async () => {
  setup = await startPausableSetup()
  const [phone, laptop] = [await setup.loggedInBrowser(), await setup.loggedInBrowser()]
  await breakSeals(setup)
  expect((await post(laptop, '/logout-all')).json).toEqual({ status: 'none', logout: 'pending' })
  expect(basket(await phone.fetchJson(setup.at('/basket'))).status).toBe('none')
  await expectOver(setup, laptop)
})

/* Two sessions of this site may belong to one session of the SSO system: a logout of one ends the other at once. */
const ways = keepings.flatMap((keeping) => ['/logout', '/logout-all'].map((path) => [path, keeping] as const))
test.each(ways)('[S16] %s, with %s, leaves no other session of the same SSO session', async (path, keeping) => {
  setup = await startPausableSetup({ keeping })
  const browser = await setup.loggedInBrowser()
  const old = browser.cookies.filter(isOurs).map(({ name, value }) => `${name}=${value}`)
  const withOld = { headers: { cookie: old.join('; ') } }
  const statusWithOld = async () => basket(await setup.browser().fetchJson(setup.at('/basket'), withOld)).status
  browser.dropCookies(isOurs)
  expect([view(await browser.visit(setup.at('/'))).status, await statusWithOld()]).toEqual(['loggedin', 'loggedin'])
  const before = setup.countCalls('sessionstatus')
  expect((await browser.fetchJson(setup.at(path), { json: {} })).json).toMatchObject({ logout: 'confirmed' })
  expect(await statusWithOld()).toBe('none')
  expect(setup.countCalls('sessionstatus')).toBe(before) // known here, and not asked of the SSO system
})
