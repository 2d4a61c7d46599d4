import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { cookieHeader } from '../support/addresses'
import type { Browser } from '../support/agent'
import { clientFailingAt } from '../support/failing-store'
import { document, hearEvents } from '../support/landing'
import { hop } from '../support/pausable-setup'
import { ada, grace, loggedInBrowser, logInAtLast, present, type Setup, useSetup, visitor } from '../support/setup'
import { Turnstile } from '../support/turnstile'

/* Requests at once: of one browser, and of many. */

const ROUNDS = 12
const rounds = Array.from({ length: ROUNDS }, (_none, index) => index)
const somewhile = () => sleep(Math.random() * 30)

const setup: Setup = useSetup({
  site: {
    timeoutMs: 10_000,
    loadUser: async ({ api }) => {
      await somewhile()
      const { item } = (await api.get('/external/api/v1/me')) as { item: { account_id: string; username: string } }
      return { accountId: item.account_id, username: item.username }
    },
  },
})

const [loading, turnstile] = [new Turnstile(), new Turnstile()]
const trouble = { isUnknown: false, isFull: false }
const redis = clientFailingAt(
  ({ name, args: [key] }) => trouble.isFull && name === 'set' && String(key).includes(':sso2:'),
)
/** `loadUser` waits at a turnstile. `onLogin` of the morning site writes to `req.session` when the other one lets it. */
const late = useSetup({
  site: (name) => ({
    ...(name === 'morning' ? { redis } : {}),
    loadUser: async () => {
      await loading.pass()
      if (trouble.isUnknown) throw new Error('no user')
      return { accountId: 'account-ada', username: 'ada' }
    },
    onLogin: async ({ session }) => {
      if (name !== 'morning') return
      await turnstile.pass()
      await promisify((done: (error?: unknown) => void) => Object.assign(session, { late: 'data' }).save(done))()
    },
  }),
})

afterAll(() => redis.disconnect())
const atLate = (path: string) => `${late.morning.url}${path}`

const ask = (browser: Browser, path: string, json?: object) =>
  browser.fetchJson(`${setup.morning.url}${path}`, { json })
const cookieOf = (browser: Browser) => present(browser.cookie('sso2.sid'))

/** Data and record of the session that a cookie names. */
async function storedUnder(cookie: string): Promise<(string | null)[]> {
  const id = decodeURIComponent(cookie).replace(/^s:|\..*$/g, '')
  const key = createHash('sha256').update(id).digest('base64url')
  const { prefix } = setup.morning
  return setup.redis.mget(`${prefix}sess:{${key}}`, `${prefix}sso2:{${key}}`)
}

async function recordOf(browser: Browser) {
  const [, record] = await storedUnder(cookieOf(browser))
  return JSON.parse(present(record))
}

/** The session that a cookie names is dead: nothing of it is kept, and a browser that sends it has no user. */
async function expectDead(cookie: string): Promise<void> {
  const [data, record] = await storedUnder(cookie)
  expect([data, record?.replace(/^gone:.*/, 'gone') ?? 'gone']).toEqual([null, 'gone']) // the trace lives a few seconds
  const { json, headers } = await ask(setup.browser({ headers: { cookie: `sso2.sid=${cookie}` } }), '/')
  expect([json.status, json.username, json.saved]).toEqual(['none', undefined, undefined])
  expect(headers['set-cookie']).toBeUndefined()
}

/** Does another request while a save of the session is under way, which ends after it, or at the same time. */
async function whileSaving<T>(browser: Browser, isAfter: boolean, act: () => Promise<T>): Promise<T> {
  const gate = setup.morning.gates.add()
  const slow = ask(browser, `/save?gate=${gate.name}&value=late`)
  await gate.arrived
  if (!isAfter) gate.open()
  const result = await act()
  gate.open()
  const { status, headers } = await slow
  expect([status, headers['set-cookie']]).toEqual([200, undefined])
  return result
}

