import { once } from 'node:events'
import { Cluster, Redis } from 'ioredis'
import { startRedis, type TestRedis } from '../support/redis'

/*
 * A Redis Cluster of three masters.
 */

const SLOTS = 16_384
const MASTERS = 3

/** A Cluster that is running. */
export interface TestCluster {
  readonly nodes: readonly { readonly host: string; readonly port: number }[]
  /** A connection to each master, for counting. */
  readonly masters: readonly Redis[]
  /** A connection to all. */
  readonly cluster: Cluster
  stop(): Promise<void>
}

/** Starts it, and resolves when every slot has its master. */
export async function startCluster(): Promise<TestCluster> {
  const servers: TestRedis[] = []
  for (let n = 0; n < MASTERS; n += 1) servers.push(await startRedis({ args: ['--cluster-enabled', 'yes'] }))
  const masters = servers.map(({ url }) => new Redis(url))
  const nodes = servers.map(({ port }) => ({ host: '127.0.0.1', port }))
  for (const [n, redis] of masters.entries()) {
    const [from, to] = [Math.floor((SLOTS * n) / MASTERS), Math.floor((SLOTS * (n + 1)) / MASTERS) - 1]
    await redis.call('CLUSTER', 'ADDSLOTSRANGE', from, to)
    await redis.call('CLUSTER', 'MEET', '127.0.0.1', nodes[0]?.port ?? 0)
  }
  for (const redis of masters) await whole(redis)
  const cluster = new Cluster([...nodes])
  await once(cluster, 'ready')
  return {
    nodes,
    masters,
    cluster,
    stop: async () => {
      cluster.disconnect()
      for (const redis of masters) redis.disconnect()
      await Promise.all(servers.map((server) => server.stop()))
    },
  }
}

/** Redis tells nobody when a Cluster is whole: it has to be asked. */
async function whole(redis: Redis): Promise<void> {
  const deadline = Date.now() + 30_000
  for (;;) {
    const info = String(await redis.call('CLUSTER', 'INFO'))
    if (info.includes('cluster_state:ok') && info.includes(`cluster_known_nodes:${MASTERS}`)) return
    if (Date.now() > deadline) throw new Error('the Cluster did not come together in 30 s')
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
