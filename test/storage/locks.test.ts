import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { hold } from '../support/turnstile'
import { atOnce, KEY, nowMs, stores, type TestSite, useStore } from './stores'

/** A login that says how often it ran. */
function login(ms = 0) {
  const state = { runs: 0 }
  const run = async () => {
    state.runs += 1
    await sleep(ms)
    return { ok: true, run: state.runs }
  }
  return { state, run }
}
const isFinal = () => true

describe.each(stores)('in %s', (_name, open) => {
  const store = useStore(open)
  let site: TestSite
  let key: string
  beforeEach(() => {
    site = store.site()
    key = randomUUID()
  })
  /** Another process of the same site. */
  const other = () => store.site([KEY], site.prefix)
  const beginSession = () => store.kv().set(`${site.prefix}sso2:{${key}}`, '{"a":"record"}', 60)
  const lockKey = () => `${site.prefix}login:{${key}}`

  describe('a login', () => {
    test('of equal credentials runs once for all submits of all processes, and all get its result', async () => {
      await beginSession()
      const { state, run } = login(200)
      const processes = [site, other(), other()]
      const outcomes = await atOnce(12, (index) =>
        (processes[index % 3] as TestSite).locks.once(key, 'digest', run, isFinal),
      )
      expect(state.runs).toBe(1)
      const result = { ok: true, run: 1 }
      expect(outcomes.map((end) => 'result' in end && end.result)).toEqual(Array(12).fill(result))
      expect(outcomes.filter(({ outcome }) => outcome === 'ran')).toHaveLength(1)
      const late = await other().locks.once(key, 'digest', run, isFinal)
      expect(late).toEqual({ outcome: 'shared', result })
    })

    test('of other credentials is busy meanwhile, and runs afterwards', async () => {
      await beginSession()
      const { held, pass } = hold()
      const first = site.locks.once(key, 'digest', () => pass().then(() => 'done'), isFinal)
      await held.arrived
      const { run } = login()
      for (const { locks } of [site, other()])
        expect(await locks.once(key, 'another', run, isFinal)).toEqual({ outcome: 'busy' })
      held.open()
      await first
      expect(await other().locks.once(key, 'another', run, isFinal)).toMatchObject({ outcome: 'ran' })
    })

    test('of a session that has ended does not run', async () => {
      const { state, run } = login()
      expect(await site.locks.once(key, 'digest', run, isFinal)).toEqual({ outcome: 'over' })
      expect(state.runs).toBe(0)
    })

    test('whose process has died is run by the next submit once the lock has expired', async () => {
      await beginSession()
      void site.locks.once(key, 'digest', () => new Promise(() => {}), isFinal)
      while ((await store.kv().get(lockKey())) === null) await sleep(5)
      await store.kv().expire(lockKey(), 1) // instead of 20 s
      const { run } = login()
      const begun = performance.now()
      expect(await other().locks.once(key, 'digest', run, isFinal)).toMatchObject({ outcome: 'ran' })
      expect(performance.now() - begun).toBeGreaterThan(500)
    })

    test('whose result is not final, or that throws, is not shared with later submits', async () => {
      await beginSession()
      const { state, run } = login()
      await site.locks.once(key, 'digest', run, () => false)
      const fail = () => Promise.reject(new TypeError('broken'))
      await expect(site.locks.once(key, 'digest', fail, isFinal)).rejects.toThrow('broken')
      expect(await other().locks.once(key, 'digest', run, isFinal)).toMatchObject({ outcome: 'ran' })
      expect(state.runs).toBe(2)
    })

    test('nothing of its credentials or of its result is readable in the store', async () => {
      await beginSession()
      const digest = 'the-digest-of-a-password'
      const run = async () => {
        expect(await store.kv().get(lockKey())).not.toContain(digest)
        return 'the-session-id'
      }
      await site.locks.once(key, digest, run, isFinal)
      const value = String(await store.kv().get(lockKey()))
      expect([value.includes(digest), value.includes('the-session-id')]).toEqual([false, false])
    })
  })

  describe('a status check', () => {
    const take = (checkedAt = 0, locks = site.locks, now = nowMs()) => locks.takeCheck(key, checkedAt, 2000, now)
    const takeTen = (checkedAt: number) =>
      atOnce(10, (index) => take(checkedAt, index % 2 ? site.locks : other().locks)).then((taken) => taken.sort())
    const ONE_OF_TEN = [...Array(9).fill('begun'), 'taken']

    test('is taken by one of many, until it has ended', async () => {
      expect(await takeTen(0)).toEqual(ONE_OF_TEN)
      expect(await site.locks.isBeingChecked(key, 0)).toBe(true)
      await site.locks.endCheck(key, 0)
      expect(await site.locks.isBeingChecked(key, 0)).toBe(false)
      expect(await take()).toBe('taken')
    })

    test('whose outcome is recorded may be followed by another at once, by one of many', async () => {
      await take(0)
      expect(await takeTen(1)).toEqual(ONE_OF_TEN)
      expect(await take(0)).toBe('begun')
    })

    test('that failed is not taken again during a pause, and nobody waits for it', async () => {
      const now = nowMs()
      await take(0, site.locks, now)
      await site.locks.failCheck(key, 0, 2000, now)
      expect(await take(0, other().locks, now + 3999)).toBe('failed')
      expect(await site.locks.isBeingChecked(key, 0)).toBe(false)
      expect(await take(0, other().locks, now + 4000)).toBe('taken') // the clock of one of both is wrong
    })
  })

  test('a landing token is used once, in all processes', async () => {
    const [signature, another] = [Buffer.from(randomUUID()), Buffer.from(randomUUID())]
    const used = await atOnce(6, (index) => (index % 2 ? site : other()).locks.useToken(signature))
    expect(used.filter(Boolean)).toHaveLength(1)
    expect(await site.locks.useToken(another)).toBe(true)
  })
})
