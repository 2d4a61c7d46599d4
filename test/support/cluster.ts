import { Cluster, Redis, type RedisOptions } from 'ioredis'
import { freePort } from './ports'
import { startRedis, type TestRedis } from './redis'
import { pause } from './wait'

/** Three masters without replicas, each a third of the slots. */
export async function startCluster() {
  const masters: TestRedis[] = []
  for (let index = 0; index < 3; index += 1) {
    const bus = await freePort()
    const args = ['--cluster-enabled', 'yes', '--cluster-port', String(bus), '--cluster-require-full-coverage', 'no']
    const master = await startRedis({ args: [...args, '--cluster-node-timeout', '60000'] })
    masters.push(master)
    const admin = new Redis(master.url)
    await admin.call('CLUSTER', 'ADDSLOTSRANGE', ...[index * 5461, index === 2 ? 16_383 : index * 5461 + 5460])
    if (index > 0) await Promise.all(masters.slice(0, -1).map((other) => meet(admin, other)))
    admin.disconnect()
  }
  const admins = masters.map(({ url }) => new Redis(url))
  /* A master takes no commands in its first two seconds: `cluster_state` then says `fail`, whatever it knows. */
  const isComplete = async (admin: Redis) => {
    const info = await admin.cluster('INFO')
    const isUp = info.includes('cluster_state:ok') && info.includes('cluster_slots_assigned:16384')
    return isUp && (await admin.cluster('SLOTS')).length === 3
  }
  for (const admin of admins) while (!(await isComplete(admin))) await pause(50)
  for (const admin of admins) admin.disconnect()
  return {
    masters,
    client: (redisOptions: RedisOptions = {}) =>
      new Cluster(
        masters.map(({ port }) => ({ host: '127.0.0.1', port })),
        { redisOptions },
      ),
    stop: async () => {
      for (const master of masters) master.resume()
      await Promise.all(masters.map((master) => master.stop()))
    },
  }
}

async function meet(admin: Redis, other: TestRedis): Promise<void> {
  const asked = new Redis(other.url)
  const port = /:(\d+)@(\d+)/.exec(String(await asked.cluster('NODES')))
  asked.disconnect()
  await admin.call('CLUSTER', 'MEET', '127.0.0.1', String(port?.[1] ?? other.port), String(port?.[2]))
}
