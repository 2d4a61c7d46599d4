import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import express from 'express'
import type { Sso2 } from '../../lib'
import { demoOptions } from '../../lib/emulator'
import { shortHash } from '../../lib/storage/site-store'
import { exchange } from '../regressions/pausable-setup'
import type { Browser } from '../support/agent'
import { ada, addPages, eventually, type Gates, grace, present, type Setup, useSetup, visitor } from '../support/setup'
import { cookieHeader, forAll } from './address-support'

/* Requests of one browser at once. */

const ROUNDS = 30
const AT_ONCE = 16
const rounds = Array.from({ length: ROUNDS }, (_none, index) => index)

/** Hooks take a while, each time another one. */
let isSlow = false

const people = rounds.map((index) => ({
  accountId: `account-user-${index}`,
  username: `user-${index}`,
  password: `password-of-${index}`,
}))

const somewhile = async () => {
  if (isSlow) await sleep(Math.random() * 30)
}

function build(sso: Sso2, gates: Gates) {
  const app = express()
  app.use(sso)
  app.get('/whose', async (req, res) => {
    const { item } = (await req.sso2.api.get('/external/api/v1/me')) as { item: { username: string } }
    const { user } = req.sso2
    res.json({ user: user && 'username' in user ? user.username : undefined, api: item.username })
  })
  return addPages(app, sso, gates)
}

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
  build,
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

/** A slow request that is under way, and will save the session's data when it is let go. */
async function slowSave(browser: Browser) {
  const gate = setup.morning.gates.add()
  const answer = ask(browser, `/save?gate=${gate.name}&value=late`)
  await gate.arrived
  return { open: gate.open, answer }
}

/** Does another request while the save is under way: the save ends after it, or at the same time. */
async function whileSaving<T>(browser: Browser, isAfter: boolean, act: () => Promise<T>): Promise<T> {
  const slow = await slowSave(browser)
  if (!isAfter) slow.open()
  const result = await act()
  slow.open()
  const { status, headers } = await slow.answer
  expect([status, headers['set-cookie']]).toEqual([200, undefined])
  return result
}

/** Data in the session, which a Redis that a busy machine keeps back does not take at once. */
const keep = (browser: Browser) =>
  eventually(async () => {
    await ask(browser, '/keep')
    return (await ask(browser, '/')).json.saved === 'kept'
  })

async function saveRound(index: number): Promise<void> {
  const isAfter = index % 2 === 0
  const browser = await visitor(setup)
  await keep(browser)
  const anonymous = cookieOf(browser)
  const login = await whileSaving(browser, isAfter, () => ask(browser, '/login', ada))
  expect([login.status, login.json.user?.username]).toEqual([200, 'ada'])
  const known = cookieOf(browser)
  expect(known).not.toBe(anonymous)
  const page = await ask(browser, '/')
  expect(page.json).toMatchObject({ status: 'loggedin', username: 'ada' })
  expect(isAfter ? ['kept'] : ['kept', 'late']).toContain(page.json.saved)
  await expectDead(anonymous)

  const logout = await whileSaving(browser, isAfter, () => ask(browser, '/logout', {}))
  expect(logout.status).toBe(200)
  expect((await ask(browser, '/')).json).toEqual({ status: 'none', url: '/' })
  await expectDead(known)
}

test(`[S6] ${ROUNDS} times, a slow save of req.session changes neither a login nor a logout`, async () => {
  await forAll(rounds, saveRound, AT_ONCE)
  expect(setup.countCalls('authenticate')).toBe(ROUNDS)
}, 180_000)

async function twoLogins(index: number): Promise<void> {
  const browser = await visitor(setup)
  const headers = { cookie: cookieHeader(browser, setup.morning.url) }
  const tabs = [ada, grace].map((account) => {
    const tab = setup.browser({ headers })
    return { tab, account, answer: ask(tab, '/login', account) }
  })
  let won = 0
  for (const { tab, account, answer } of index % 2 ? tabs : tabs.reverse()) {
    const { status, json } = await answer
    if (status === 200) {
      const { username } = account
      expect(json.user.username).toBe(username)
      expect((await ask(tab, '/whose')).json).toEqual({ user: username, api: username })
      expect((await recordOf(tab)).user.username).toBe(username)
      won += 1
    } else {
      expect([status, json.error]).toEqual([expect.any(Number), expect.stringMatching(/^(busy|session_ended)$/)])
      expect(json.user).toBeUndefined()
    }
  }
  expect(won).toBe(1)
  await expectDead(cookieOf(browser))
}

test(`[L2, L9] ${ROUNDS} times, of two logins at once in one session one wins, and all is that account's`, async () => {
  await forAll(rounds, twoLogins, AT_ONCE)
}, 180_000)

test(`[L9, O13] ${ROUNDS} people log in at once, and each session has its own user`, async () => {
  const all = await forAll(people, async ({ username, password, accountId }) => {
    const browser = await visitor(setup)
    const { sidHash } = await recordOf(browser)
    return { browser, sidHash, password, user: { accountId, username } }
  })
  isSlow = true
  await Promise.all(
    all.map(async ({ browser, user, password }) => {
      const { status, json } = await ask(browser, '/login', { username: user.username, password })
      expect([status, json.user]).toEqual([200, user])
    }),
  )
  isSlow = false
  for (const { browser, sidHash, user } of all) {
    expect((await ask(browser, '/whose')).json).toEqual({ user: user.username, api: user.username })
    const record = await recordOf(browser)
    expect([record.user, record.sidHash]).toEqual([user, sidHash])
    const own = setup.emulator.sessions().filter(({ accountId }) => accountId === user.accountId)
    expect(own.map(({ status, sid }) => [status, shortHash(sid)])).toEqual([['loggedin', sidHash]])
  }
}, 180_000)