test(`[S6] ${ROUNDS} times, a slow save of req.session changes neither a login nor a logout`, async () => {
  const round = async (index: number) => {
    const isAfter = index % 2 === 0
    const browser = await visitor(setup)
    await ask(browser, '/keep')
    const anonymous = cookieOf(browser)
    const login = await whileSaving(browser, isAfter, () => ask(browser, '/login', ada))
    expect([login.status, login.json.user?.username]).toEqual([200, 'ada'])
    const known = cookieOf(browser)
    expect(known).not.toBe(anonymous)
    const { json } = await ask(browser, '/')
    expect(json).toMatchObject({ status: 'loggedin', username: 'ada' })
    expect(isAfter ? ['kept'] : ['kept', 'late']).toContain(json.saved)
    await expectDead(anonymous)
    expect((await whileSaving(browser, isAfter, () => ask(browser, '/logout', {}))).status).toBe(200)
    expect((await ask(browser, '/')).json).toEqual({ status: 'none', url: '/' })
    await expectDead(known)
  }
  await Promise.all(rounds.map(round))
  expect(setup.countCalls('authenticate')).toBe(ROUNDS)
})

test(`[L2, L9, O13] ${ROUNDS} times, of two logins at once in one session one wins, and all is that account's`, async () => {
  const round = async (index: number) => {
    const browser = await visitor(setup)
    const headers = { cookie: cookieHeader(browser, setup.morning.url) }
    const accounts = index % 2 ? [ada, grace] : [grace, ada]
    const logins = accounts.map(async ({ username, password }) => {
      const tab = setup.browser({ headers })
      const { status, json } = await ask(tab, '/login', { username, password })
      if (status !== 200) {
        expect([json.user, json.error]).toEqual([undefined, 'session_ended'])
        return false
      }
      expect([json.user.username, (await recordOf(tab)).user.username]).toEqual([username, username])
      return true
    })
    expect((await Promise.all(logins)).filter((hasWon) => hasWon)).toHaveLength(1)
    await expectDead(cookieOf(browser))
  }
  await Promise.all(rounds.map(round))
})

test('[S6] the first write to req.session after a login that a logout has ended, later than its trace → nothing is created', async () => {
  const keysOf = (kind: string) => setup.redis.keys(`${late.morning.prefix}${kind}:*`)
  const browser = await loggedInBrowser(late, ada, late.evening)
  const landing = await hop(browser, await hop(browser, atLate('/')))
  const held = turnstile.close()
  const slow = browser.fetchJson(landing, { headers: document })
  await held.arrived
  await setup.redis.del(await keysOf('sso2')) // as if the trace had expired
  held.open()
  await slow
  expect(await keysOf('sess')).toEqual([])
})

const logOut = (browser: Browser) => browser.fetchJson(atLate('/logout'), { json: {} })
const forget = async () => late.redis.del(await late.redis.keys(`${late.morning.prefix}sso2:*`))
test.each<[what: string, loginAt: 'morning' | 'evening', end: (browser: Browser) => unknown, isUnknown: boolean]>([
  ['a login ends', 'morning', logOut, false],
  ['a visit ends', 'evening', logOut, false],
  ['a visit ends, whose user cannot be loaded', 'evening', logOut, true],
  ['a visit is lost in Redis', 'evening', forget, false],
])('[L2, S6] %s during its landing → the landing gives no session, and its event says lost', async (...row) => {
  const [, loginAt, end] = row
  const browser = await visitor(late)
  await logInAtLast(browser, late[loginAt])
  const landing = await hop(browser, (await browser.fetchJson(atLate('/identify-me'))).json.identify)
  const [held, events] = [loading.close(), hearEvents()]
  const slow = browser.fetchJson(landing, { headers: document })
  await held.arrived
  await end(browser)
  trouble.isUnknown = row[3]
  held.open()
  const { headers } = await slow
  trouble.isUnknown = false
  events.stop()
  expect(String(headers['set-cookie'])).not.toContain('sso2.sid')
  expect(events.heard).toContain('landing unchanged lost')
})

test.each([
  ['a logout of all voids', async () => (await loggedInBrowser(late)).fetchJson(atLate('/logout-all'), { json: {} })],
  ['Redis does not store', () => Object.assign(trouble, { isFull: true })],
])(
  '[L13] the check of a page that writes to req.session sees a login, which %s → no cookie of a session',
  async (...row) => {
    const browser = await visitor(late)
    await logInAtLast(browser, late.evening)
    late.emulator.clock.advance(361)
    const held = loading.close()
    const slow = browser.fetchJson(atLate('/keep'))
    await held.arrived
    await row[1]()
    held.open()
    const { json, headers } = await slow
    trouble.isFull = false
    expect([json.status, headers['set-cookie']]).toEqual(['none', undefined])
  },
)
