import { once } from 'node:events'
import calculateSlot from 'cluster-key-slot'
import type { Cluster, Redis } from 'ioredis'
import { type RedisFailure, redisFailureReason } from '../../lib/log/redis-failure-advice'
import { RedisGuards } from '../../lib/storage/redis-guard'
import { keyOn, startCluster } from '../support/cluster'
import { eventually, untilAnswered } from '../support/wait'

/* Which master a key is of, and what is known of each, in a Cluster of three masters. */

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
})
