import { randomUUID } from 'node:crypto'
import { Redis } from 'ioredis'
import type { Kv } from '../../lib/storage/kv'
import { type Entry, type LoginStart, MAX_SESSIONS, type SessionIndex } from '../../lib/storage/session-index'
import { shortHash } from '../../lib/storage/site-store'
import { pause } from '../support/wait'
import { NOW, siteOver, stores, type TestClock, winners } from './stores'

const DAY = 86_400
/** Longer than a busy machine keeps the response of a Redis: a login that begins sooner after a logout of all may be refused. */
const LONG_AFTER_MS = 400

describe.each(stores)('the session index in %s', (name, open) => {
  const clock: TestClock = { now: NOW }
  let kv: Kv
  let prefix: string
  let index: SessionIndex
  beforeAll(() => {
    kv = open(clock)
  })
  beforeEach(() => {
    clock.now = NOW
    ;({ prefix, sessionIndex: index } = siteOver(kv, clock))
  })
  afterAll(() => kv.close())

  const entry = (changes: Partial<Entry> = {}): Entry => ({ key: 'k1', sidHash: 's1', accountId: 'ada', ...changes })
  const added = async (changes: Partial<Entry> = {}, start: LoginStart = index.startNow(), life = 100) => {
    const found = await index.add(entry(changes), life, start)
    if (found === 'unavailable') throw new Error('no store')
    return found
  }
  /** Was it logged out while its login was in progress? */
  const isRevoked = async (changes?: Partial<Entry>, start?: LoginStart) => (await added(changes, start)).isRevoked
  /** The same of a login that begins long after a logout of all. A response that is late after all shows nothing, so another login follows. */
  const isLaterRevoked = async (changes?: Partial<Entry>): Promise<boolean> => {
    const begun = performance.now()
    const found = await isRevoked(changes)
    return performance.now() - begun < LONG_AFTER_MS ? found : isLaterRevoked(changes)
  }
  const sorted = (keys: string[] | 'unavailable') => (keys === 'unavailable' ? keys : [...keys].sort())

  test('a token is taken once, of 50 requests that try at once', async () => {
    const signature = Buffer.from(randomUUID())
    const first = await winners(50, async () => {
      const found = await index.useToken(signature, 's1')
      return found !== 'unavailable' && found.isFirst
    })
    expect(first).toEqual([true])
    expect(await index.useToken(Buffer.from(randomUUID()), 's1')).toEqual({ isFirst: true, isSsoSessionRevoked: false })
  })

  test('a token tells whether its session was logged out', async () => {
    await index.revokeSsoSession('s1')
    const take = (sidHash: string) => index.useToken(Buffer.from(randomUUID()), sidHash)
    expect(await take('s1')).toEqual({ isFirst: true, isSsoSessionRevoked: true })
    expect(await take('s2')).toEqual({ isFirst: true, isSsoSessionRevoked: false })
  })

  test('a logout finds every session in the index, and every login that comes later is told', async () => {
    const start = index.startNow()
    expect(await isRevoked({ key: 'k1' }, start)).toBe(false)
    expect(await isRevoked({ key: 'k2' }, start)).toBe(false)
    expect(sorted(await index.revokeSsoSession('s1'))).toEqual(['k1', 'k2'])
    expect(await isRevoked({ key: 'k3' }, start)).toBe(true)
    expect(await isRevoked({ key: 'k4', sidHash: 's2' }, start)).toBe(false)
  })

  test('a logout takes its own session off the index, and leaves the others for a retry until they have ended', async () => {
    await added({ key: 'k1' })
    await added({ key: 'k2' })
    expect(await index.revokeSsoSession('s1', 'k1')).toEqual(['k2'])
    expect(await index.revokeSsoSession('s1')).toEqual(['k2'])
    expect(sorted(await index.revokeAccount('ada', 'k1'))).toEqual(['k2'])
    await index.removeOfSsoSession('s1', ['k2'])
    await index.removeOfAccount('ada', ['k2'])
    expect([await index.revokeSsoSession('s1'), await index.revokeAccount('ada')]).toEqual([[], []])
  })

  test.each<[what: string, logoutOf: (one: Entry) => Promise<string[] | 'unavailable'>]>([
    ['of its session', ({ sidHash }) => index.revokeSsoSession(sidHash)],
    ['of all sessions', ({ accountId }) => index.revokeAccount(accountId)],
  ])('[L13] in any order of a login and a logout %s, one of them sees the other', async (_what, logoutOf) => {
    const rounds = Array.from({ length: 400 }, async (_, number) => {
      const one = { key: `k${number}`, sidHash: `s${number}`, accountId: `account${number}` }
      const start = index.startNow()
      await pause(number % 7)
      const login = async () => isRevoked(one, start)
      const logout = () => logoutOf(one)
      const [revoked, keys] =
        number % 2 === 0
          ? await Promise.all([login(), logout()])
          : await Promise.all([logout(), login()]).then(([found, told]) => [told, found] as const)
      return revoked || keys.includes(one.key)
    })
    expect((await Promise.all(rounds)).filter((seen) => !seen)).toEqual([])
  })

  test('a logout of all sessions ends each login that began before it, and none that begins later', async () => {
    const before = index.startNow()
    await added({ key: 'k1' }, before)
    await added({ key: 'k2', sidHash: 's2' }, before)
    await added({ key: 'k3', accountId: 'bob' }, before)
    expect(sorted(await index.revokeAccount('ada'))).toEqual(['k1', 'k2'])
    expect(await index.revokeAccount('unknown')).toEqual([])
    expect(await isRevoked({ key: 'k4', sidHash: 's4' }, before)).toBe(true)
    expect(await isRevoked({ key: 'k5', sidHash: 's5', accountId: 'bob' }, before)).toBe(false)
    await pause(LONG_AFTER_MS)
    expect(await isLaterRevoked({ key: 'k6', sidHash: 's6' })).toBe(false)
    expect(await isRevoked({ key: 'k7', sidHash: 's7' }, before)).toBe(true)
  })

  test('of two logouts of all sessions the later one counts', async () => {
    await index.revokeAccount('ada')
    await pause(LONG_AFTER_MS)
    const between = index.startNow()
    await index.revokeAccount('ada')
    expect(await isRevoked({}, between)).toBe(true)
  })

  test('a login counts by the clock that has gone further: a machine that slept, or a clock that was set back', async () => {
    await index.revokeAccount('ada')
    await pause(LONG_AFTER_MS)
    expect(await isLaterRevoked()).toBe(false)
    const { wallMs, steadyMs } = index.startNow()
    expect(await isRevoked({}, { wallMs: wallMs - DAY * 1000, steadyMs })).toBe(true)
    expect(await isRevoked({}, { wallMs: wallMs + DAY * 1000, steadyMs: steadyMs - DAY * 1000 })).toBe(true)
  })

  test('sessions that have ended are in neither index', async () => {
    for (const key of ['k1', 'k2', 'k1']) await added({ key })
    expect(await index.remove(entry({ key: 'k1' }))).toBe('done')
    expect(await index.revokeAccount('ada')).toEqual(['k2'])
    expect(await index.revokeSsoSession('s1')).toEqual(['k2'])
  })

  test('[S21] an entry is gone when its session is, unless that was used since', async () => {
    const start = index.startNow()
    for (const key of ['k1', 'k2', 'k3']) await added({ key }, start, 10)
    clock.now = NOW + 9
    await index.renew(entry({ key: 'k2' }), 10)
    await index.renew(entry({ key: 'never added' }), 10)
    clock.now = NOW + 10
    expect(await index.revokeAccount('ada', 'k3')).toEqual(['k2'])
    expect(await index.revokeSsoSession('s1')).toEqual(['k2'])
    clock.now = NOW + 19
    expect(await index.revokeAccount('ada')).toEqual([])
  })

  test('[S21] entries that have expired are removed when a session is added', async () => {
    const start = index.startNow()
    for (const key of ['k1', 'k2']) await added({ key }, start, 10)
    clock.now = NOW + 10
    await added({ key: 'k3' }, start, 20)
    clock.now = NOW
    expect(await index.revokeSsoSession('s1')).toEqual(['k3'])
  })

  test('[S21] beyond the limit the entries that expire first are named, never the one that was just added', async () => {
    const accountId = 'flooded'
    const start = index.startNow()
    for (let number = 0; number < MAX_SESSIONS; number += 100) {
      const part = Array.from({ length: 100 }, (_, offset) => number + offset)
      const found = await Promise.all(
        part.map((one) => added({ key: `k${one}`, sidHash: `s${one}`, accountId }, start, 1000 + one)),
      )
      expect(found.flatMap(({ surplus }) => surplus)).toEqual([])
    }
    const named = async (key: string, life: number) =>
      (await added({ key, sidHash: 'another', accountId }, start, life)).surplus
    const first = Array.from({ length: 9 }, (_, one) => `k${one}`)
    expect(await named('one more', 5000)).toEqual([{ count: 1, candidates: first.slice(0, 8) }])
    expect(await named('shortest', 5)).toEqual([{ count: 2, candidates: first.slice(0, 8) }])
    await index.removeOfAccount(accountId, ['shortest', 'k0'])
    expect(await named('one more', 5000)).toEqual([])
    expect(await index.revokeAccount(accountId)).toHaveLength(MAX_SESSIONS)
  })

  test('[S21] the limit holds for a session of the SSO system as well', async () => {
    const start = index.startNow()
    const add = (one: number) => added({ key: `k${one}`, accountId: `account${one}` }, start, 1000 + one)
    for (let number = 0; number < MAX_SESSIONS; number += 100)
      await Promise.all(Array.from({ length: 100 }, (_, offset) => add(number + offset)))
    const { surplus } = await add(MAX_SESSIONS)
    expect(surplus).toEqual([{ count: 1, candidates: expect.arrayContaining(['k0', 'k1', 'k7']) }])
  })

  test('no index names an account or can be guessed to be its', async () => {
    await added()
    expect(
      await kv.revokeAndList(`${prefix}all:{ada}`, 60, `${prefix}acct:{ada}`, { now: 0, member: '', most: 9 }),
    ).toEqual([])
  })

  test('two sites under two prefixes share nothing', async () => {
    const start = index.startNow()
    await added({}, start)
    const other = siteOver(kv, clock).sessionIndex
    expect(await other.revokeSsoSession('s1')).toEqual([])
    await other.revokeAccount('ada')
    expect(await isRevoked({ key: 'k2' }, start)).toBe(false)
  })

  if (name === 'Redis')
    test('[S21] both indexes of a session live as long as their last entry', async () => {
      const redis = new Redis(String(process.env['TEST_REDIS_URL']))
      const lives = async () => {
        const keys = [`${prefix}sid:{s1}`, `${prefix}acct:{${shortHash('ada')}}`]
        return Promise.all(keys.map((key) => redis.ttl(key)))
      }
      /** Redis counts down while a busy machine asks. */
      const areAbout = async (seconds: number) =>
        (await lives()).every((life) => seconds - life >= 0 && seconds - life < 10)
      await added({ key: 'k1' }, index.startNow(), 14 * DAY)
      expect(await areAbout(14 * DAY)).toBe(true)
      clock.now = NOW + DAY
      await added({ key: 'k2' }, index.startNow(), 60)
      expect(await areAbout(13 * DAY)).toBe(true)
      await index.renew(entry(), 14 * DAY)
      expect(await areAbout(14 * DAY)).toBe(true)
      redis.disconnect()
    })
})
