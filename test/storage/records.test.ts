import { randomUUID } from 'node:crypto'
import type { Kv } from '../../lib/storage/kv'
import { MemoryKv } from '../../lib/storage/memory-kv'
import { Records, sessionKey } from '../../lib/storage/records'
import { openRedis, redisKv } from '../../lib/storage/redis-kv'
import { StoreUnavailableError } from '../../lib/storage/unavailable'
import { freePort } from '../support/ports'

const NOW = 1_800_000_000

const stores: [name: string, open: () => Kv][] = [
  ['memory', () => new MemoryKv(() => NOW * 1000)],
  ['Redis', () => redisKv(openRedis(String(process.env['TEST_REDIS_URL'])), true)],
]

describe.each(stores)('records in %s', (_name, open) => {
  let kv: Kv
  let records: Records
  let key: string
  beforeAll(() => {
    kv = open()
  })
  beforeEach(() => {
    records = new Records(kv, `${randomUUID()}:`)
    key = sessionKey(randomUUID())
  })
  afterAll(() => kv.close())

  const save = (value: string) => records.saveData(records.dataKey(key), key, value, 60)

  test('a session that nobody wrote has neither data nor record', async () => {
    expect(await records.readBoth(key)).toEqual({ data: null, record: null })
    expect(await records.read(key)).toBeNull()
  })

  test('a record is replaced only where it is exactly what was read', async () => {
    expect(await records.replace(key, null, 'one', 60)).toBe(true)
    expect(await records.replace(key, null, 'two', 60)).toBe(false)
    expect(await records.replace(key, 'One', 'two', 60)).toBe(false)
    expect(await records.read(key)).toBe('one')
    expect(await records.replace(key, 'one', 'two', 60)).toBe(true)
    expect(await records.read(key)).toBe('two')
  })

  test('nothing is not an empty text', async () => {
    expect(await records.replace(key, '', 'one', 60)).toBe(false)
    expect(await records.read(key)).toBeNull()
  })

  test('of 50 parallel writes on the same content one wins', async () => {
    await records.replace(key, null, 'before', 60)
    const won = await Promise.all(
      Array.from({ length: 50 }, (_, index) => records.replace(key, 'before', `after ${index}`, 60)),
    )
    expect(won.filter(Boolean)).toEqual([true])
    expect(await records.read(key)).toBe(`after ${won.indexOf(true)}`)
  })

  test('data and record are read together', async () => {
    expect(await save('basket')).toBe(true)
    await records.replace(key, null, 'one', 60)
    expect(await records.readBoth(key)).toEqual({ data: 'basket', record: 'one' })
    await records.renew(key, 120)
    await records.deleteData(key)
    expect(await records.readBoth(key)).toEqual({ data: null, record: 'one' })
  })

  test.each(['moved', 'ended'] as const)(
    'a session buried as %s loses its data and takes none any more',
    async (word) => {
      await save('basket')
      await records.replace(key, null, 'one', 60)
      expect(await records.bury(key, 'other', word)).toBe(false)
      expect(await records.readBoth(key)).toEqual({ data: 'basket', record: 'one' })
      expect(await records.bury(key, 'one', word)).toBe(true)
      expect(await save('late')).toBe(false)
      expect(await records.replace(key, 'one', 'late', 60)).toBe(false)
      expect(await records.readBoth(key)).toEqual({ data: null, record: word })
    },
  )

  test('a session is ended whatever its record says', async () => {
    await save('basket')
    await records.replace(key, null, 'one', 60)
    await records.end(key)
    expect(await save('late')).toBe(false)
    expect(await records.readBoth(key)).toEqual({ data: null, record: 'ended' })
  })

  test('of 50 parallel uses of one token one is the first', async () => {
    const signature = Buffer.from(randomUUID())
    const first = await Promise.all(Array.from({ length: 50 }, () => records.useToken(signature)))
    expect(first.filter(Boolean)).toEqual([true])
    expect(await records.useToken(Buffer.from(randomUUID()))).toBe(true)
  })

  test('an ended SSO session is remembered, and no other', async () => {
    await records.markSidEnded('hash')
    await records.markSidEnded('hash')
    expect(await Promise.all(['hash', 'other'].map((sid) => records.isSidEnded(sid)))).toEqual([true, false])
  })

  test('an account lists its sessions once each until they are taken off', async () => {
    for (const one of ['k1', 'k2', 'k1']) await records.addToAccount('ada', one, 60)
    await records.addToAccount('bob', 'k3', 60)
    expect((await records.keysOfAccount('ada')).sort()).toEqual(['k1', 'k2'])
    await records.removeFromAccount('ada', 'k1')
    expect(await records.keysOfAccount('ada')).toEqual(['k2'])
    expect(await records.keysOfAccount('nobody')).toEqual([])
  })

  test('a kept logout is taken when due, pushed on meanwhile, and gone once confirmed', async () => {
    await records.keepLogout('h1', 'sealed', NOW)
    await records.keepLogout('h2', 'sealed too', NOW + 100)
    expect(await records.keptLogout('h1')).toBe('sealed')
    expect(await records.keptLogout('h3')).toBeNull()
    expect(await records.takeDueLogouts(NOW - 1, NOW + 30)).toEqual([])
    expect(await records.takeDueLogouts(NOW, NOW + 30)).toEqual(['h1'])
    expect(await records.takeDueLogouts(NOW, NOW + 30)).toEqual([])
    expect(await records.takeDueLogouts(NOW + 30, NOW + 60)).toEqual(['h1'])
    await records.confirmLogout('h1')
    expect(await records.keptLogout('h1')).toBe('confirmed')
    expect(await records.takeDueLogouts(NOW + 99, NOW + 130)).toEqual([])
    expect(await records.takeDueLogouts(NOW + 100, NOW + 130)).toEqual(['h2'])
  })

  test('of ten parallel takers each logout goes to one, and a retry is claimed once', async () => {
    for (const hash of ['h1', 'h2', 'h3']) await records.keepLogout(hash, 'sealed', NOW)
    const taken = await Promise.all(Array.from({ length: 10 }, () => records.takeDueLogouts(NOW, NOW + 30)))
    expect(taken.flat().sort()).toEqual(['h1', 'h2', 'h3'])
    const claims = await Promise.all(Array.from({ length: 10 }, () => records.claimRetry('h1', 30)))
    expect(claims.filter(Boolean)).toEqual([true])
  })

  test('two sites under two prefixes share nothing', async () => {
    await records.replace(key, null, 'one', 60)
    expect(await new Records(kv, `${randomUUID()}:`).read(key)).toBeNull()
  })
})

test('a store that nobody listens at says so, and nothing else', async () => {
  const kv = redisKv(openRedis(`redis://127.0.0.1:${await freePort()}`), true)
  await expect(new Records(kv, 'x:').read('secret-key')).rejects.toEqual(new StoreUnavailableError())
  await kv.close()
})
