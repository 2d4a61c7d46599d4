import { randomUUID } from 'node:crypto'
import type { Kv } from '../../lib/storage/kv'
import { MemoryKv } from '../../lib/storage/memory-kv'
import { pause } from '../support/wait'
import { NOW, stores, type TestClock } from './stores'

/* What every store must do alike, and no test of a part of the package shows. */

describe.each(stores)('in %s', (_name, open) => {
  const clock: TestClock = { now: NOW }
  let kv: Kv
  let key: string
  beforeAll(() => {
    kv = open(clock)
  })
  beforeEach(() => {
    key = randomUUID()
  })
  afterAll(() => kv.close())
  /** Passes time. Redis goes by the real clock. */
  const pass = async (seconds: number) => {
    clock.now += seconds
    if (_name === 'Redis') await pause(seconds * 1000)
  }
  const endOfNow = (seconds: number) => (_name === 'Redis' ? Date.now() : clock.now * 1000) + seconds * 1000

  const nothing = { value: null, secondsLeft: 0, other: null }

  test('nothing is taken where there is not what was read, and nothing else', async () => {
    const data = { key: `{${key}}data`, action: 'delete' } as const
    await kv.compareAndSet(data.key, null, 'data', 60)
    const end = async (before: string | null) => (await kv.compareAndSet(`{${key}}`, before, 'ended', 60, data)).isDone
    expect(await end('a record')).toBe(false)
    await kv.compareAndSet(`{${key}}`, undefined, 'a record', 60)
    expect(await end(null)).toBe(false)
    expect(await kv.mget([`{${key}}`, data.key])).toEqual(['a record', 'data'])
    expect(await end('a record')).toBe(true)
    expect(await kv.mget([`{${key}}`, data.key])).toEqual(['ended', null])
  })

  test('another key is read in any case, and renewed or kept as asked', async () => {
    const [own, other] = [`{${key}}`, `{${key}}other`]
    const secondsLeft = async () => (await kv.compareAndSet(other, 'nothing', null, 0)).secondsLeft
    await kv.compareAndSet(other, null, 'of the other', 30)
    const keep = { key: other, action: 'keep' } as const
    for (const isDone of [true, false])
      expect(await kv.compareAndSet(own, null, '1', 60, keep)).toMatchObject({ isDone, other: 'of the other' })
    expect(await secondsLeft()).toBeLessThanOrEqual(30)
    await kv.compareAndSet(own, '1', '2', 60, { key: other, action: 'renew', seconds: 60 })
    expect(await secondsLeft()).toBeGreaterThan(30)
    expect(await kv.mget([own, other])).toEqual(['2', 'of the other'])
    expect(await kv.compareAndSet(own, '2', null, 0)).toMatchObject({ isDone: true, value: '2' })
    expect(await kv.mget([own])).toEqual([null])
  })

  test('what is not as it was read is told, with the time that it has left', async () => {
    const change = (before: string | null, after: string, seconds = 60) => kv.compareAndSet(key, before, after, seconds)
    for (const before of ['something', '']) expect(await change(before, 'next')).toEqual({ isDone: false, ...nothing })
    expect(await change(null, 'first')).toEqual({ isDone: true, ...nothing })
    const found = { isDone: false, value: 'first', secondsLeft: expect.closeTo(60, -1), other: null }
    for (const before of [null, 'another', '']) expect(await change(before, 'next', 5)).toEqual(found)
    expect(await change('first', 'second')).toMatchObject({ isDone: true })
    expect(await kv.mget([key])).toEqual(['second'])
  })

  test('what has more time left than was said stays, because it has been renewed', async () => {
    await kv.compareAndSet(key, null, 'first', 60)
    const replace = (most: number) => kv.compareAndSet(key, 'first', 'next', 60, undefined, most)
    expect(await replace(30)).toMatchObject({ isDone: false, value: 'first' })
    expect(await replace(90)).toMatchObject({ isDone: true })
    expect(await kv.mget([key])).toEqual(['next'])
  })

  test('what is deleted has no time left, whatever time was said', async () => {
    await kv.compareAndSet(key, null, 'first', 60)
    expect(await kv.compareAndSet(key, 'first', null, 60)).toMatchObject({ isDone: true, value: 'first' })
    expect(await kv.compareAndSet(key, 'first', 'next', 60)).toEqual({ isDone: false, ...nothing })
  })

  describe('counts', () => {
    const of = (...limits: number[]) => limits.map((limit, index) => ({ key: `{${key}}${index}`, limit }))
    const keysOf = (...limits: number[]) => of(...limits).map((count) => count.key)
    /** Adds to counts that have not reached their limits. @returns the ends of their windows */
    const endsOf = async (...limits: number[]) => {
      const added = await kv.addToCounts(of(...limits), 60, 0)
      if (!('ends' in added)) throw new Error('not added')
      return added.ends
    }

    test('are added to together, or not at all', async () => {
      const windows = { ends: Array(3).fill(expect.closeTo(endOfNow(60), -4)) }
      for (let times = 0; times < 2; times += 1) expect(await kv.addToCounts(of(9, 2, 9), 60, 0)).toEqual(windows)
      expect(await kv.addToCounts(of(9, 2, 9), 60, 0)).toEqual({ limitReached: 1, secondsLeft: expect.closeTo(60, -1) })
      expect(await kv.addToCounts(of(3, 9, 3), 60, 0)).toEqual(windows)
      expect(await kv.addToCounts(of(3, 9, 9), 60, 0)).toMatchObject({ limitReached: 0 })
    })
    test('are added to by as many as the limit allows, of many at once', async () => {
      const added = await Promise.all(Array.from({ length: 30 }, () => kv.addToCounts(of(50, 7), 60, 0)))
      expect(added.filter((one) => 'ends' in one)).toHaveLength(7)
    })
    test('keep a part of the last one for those of which nothing is counted', async () => {
      const site = { key: `{${key}}site`, limit: 4 }
      const add = (name: string) => kv.addToCounts([{ key: `{${key}}${name}`, limit: 99 }, site], 60, 2)
      const said: boolean[] = []
      for (const name of ['a', 'a', 'a', 'b', 'b', 'c', 'd']) said.push('ends' in (await add(name)))
      expect(said).toEqual([true, true, false, true, false, true, false])
    })
    test('give back within their own window, and never more than was added', async () => {
      const [first = 0, second = 0] = await endsOf(2, 2)
      await kv.takeFromCounts(keysOf(2, 2), [first - 60_000, second])
      for (const spent of [undefined, 0]) {
        const next = await kv.addToCounts(of(2, 2), 60, 0)
        expect('ends' in next ? undefined : next.limitReached).toBe(spent)
      }
      await kv.takeFromCounts(keysOf(2), [first])
      await endsOf(2, 2)
    })
    test('[F19] never allow more than the limit in a window, whatever is given back after it', async () => {
      /** Ends of the windows of all that was counted. A window lasts a second, so a busy machine may fill several. */
      let ends: number[] = []
      const add = async () => {
        const added = await kv.addToCounts(of(5), 1, 0)
        if ('ends' in added) ends.push(added.ends[0] ?? 0)
        return 'ends' in added
      }
      /** Adds until the limit is reached. @returns how many are counted in the window of the last one */
      const fill = async () => {
        while (await add());
        const last = ends.at(-1) ?? 0
        return ends.filter((end) => last - end < 500).length
      }
      for (let round = 1; round <= 4; round += 1) {
        expect([round, await fill()]).toEqual([round, 5])
        const before = ends
        ends = []
        await pass(1.1)
        await add() // the next window has begun
        for (const end of before) await kv.takeFromCounts(keysOf(5), [end])
        expect([round, await fill()]).toEqual([round, 5])
        ends = []
        await pass(1.1)
      }
    })
    test('keep the end of their window, whatever is added and given back within it', async () => {
      const [first = 0] = await endsOf(9)
      await pass(0.5)
      const [second = 0] = await endsOf(9)
      await kv.takeFromCounts(keysOf(9), [second])
      expect([second, ...(await endsOf(9))]).toEqual(Array(2).fill(expect.closeTo(first, -2)))
    })
    test('are not below nothing, however often the same is given back', async () => {
      const ends = await endsOf(1)
      for (let times = 0; times < 3; times += 1) await kv.takeFromCounts(keysOf(1), ends)
      await endsOf(1)
      expect(await kv.addToCounts(of(1), 60, 0)).toMatchObject({ limitReached: 0 })
    })
    test('are taken from only where they are', async () => {
      await kv.takeFromCounts(keysOf(2), [endOfNow(60)])
      await endsOf(1)
      expect(await kv.addToCounts(of(1), 60, 0)).toMatchObject({ limitReached: 0 })
    })
  })

  test('the expiry of nothing is not renewed', async () => {
    await kv.expire(key, 60)
    expect(await kv.mget([key])).toEqual([null])
  })

  test('a renewal by a process whose clock is behind does not shorten the expiry of a member', async () => {
    const index = `{${key}}`
    await kv.addEntry(index, 'a member', { until: NOW + 60, now: NOW, max: 9 }, `${index}revoked`)
    await kv.renewEntry(index, 'a member', NOW - 3600, NOW - 3660)
    const read = { now: NOW, member: '', most: 9 }
    expect(await kv.revokeAndList(`${index}revoked`, 60, index, read)).toEqual(['a member'])
  })

  test('an index names the members that expire first only where it has too many', async () => {
    const add = (member: string, until: number) =>
      kv.addEntry(`{${key}}`, member, { until: NOW + until, now: NOW, max: 2 }, `{${key}}revoked`)
    expect(await add('a', 30)).toEqual({ revokedAgeMs: null, size: 1, oldest: [] })
    expect(await add('b', 20)).toEqual({ revokedAgeMs: null, size: 2, oldest: [] })
    expect(await add('c', 10)).toEqual({ revokedAgeMs: null, size: 3, oldest: ['c', 'b', 'a'] })
  })

  test('a member that is renewed and was never added does not count', async () => {
    const entry = { until: NOW + 60, now: NOW, max: 9 }
    await kv.addEntry(`{${key}}`, 'a member', entry, `{${key}}revoked`)
    await kv.renewEntry(`{${key}}`, 'another', NOW + 60, NOW)
    expect(await kv.addEntry(`{${key}}`, 'a member', entry, `{${key}}revoked`)).toMatchObject({ size: 1 })
  })

  test('no more members are listed than are asked for', async () => {
    const index = `{${key}}`
    for (const member of ['a', 'b', 'c'])
      await kv.addEntry(index, member, { until: NOW + 60, now: NOW, max: 9 }, `${index}revoked`)
    const list = (most: number) => kv.revokeAndList(`${index}revoked`, 60, index, { now: NOW, member: 'a', most })
    expect(await list(1)).toEqual(['b'])
    expect(await list(9)).toEqual(['b', 'c'])
  })

  test('a list and a queue that were never begun are empty', async () => {
    await kv.remove(key, ['a member'])
    await kv.renewEntry(key, 'a member', NOW + 5, NOW)
    expect(await kv.revokeAndList(`{${key}}revoked`, 60, `{${key}}`, { now: 0, member: '', most: 9 })).toEqual([])
    expect(await kv.takeDue(key, { now: NOW, latest: NOW + 99 }, NOW, 8)).toEqual([])
    await kv.enqueueOnce(key, 'an entry', NOW)
    expect(await kv.takeDue(key, { now: NOW, latest: NOW + 99 }, NOW + 5, 8)).toEqual(['an entry'])
  })

  test('what is due by the latest time is not taken before its own, and what is due later is', async () => {
    await kv.enqueue(key, 'an entry', NOW + 5)
    await kv.enqueue(key, 'a later one', NOW + 6)
    expect(await kv.takeDue(key, { now: NOW, latest: NOW + 5 }, NOW + 9, 8)).toEqual(['a later one'])
  })
})

test('in memory a value lives as long as it was said last', async () => {
  const clock: TestClock = { now: NOW }
  const kv = new MemoryKv(() => clock.now * 1000)
  await kv.compareAndSet('a', undefined, '1', 10)
  clock.now += 9
  await kv.expire('a', 10)
  clock.now += 9
  expect(await kv.mget(['a'])).toEqual(['1'])
  clock.now += 1
  expect(await kv.mget(['a'])).toEqual([null])
})
