import { once } from 'node:events'
import { type Cluster, Redis } from 'ioredis'
import { Cluster as NewerCluster, Redis as NewerRedis } from 'ioredis6'
import type { Sso2Options } from '../../lib'
import { redisFindings } from '../../lib/cli/doctor-redis'
import type { VisitedPage } from '../support/agent'
import { startCluster } from '../support/cluster'
import { ada, logIn, redisUrl, view } from '../support/setup'
import { startSite } from '../support/site'
import { eventually } from '../support/wait'

/* A site installs the newest ioredis for its own client, which is another one than this package brings. */

/** The page of a visit as it is in the end: a store that a busy machine keeps back for once is tried again. */
async function shows(visit: () => Promise<VisitedPage>, page: object): Promise<void> {
  let last: unknown
  const isShown = async () => {
    last = await visit().then(view, String)
    return Object.entries(page).every(([name, value]) => (last as Record<string, unknown>)[name] === value)
  }
  await eventually(isShown).catch((cause) => {
    throw new Error(`it shows ${JSON.stringify(last)}`, { cause })
  })
}

/** A login, a check and a logout. */
async function walk(redis: NonNullable<Sso2Options['redis']>): Promise<void> {
  const setup = await startSite({ options: { redis } })
  try {
    const browser = setup.browser()
    await shows(() => browser.visit(`${setup.url}/`), { status: 'anon' })
    await shows(() => logIn(browser, setup, ada), { status: 'loggedin' })
    setup.emulator.clock.advance(361)
    await shows(() => browser.visit(`${setup.url}/account`), { status: 'loggedin', username: 'ada' })
    await shows(() => browser.submit(`${setup.url}/logout`, { return_to: '/' }), { status: 'anon' })
    await eventually(async () => (await setup.sso.health()).store === 'ok')
  } finally {
    await setup.close()
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
