import { once } from 'node:events'
import calculateSlot from 'cluster-key-slot'
import type { Cluster } from 'ioredis'
import { loginBudgets } from '../../lib/decide/login-budgets'
import { Counts } from '../../lib/storage/counts'
import { redisKv } from '../../lib/storage/redis-kv'
import { masterOf, startCluster } from './servers'

/* Counts on a Cluster of three masters, of which one stops. */

/* A busy machine may keep back the masters that are well. All commands to the stopped master wait too, so this is less than usual. */
jest.mock('../../lib/deadline', () => {
  const { withDeadline, ...others } = jest.requireActual<typeof import('../../lib/deadline')>('../../lib/deadline')
  return {
    ...others,
    withDeadline: <T>(outcome: Promise<T>, ms: number, message: string) => withDeadline(outcome, 5 * ms, message),
  }
})

let running: Awaited<ReturnType<typeof startCluster>>
let cluster: Cluster
beforeAll(async () => {
  running = await startCluster()
  cluster = running.client()
  await once(cluster, 'ready')
}, 60_000)
afterAll(async () => {
  cluster.disconnect()
  await running.stop()
})

const limit = { attempts: 2, perSeconds: 60 }
const addressOf = (index: number) => `198.${index}.100.7`

test('no key is every login’s: a quarter of the networks shares one count, on several masters', async () => {
  const counts = new Counts(redisKv(cluster, false), 'spread:', () => Date.now())
  const masters = new Set<number>()
  const shared = new Map<string, number>()
  for (let index = 0; index < 80; index += 1) {
    const added = await counts.add(loginBudgets(limit, addressOf(index), 'ada'), 60)
    if ('reason' in added) throw new Error(added.reason)
    for (const key of added.keys) masters.add(masterOf(key))
    expect(new Set(added.keys.map((key) => calculateSlot(key))).size).toBe(1)
    const site = added.keys.at(-1) ?? ''
    shared.set(site, (shared.get(site) ?? 0) + 1)
  }
  expect([shared.size, masters.size]).toEqual([4, 3])
  expect(Math.max(...shared.values())).toBeLessThan(40)
})

test('while the master of a count has stopped, the process counts by itself, and other counts go on', async () => {
  const kv = redisKv(cluster, false)
  const counts = new Counts(kv, 'stopped:', () => Date.now())
  running.masters[0]?.hang()
  try {
    const said: string[] = []
    for (let index = 0; index < 40; index += 1)
      for (let tries = 0; tries < 3; tries += 1) {
        const added = await counts.add(loginBudgets(limit, addressOf(index), 'ada'), 60)
        said.push('reason' in added ? added.reason : 'added')
      }
    expect(said).toEqual(Array(40).fill(['added', 'added', 'address_and_name']).flat())
    for (let index = 0; index < 40; index += 1) {
      const added = await counts.add(loginBudgets(limit, addressOf(index), 'grace'), 60)
      if ('reason' in added) throw new Error(added.reason)
      const [key = ''] = added.keys
      const isAway = masterOf(key) === 0
      expect([index, isAway, added.kv === kv]).toEqual([index, isAway, !isAway])
      expect(await added.kv.mget([key])).toEqual(['3'])
      await counts.undo(added)
      expect(await added.kv.mget([key])).toEqual(['2'])
    }
  } finally {
    running.masters[0]?.resume()
    await kv.close()
  }
}, 60_000)
