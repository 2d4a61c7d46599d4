jest.unmock('../../lib/deadline')

import { once } from 'node:events'
import { type Cluster, Redis } from 'ioredis'
import { Cluster as NewerCluster, Redis as NewerRedis } from 'ioredis6'
import { redisFindings } from '../../lib/cli/doctor-redis'
import { Log } from '../../lib/log/log'
import { openRedis, RedisKv } from '../../lib/storage/redis-kv'
import { startCluster } from '../support/cluster'
import { loggerTo } from '../support/log-lines'
import { startRedis, type TestRedis } from '../support/redis'
import { ada, healthWithStore, logIn, redisUrl, view } from '../support/setup'
import { startSite } from '../support/site'
import { eventually, untilAnswered } from '../support/wait'

/* How a store is opened and watched. */

let redis: TestRedis
let admin: Redis
beforeAll(async () => {
  redis = await startRedis()
  admin = openRedis(redis.url)
  await once(admin, 'ready')
})
afterAll(async () => {
  admin.disconnect()
  await redis.stop()
})

/** A store of these settings, and what it says to the operator. */
function opened(redis: string | Redis) {
  const lines: string[] = []
  return { kv: new RedisKv(redis, { prefix: 'opening:', log: new Log(loggerTo(lines)) }), lines }
}

/** Until it is connected, which a busy machine may need longer for than a command has time. */
async function connected(client: Redis | Cluster): Promise<void> {
  if (client.status !== 'ready') await once(client, 'ready')
}

test('a client of our own ends with the store, and one of the site stays', async () => {
  const own = opened(redis.url)
  await connected(own.kv.client)
  await untilAnswered(() => own.kv.set('a', '1', 60))
  expect(await untilAnswered(() => own.kv.mget(['a']))).toEqual(['1'])
  await own.kv.close()
  await eventually(async () => own.kv.client.status === 'end')
  const given = opened(admin)
  expect(given.kv.client).toBe(admin)
  expect(await untilAnswered(() => given.kv.mget(['a']))).toEqual(['1'])
  await given.kv.close()
  expect(admin.status).toBe('ready')
})

test('a client of the site without a listener for errors prints nothing while Redis is away: the site logs it', async () => {
  const printed = jest.spyOn(console, 'error').mockImplementation(() => {})
  const client = new Redis({ port: 1, host: '127.0.0.1', retryStrategy: () => 20 })
  const { kv, lines } = opened(client)
  await eventually(async () => lines.length > 0)
  await new Promise((resolve) => setTimeout(resolve, 300))
  expect(lines).toEqual([expect.stringContaining('does not respond: ECONNREFUSED.')])
  expect(printed.mock.calls).toEqual([])
  printed.mockRestore()
  client.disconnect()
  await kv.close()
})

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
