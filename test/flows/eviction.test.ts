import '../support/patient-store'
import { Redis } from 'ioredis'
import { type Sso2Options, sso2 } from '../../lib'
import { startRedis, type TestRedis } from '../support/redis'
import { eventually, loggedInBrowser, type Setup, sessionSecret, startSetup } from './setup'

/* A Redis that evicts: what must not be lost does not depend on it, and the operator is told. */

let redis: TestRedis
let commands: Redis
let setup: Setup
const warnings: string[] = []
const logger = { warn: (line: string) => void warnings.push(line), info: () => {} }

beforeAll(async () => {
  redis = await startRedis({ args: ['--maxmemory', '4mb', '--maxmemory-policy', 'allkeys-lru'] })
  commands = new Redis(redis.url)
  setup = await startSetup({ site: { redis: redis.url, logger } })
})
afterAll(async () => {
  await setup.close()
  commands.disconnect()
  await redis.stop()
})

const keys = (kind: string) => commands.keys(`${setup.morning.prefix}${kind}*`)
const loginsThere = () => setup.emulator.sessions().filter(({ status }) => status === 'loggedin').length

/** Other keys come until none of a kind is left. */
async function evict(kind: string): Promise<void> {
  const filling = 'x'.repeat(20_000)
  for (let filled = 0; (await keys(kind)).length > 0; filled += 1) {
    if (filled > 200) throw new Error('it is not evicted')
    const more = commands.pipeline()
    for (let key = 0; key < 50; key += 1) more.set(`filling:${filled}:${key}`, filling)
    await more.exec()
  }
}

test('a kept logout that was evicted arrives when the SSO system is back', async () => {
  const browser = await loggedInBrowser(setup)
  setup.emulator.faults.add({ operation: 'logout', kind: 'down' })
  await browser.submit(`${setup.morning.url}/logout`, { return_to: '/' })
  await eventually(async () => (await keys('pend:')).length > 0) // kept again where Redis was late
  await evict('pend:')
  expect(loginsThere()).toBe(1)
  setup.emulator.faults.clear()
  await eventually(async () => loginsThere() === 0, 20)
})

test('the site says so when it starts, once, in the words of the doctor; one that evicts nothing is not mentioned', async () => {
  const lines = () => warnings.filter((line) => /eviction/.test(line))
  await eventually(async () => lines().length === 2) // two sites
  expect(lines()[0]).toMatch(/^express-sso2: Redis may evict keys \(maxmemory-policy allkeys-lru\)\. .*noeviction/)
  warnings.length = 0
  const options: Sso2Options = {
    ...setup.emulator.siteOptions('morning'),
    siteUrl: setup.morning.url,
    sessionSecret,
  }
  const start = async (policy: string, given: Sso2Options['redis'] & {}) => {
    await commands.config('SET', 'maxmemory-policy', policy)
    const sso = sso2({ ...options, redis: given, logger })
    await sso.health()
    await commands.ping()
    return sso
  }
  const safe = await start('noeviction', redis.url)
  await safe.health()
  expect(lines()).toEqual([])
  const client = new Redis(redis.url)
  const passed = await start('volatile-lru', client)
  await eventually(async () => lines().length === 1)
  await Promise.all([safe.close(), passed.close()])
  client.disconnect()
})
