import { setTimeout as sleep } from 'node:timers/promises'
import express from 'express'
import type { AccessToken, ExchangeContext, Sso2 } from '../../lib'
import { ada, addPages, type Gates, grace, type Network, present, startNetwork } from '../flows/network'
import { anonymousSessions, expectDead, inBatches, limits, Racers, ROUNDS, storedUnder } from './races-support'

const AT_ONCE = 16
const PEOPLE = 60

let network: Network
let racers: Racers
let sids: string[]
const exchanged = new Map<string, number>()

const people = Array.from({ length: PEOPLE }, (_, index) => ({
  accountId: `account-${index}`,
  username: `reader-${index}`,
  password: `password-of-${index}`,
  name: `Reader ${index}`,
  email: `reader-${index}@demo-press.example`,
}))
const accounts = [
  ...[ada, grace].map(({ username, password }) => ({
    accountId: `account-${username}`,
    username,
    password,
    name: username,
    email: `${username}@demo-press.example`,
  })),
  ...people,
]

const somewhile = () => sleep(Math.random() * 30)

/** Tickets of the landings below are made up here; all others are exchanged for real. */
async function exchangeTicket(ticket: string, { sid }: ExchangeContext): Promise<AccessToken> {
  exchanged.set(ticket, (exchanged.get(ticket) ?? 0) + 1)
  if (ticket.startsWith('made-up')) return 'an-access-token'
  if (sid.startsWith('slow')) await somewhile()
  const { clientId, clientSecret, tokenUrl } = network.emulator.siteOptions('morning')
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

beforeAll(async () => {
  const anonymous = anonymousSessions(2 * ROUNDS)
  const slow = anonymousSessions(PEOPLE).map((session) => ({
    ...session,
    sid: `slow-${session.sid}`,
    browser: `slow-${session.browser}`,
  }))
  sids = anonymous.map(({ sid }) => sid)
  network = await startNetwork({
    emulator: { sessions: [...anonymous, ...slow], accounts, limits },
    site: {
      timeoutMs: 10_000,
      exchangeTicket,
      loadUser: async ({ accessToken, api, sid }) => {
        if (accessToken === 'an-access-token') return { accountId: 'account-ada', username: 'ada' }
        if (sid.startsWith('slow')) await somewhile()
        const { item } = (await api.get('/external/api/v1/me')) as { item: { account_id: string; username: string } }
        return { accountId: item.account_id, username: item.username }
      },
    },
    build,
  })
  racers = await Racers.of(network)
})
afterAll(async () => {
  racers?.close()
  await network?.close()
})

async function twoLogins(index: number): Promise<string> {
  const racer = racers.racer()
  await racer.land(racers.landing({ sid: sids[index] }))
  const old = racer.sid
  const tabs = [ada, grace].map((account) => {
    const tab = racers.racer()
    for (const [name, value] of racer.jar) tab.jar.set(name, value)
    return { tab, account, answer: tab.script('/login', account) }
  })
  const won: string[] = []
  for (const { tab, account, answer } of index % 2 ? tabs : tabs.reverse()) {
    const { status, json } = await answer
    if (status === 200) {
      expect(json.user.username).toBe(account.username)
      const whose = (await tab.script('/whose')).json
      expect(whose).toEqual({ user: account.username, api: account.username })
      const [, record] = await storedUnder(network, tab.sid)
      expect(JSON.parse(present(record)).user.username).toBe(account.username)
      won.push(account.username)
    } else {
      expect([status, json.error]).toEqual([expect.any(Number), expect.stringMatching(/^(busy|session_ended)$/)])
      expect(json.user).toBeUndefined()
    }
  }
  expect(won).toHaveLength(1)
  await expectDead(racers, old)
  return present(won[0])
}

test(`[L2, L9] ${ROUNDS} times, of two logins at once in one session one wins, and all is that account's`, async () => {
  await inBatches(ROUNDS, AT_ONCE, async (index) => void (await twoLogins(index)))
}, 180_000)

async function twoLandings(index: number): Promise<void> {
  const ticket = `made-up-${index}`
  const racer = racers.racer()
  const hasSession = index % 2 === 0
  if (hasSession) await racer.land(racers.landing({ sid: sids[index] }))
  const old = racer.jar.get('sso2.sid')
  const landing = racers.landing({ sid: sids[index], sts: 'loggedin', at: ticket })
  const stranger = racers.racer()
  const third = index % 10 === 0 ? stranger.land(landing, false) : undefined
  const both = await Promise.all([racer.land(landing), racer.land(landing)])
  expect(both.map(({ status }) => status)).toEqual([303, 303])
  expect(both.filter(({ sets }) => sets.includes('sso2.sid'))).toHaveLength(1)
  expect((await racer.script('/')).json).toEqual({ status: 'loggedin', username: 'ada', url: '/' })
  expect(exchanged.get(ticket)).toBe(1)
  if (old !== undefined) await expectDead(racers, old)
  if (!third) return
  expect((await third).sets).not.toContain('sso2.sid')
  expect((await stranger.script('/')).json).toEqual({ status: 'none', url: '/' })
}

test(`[L3] ${ROUNDS} times, a token that lands twice at once is used once, and the browser is logged in`, async () => {
  exchanged.clear()
  await inBatches(ROUNDS, AT_ONCE, (index) => twoLandings(ROUNDS + index))
  expect(exchanged.size).toBe(ROUNDS)
}, 180_000)

test(`[L9, O13] ${PEOPLE} people log in at once, and everybody is who they are`, async () => {
  const everybody = await Promise.all(
    people.map(async (person, index) => {
      const racer = racers.racer()
      await racer.land(racers.landing({ sid: `slow-sid-${index}` }))
      return { person, racer }
    }),
  )
  await Promise.all(
    everybody.map(async ({ racer, person: { username, password, accountId } }) => {
      const { status, json } = await racer.script('/login', { username, password })
      expect([status, json.user]).toEqual([200, { accountId, username }])
    }),
  )
  await Promise.all(
    everybody.map(async ({ racer, person: { username, accountId } }, index) => {
      expect((await racer.script('/whose')).json).toEqual({ user: username, api: username })
      const [, record] = await storedUnder(network, racer.sid)
      expect(JSON.parse(present(record)).user).toEqual({ accountId, username })
      const session = network.emulator.sessions().find(({ sid }) => sid === `slow-sid-${index}`)
      expect(session).toMatchObject({ status: 'loggedin', accountId })
    }),
  )
}, 180_000)
