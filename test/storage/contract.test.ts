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

  test('what is not as it was read is told, with the time that it has left', async () => {
    expect(await kv.setOrRead(key, 'something', 'next', 60)).toEqual({ value: null, secondsLeft: 0 })
    expect(await kv.setOrRead(key, null, 'first', 60)).toBe('done')
    const found = { value: 'first', secondsLeft: expect.closeTo(60, -1) }
    for (const before of [null, 'another', '']) expect(await kv.setOrRead(key, before, 'next', 5)).toEqual(found)
    expect(await kv.setOrRead(key, 'first', 'second', 60)).toBe('done')
    expect(await kv.mget([key])).toEqual(['second'])
  })

  describe('counts', () => {
    const of = (...limits: number[]) => limits.map((limit, index) => ({ key: `{${key}}${index}`, limit }))
    const keysOf = (...limits: number[]) => of(...limits).map((count) => count.key)

    test('are added to together, or not at all', async () => {
      for (let times = 0; times < 2; times += 1)
        expect(await kv.addToCounts(of(9, 2, 9), 60, `w${times}`, 0)).toEqual({ windows: ['w0', 'w0', 'w0'] })
      expect(await kv.addToCounts(of(9, 2, 9), 60, 'w2', 0)).toEqual({ spent: 1, secondsLeft: expect.closeTo(60, -1) })
      expect(await kv.addToCounts(of(3, 9, 3), 60, 'w3', 0)).toEqual({ windows: ['w0', 'w0', 'w0'] })
      expect(await kv.addToCounts(of(3, 9, 9), 60, 'w4', 0)).toMatchObject({ spent: 0 })
    })
    test('are added to by as many as the limit allows, of many at once', async () => {
      const added = await Promise.all(Array.from({ length: 30 }, () => kv.addToCounts(of(50, 7), 60, 'w', 0)))
      expect(added.filter((one) => 'windows' in one)).toHaveLength(7)
    })
    test('keep a part of the last one for those of which nothing is counted', async () => {
      const [site, limit] = [`{${key}}site`, 4]
      const add = (name: string) =>
        kv.addToCounts(
          [
            { key: `{${key}}${name}`, limit: 99 },
            { key: site, limit },
          ],
          60,
          'w',
          2,
        )
      const said: boolean[] = []
      for (const name of ['a', 'a', 'a', 'b', 'b', 'c', 'd']) said.push('windows' in (await add(name)))
      expect(said).toEqual([true, true, false, true, false, true, false])
    })
    test('give back within their own window, and never more than was added', async () => {
      const added = await kv.addToCounts(of(2, 2), 60, 'w', 0)
      if (!('windows' in added)) throw new Error('not added')
      await kv.takeFromCounts(keysOf(2, 2), ['another', 'w'])
      for (const first of [undefined, 0]) {
        const next = await kv.addToCounts(of(2, 2), 60, 'w2', 0)
        expect('windows' in next ? undefined : next.spent).toBe(first)
      }
      await kv.takeFromCounts(keysOf(2), ['w'])
      expect(await kv.addToCounts(of(2, 2), 60, 'w3', 0)).toEqual({ windows: ['w', 'w'] })
    })
    test('[F19] never allow more than the limit in a window, whatever is given back after it', async () => {
      for (let round = 1; round <= 4; round += 1) {
        const added: (readonly string[])[] = []
        for (let taken = await add(); 'windows' in taken; taken = await add()) added.push(taken.windows)
        expect([round, added.length]).toEqual([round, 5])
        clock.now += 1.1
        if (_name === 'Redis') await new Promise((resolve) => setTimeout(resolve, 1100))
        await kv.addToCounts(of(5), 1, `next-${round}`, 0) // the next window has begun
        for (const windows of added) await kv.takeFromCounts(keysOf(5), windows)
        clock.now += 1.1
        if (_name === 'Redis') await new Promise((resolve) => setTimeout(resolve, 1100))
        function add() {
          return kv.addToCounts(of(5), 1, `w-${round}`, 0)
        }
      }
    }, 20_000)
    test('are taken from only where they are', async () => {
      await kv.takeFromCounts(keysOf(2), ['w'])
      expect(await kv.addToCounts(of(1), 60, 'w', 0)).toEqual({ windows: ['w'] })
    })
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
