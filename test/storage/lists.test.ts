import { randomUUID } from 'node:crypto'
import { shortHash } from '../../lib/storage/hashes'
import type { Kv } from '../../lib/storage/kv'
import type { Beginning, Entry, Lists } from '../../lib/storage/lists'
import { holding, NOW, siteOver, stores, type TestClock, winners } from './stores'

describe.each(stores)('lists in %s', (_name, open) => {
  const clock: TestClock = { now: NOW }
  let kv: Kv
  let prefix: string
  let lists: Lists
  beforeAll(() => {
    kv = open(clock)
  })
  beforeEach(() => {
    clock.now = NOW
    ;({ prefix, lists } = siteOver(kv, clock))
  })
  afterAll(() => kv.close())

  const entry = (changes: Partial<Entry> = {}): Entry => ({
    key: 'k1',
    sidHash: 's1',
    accountId: 'ada',
    until: NOW + 100,
    ...changes,
  })
  const beginning = async (): Promise<Beginning> => {
    const begun = await lists.beginning()
    if (begun === 'unavailable') throw new Error('no store')
    return begun
  }

  test('a token is taken once, of 50 who try at once', async () => {
    const signature = Buffer.from(randomUUID())
    const first = await winners(50, async () => {
      const marks = await lists.takeToken(signature, 's1')
      return marks !== 'unavailable' && marks.isFirst
    })
    expect(first).toEqual([true])
    const marks = { isFirst: true, isSidEnded: false, logoutAlls: 0 }
    expect(await lists.takeToken(Buffer.from(randomUUID()), 's1')).toEqual(marks)
  })

  test('a token tells whether its session was logged out, and how often somebody logged out everywhere', async () => {
    await lists.endSid('s1')
    await lists.endAccount('bob')
    const take = (sidHash: string) => lists.takeToken(Buffer.from(randomUUID()), sidHash)
    expect(await take('s1')).toEqual({ isFirst: true, isSidEnded: true, logoutAlls: 1 })
    expect(await take('s2')).toEqual({ isFirst: true, isSidEnded: false, logoutAlls: 1 })
  })

  test('who logs out first finds whoever is on the list, and whoever comes later is told', async () => {
    const begun = await beginning()
    expect(await lists.enter(entry({ key: 'k1' }), begun)).toBe(false)
    expect(await lists.enter(entry({ key: 'k2' }), begun)).toBe(false)
    expect(await lists.endSid('s1')).toEqual(expect.arrayContaining(['k1', 'k2']))
    expect(await lists.enter(entry({ key: 'k3' }), begun)).toBe(true)
    expect(await lists.enter(entry({ key: 'k4', sidHash: 's2' }), begun)).toBe(false)
  })

  test('who has been found is not found again', async () => {
    await lists.enter(entry(), await beginning())
    expect(await lists.endSid('s1')).toEqual(['k1'])
    expect(await lists.endSid('s1')).toEqual([])
  })

  test('whatever the order of a login and a logout, one of them sees the other', async () => {
    const begun = await beginning()
    const rounds = Array.from({ length: 60 }, async (_, index) => {
      const one = entry({ key: `k${index}`, sidHash: `race${index}` })
      const enter = () => lists.enter(one, begun)
      const end = () => lists.endSid(one.sidHash)
      const [isOut, keys] =
        index % 2 === 0
          ? await Promise.all([enter(), end()])
          : await Promise.all([end(), enter()]).then(([found, told]) => [told, found] as const)
      return isOut === true || keys.includes(one.key)
    })
    expect((await Promise.all(rounds)).filter((seen) => !seen)).toEqual([])
  })

  test('whatever the order of a login and a logout everywhere, one of them sees the other', async () => {
    const rounds = Array.from({ length: 60 }, async (_, index) => {
      const one = entry({ key: `k${index}`, sidHash: `s${index}`, accountId: `account${index}` })
      const begun = await beginning()
      const [isOut, keys] = await Promise.all([lists.enter(one, begun), lists.endAccount(one.accountId)])
      return isOut === true || keys.includes(one.key)
    })
    expect((await Promise.all(rounds)).filter((seen) => !seen)).toEqual([])
  })

  test('a logout everywhere ends what began before it, and nothing that begins later', async () => {
    const before = await beginning()
    await lists.enter(entry({ key: 'k1' }), before)
    await lists.enter(entry({ key: 'k2', sidHash: 's2' }), before)
    await lists.enter(entry({ key: 'k3', accountId: 'bob' }), before)
    expect(await lists.endAccount('ada')).toEqual(expect.arrayContaining(['k1', 'k2']))
    expect(await lists.endAccount('nobody')).toEqual([])
    expect(await lists.enter(entry({ key: 'k4', sidHash: 's4' }), before)).toBe(true)
    expect(await lists.enter(entry({ key: 'k5', sidHash: 's5', accountId: 'bob' }), before)).toBe(false)
    expect(await lists.enter(entry({ key: 'k6', sidHash: 's6' }), await beginning())).toBe(false)
  })

  test('of two logouts everywhere at once the later one counts, though the earlier one writes last', async () => {
    let letGo = () => {}
    const held = new Promise<void>((resolve) => {
      letGo = resolve
    })
    const slowKv = holding(kv, ['overwrite', 'compareAndSet'], held)
    const slow = siteOver(slowKv, clock, prefix).lists.endAccount('ada')
    while ((await beginning()).logoutAlls === 0) await new Promise(setImmediate) // the first has counted, and not written
    const between = await beginning()
    await lists.endAccount('ada')
    letGo()
    await slow
    expect(await lists.enter(entry(), between)).toBe(true)
    expect(await lists.enter(entry({ key: 'k2' }), await beginning())).toBe(false)
  })

  describe('where the store has lost the count of logouts everywhere, and not the marks', () => {
    beforeEach(async () => {
      for (let times = 0; times < 3; times += 1) await lists.endAccount('ada')
      await kv.del(`${prefix}alls`)
    })

    test('an account can log in again', async () => {
      await lists.enter(entry(), await beginning())
      expect(await lists.enter(entry(), await beginning())).toBe(false)
    })

    test('the next logout everywhere still ends what began before it', async () => {
      const begun = { logoutAlls: 3 }
      await lists.endAccount('ada')
      expect(await lists.enter(entry(), begun)).toBe(true)
      expect(await lists.enter(entry(), await beginning())).toBe(false)
    })
  })

  test('a logout everywhere counts on where the store has lost the count, and no two have the same', async () => {
    await kv.overwrite(`${prefix}all:{${shortHash('ada')}}`, '5', 60)
    await kv.overwrite(`${prefix}alls`, '4', 60)
    await lists.endAccount('ada')
    expect(await lists.enter(entry(), { logoutAlls: 5 })).toBe(true)
    expect(await lists.beginning()).toEqual({ logoutAlls: 6 })
  })

  test('sessions leave both their lists', async () => {
    const begun = await beginning()
    for (const key of ['k1', 'k2', 'k1']) await lists.enter(entry({ key }), begun)
    expect(await lists.leave(entry({ key: 'k1' }))).toBe('done')
    expect(await lists.endAccount('ada')).toEqual(['k2'])
    expect(await lists.endSid('s1')).toEqual(['k2'])
  })

  test('sessions that have expired are not found, and fall off their lists when another one enters', async () => {
    const begun = await beginning()
    await lists.enter(entry({ key: 'k1', until: NOW + 10 }), begun)
    await lists.enter(entry({ key: 'k2', until: NOW + 11 }), begun)
    clock.now = NOW + 10
    expect(await lists.endAccount('ada')).toEqual(['k2'])
    expect(await kv.listed(`${prefix}sid:{s1}`, 0)).toHaveLength(2)
    clock.now = NOW + 11
    await lists.enter(entry({ key: 'k3', until: NOW + 20 }), await beginning())
    expect(await kv.listed(`${prefix}sid:{s1}`, 0)).toEqual(['k3'])
    expect(await kv.listed(`${prefix}acct:{${shortHash('ada')}}`, 0)).toEqual(['k3'])
  })

  test('no list names an account or can be guessed to be its', async () => {
    await lists.enter(entry(), await beginning())
    expect(await kv.listed(`${prefix}acct:{ada}`, 0)).toEqual([])
  })

  test('two sites under two prefixes share nothing', async () => {
    await lists.enter(entry(), await beginning())
    const other = siteOver(kv, clock).lists
    expect(await other.endSid('s1')).toEqual([])
    await lists.endAccount('ada')
    expect(await other.beginning()).toEqual({ logoutAlls: 0 })
    expect(await lists.enter(entry({ key: 'k2' }), await beginning())).toBe(false)
  })
})
