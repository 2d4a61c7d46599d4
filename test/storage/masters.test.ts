import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import calculateSlot from 'cluster-key-slot'
import type { Cluster, Redis } from 'ioredis'
import type { Access, RedisFailure } from '../../lib/decide/redis-failure-advice'
import type { Kv } from '../../lib/storage/kv'
import { evictionCheck } from '../../lib/storage/open-store'
import { Records } from '../../lib/storage/records'
import { openRedis, redisKv } from '../../lib/storage/redis-kv'
import { RedisServers } from '../../lib/storage/redis-servers'
import { sessionKey } from '../../lib/storage/site-store'
import { eventually, pause, untilAnswered } from '../support/wait'
import { keyOn, masterOf, startCluster } from './servers'

/* Which server a key is of, and what is known of each: a Cluster of three masters, and one Redis. */

const [first, second, third] = [keyOn(0), keyOn(1), keyOn(2)]

const sent: string[] = []
const failures: RedisFailure[] = []
let recoveries = 0
const listener = {
  failed: (failure: RedisFailure) => void failures.push(failure),
  recovered: () => {
    recoveries += 1
  },
}
const probing = (client: Redis | Cluster) => ({
  prefix: 'masters:',
  send: (access: Access, key: string) => {
    sent.push(`${access} ${masterOf(key)}`)
    return client.exists(key)
  },
})

/** So many commands for a key that nobody answers. */
async function miss(servers: RedisServers, key: string, times: number): Promise<void> {
  const command = () => Promise.reject(new Error('no answer'))
  for (let time = 0; time < times; time += 1)
    await expect(servers.breakerFor(key).run('read', command)).rejects.toMatchObject({ operation: 'store' })
}

