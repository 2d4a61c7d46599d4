import { randomUUID } from 'node:crypto'
import type { Kv } from '../../lib/storage/kv'
import { NOW, stores, type TestClock } from './stores'

/* What no part of the package asks of a store in its own tests, and every store must do alike. */

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

  test('nothing is taken where there is not what was read, and nothing else', async () => {
    expect(await kv.compareAndTake(key, 'a record', 'a grave', 60, `${key}:data`)).toBe(false)
    await kv.overwrite(key, 'a record', 60)
    expect(await kv.compareAndTake(key, null, 'a grave', 60, `${key}:data`)).toBe(false)
    expect(await kv.mget([key])).toEqual(['a record'])
  })

  test('the expiry of nothing is not renewed', async () => {
    await kv.expire(key, 60)
    expect(await kv.mget([key])).toEqual([null])
  })

  test('a list and a queue that nobody has begun are empty', async () => {
    await kv.unlist(key, ['a member'])
    await kv.renewEntry(key, 'a member', NOW + 5, NOW)
    await kv.dequeue(key, 'an entry')
    await kv.hasten(key, 0, 0)
    expect([
      await kv.markAndList(`${key}:mark`, 60, key, { now: 0, member: '', most: 9 }),
      await kv.takeDue(key, { now: NOW, latest: NOW + 99 }, NOW, 8),
    ]).toEqual([[], []])
    await kv.enqueueOnce(key, 'an entry', NOW)
    expect(await kv.takeDue(key, { now: NOW, latest: NOW + 99 }, NOW + 5, 8)).toEqual(['an entry'])
  })

  test('what is due by then is not hastened', async () => {
    await kv.enqueue(key, 'an entry', NOW + 5)
    await kv.hasten(key, NOW + 5, NOW)
    expect(await kv.takeDue(key, { now: NOW + 4, latest: NOW + 99 }, NOW, 8)).toEqual([])
  })
})

test('in memory a value lives as long as it was said last', async () => {
  const clock: TestClock = { now: NOW }
  const kv = stores[0]?.[1](clock)
  if (!kv) throw new Error('no store')
  await kv.overwrite('a', '1', 10)
  clock.now += 9
  await kv.expire('a', 10)
  clock.now += 9
  expect(await kv.mget(['a'])).toEqual(['1'])
  clock.now += 1
  expect(await kv.mget(['a'])).toEqual([null])
})
