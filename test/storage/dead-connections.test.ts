import calculateSlot from 'cluster-key-slot'
import { Redis } from 'ioredis'
import type { Kv } from '../../lib/storage/kv'
import { openRedis, redisKv } from '../../lib/storage/redis-kv'
import { startFront } from '../support/front'
import { startRedis, type TestRedis } from '../support/redis'
import { silentProxy } from '../support/silent-proxy'
import { pause } from '../support/wait'
import { startCluster } from './servers'

const turn = () => new Promise<'waits'>((resolve) => setImmediate(resolve, 'waits'))
const COMMAND_MS = 300

/** Asks all the time. @returns how long it took until it was answered, and how many answers were slow on the way */
async function untilAnswered(ask: () => Promise<unknown>, most: number): Promise<{ ms: number; slow: number }> {
  const start = performance.now()
  for (let slow = 0; ; ) {
    const begun = performance.now()
    const isAnswered = await ask().then(
      () => true,
      () => false,
    )
    if (isAnswered) return { ms: performance.now() - start, slow }
    if (performance.now() - begun > 100) slow += 1
    if (performance.now() - start > most) throw new Error(`no answer within ${most} ms`)
    await pause(20)
  }
}

describe('a Redis', () => {
  let redis: TestRedis
  beforeAll(async () => {
    redis = await startRedis()
  })
  afterAll(() => redis.stop())

  test.each<[name: string, open: (port: number) => Redis]>([
    ['of our own', (port) => openRedis(`redis://127.0.0.1:${port}`)],
    ['that was passed in', (port) => new Redis(port)],
  ])('whose connection goes silent gets another one within 5 s: a client %s', async (_name, open) => {
    const proxy = await silentProxy(redis.port)
    const client = open(proxy.port)
    const kv = redisKv(client, true)
    await untilAnswered(() => kv.mget(['a']), 5000) // the first of all connects as well
    const before = proxy.connections()
    proxy.silence()
    const { ms, slow } = await untilAnswered(() => kv.mget(['a']), 5000)
    expect(ms).toBeGreaterThan(300)
    expect(slow).toBeLessThanOrEqual(5)
    expect(proxy.connections()).toBeGreaterThan(before)
    expect(kv.isAvailable).toBe(true)
    await kv.close()
    proxy.close()
  })

  test('that cuts its connection under commands keeps the next one', async () => {
    const front = await startFront(redis.port)
    const client = openRedis(`redis://127.0.0.1:${front.port}`)
    const kv = redisKv(client, true)
    const admin = new Redis(redis.url)
    const connects = async () => Number(/total_connections_received:(\d+)/.exec(await admin.info())?.[1])
    const both = () => Promise.all([kv.mget(['a']), kv.expire('a', 60)])
    await untilAnswered(both, 5000)
    const again = new Promise((resolve) => client.once('ready', resolve))
    front.stall()
    const lost = Promise.allSettled(Array.from({ length: 5 }, both))
    await front.down()
    front.heal()
    await front.up()
    await again
    await untilAnswered(both, 5000)
    const before = await connects()
    expect((await lost).map(({ status }) => status)).toEqual(Array(5).fill('rejected')) // when their time is over
    await pause(100)
    await untilAnswered(both, 5000)
    expect(await connects()).toBe(before)
    admin.disconnect()
    await kv.close()
    await front.down()
  })

  test('is left alone by a client that would not connect again', async () => {
    const proxy = await silentProxy(redis.port)
    const client = new Redis(proxy.port, { retryStrategy: () => null, maxRetriesPerRequest: 0 })
    client.options.retryStrategy = undefined
    const kv = redisKv(client, true)
    await untilAnswered(() => kv.mget(['a']), 5000)
    proxy.silence()
    for (let asked = 0; asked < 4; asked += 1) await kv.mget(['a']).catch(() => {})
    expect([client.status, client.stream.destroyed]).toEqual(['ready', false]) // the status follows a while later
    await kv.close()
    proxy.close()
  })

  test('that hangs is asked by the guard alone, no request waits, and health is seen within a second', async () => {
    const kv = redisKv(openRedis(redis.url), true)
    const admin = new Redis(redis.url)
    await untilAnswered(() => kv.mget(['a']), 5000)
    await admin.ping()
    const begun = performance.now() // the pause begins later, and so it lasts longer than what is looked at
    await admin.call('CLIENT', 'PAUSE', '3000')
    await Promise.all(Array.from({ length: 10 }, () => kv.mget(['a']).catch(() => {})))
    expect(kv.isAvailable).toBe(false)
    while (performance.now() - begun < 2800) {
      // at once: before the event loop turns
      const outcome = await Promise.race([kv.mget(['a']).catch((error: unknown) => error), turn()])
      expect(outcome).toMatchObject({ operation: 'store' })
      await pause(5)
    }
    await untilAnswered(() => kv.mget(['a']), 4000)
    expect(kv.isAvailable).toBe(true)
    admin.disconnect()
    await kv.close()
  })

  test('that refuses a command has been heard: its connection stays', async () => {
    const kv = redisKv(openRedis(redis.url), true)
    const admin = new Redis(redis.url)
    const clients = async () => String(await admin.client('LIST')).match(/ id=|^id=/gm)?.length
    await admin.set('text', 'no list')
    await untilAnswered(() => kv.mget(['a']), 5000)
    const before = await clients()
    const connects = Number(/total_connections_received:(\d+)/.exec(await admin.info())?.[1])
    for (let asked = 0; asked < 4; asked += 1) await kv.remove('text', ['a member']).catch(() => {})
    await untilAnswered(() => kv.mget(['a']), 4000)
    expect(await clients()).toBe(before)
    expect(Number(/total_connections_received:(\d+)/.exec(await admin.info())?.[1])).toBe(connects)
    admin.disconnect()
    await kv.close()
  })

  test('that is stopped leaves nothing behind when the store is closed, though the client stays', async () => {
    const own = await startRedis()
    const client = new Redis(own.port)
    client.on('error', () => {})
    const heard: unknown[] = []
    const failed = (error: unknown) => void heard.push(error)
    const kv = redisKv(client, false, { failed, recovered: () => void heard.push('recovered') })
    await untilAnswered(() => kv.mget(['a']), 5000)
    await own.stop()
    await expect(kv.mget(['a'])).rejects.toMatchObject({ operation: 'store' })
    expect(heard).not.toEqual([])
    await kv.close()
    heard.length = 0
    await pause(1500) // the next look would have come after a second
    client.emit('error', new Error('connect'))
    expect(heard).toEqual([])
    client.disconnect()
  })

  test('that hangs leaves nothing behind when the store is closed under a command', async () => {
    const own = await startRedis()
    const client = new Redis(own.port)
    client.on('error', () => {})
    const heard: unknown[] = []
    const kv = redisKv(client, false, {
      failed: (error) => void heard.push(error),
      recovered: () => void heard.push('recovered'),
    })
    await untilAnswered(() => kv.mget(['a']), 5000)
    heard.length = 0
    own.hang()
    const asked = kv.mget(['a'])
    await kv.close()
    await expect(asked).rejects.toMatchObject({ operation: 'store' })
    await pause(1500) // the next look would have come after a second
    expect(heard).toEqual([])
    client.disconnect()
    await own.stop()
  })
})

