import { setTimeout as sleep } from 'node:timers/promises'
import express from 'express'
import type { AccessToken, ExchangeContext, Sso2 } from '../../lib'
import { ada, addPages, eventually, type Gates, grace, present, type Setup, startSetup } from '../flows/setup'
import { forAll } from './address-support'
import { anonymousSessions, expectDead, limits, type Racer, Racers, storedUnder } from './races-support'

/* Requests of one browser at once. All orders of their steps are in test/interleavings. */

const ROUNDS = 30
const AT_ONCE = 16
const rounds = Array.from({ length: ROUNDS }, (_none, index) => index)

let setup: Setup
let racers: Racers

const accountOf = (username: string, password: string) => ({
  accountId: `account-${username}`,
  username,
  password,
  name: username,
  email: `${username}@demo-press.example`,
})
const people = rounds.map((index) => accountOf(`user-${index}`, `password-of-${index}`))
const accounts = [...people, ...[ada, grace].map(({ username, password }) => accountOf(username, password))]

const somewhile = () => sleep(Math.random() * 30)

async function exchangeTicket(ticket: string, { sid }: ExchangeContext): Promise<AccessToken> {
  if (sid.startsWith('slow')) await somewhile()
  const { clientId, clientSecret, tokenUrl } = setup.emulator.siteOptions('morning')
  const form = { grant_type: 'authorization_code', code: ticket, client_id: clientId, client_secret: clientSecret }
  const answer = await fetch(tokenUrl, { method: 'POST', body: new URLSearchParams(form) })
  if (!answer.ok) throw new Error(`the ticket was refused: ${answer.status}`)
  return answer.json() as Promise<AccessToken>
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

/** A browser with an anonymous session. */
async function visitor(sid: string): Promise<Racer> {
  const racer = racers.racer()
  // a busy machine may keep Redis back, and a landing without Redis gives no session
  await eventually(async () => {
    await racer.land(racers.landing({ sid }))
    return racer.jar.has('sso2.sid')
  })
  return racer
}

beforeAll(async () => {
  const kinds = ['save', 'login', 'slow', 'own']
  setup = await startSetup({
    emulator: { sessions: kinds.flatMap((kind) => anonymousSessions(ROUNDS, kind)), accounts, limits },
    site: {
      timeoutMs: 10_000,
      exchangeTicket,
      loadUser: async ({ api, sid }) => {
        if (sid.startsWith('slow')) await somewhile()
        const { item } = (await api.get('/external/api/v1/me')) as { item: { account_id: string; username: string } }
        return { accountId: item.account_id, username: item.username }
      },
    },
    build,
  })
  racers = await Racers.of(setup)
})
afterAll(async () => {
  racers?.close()
  await setup?.close()
})

/** A slow request that is under way, and will save the session's data when it is let go. */
async function slowSave(racer: Racer) {
  const gate = setup.morning.gates.add()
  const answer = racer.script(`/save?gate=${gate.name}&value=late`)
  await gate.arrived
  return { open: gate.open, answer }
}

/** Does another request while the save is under way: the save ends after it, or at the same time. */
async function whileSaving<T>(racer: Racer, isAfter: boolean, act: () => Promise<T>): Promise<T> {
  const slow = await slowSave(racer)
  if (!isAfter) slow.open()
  const result = await act()
  slow.open()
  const { status, sets } = await slow.answer
  expect([status, sets]).toEqual([200, []])
  return result
}

/** Data in the session, which a Redis that a busy machine keeps back does not take at once. */
const keep = (racer: Racer) =>
  eventually(async () => {
    await racer.script('/keep')
    return (await racer.script('/')).json.saved === 'kept'
  })

async function saveRound(index: number): Promise<void> {
  const isAfter = index % 2 === 0
  const racer = await visitor(`save-${index}`)
  await keep(racer)
  const anonymous = racer.sid
  const login = await whileSaving(racer, isAfter, () => racer.script('/login', ada))
  expect([login.status, login.json.user?.username]).toEqual([200, 'ada'])
  const known = racer.sid
  expect(known).not.toBe(anonymous)
  const page = await racer.script('/')
  expect(page.json).toMatchObject({ status: 'loggedin', username: 'ada' })
  expect(isAfter ? ['kept'] : ['kept', 'late']).toContain(page.json.saved)
  await expectDead(racers, anonymous)

  const logout = await whileSaving(racer, isAfter, () => racer.script('/logout', {}))
  expect(logout.status).toBe(200)
  expect((await racer.script('/')).json).toEqual({ status: 'none', url: '/' })
  await expectDead(racers, known)
}

test(`[S6] ${ROUNDS} times, a slow save of req.session changes neither a login nor a logout`, async () => {
  await forAll(rounds, saveRound, AT_ONCE)
  expect(setup.countCalls('authenticate')).toBe(ROUNDS)
}, 180_000)

async function twoLogins(index: number): Promise<void> {
  const racer = await visitor(`login-${index}`)
  const old = racer.sid
  const tabs = [ada, grace].map((account) => {
    const tab = racers.racer()
    for (const [name, value] of racer.jar) tab.jar.set(name, value)
    return { tab, account, answer: tab.script('/login', account) }
  })
  let won = 0
  for (const { tab, account, answer } of index % 2 ? tabs : tabs.reverse()) {
    const { status, json } = await answer
    if (status === 200) {
      expect(json.user.username).toBe(account.username)
      const whose = (await tab.script('/whose')).json
      expect(whose).toEqual({ user: account.username, api: account.username })
      const [, record] = await storedUnder(setup, tab.sid)
      expect(JSON.parse(present(record)).user.username).toBe(account.username)
      won += 1
    } else {
      expect([status, json.error]).toEqual([expect.any(Number), expect.stringMatching(/^(busy|session_ended)$/)])
      expect(json.user).toBeUndefined()
    }
  }
  expect(won).toBe(1)
  await expectDead(racers, old)
}

test(`[L2, L9] ${ROUNDS} times, of two logins at once in one session one wins, and all is that account's`, async () => {
  await forAll(rounds, twoLogins, AT_ONCE)
}, 180_000)

test(`[L9, O13] ${ROUNDS} people log in at once, and each session has its own user`, async () => {
  const all = await Promise.all(
    people.map(async (person, index) => ({ person, racer: await visitor(`slow-${index}`), sid: `slow-${index}` })),
  )
  await Promise.all(
    all.map(async ({ racer, person: { username, password, accountId } }) => {
      const { status, json } = await racer.script('/login', { username, password })
      expect([status, json.user]).toEqual([200, { accountId, username }])
    }),
  )
  for (const { racer, sid, person } of all) {
    const { username, accountId } = person
    expect((await racer.script('/whose')).json).toEqual({ user: username, api: username })
    const [, record] = await storedUnder(setup, racer.sid)
    expect(JSON.parse(present(record)).user).toEqual({ accountId, username })
    const session = setup.emulator.sessions().find((one) => one.sid === sid)
    expect(session).toMatchObject({ status: 'loggedin', accountId })
  }
}, 180_000)

test('[S6] a slow save by a session that renews its ID by itself sets no old cookie either', async () => {
  const racer = await visitor('own-0')
  expect((await racer.script('/login', ada)).status).toBe(200)
  const old = racer.sid
  const other = await slowSave(racer)
  setup.emulator.clock.advance(361)
  setup.emulator.terminate('own-0')
  expect((await racer.script('/')).json.status).toBe('none')
  other.open()
  expect((await other.answer).sets).toEqual([])
  await expectDead(racers, old)
})
