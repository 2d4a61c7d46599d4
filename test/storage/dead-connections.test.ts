import { type Cluster, Redis } from 'ioredis'
import type { Kv } from '../../lib/storage/kv'
import { openRedis } from '../../lib/storage/redis-connection'
import { redisKv } from '../../lib/storage/redis-kv'
import { keyOn, masterOf, startCluster } from '../support/cluster'
import { startRedisFront } from '../support/front'
import { startRedis, type TestRedis } from '../support/redis'
import { eventually, pause, timed, untilAnswered } from '../support/wait'

const COMMAND_MS = 300
/** A ping that took so long tells of a master that may not have answered a command in time. */
const LATE_MS = 200

/** Asks all the time, and the last command begins in time. @returns after how many milliseconds it was answered */
async function answeredWithin(ms: number, ask: () => Promise<unknown>): Promise<number> {
  const start = performance.now()
  const [, ran] = await timed(() => untilAnswered(ask))
  expect(ran).toBeLessThan(ms + COMMAND_MS)
  return performance.now() - start
}

/** Notes the reads of a key that a client sends. Only those may wait: the breaker refuses the others at once. */
function readsOf(client: Redis | Cluster, key: string): unknown[] {
  const sent: unknown[] = []
  const read = client.mget.bind(client) as (...args: unknown[]) => Promise<(string | null)[]>
  client.mget = ((...args: unknown[]) => {
    if (args.includes(key)) sent.push(args)
    return read(...args)
  }) as typeof client.mget
  return sent
}

describe('a Redis', () => {
  let redis: TestRedis
  let admin: Redis
  beforeAll(async () => {
    redis = await startRedis()
    admin = new Redis(redis.url)
  })
  afterAll(async () => {
    admin.disconnect()
    await redis.stop()
  })
  const connects = async () => Number(/total_connections_received:(\d+)/.exec(await admin.info())?.[1])

  test.each<[name: string, isOwned: boolean, open: (port: number) => Redis]>([
    ['of our own', true, (port) => openRedis(`redis://127.0.0.1:${port}`)],
    ['that was passed in with socketTimeout', false, (port) => new Redis(port, { socketTimeout: 1000 })],
  ])('whose connection goes silent gets another one within 5 s: a client %s', async (_name, isOwned, open) => {
    const front = await startRedisFront(redis.port)
    const client = open(front.port)
    const kv = redisKv(client, isOwned)
    await untilAnswered(() => kv.mget(['a'])) // the first of all connects as well
    const before = await connects()
    const sent = readsOf(client, 'a')
    front.silence()
    expect(await answeredWithin(5000, () => kv.mget(['a']))).toBeGreaterThan(COMMAND_MS)
    expect(sent.length).toBeGreaterThan(1) // of which the last one is answered
    expect(sent.length).toBeLessThanOrEqual(5)
    expect(await connects()).toBeGreaterThan(before)
    expect(kv.isAvailable).toBe(true)
    await kv.close()
    client.disconnect()
    await front.down()
  })

  test('that cuts its connection under commands keeps the next one', async () => {
    const front = await startRedisFront(redis.port)
    const client = openRedis(`redis://127.0.0.1:${front.port}`)
    const kv = redisKv(client, true)
    const both = () => Promise.all([kv.mget(['a']), kv.expire('a', 60)])
    await untilAnswered(both)
    const again = new Promise((resolve) => client.once('ready', resolve))
    front.stall()
    const lost = Promise.allSettled(Array.from({ length: 5 }, both))
    await front.down()
    front.heal()
    await front.up()
    await again
    await untilAnswered(both)
    const before = await connects()
    expect((await lost).map(({ status }) => status)).toEqual(Array(5).fill('rejected')) // when their time is over
    await pause(100)
    await untilAnswered(both)
    expect(await connects()).toBe(before)
    await kv.close()
    await front.down()
  })
})

describe('a Cluster', () => {
  let cluster: Awaited<ReturnType<typeof startCluster>>
  let client: Cluster
  let kv: Kv
  /** Connections to each master that no breaker watches. */
  let direct: Redis[]
  beforeAll(async () => {
    cluster = await startCluster()
    direct = cluster.masters.map(({ url }) => new Redis(url))
    await Promise.all(direct.map((master) => master.ping()))
    client = cluster.client()
    kv = redisKv(client, true)
  })
  afterAll(async () => {
    await kv.close()
    for (const master of direct) master.disconnect()
    await cluster.stop()
  })
  const keys = [keyOn(0), keyOn(1), keyOn(2)]
  /** Asks a master that is well: a busy machine may keep it back for once, and then all the time of a command is over. */
  const read = async (key: string) => {
    const begun = performance.now()
    const answered = direct[masterOf(key)]?.ping().then(() => performance.now() - begun)
    try {
      return await kv.mget([key])
    } catch (error) {
      if (Number(await answered) < LATE_MS) throw error
      return kv.mget([key])
    }
  }

  test('with one master that hangs fails requests for that one alone, and is whole again within 5 s of its return', async () => {
    for (const key of keys) await untilAnswered(() => kv.set(key, 'x', 60))
    const [ill = '', ...well] = keys
    cluster.masters[0]?.hang()
    const sent = readsOf(client, ill)
    const end = performance.now() + 4000
    while (performance.now() < end) {
      await expect(kv.mget([ill])).rejects.toBeDefined()
      expect(await Promise.all(well.map(read))).toEqual([['x'], ['x']])
      await pause(20)
    }
    expect(sent.length).toBeGreaterThan(0)
    expect(sent.length).toBeLessThanOrEqual(4)
    expect(kv.isAvailable).toBe(true)
    expect(kv.failure).toBe(`no answer in time (127.0.0.1:${cluster.masters[0]?.port})`)
    cluster.masters[0]?.resume()
    await answeredWithin(5000, () => kv.mget([ill]))
  })

  test('with one master that is full still reads from it, and writes to the others', async () => {
    for (const key of keys) await untilAnswered(() => kv.set(key, 'x', 60))
    const [, full = '', other = ''] = keys
    const { port } = cluster.masters[1] as TestRedis
    const admin = new Redis(port)
    await admin.config('SET', 'maxmemory', '1')
    for (let asked = 0; asked < 4; asked += 1) await expect(kv.set(full, 'y', 60)).rejects.toBeDefined()
    await untilAnswered(() => kv.set(other, 'y', 60))
    expect(await Promise.all([full, other].map(read))).toEqual([['x'], ['y']])
    expect([kv.failure, kv.isAvailable]).toEqual([`writes refused: OOM (127.0.0.1:${port})`, true])
    await admin.config('SET', 'maxmemory', '0')
    await untilAnswered(() => kv.set(full, 'y', 60))
    await eventually(async () => kv.failure === undefined)
    admin.disconnect()
  })
})
