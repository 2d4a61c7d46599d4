import type { PendingLogout } from '../../lib/decide/logout'
import type { Kv } from '../../lib/storage/kv'
import type { FoundForm } from '../../lib/storage/login-locks'
import type { PendingLogouts } from '../../lib/storage/pending-logouts'
import { pause } from '../support/wait'
import { failingKv, tapped } from './failing-kv'
import { KEY, NOW, OTHER_KEY, siteOver, stores, type TestClock, type TestSite, winners } from './stores'

const one: PendingLogout = {
  sid: 'the-sid',
  ipa: '192.0.2.1',
  uas: 'a browser',
  key: 'the-key',
  accountId: undefined,
  isAll: false,
  isConfirmed: false,
}
const all: PendingLogout = { ...one, accountId: 'ada', isAll: true }

/** The same store, where a command that names a key fails. */
function withFailing(kv: Kv, only: keyof Kv, text: string): Kv {
  const { kv: failing, fail } = failingKv(kv)
  fail({ text, only })
  return failing
}

/** The same store, where another process writes another value before so many writes. */
function withRival(kv: Kv, writes: number): Kv {
  let left = writes
  return tapped(kv, (command, [key]) => {
    if (command !== 'compareAndSet' || left === 0) return undefined
    left -= 1
    return kv.compareAndSet(String(key), undefined, `of another process, ${left}`, 60)
  })
}

