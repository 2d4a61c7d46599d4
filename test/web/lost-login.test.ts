import { hkdfSync } from 'node:crypto'
import { sessionKey } from '../../lib/storage/site-store'
import { digestOf } from '../../lib/web/actions/login-single-flight'
import {
  ada,
  eventually,
  grace,
  loggedInBrowser,
  present,
  type Setup,
  sessionIdOf,
  sessionSecret,
  startSetup,
  visitor,
} from '../flows/setup'
import { siteOver, stores } from '../storage/stores'
import type { Browser } from '../support/agent'
import { loggerTo } from '../support/log-lines'

/*
 * A login whose response is lost, or whose process died before its response: the next step is decided by Session Status, and the attempt
 * is counted as the platform judged it. test/flows/login-death.test.ts kills processes.
 */

const key = Buffer.from(hkdfSync('sha256', sessionSecret, '', 'express-sso2 box', 32))
const device = { ipa: '192.0.2.1', uas: 'a browser' }
const openStore = present(stores.find(([name]) => name === 'Redis'))[1]
const kv = openStore({ now: 0 })

let setup: Setup
let lines: string[]
beforeEach(async () => {
  lines = []
  const logger = loggerTo(lines)
  setup = await startSetup({ site: { loginLimit: { attempts: 10, perSeconds: 600 }, logger } })
})
afterEach(() => setup.close())
afterAll(() => kv.close())

const now = () => Math.floor(setup.emulator.clock.now() / 1000)
const stored = () => siteOver(kv, { now: now() }, setup.morning.prefix, [key])
const keyOf = (browser: Browser) => sessionKey(sessionIdOf(browser))

/** The ID of the browser's SSO session. */
async function sidOf(browser: Browser): Promise<string> {
  const { records } = stored()
  const found = await records.read(keyOf(browser))
  if (found === 'unavailable' || found.state !== 'live') throw new Error('there is no session')
  return present(records.open(found.record)).sid
}

/** Leaves the form of a process that has died. */
async function leaveForm(browser: Browser): Promise<void> {
  const begin = (raw: string | null) =>
    stored().logins.beginForm(keyOf(browser), raw, digestOf([ada.username, ada.password]))
  const form = await begin(await setup.redis.get(`${setup.morning.prefix}login:{${keyOf(browser)}}`)) // after an earlier form, if any
  expect(form).toMatchObject({ held: expect.any(String) })
  await kv.expire(`${setup.morning.prefix}login:{${keyOf(browser)}}`, 17)
}

/** What the dead process did at the SSO system. */
async function authenticate(browser: Browser): Promise<void> {
  const credentials = { sid: await sidOf(browser), usr: ada.username, pwd: ada.password, ...device }
  expect(await setup.morning.sso.client.authenticate(credentials)).toMatchObject({ sts: 'loggedin' })
}

const logIn = async (browser: Browser) => {
  const { status, json } = await browser.fetchJson(`${setup.morning.url}/login`, { json: ada })
  return [status, json.error]
}
const isLoggedIn = async (browser: Browser) => (await browser.fetchJson(`${setup.morning.url}/account`)).status === 200

/** The attempts at the username that are counted by the guard. */
async function attempts(): Promise<number> {
  const [name] = await setup.redis.keys(`${setup.morning.prefix}limit:guard:*`)
  return name === undefined ? 0 : Number(await setup.redis.get(name))
}