describe('a Cluster', () => {
  let cluster: Awaited<ReturnType<typeof startCluster>>
  let kv: Kv
  beforeAll(async () => {
    cluster = await startCluster()
    kv = redisKv(cluster.client(), true)
  })
  afterAll(async () => {
    await kv.close()
    await cluster.stop()
  })
  /** A key of the first, second or third master. */
  const keyAt = (master: number) => {
    for (let tried = 0; ; tried += 1)
      if (Math.floor(calculateSlot(`{k${tried}}`) / 5461) === master) return `{k${tried}}`
  }
  const keys = [keyAt(0), keyAt(1), keyAt(2)]
  /** Asks a master that is well: a busy machine may keep it back for once, and then all the time of a command is over. */
  const read = async (key: string) => {
    const begun = performance.now()
    try {
      return await kv.mget([key])
    } catch (error) {
      if (performance.now() - begun < COMMAND_MS - 10) throw error
      return kv.mget([key])
    }
  }

  test('with one master that hangs fails requests for that one alone, and is whole again within 5 s of its return', async () => {
    for (const key of keys) await untilAnswered(() => kv.compareAndSet(key, undefined, 'x', 60), 5000)
    const [ill = '', ...well] = keys
    cluster.masters[0]?.hang()
    let slow = 0
    const end = performance.now() + 4000
    while (performance.now() < end) {
      const begun = performance.now()
      await expect(kv.mget([ill])).rejects.toBeDefined()
      if (performance.now() - begun > 100) slow += 1
      expect(await Promise.all(well.map(read))).toEqual([['x'], ['x']])
      await pause(20)
    }
    expect(slow).toBeLessThanOrEqual(4)
    expect(kv.isAvailable).toBe(true)
    await expect(kv.probe()).rejects.toBeDefined()
    expect(kv.failure).toBe(`no answer in time (127.0.0.1:${cluster.masters[0]?.port})`)
    cluster.masters[0]?.resume()
    await untilAnswered(() => kv.mget([ill]), 5000)
    await untilAnswered(() => kv.probe(), 4000)
  })

  test('with one master that is full still reads from it, and writes to the others', async () => {
    for (const key of keys) await untilAnswered(() => kv.compareAndSet(key, undefined, 'x', 60), 5000)
    const [, full = '', other = ''] = keys
    const { port } = cluster.masters[1] as TestRedis
    const admin = new Redis(port)
    await admin.config('SET', 'maxmemory', '1')
    for (let asked = 0; asked < 4; asked += 1)
      await expect(kv.compareAndSet(full, undefined, 'y', 60)).rejects.toBeDefined()
    await untilAnswered(() => kv.compareAndSet(other, undefined, 'y', 60), 5000)
    expect(await Promise.all([full, other].map(read))).toEqual([['x'], ['y']])
    expect([kv.failure, kv.isAvailable]).toEqual([`writes refused: OOM (127.0.0.1:${port})`, true])
    await admin.config('SET', 'maxmemory', '0')
    await untilAnswered(() => kv.compareAndSet(full, undefined, 'y', 60), 5000)
    await untilAnswered(() => kv.probe(), 5000)
    expect(kv.failure).toBeUndefined()
    admin.disconnect()
  })
})