describe.each(stores)('in %s', (name, open) => {
  const clock: TestClock = { now: NOW }
  let kv: Kv
  let site: TestSite
  let pendingLogouts: PendingLogouts
  beforeAll(() => {
    kv = open(clock)
  })
  beforeEach(() => {
    site = siteOver(kv, clock)
    ;({ pendingLogouts } = site)
  })
  afterAll(() => kv.close())
  const rotated = (...keys: (typeof KEY)[]) => siteOver(kv, clock, site.prefix, keys)
  /** Pending logouts as another process of the site knows them. */
  const elsewhere = () => rotated(KEY).pendingLogouts

  describe('a kept logout', () => {
    test('comes back as it was kept, and nothing else is known', async () => {
      expect(await pendingLogouts.add('h1', one, NOW)).toBe('done')
      expect(await pendingLogouts.add('h2', all, NOW)).toBe('done')
      expect(await pendingLogouts.find('h1')).toEqual({ ...one, since: NOW })
      expect(await pendingLogouts.find('h2')).toEqual({ ...all, since: NOW })
      expect(await pendingLogouts.find('h3')).toBe('not_found')
    })

    test('of all sessions stays one of all, and not confirmed, whatever is kept of a single one after it', async () => {
      await pendingLogouts.add('h1', all, NOW)
      await pendingLogouts.add('h1', { ...one, isConfirmed: true }, NOW)
      expect(await pendingLogouts.find('h1')).toEqual({ ...all, since: NOW })
      await pendingLogouts.add('h1', { ...one, uas: 'another browser' }, NOW)
      expect(await pendingLogouts.find('h1')).toEqual({ ...all, uas: 'another browser', since: NOW })
      await elsewhere().add('h1', one, NOW)
      expect(await pendingLogouts.find('h1')).toEqual({ ...all, since: NOW })
      await pendingLogouts.markFinished('h1', all)
      await pendingLogouts.add('h1', one, NOW)
      expect(await pendingLogouts.find('h1')).toEqual({ ...one, since: NOW })
    })

    test('becomes one of all by a logout of all, of ten at once too', async () => {
      await winners(10, (index) => pendingLogouts.add('h1', index === 4 ? all : one, NOW))
      expect(await pendingLogouts.find('h1')).toEqual({ ...all, since: NOW })
    })

    test('of all sessions that the SSO system has confirmed stays confirmed', async () => {
      const confirmed = { ...all, isConfirmed: true }
      await pendingLogouts.add('h1', confirmed, NOW)
      for (const logout of [all, one]) {
        await pendingLogouts.add('h1', logout, NOW)
        await elsewhere().add('h1', logout, NOW)
        expect(await pendingLogouts.find('h1')).toMatchObject(confirmed)
      }
    })

    test('of all sessions that was added during the retry of a single one is not confirmed with the single one', async () => {
      await pendingLogouts.add('h1', one, NOW)
      await elsewhere().add('h1', all, NOW)
      expect(await pendingLogouts.markFinished('h1', one)).toBe('done')
      expect(await pendingLogouts.find('h1')).toEqual({ ...all, since: NOW })
      expect(await pendingLogouts.takeDue(NOW, 8)).toEqual(['h1'])
      await pendingLogouts.add('h2', one, NOW)
      await pendingLogouts.add('h2', all, NOW)
      await pendingLogouts.markFinished('h2', one)
      await kv.del(`${site.prefix}pend:{logouts2}h2`)
      await pendingLogouts.restoreLost(NOW, 8)
      expect(await pendingLogouts.find('h2')).toEqual({ ...all, since: NOW })
      expect(await pendingLogouts.markFinished('h2', all)).toBe('done')
      expect(await pendingLogouts.find('h2')).toBe('finished')
    })

    test('that was confirmed while the store was away is confirmed there by the process that knows', async () => {
      await elsewhere().add('h1', all, NOW)
      await pendingLogouts.add('h1', { ...all, isConfirmed: true }, NOW)
      await kv.del(`${site.prefix}pend:{logouts1}h1`)
      await elsewhere().add('h1', all, NOW)
      await pendingLogouts.restoreLost(NOW + 1, 8)
      expect(await pendingLogouts.find('h1')).toMatchObject({ ...all, isConfirmed: true })
    })

    test('of all sessions that a process remembers widens a single one that Redis has instead', async () => {
      await pendingLogouts.add('h1', all, NOW)
      await kv.del(`${site.prefix}pend:{logouts1}h1`)
      await elsewhere().add('h1', one, NOW)
      await pendingLogouts.restoreLost(NOW + 1, 8)
      expect(await pendingLogouts.find('h1')).toMatchObject(all)
    })

    test.each([
      [19, 'done'],
      [20, 'unavailable'],
    ])('is written again after %i writes of other processes: %s', async (writes, result) => {
      const contended = siteOver(withRival(kv, writes), clock, site.prefix)
      expect(await contended.pendingLogouts.add('contended', one, NOW)).toBe(result)
    })

    test('that another process has confirmed meanwhile is not kept again', async () => {
      await pendingLogouts.add('h1', one, NOW)
      await elsewhere().markFinished('h1', one)
      await pendingLogouts.restoreLost(NOW + 1, 8)
      expect(await pendingLogouts.find('h1')).toBe('finished')
      expect(await pendingLogouts.takeDue(NOW + 1, 8)).toEqual([])
    })

    test.each([false, true])('is not written again without news; confirmed: %s', async (isConfirmed) => {
      const logout = { ...one, isConfirmed }
      const raw = () => kv.mget([`${site.prefix}pend:{logouts1}h1`])
      for (const changes of [
        async () => {},
        () => rotated(OTHER_KEY).pendingLogouts.add('h1', one, NOW), // no secret of this process opens the logout
        () => elsewhere().markFinished('h1', one),
      ]) {
        await pendingLogouts.add('h1', logout, NOW)
        await changes()
        const before = await raw()
        await pendingLogouts.restoreLost(NOW + 1, 8)
        expect(await raw()).toEqual(before)
      }
    })

    test('is known to a site that has its secret, and another site neither reads it nor takes it for gone', async () => {
      await pendingLogouts.add('h1', one, NOW)
      expect(JSON.stringify(await kv.mget([`${site.prefix}pend:{logouts1}h1`]))).not.toContain('the-sid')
      expect(await rotated(OTHER_KEY, KEY).pendingLogouts.find('h1')).toEqual({ ...one, since: NOW })
      expect(await rotated(OTHER_KEY).pendingLogouts.find('h1')).toBe('unreadable')
    })

    test('is taken when due, left for 5 s to the process that took it, and gone from the queue once confirmed', async () => {
      await pendingLogouts.add('h1', one, NOW)
      await pendingLogouts.add('h2', one, NOW + 100)
      expect(await pendingLogouts.takeDue(NOW - 1, 8)).toEqual([])
      expect(await pendingLogouts.takeDue(NOW, 8)).toEqual(['h1'])
      expect(await pendingLogouts.takeDue(NOW + 4, 8)).toEqual([])
      expect(await pendingLogouts.takeDue(NOW + 5, 8)).toEqual(['h1'])
      expect(await pendingLogouts.markFinished('h1', one)).toBe('done')
      expect(await pendingLogouts.find('h1')).toBe('finished')
      expect(await pendingLogouts.takeDue(NOW + 99, 8)).toEqual([])
      expect(await pendingLogouts.takeDue(NOW + 100, 8)).toEqual(['h2'])
      expect(await pendingLogouts.removeFromQueue('h2')).toBe('done')
      expect(await pendingLogouts.takeDue(NOW + 999, 8)).toEqual([])
      expect(await pendingLogouts.find('h2')).toEqual({ ...one, since: NOW + 100 })
    })

    test.each([
      [0, [5, 5, 20, 120, 120]],
      [1, [6, 6, 24, 144, 144]],
    ])('with a spread of %i waits as long as it has waited, between 5 and 120 s: %j', async (spread, waits) => {
      await pendingLogouts.add('h1', one, NOW)
      for (const [index, since] of [NOW, NOW + 60, NOW - 20, NOW - 500, Number.NEGATIVE_INFINITY].entries()) {
        const wait = waits[index] ?? 0
        await pendingLogouts.postpone('h1', since, NOW, spread)
        expect(await pendingLogouts.takeDue(NOW + wait - 1, 8)).toEqual([])
        expect(await pendingLogouts.takeDue(NOW + wait, 8)).toEqual(['h1'])
      }
    })

    test('that waits is due when the SSO system is back, and one that another process has just taken is not', async () => {
      for (const hash of ['h1', 'h2']) await pendingLogouts.add(hash, one, NOW)
      expect((await pendingLogouts.takeDue(NOW, 8)).length).toBe(2)
      await pendingLogouts.add('h3', one, NOW)
      await pendingLogouts.postpone('h3', NOW - 60, NOW, 0)
      expect(await pendingLogouts.takeDue(NOW + 1, 8)).toEqual([])
      expect(await pendingLogouts.takeDue(NOW + 1, 8, true)).toEqual(['h3'])
      expect(await pendingLogouts.takeDue(NOW + 1, 8, true)).toEqual([])
    })

    test('of a clock an hour ahead is due, and those of good clocks wait their time', async () => {
      await pendingLogouts.add('h1', one, NOW + 3600)
      await pendingLogouts.add('h2', one, NOW + 144)
      expect(await pendingLogouts.takeDue(NOW, 8)).toEqual(['h1'])
    })

    describe('that the store has lost', () => {
      const [pend, queue] = [() => `${site.prefix}pend:{logouts1}h1`, () => `${site.prefix}logouts:{logouts1}`]
      const lose = () => Promise.all([kv.del(pend()), kv.remove(queue(), ['h1'])])

      test('is kept again by the process that kept it, and stays one of all', async () => {
        await pendingLogouts.add('h1', all, NOW)
        await pendingLogouts.add('h1', one, NOW)
        await lose()
        expect(await pendingLogouts.find('h1')).toBe('not_found')
        expect(await pendingLogouts.restoreLost(NOW + 1, 8)).toMatchObject([all])
        expect(await pendingLogouts.find('h1')).toEqual({ ...all, since: NOW })
        expect(await pendingLogouts.takeDue(NOW + 1, 8)).toEqual(['h1'])
      })

      test('is kept again, if Redis does not return another one', async () => {
        const away = siteOver(withFailing(kv, 'mget', 'logouts2'), clock, site.prefix)
        for (const hash of ['h1', 'h2']) await away.pendingLogouts.add(hash, one, NOW)
        await lose()
        expect(await away.pendingLogouts.restoreLost(NOW + 1, 8)).toMatchObject([one])
        expect(await pendingLogouts.find('h1')).toEqual({ ...one, since: NOW })
      })

      test('of its place in the queue alone has that again, and another one keeps its time', async () => {
        for (const hash of ['h1', 'h2']) await pendingLogouts.add(hash, one, NOW + 50)
        await kv.remove(queue(), ['h1'])
        expect(await pendingLogouts.restoreLost(NOW, 8)).toEqual([])
        expect(await pendingLogouts.takeDue(NOW, 8)).toEqual(['h1'])
        expect(new Set(await pendingLogouts.takeDue(NOW + 50, 8))).toEqual(new Set(['h1', 'h2']))
      })

      test('after it was confirmed, here or elsewhere, or a day later, is none any more', async () => {
        for (const [ends, now] of [
          [() => pendingLogouts.markFinished('h1', one), NOW],
          [() => elsewhere().markFinished('h1', one), NOW],
          [async () => {}, NOW + 86_400],
        ] as const) {
          await pendingLogouts.add('h1', one, NOW)
          await ends()
          await pendingLogouts.restoreLost(now, 8)
          await lose()
          await pendingLogouts.restoreLost(now, 8)
          expect(await pendingLogouts.find('h1')).toBe('not_found')
        }
      })

      test('is looked for a few at a time, all of them in turn', async () => {
        const hashes = Array.from({ length: 10 }, (_, index) => `h${index}`)
        for (const hash of hashes) await pendingLogouts.add(hash, one, NOW)
        for (const hash of hashes) await kv.del(`${site.prefix}pend:{logouts${hash.charCodeAt(1) % 8}}${hash}`)
        expect(pendingLogouts.copies).toBe(10)
        for (const count of [4, 8, 10]) {
          await pendingLogouts.restoreLost(NOW, 4)
          const found = await Promise.all(hashes.map((hash) => pendingLogouts.find(hash)))
          expect(found.filter((logout) => logout !== 'not_found')).toHaveLength(count)
        }
      })
    })

    test('goes to one of ten parallel takers, and is tried again by one', async () => {
      for (const hash of ['h1', 'h2', 'h3']) await pendingLogouts.add(hash, one, NOW)
      const taken = await winners(10, () => pendingLogouts.takeDue(NOW, 8))
      expect(taken.flat().sort()).toEqual(['h1', 'h2', 'h3'])
      expect(await winners(10, () => pendingLogouts.lockRetry('h1'))).toEqual([true])
      expect(await pendingLogouts.unlockRetry('h1')).toBe('done')
      expect(await winners(10, () => pendingLogouts.lockRetry('h1'))).toEqual([true])
      for (const hash of ['h1', 'h2']) {
        expect(await pendingLogouts.pauseRetry(hash)).toBe('done')
        expect(await winners(10, () => pendingLogouts.lockRetry(hash))).toEqual([])
      }
    })

    test('waits its turn where many are due: from each part of the queue, the oldest first', async () => {
      const hashes = Array.from({ length: 24 }, (_, index) => `h${Math.floor(index / 8)}${index % 8}`)
      for (const [index, hash] of [...hashes.entries()].reverse()) await pendingLogouts.add(hash, one, NOW + index)
      for (const from of [0, 8, 16])
        expect(await pendingLogouts.takeDue(NOW + 99, 8)).toEqual(hashes.slice(from, from + 8))
      expect(await pendingLogouts.takeDue(NOW + 99, 8)).toEqual([])
    })

    test('is taken though another part of the queue cannot be read; with none to take, that is known', async () => {
      const away = siteOver(withFailing(kv, 'takeDue', 'logouts2'), clock, site.prefix)
      for (const hash of ['h1', 'h2', 'h3']) await pendingLogouts.add(hash, one, NOW)
      expect(await away.pendingLogouts.takeDue(NOW, 8)).toEqual(['h1', 'h3'])
      expect(await away.pendingLogouts.takeDue(NOW, 8)).toBe('unavailable')
    })
  })

  describe('a login in progress', () => {
    const begin = async (before: string | null = null, digest = 'digest'): Promise<string> => {
      const begun = await site.logins.beginForm('k1', before, digest)
      if (begun === 'unavailable' || !('held' in begun)) throw new Error('not begun')
      return begun.held
    }
    const find = async (logins = site.logins): Promise<FoundForm> => {
      const found = await logins.findForm('k1')
      if (found === 'unavailable') throw new Error('no store')
      return found
    }
    const done = {
      digest: 'digest',
      result: { ok: true, user: { accountId: 'ada' } },
      sessionId: 'the-session',
      endedAt: 5,
    } as const
    /** After so many seconds; Redis goes by the real clock. */
    const pass = async (seconds: number) => {
      clock.now += seconds
      if (name === 'Redis') await pause(seconds * 1000)
    }

    test('is begun by one of ten, and found by the others', async () => {
      expect(await find()).toEqual({ raw: null, form: undefined, isAlive: false })
      const begun = await winners(10, () => site.logins.beginForm('k1', null, 'digest'))
      const held = begun.flatMap((one) => (one !== 'unavailable' && 'held' in one ? [one.held] : []))
      expect(held).toHaveLength(1)
      const others = begun.filter((one) => one !== 'unavailable' && 'raw' in one)
      expect(others).toEqual(Array(9).fill({ raw: held[0], form: { digest: 'digest' }, isAlive: true }))
      expect(await find()).toEqual(others[0])
    })

    test('leaves its result for a while, on which one of ten begins the next', async () => {
      expect(await site.logins.endForm('k1', await begin(), done)).toBe(true)
      const { raw, form } = await find()
      expect(form).toEqual(done)
      expect(raw).not.toContain('the-session')
      const next = await winners(10, () => site.logins.beginForm('k1', raw, 'next'))
      expect(next.filter((one) => one !== 'unavailable' && 'held' in one)).toHaveLength(1)
    })

    test('is alive while its process renews it, and known to be dead 2 s later', async () => {
      const held = await begin()
      for (let renewals = 0; renewals < 3; renewals += 1) {
        await pass(1)
        expect(await site.logins.renewForm('k1', held)).toBe(true)
      }
      /** Two seconds without a renewal are those of a dead process, and a busy machine may take them for a look. */
      const isAlive = async (): Promise<boolean> => {
        const renewedAt = performance.now()
        expect(await site.logins.renewForm('k1', held)).toBe(true)
        const found = await find()
        return performance.now() - renewedAt < 1500 ? found.isAlive : isAlive()
      }
      expect(await isAlive()).toBe(true)
      await pass(2.1)
      expect(await find()).toEqual({ raw: held, form: { digest: 'digest' }, isAlive: false })
    })

    test('that was taken over is not renewed or ended by the process that had it', async () => {
      const first = await begin()
      expect(await site.logins.beginForm('k1', first, 'digest')).toMatchObject({ raw: first, isAlive: true })
      await kv.expire(`${site.prefix}login:{k1}`, 17) // as three seconds without a renewal leave it
      const second = await begin(first)
      expect(await site.logins.renewForm('k1', first)).toBe(false)
      expect(await site.logins.endForm('k1', first, done)).toBe(false)
      expect(await find()).toEqual({ raw: second, form: { digest: 'digest' }, isAlive: true })
      expect(await site.logins.endForm('k1', second, done)).toBe(true)
    })

    test('of a process with another secret is none that can be joined', async () => {
      await begin()
      const { raw, form } = await find(rotated(OTHER_KEY).logins)
      expect([typeof raw, form]).toEqual(['string', undefined])
    })
  })
})
