import { Redis } from 'ioredis'
import { startRedis, type TestRedis } from '../support/redis'
import { eventually, loggedInBrowser, useSetup, view } from '../support/setup'

/* A Redis that evicts: what must not be lost does not depend on it. That the operator is told is in test/storage/opening.test.ts. */

let redis: TestRedis
let commands: Redis

beforeAll(async () => {
  redis = await startRedis({ args: ['--maxmemory', '4mb', '--maxmemory-policy', 'allkeys-lru'] })
  commands = new Redis(redis.url)
})
const setup = useSetup({ site: () => ({ redis: redis.url }) })
afterAll(async () => {
  commands.disconnect()
  await redis.stop()
})

const pending = () => commands.keys(`${setup.morning.prefix}logout:*`)
const loginsThere = () => setup.emulator.sessions().filter(({ status }) => status === 'loggedin').length

/** Other keys come until no pending logout is left. */
async function evictPending(): Promise<void> {
  const filling = 'x'.repeat(20_000)
  for (let filled = 0; (await pending()).length > 0; filled += 1) {
    if (filled > 200) throw new Error('it is not evicted')
    const more = commands.pipeline()
    for (let key = 0; key < 50; key += 1) more.set(`filling:${filled}:${key}`, filling)
    await more.exec()
  }
}

test('a pending logout that was evicted reaches the SSO system when this browser returns', async () => {
  const browser = await loggedInBrowser(setup)
  setup.emulator.faults.add({ operation: 'logout', kind: 'down' })
  await browser.submit(`${setup.morning.url}/logout`, { return_to: '/' })
  await eventually(async () => (await pending()).length > 0)
  await evictPending()
  setup.emulator.faults.clear()
  await eventually(async () => view(await browser.visit(`${setup.morning.url}/`)).status === 'anon')
  expect(loginsThere()).toBe(0)
})