describe('a process died during a login', () => {
  test('that succeeded: the next submit is logged in without another Authenticate', async () => {
    const browser = await visitor(setup)
    await leaveForm(browser)
    await authenticate(browser)
    const before = setup.countCalls('authenticate')
    expect(await logIn(browser)).toEqual([200, undefined])
    expect([setup.countCalls('authenticate') - before, await isLoggedIn(browser)]).toEqual([0, true])
    expect([await attempts(), browser.cookie('sso2.d')]).toEqual([0, undefined])
  })

  test('before Authenticate: the next submit sends it', async () => {
    const browser = await visitor(setup)
    await leaveForm(browser)
    expect(await logIn(browser)).toEqual([200, undefined])
    expect([setup.countCalls('authenticate'), await isLoggedIn(browser)]).toEqual([1, true])
    expect(await attempts()).toBe(0)
  })

  test.each([
    ['before Authenticate', 'no user', false],
    ['that succeeded', 'the user', true],
  ])('%s, without a Session Status: nothing is sent or counted, the next page shows %s', async (...row) => {
    const [, , hasSucceeded] = row
    const browser = await visitor(setup)
    await leaveForm(browser)
    if (hasSucceeded) await authenticate(browser)
    const before = setup.countCalls('authenticate')
    const { id } = setup.emulator.faults.add({ operation: 'sessionstatus', kind: 'status', code: 503 })
    expect(await logIn(browser)).toEqual([503, 'unavailable'])
    expect([setup.countCalls('authenticate') - before, await attempts()]).toEqual([0, 0])
    setup.emulator.faults.clear(id)
    expect(await isLoggedIn(browser)).toBe(hasSucceeded)
  })

  test('and the user of an earlier login is not known yet: no Authenticate is sent', async () => {
    const browser = await visitor(setup)
    const { id } = setup.emulator.faults.add({ operation: 'token', kind: 'status', code: 503 })
    expect(await browser.fetchJson(`${setup.morning.url}/login`, { json: grace })).toMatchObject({ status: 503 })
    setup.emulator.faults.clear(id)
    await leaveForm(browser)
    const before = setup.countCalls('authenticate')
    expect(await logIn(browser)).toEqual([503, 'unavailable'])
    expect(setup.countCalls('authenticate')).toBe(before)
    expect((await browser.fetchJson(`${setup.morning.url}/account`)).json).toMatchObject({ username: 'grace' })
  })

  test('and the outcome of an earlier login was unknown: Session Status tells of both, and the submit is sent', async () => {
    const browser = await visitor(setup)
    const { faults } = setup.emulator
    const lost = (['authenticate', 'sessionstatus'] as const).map((operation) =>
      faults.add({ operation, kind: 'down' }),
    )
    const wrong = { json: { ...grace, password: 'not-it' } }
    expect(await browser.fetchJson(`${setup.morning.url}/login`, wrong)).toMatchObject({ status: 503 })
    for (const { id } of lost) faults.clear(id)
    await leaveForm(browser)
    expect(await logIn(browser)).toEqual([200, undefined])
  })

  test('and the SSO session has ended: the visitor gets a new session', async () => {
    const browser = await visitor(setup)
    await leaveForm(browser)
    setup.emulator.terminate(await sidOf(browser))
    expect(await logIn(browser)).toEqual([401, 'session_ended'])
    expect([setup.countCalls('authenticate'), await attempts()]).toEqual([0, 0])
    await browser.visit(`${setup.morning.url}/`)
    expect(await logIn(browser)).toEqual([200, undefined])
  })

  test('of a user who was logged in: no Authenticate is sent, and the user stays logged in', async () => {
    const browser = await loggedInBrowser(setup)
    await leaveForm(browser)
    const before = setup.countCalls('authenticate')
    expect(await logIn(browser)).toEqual([503, 'unavailable'])
    expect([setup.countCalls('authenticate') - before, await isLoggedIn(browser)]).toEqual([0, true])
  })
})

describe('the response to Authenticate is lost', () => {
  test('after a success: no attempt is counted, but the browser is not known: the password was not judged', async () => {
    const browser = await visitor(setup)
    setup.emulator.faults.add({ operation: 'authenticate', kind: 'drop_after_commit', times: 1 })
    expect(await logIn(browser)).toEqual([200, undefined])
    expect([setup.countCalls('authenticate'), await isLoggedIn(browser)]).toEqual([1, true])
    expect([await attempts(), browser.cookie('sso2.d')]).toEqual([0, undefined])
    expect(await logIn(browser)).toEqual([200, undefined])
    expect(browser.cookie('sso2.d')).toEqual(expect.any(String))
  })

  test('and the session is anonymous: the attempt counts as a wrong password, and the next page does not ask again', async () => {
    const browser = await visitor(setup)
    setup.emulator.faults.add({ operation: 'authenticate', kind: 'garbage', times: 1 })
    expect(await logIn(browser)).toEqual([503, 'unavailable'])
    expect([setup.countCalls('authenticate'), await isLoggedIn(browser)]).toEqual([1, false])
    expect([setup.countCalls('sessionstatus'), await attempts()]).toEqual([1, 1])
  })

  test('and the user of an earlier login is not known yet: Session Status does not tell, so nobody is let in', async () => {
    const browser = await visitor(setup)
    const { faults } = setup.emulator
    const { id } = faults.add({ operation: 'token', kind: 'status', code: 503 })
    expect(await logIn(browser)).toEqual([503, 'unavailable'])
    faults.clear(id)
    faults.add({ operation: 'authenticate', kind: 'drop_after_commit' })
    const wrong = { json: { username: 'grace', password: 'not-the-password' } }
    const { status, json } = await browser.fetchJson(`${setup.morning.url}/login`, wrong)
    expect([status, json.error]).toEqual([503, 'unavailable'])
    expect(await isLoggedIn(browser)).toBe(true) // the first login, which the next page completes
  })

  test('because the SSO system had no time for it: no attempt is counted', async () => {
    const browser = await visitor(setup)
    setup.emulator.faults.add({ operation: 'authenticate', kind: 'status', code: 503 })
    expect(await logIn(browser)).toEqual([503, 'unavailable'])
    expect([setup.countCalls('authenticate'), await attempts()]).toEqual([1, 0])
  })
})

test('while the SSO system is known to be down, nothing is sent, and no attempt is counted', async () => {
  const { emulator, morning, countCalls } = setup
  const [browser, other] = [await visitor(setup), await loggedInBrowser(setup)]
  const known = await attempts()
  const all = ['identify', 'authenticate', 'sessionstatus'] as const
  for (const operation of all) emulator.faults.add({ operation, kind: 'down' })
  await eventually(async () => {
    await other.fetchJson(`${morning.url}/sensitive`)
    return (await morning.sso.health()).sso !== 'ok'
  })
  const before = [countCalls('sessionstatus'), countCalls('authenticate')]
  expect(await logIn(browser)).toEqual([503, 'unavailable'])
  expect([countCalls('sessionstatus'), countCalls('authenticate')]).toEqual(before)
  expect(await attempts()).toEqual(known)
  expect(lines.filter((line) => line.includes('authenticate failed'))).toEqual([])
})
