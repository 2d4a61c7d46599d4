import { once } from 'node:events'
import { type Cluster, Redis } from 'ioredis'
import { Cluster as NewerCluster, Redis as NewerRedis } from 'ioredis6'
import { redisFindings } from '../../lib/cli/doctor-redis'
import { startCluster } from '../support/cluster'
import { ada, eventually, healthWithStore, logIn, redisUrl, view } from '../support/setup'
import { startSite } from '../support/site'

/* A site installs the newest ioredis for its own client, which is another one than this package brings. */

test('a client of ioredis 6: login, check and logout work', async () => {
  const client = new NewerRedis(redisUrl())
  const setup = await startSite({ options: { redis: client } })
  try {
    await healthWithStore(setup.sso)
    const browser = setup.browser()
    await eventually(async () => view(await browser.visit(`${setup.url}/`)).status === 'anon')
    await logIn(browser, setup, ada)
    setup.emulator.clock.advance(361)
    expect(view(await browser.visit(`${setup.url}/account`))).toMatchObject({ status: 'loggedin', username: 'ada' })
    expect(view(await browser.submit(`${setup.url}/logout`, { return_to: '/' })).status).toBe('anon')
  } finally {
    await setup.close()
    client.disconnect()
  }
})

test('a Cluster of ioredis 6: the doctor looks at each of its masters', async () => {
  const cluster = await startCluster()
  const client = new NewerCluster(cluster.masters.map(({ port }) => ({ host: '127.0.0.1', port })))
  try {
    await once(client, 'ready')
    const admin = new Redis(cluster.masters[2]?.url ?? '')
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
