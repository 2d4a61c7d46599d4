import { once } from 'node:events'
import calculateSlot from 'cluster-key-slot'
import { type Cluster, Redis } from 'ioredis'
import { type RedisFailure, redisFailureReason } from '../../lib/log/redis-failure-advice'
import type { Kv } from '../../lib/storage/kv'
import { RedisGuards } from '../../lib/storage/redis-guard'
import { redisKv } from '../../lib/storage/redis-kv'
import { keyOn, masterOf, startCluster } from '../support/cluster'
import { eventually, pause, untilAnswered } from '../support/wait'
import { answeredWithin, readsOf } from './silence'

/* Which master a key is of, and what is known of each, in a Cluster of three masters. */

/** A ping that took so long tells of a master that may not have answered a command in time. */
const LATE_MS = 200

const [first, second, third] = [keyOn(0), keyOn(1), keyOn(2)]

const failures: RedisFailure[] = []
let recoveries = 0
const listener = {
  failed: (failure: RedisFailure) => void failures.push(failure),
  recovered: () => {
    recoveries += 1
  },
}
const guardsOf = (client: Redis | Cluster) =>
  new RedisGuards(client, { prefix: 'masters:', probe: (key) => client.set(key, '1'), listener })

/** So many commands for a key that nobody answers. */
async function miss(guards: RedisGuards, key: string, times: number): Promise<void> {
  const command = () => Promise.reject(new Error('no answer in time'))
  for (let time = 0; time < times; time += 1)
    await expect(guards.run(key, command)).rejects.toMatchObject({ operation: 'store' })
}

const isSilent = (guards: RedisGuards, key: string) =>
  guards
    .run(key, async () => 'sent')
    .then(
      () => false,
      () => true,
    )

describe('a Cluster', () => {
  let running: Awaited<ReturnType<typeof startCluster>>
  let cluster: Cluster
  let guards: RedisGuards
  beforeAll(async () => {
    running = await startCluster()
    cluster = running.client()
    await once(cluster, 'ready')
    await Promise.all([first, second, third].map((key) => cluster.get(key)))
  }, 60_000)
  beforeEach(async () => {
    guards = guardsOf(cluster)
    await untilAnswered(() => guards.probe())
    await eventually(async () => guards.failure === undefined)
    failures.length = 0
    recoveries = 0
  })
  afterEach(() => guards.close())
  afterAll(async () => {
    cluster.disconnect()
    await running.stop()
  }, 60_000)

  const ownerOf = (key: string) => String(cluster.slots[calculateSlot(key)]?.[0])

  test('three silences of a master: its keys fail at once, other keys are served, and it is asked until it answers', async () => {
    await miss(guards, third, 3)
    expect(await Promise.all([first, second, third].map((key) => isSilent(guards, key)))).toEqual([false, false, true])
    expect(await isSilent(guards, `{${third}}more`)).toBe(true)
    expect(guards.isAvailable).toBe(true)
    expect(redisFailureReason(failures[0] as RedisFailure)).toBe(`no answer in time (${ownerOf(third)})`)
    await eventually(async () => !(await isSilent(guards, third)))
    expect(recoveries).toBe(1)
  })

  test('a master whose slots have moved to others is forgotten', async () => {
    await miss(guards, first, 1)
    const slots = cluster.slots.slice()
    cluster.slots = slots.map((nodes) => (nodes[0] === ownerOf(first) ? (slots[16_383] ?? []) : nodes))
    expect(guards.failure).toMatchObject({ node: String(slots[calculateSlot(first)]?.[0]) })
    await eventually(async () => guards.failure === undefined)
    cluster.slots = slots
  })

  test('the error of a node is that of its master, and the error of a node without keys of the site is none', async () => {
    await guards.run(second, async () => 'sent')
    const refused = Object.assign(new Error('refused'), { code: 'ECONNREFUSED' })
    cluster.emit('node error', refused, '127.0.0.1:1')
    expect([guards.failure, failures]).toEqual([undefined, []])
    cluster.emit('node error', refused, ownerOf(second))
    expect(failures).toEqual([{ error: refused, node: ownerOf(second) }])
  })

  describe('with the commands of a site', () => {
    let kv: Kv
    /** Connections to each master that no breaker watches. */
    let direct: Redis[]
    beforeAll(async () => {
      direct = running.masters.map(({ url }) => new Redis(url))
      await Promise.all(direct.map((master) => master.ping()))
      kv = redisKv(cluster, false)
    })
    afterAll(async () => {
      await kv.close()
      for (const master of direct) master.disconnect()
    })
    const keys = [first, second, third]
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
      running.masters[0]?.hang()
      const sent = readsOf(cluster, ill)
      const end = performance.now() + 2500
      while (performance.now() < end) {
        await expect(kv.mget([ill])).rejects.toBeDefined()
        expect(await Promise.all(well.map(read))).toEqual([['x'], ['x']])
        await pause(20)
      }
      expect(sent.length).toBeGreaterThan(0)
      expect(sent.length).toBeLessThanOrEqual(4)
      expect(kv.isAvailable).toBe(true)
      expect(kv.failure).toBe(`no answer in time (127.0.0.1:${running.masters[0]?.port})`)
      running.masters[0]?.resume()
      await answeredWithin(5000, () => kv.mget([ill]))
    })

    test('with one master that is full still reads from it, and writes to the others', async () => {
      for (const key of keys) await untilAnswered(() => kv.set(key, 'x', 60))
      const [, full = '', other = ''] = keys
      const port = running.masters[1]?.port
      const admin = direct[1] as Redis
      await admin.config('SET', 'maxmemory', '1')
      for (let asked = 0; asked < 4; asked += 1) await expect(kv.set(full, 'y', 60)).rejects.toBeDefined()
      await untilAnswered(() => kv.set(other, 'y', 60))
      expect(await Promise.all([full, other].map(read))).toEqual([['x'], ['y']])
      expect([kv.failure, kv.isAvailable]).toEqual([`writes refused: OOM (127.0.0.1:${port})`, true])
      await admin.config('SET', 'maxmemory', '0')
      await untilAnswered(() => kv.set(full, 'y', 60))
      await eventually(async () => kv.failure === undefined)
    })
  })
})
