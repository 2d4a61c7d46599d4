import { once } from 'node:events'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { ada, type Network, present, startNetwork } from '../flows/network'
import { callsAbout } from '../support/calls'
import {
  anonymousSessions,
  expectDead,
  inBatches,
  limits,
  type Racer,
  Racers,
  ROUNDS,
  storedUnder,
} from './races-support'

const AT_ONCE = 16

let network: Network
let racers: Racers
let sids: string[]
let held: HeldAnswers

beforeAll(async () => {
  const sessions = anonymousSessions(2 * ROUNDS + 1).map((session, index) =>
    isKnown(index) ? { ...session, status: 'loggedin' as const, accountId: 'account-ada' } : session,
  )
  sids = sessions.map(({ sid }) => sid)
  held = await holdAnswers()
  network = await startNetwork({
    emulator: { sessions, limits },
    site: {
      ssoUrl: held.url,
      timeoutMs: 4000,
      exchangeTicket: () => 'an-access-token',
      loadUser: () => ({ accountId: 'account-ada', username: 'ada' }),
    },
  })
  held.target = network.emulator.siteOptions('morning').ssoUrl
  racers = await Racers.of(network)
})
afterAll(async () => {
  racers?.close()
  await network?.close()
  await held?.close()
})

interface HeldAnswers {
  url: string
  target: string
  /** While set, answers to Session Status wait for it. */
  until: Promise<void> | undefined
  waiting: number
  close(): Promise<void>
}

/** Passes everything on to the SSO system at once, and its answers to Session Status when they are let go. */
async function holdAnswers(): Promise<HeldAnswers> {
  const agent = new http.Agent({ keepAlive: true })
  const server = http.createServer((req, res) => {
    const target = new URL(held.target + (req.url ?? ''))
    const { host: _host, ...headers } = req.headers
    const forward = http.request(target, { method: req.method, headers, agent }, async (answer) => {
      const chunks: Buffer[] = []
      for await (const chunk of answer) chunks.push(chunk)
      if (held.until && req.url?.includes('sessionstatus')) {
        held.waiting += 1
        await held.until
      }
      res.writeHead(answer.statusCode ?? 0, answer.headers).end(Buffer.concat(chunks))
    })
    forward.on('error', () => res.destroy())
    req.pipe(forward)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const close = async () => {
    agent.destroy()
    server.close()
    server.closeAllConnections()
  }
  return { url: `http://127.0.0.1:${port}`, target: '', until: undefined, waiting: 0, close }
}

/** The later half of the SSO sessions is logged in. */
const isKnown = (index: number) => index >= ROUNDS

/** A browser with a session. */
async function visitor(index: number): Promise<Racer> {
  const racer = racers.racer()
  expect(
    (
      await racer.land(
        racers.landing({ sid: sids[index], ...(isKnown(index) ? { sts: 'loggedin', at: 'a-ticket' } : {}) }),
      )
    ).status,
  ).toBe(303)
  return racer
}

/** A slow request that is under way, and will save the session's data when it is let go. */
async function slowSave(racer: Racer) {
  const gate = network.morning.gates.add()
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

async function round(index: number): Promise<void> {
  const isAfter = index % 2 === 0
  const racer = await visitor(index)
  await racer.script('/keep')
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

test('[S6] a slow save by a session that renews its ID by itself sets no old cookie either', async () => {
  const racer = await visitor(2 * ROUNDS)
  const old = racer.sid
  const other = await slowSave(racer)
  network.emulator.clock.advance(361)
  network.emulator.terminate(present(sids[2 * ROUNDS]))
  expect((await racer.script('/')).json.status).toBe('none')
  other.open()
  expect((await other.answer).sets).toEqual([])
  await expectDead(racers, old)
})

test(`[S6] ${ROUNDS} times, a slow save of req.session changes neither a login nor a logout`, async () => {
  racers = await again()
  await inBatches(ROUNDS, AT_ONCE, round)
  expect(network.count('authenticate')).toBe(ROUNDS)
}, 180_000)

/** The binding of a flow lives five minutes, and the tests move the clock. */
async function again(): Promise<Racers> {
  racers.close()
  return Racers.of(network)
}

/** Asks for many sessions at once; the answers are on their way when this returns. */
async function askSlowly(racersOfBatch: Racer[]) {
  let letGo = () => {}
  held.waiting = 0
  held.until = new Promise((resolve) => {
    letGo = resolve
  })
  const answers = racersOfBatch.map((racer) => racer.script('/'))
  while (held.waiting < racersOfBatch.length) await sleep(2)
  held.until = undefined
  return { letGo, answers }
}

test(`[S7] ${ROUNDS} times, an older "loggedin" that comes late does not bring a terminated session back`, async () => {
  const size = 20
  for (let start = ROUNDS; start < 2 * ROUNDS; start += size) {
    racers = await again()
    const batch = await Promise.all(Array.from({ length: size }, (_, index) => visitor(start + index)))
    const old = batch.map(({ sid }) => sid)
    const others = old.map((sid) => {
      const racer = racers.racer()
      racer.jar.set('sso2.sid', sid)
      return racer
    })
    network.emulator.clock.advance(361)
    const slow = await askSlowly(batch)
    for (const sid of sids.slice(start, start + size)) network.emulator.terminate(sid)
    network.emulator.clock.advance(7) // the first question's claim has run out, its answer is valid still
    const newer = await Promise.all(others.map((racer) => racer.script('/')))
    slow.letGo()
    const older = await Promise.all(slow.answers)
    expect(new Set(newer.map(({ json }) => json.status))).toEqual(new Set(['none']))
    expect(new Set(older.map(({ json, sets }) => `${json.status} ${sets.includes('sso2.sid')}`))).toEqual(
      new Set(['none false']),
    )
    const stored = await Promise.all(old.map((sid) => storedUnder(network, sid)))
    expect(new Set(stored.flat().map((text) => text?.split('.', 1)[0] ?? null))).toEqual(new Set([null, 'ended']))
    await expectDead(racers, present(old[0]))
  }
  const answers = callsAbout(network.emulator, 'sessionstatus').map(({ outcome }) => outcome)
  expect(answers.filter((outcome) => outcome === 'terminated').length).toBeGreaterThanOrEqual(ROUNDS)
}, 180_000)