describe('a Cluster', () => {
  let running: Awaited<ReturnType<typeof startCluster>>
  let cluster: Cluster
  let servers: RedisServers
  beforeAll(async () => {
    running = await startCluster()
    cluster = running.client()
    await once(cluster, 'ready')
    await Promise.all([first, second, third].map((key) => cluster.get(key)))
  }, 60_000)
  beforeEach(() => {
    sent.length = 0
    failures.length = 0
    recoveries = 0
    servers = new RedisServers(cluster, probing(cluster), listener)
  })
  afterEach(() => servers.close())
  afterAll(async () => {
    cluster.disconnect()
    await running.stop()
  }, 60_000)

  const portOf = (key: string) => String(cluster.slots[calculateSlot(key)]?.[0]).split(':')[1]
  const nodeOf = (key: string) => cluster.nodes().find(({ options }) => String(options.port) === portOf(key))

  test('is looked at master by master for what it evicts', async () => {
    const masters = cluster.nodes('master')
    for (const master of masters) await master.config('SET', 'maxmemory', '100mb', 'maxmemory-policy', 'allkeys-lru')
    const said: string[] = []
    evictionCheck(cluster, (text) => void said.push(text))()
    while (said.length < 3) await pause(10)
    expect(new Set(said)).toEqual(new Set([expect.stringContaining('allkeys-lru')]))
  })

  test('has a guard for each master', () => {
    expect(servers.breakerFor(first)).toBe(servers.breakerFor(first))
    expect(servers.breakerFor(`{${first}}more`)).toBe(servers.breakerFor(first))
    expect(new Set([first, second, third].map((key) => servers.breakerFor(key))).size).toBe(3)
  })

  describe('and the ID of a session', () => {
    let records: Records
    let kv: Kv
    beforeEach(() => {
      kv = redisKv(cluster, false)
      const parts = [kv, 'masters:', () => [], () => 0] as const
      records = new Records(...parts)
    })
    afterEach(() => kv.close())
    const isBesideIndex = (id: string, sidHash: string) =>
      masterOf(`masters:sso2:{${sessionKey(id)}}`) === masterOf(`masters:sid:{${sidHash}}`)

    test('which is drawn until its record is on the master of the index of its SSO session', () => {
      for (let index = 0; index < 20; index += 1) {
        const draw = jest.fn(() => randomUUID())
        const id = records.drawId(draw, `s${index}`)
        const drawn = draw.mock.results.map(({ value }) => String(value))
        expect(drawn.map((one) => isBesideIndex(one, `s${index}`))).toEqual(drawn.map((one) => one === id))
      }
    })

    test('which is the 500th that was drawn where none of them is there', () => {
      const elsewhere = Array.from({ length: 9 }, (_, index) => `id${index}`).find((id) => !isBesideIndex(id, 's'))
      const draw = jest.fn(() => String(elsewhere))
      expect(records.drawId(draw, 's')).toBe(elsewhere)
      expect(draw).toHaveBeenCalledTimes(500)
    })
  })

  test('has one guard as long as its masters are not known', () => {
    const slots = cluster.slots.slice()
    cluster.slots = []
    expect(servers.breakerFor(first)).toBe(servers.breakerFor(second))
    cluster.slots = slots
    expect(servers.breakerFor(first)).not.toBe(servers.breakerFor(second))
  })

  test('is well until it is known that no master is', async () => {
    expect(servers.isAnyServerHealthy).toBe(true)
    await miss(servers, first, 1)
    expect(servers.isAnyServerHealthy).toBe(false)
    servers.breakerFor(second)
    expect(servers.isAnyServerHealthy).toBe(true)
    await miss(servers, second, 1)
    expect(servers.isAnyServerHealthy).toBe(false)
  })

  test('is probed at each master, and not while one of them is known to fail', async () => {
    await untilAnswered(() => servers.probe()) // one may be late on a busy machine
    expect(new Set(sent)).toEqual(new Set(['read 0', 'read 1', 'read 2', 'write 0', 'write 1', 'write 2']))
    await miss(servers, third, 1)
    expect(servers.failure).toMatchObject({ node: `127.0.0.1:${portOf(third)}` })
    expect(failures.at(-1)).toEqual(servers.failure)
    sent.length = 0
    await expect(servers.probe()).rejects.toMatchObject({ operation: 'store' })
    expect(sent).toEqual([])
  })

  test('forgets a master whose slots have moved to others', async () => {
    await miss(servers, first, 1)
    const owner = String(cluster.slots[calculateSlot(first)]?.[0])
    const slots = cluster.slots.slice()
    cluster.slots = slots.map((nodes) => (nodes[0] === owner ? (slots[16_383] ?? []) : nodes))
    expect(servers.failure).toMatchObject({ node: owner })
    await eventually(async () => servers.failure === undefined)
    cluster.slots = slots
  })

  test('gives up the connection to the master that is silent, and to no other, and asks it until it answers', async () => {
    const [node] = cluster.nodes()
    const [key, otherKey] = nodeOf(first) === node ? [second, first] : [first, second]
    const [silent, other] = [nodeOf(key)?.stream, nodeOf(otherKey)?.stream]
    await miss(servers, key, 3)
    expect([silent?.destroyed, other?.destroyed]).toEqual([true, false])
    expect(servers.breakerFor(key).isHealthy).toBe(false)
    while (!servers.breakerFor(key).isHealthy) await pause(20)
    const read = () => servers.breakerFor(key).run('read', () => cluster.get(key))
    expect(await untilAnswered(read)).toBeNull()
  })

  test('has recovered when the last of its masters has', async () => {
    for (const key of [first, second]) await miss(servers, key, 1)
    await eventually(async () => servers.failure === undefined)
    expect(recoveries).toBe(1)
  })

  test('whose client fails as a whole has no master that works', async () => {
    for (const key of [first, second]) servers.breakerFor(key)
    cluster.emit('error', Object.assign(new Error('no node'), { code: 'ECONNREFUSED' }))
    expect([first, second].map((key) => servers.breakerFor(key).isHealthy)).toEqual([false, false])
    expect(servers.isAnyServerHealthy).toBe(false)
    expect(failures).toHaveLength(2)
  })

  test('is told which of its masters fails, and nothing of a node that holds no keys of the site', () => {
    for (const key of [first, second]) servers.breakerFor(key)
    const refused = Object.assign(new Error('refused'), { code: 'ECONNREFUSED' })
    cluster.emit('node error', refused, '127.0.0.1:1')
    expect([servers.failure, failures]).toEqual([undefined, []])
    cluster.emit('node error', refused, `127.0.0.1:${portOf(second)}`)
    expect([first, second].map((key) => servers.breakerFor(key).isHealthy)).toEqual([true, false])
    expect(failures).toEqual([{ error: refused, node: `127.0.0.1:${portOf(second)}` }])
  })

  test('asks the masters that failed, and no others, as soon as its client is ready', async () => {
    servers.breakerFor(first)
    await miss(servers, second, 1)
    cluster.emit('ready')
    expect(new Set(sent)).toEqual(new Set(['read 1', 'write 1']))
    await eventually(async () => servers.failure === undefined)
  })

  test('has no connection to give up where a master has just left', async () => {
    const slots = cluster.slots.slice()
    cluster.slots = slots.map(() => ['127.0.0.1:1'])
    await miss(servers, first, 3)
    cluster.slots = slots
  })

  test('is left alone once it is closed', async () => {
    await miss(servers, second, 1)
    servers.close()
    await pause(1200)
    expect(servers.breakerFor(second).isHealthy).toBe(false)
  })
})

describe('one Redis', () => {
  let redis: Redis
  let servers: RedisServers
  beforeEach(() => {
    redis = openRedis(String(process.env['TEST_REDIS_URL']))
    servers = new RedisServers(redis, probing(redis))
  })
  afterEach(() => {
    servers.close()
    redis.disconnect()
  })

  test('has one guard, which asks it until it answers', async () => {
    expect(servers.breakerFor('a')).toBe(servers.breakerFor('b'))
    await miss(servers, 'a', 1)
    expect(servers.isAnyServerHealthy).toBe(false)
    while (!servers.isAnyServerHealthy) await pause(20)
  })

  test.each(['close', 'reconnecting'] as const)(
    'in the state %s is unavailable, and its failure is told when the cause is known',
    async (status) => {
      await once(redis, 'ready')
      const client = Object.assign(Object.create(redis) as Redis, { status })
      const watched = new RedisServers(client, probing(client), listener)
      expect(watched.isAnyServerHealthy).toBe(false)
      failures.length = 0
      await miss(watched, 'a', 1)
      expect(failures).toEqual([])
      client.emit('error', Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }))
      expect(failures).toMatchObject([{ error: { code: 'ECONNREFUSED' } }])
      watched.close()
    },
  )

  test('needs no listener', async () => {
    await once(redis, 'ready')
    await miss(servers, 'a', 1)
    redis.emit('ready')
    await eventually(async () => servers.isAnyServerHealthy)
  })

  test('is given a new connection when it is silent', async () => {
    await once(redis, 'ready')
    const { stream } = redis
    await miss(servers, 'a', 3)
    expect(stream.destroyed).toBe(true)
  })
})
