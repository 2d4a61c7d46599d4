import { once } from 'node:events'
import { type Cluster, Redis } from 'ioredis'
import { Cluster as NewerCluster, Redis as NewerRedis } from 'ioredis6'
import type { Sso2Options } from '../../lib'
import { redisFindings } from '../../lib/cli/doctor-redis'
import { redisUrl, view } from '../flows/network'
import { reader, startStage } from '../situations/support'
import { startCluster } from './servers'

/* A site installs the newest ioredis for its own client, which is another one than this package brings. */

/** A login, a check and a logout. */
async function walk(redis: NonNullable<Sso2Options['redis']>): Promise<void> {
  const stage = await startStage({ options: { redis } })
  try {
    const browser = await reader(stage)
    stage.emulator.clock.advance(361)
    expect(view(await browser.visit(`${stage.url}/account`))).toMatchObject({ status: 'loggedin', username: 'ada' })
    expect(view(await browser.submit(`${stage.url}/logout`, { return_to: '/' })).status).toBe('anon')
    expect(await stage.sso.health()).toMatchObject({ store: 'ok' })
  } finally {
    await stage.close()
  }
}

test('a Redis of ioredis 6 is taken', async () => {
  const client = new NewerRedis(redisUrl())
  try {
    await walk(client)
  } finally {
    client.disconnect()
  }
})

test('a Cluster of ioredis 6 is taken, and the doctor looks at each of its masters', async () => {
  const cluster = await startCluster()
  const client = new NewerCluster(cluster.masters.map(({ port }) => ({ host: '127.0.0.1', port })))
  try {
    await once(client, 'ready')
    await walk(client)
    const [, , last] = cluster.masters
    const admin = new Redis(last?.url ?? '')
    await admin.config('SET', 'maxmemory', '64mb', 'maxmemory-policy', 'allkeys-lru')
    admin.disconnect()
    const findings = []
    for await (const { state } of redisFindings(client as unknown as Cluster)) findings.push(state)
    expect(findings).toEqual(['ok', 'ok', 'ok', 'ok', 'ok', 'wrong'])
  } finally {
    client.disconnect()
    await cluster.stop()
  }
})
