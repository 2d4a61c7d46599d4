import { randomUUID } from 'node:crypto'
import type { Kv } from '../../lib/storage/kv'
import { MemoryKv } from '../../lib/storage/memory-kv'
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
