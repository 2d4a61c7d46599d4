import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { demoOptions } from '../../lib/emulator'
import { shortHash } from '../../lib/storage/site-store'
import { cookieHeader } from '../support/addresses'
import type { Browser } from '../support/agent'
import { exchange } from '../support/pausable-setup'
import { ada, grace, loggedInBrowser, present, type Setup, useSetup, visitor } from '../support/setup'
import { withPages } from '../support/site'

/* Requests at once: of one browser, and of many. */

const ROUNDS = 12
const rounds = Array.from({ length: ROUNDS }, (_none, index) => index)
const people = rounds.map((index) => ({
  accountId: `account-user-${index}`,
  username: `user-${index}`,
  password: `password-of-${index}`,
}))
const somewhile = () => sleep(Math.random() * 30)

const setup: Setup = useSetup({
  emulator: { accounts: [...present(demoOptions().accounts), ...people] },
  site: {
    timeoutMs: 10_000,
    exchangeTicket: async (ticket, context) => {
      await somewhile()
      return exchange(setup, ticket, context)
    },
    loadUser: async ({ api }) => {
      await somewhile()
      const { item } = (await api.get('/external/api/v1/me')) as { item: { account_id: string; username: string } }
      return { accountId: item.account_id, username: item.username }
    },
  },
})

/** A page of this site writes to `req.session` long after its session has ended. */
const late = useSetup({
  build: withPages((app, _sso, gates) => {
    app.post('/late', async (req, res) => {
      await req.sso2.login(ada)
      res.flushHeaders()
      await gates.wait(String(req.query['gate']))
      Object.assign(req.session, { late: 'data' })
      res.end('{}')
    })
  }) as never,
})

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

test(`[L2, L9] ${ROUNDS} times, of two logins at once in one session one wins, and all is that account's`, async () => {
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

test(`[L9, O13] ${ROUNDS} people log in at once, and each session has its own user`, async () => {
  const login = async ({ username, password, accountId }: (typeof people)[number]) => {
    const browser = await visitor(setup)
    const { sidHash } = await recordOf(browser)
    const user = { accountId, username }
    const { status, json } = await ask(browser, '/login', { username, password })
    expect([status, json.user]).toEqual([200, user])
    const record = await recordOf(browser)
    expect([record.user, record.sidHash]).toEqual([user, sidHash])
    const own = setup.emulator.sessions().filter((session) => session.accountId === accountId)
    expect(own.map((session) => [session.status, shortHash(session.sid)])).toEqual([['loggedin', sidHash]])
  }
  await Promise.all(people.map(login))
})

test('[S6] the first write to req.session after a login that a logout has ended, later than its trace → nothing is created', async () => {
  const keysOf = (kind: string) => setup.redis.keys(`${late.morning.prefix}${kind}:*`)
  const other = await loggedInBrowser(late)
  const browser = await visitor(late)
  const gate = late.morning.gates.add()
  const slow = browser.fetchJson(`${late.morning.url}/late?gate=${gate.name}`, { json: {} })
  await gate.arrived
  expect(await keysOf('sess')).toEqual([])
  await other.fetchJson(`${late.morning.url}/logout-all`, { json: {} })
  for (const key of await keysOf('sso2')) await setup.redis.del(key) // as if the trace had expired
  gate.open()
  await slow
  expect(await keysOf('sess')).toEqual([])
})
