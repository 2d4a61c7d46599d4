jest.unmock('../../lib/deadline')

import { once } from 'node:events'
import { type Cluster, Redis } from 'ioredis'
import { Log } from '../../lib/log/log'
import { openStore } from '../../lib/storage/open-store'
import { openRedis } from '../../lib/storage/redis-connection'
import { loggerTo } from '../support/log-lines'
import { startRedis, type TestRedis } from '../support/redis'
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
function opened(address: string | Redis | undefined) {
  const lines: string[] = []
  const logger = loggerTo(lines)
  return {
    ...openStore({ redis: address, prefix: 'opening:', clock: { now: () => 1000 }, log: new Log(logger) }),
    lines,
  }
}

/** Until it is connected, which a busy machine may need longer for than a command has time. */
async function connected(client: Redis | Cluster | undefined): Promise<void> {
  if (client && client.status !== 'ready') await once(client, 'ready')
}

test('without a Redis the store is in memory, and goes by the clock of the site', async () => {
  const { kv, client, lines } = opened(undefined)
  await kv.set('a', '1', 1)
  expect([client, await kv.mget(['a']), kv.isAvailable, lines]).toEqual([undefined, ['1'], true, []])
})

test('a client of our own ends with the store, and one of the site stays', async () => {
  const own = opened(redis.url)
  await connected(own.client)
  await untilAnswered(() => own.kv.set('a', '1', 60))
  expect(await untilAnswered(() => own.kv.mget(['a']))).toEqual(['1'])
  await own.kv.close()
  await eventually(async () => own.client?.status === 'end')
  const given = opened(admin)
  expect(given.client).toBe(admin)
  expect(await untilAnswered(() => given.kv.mget(['a']))).toEqual(['1'])
  await given.kv.close()
  expect(admin.status).toBe('ready')
})

test('a user of Redis may be limited to the keys of its site', async () => {
  await admin.call('ACL', 'SETUSER', 'site', 'on', '>a-password', 'resetkeys', '~opening:*', '+@all')
  const { kv, lines } = opened(redis.url.replace('redis://', 'redis://site:a-password@'))
  const read = await untilAnswered(async () => {
    await kv.probe()
    return Promise.all(Array.from({ length: 10 }, (_, index) => kv.mget([`opening:${index}`])))
  })
  const ofLateness = /no answer in time|responds again/ // of a busy machine
  expect([read, lines.filter((line) => !ofLateness.test(line))]).toEqual([Array(10).fill([null]), []])
  await kv.close()
})

test('many sites share a client without a warning, and leave no listener behind', async () => {
  const warnings: unknown[] = []
  const note = (warning: unknown) => warnings.push(warning)
  process.on('warning', note)
  const client = openRedis(redis.url)
  await connected(client)
  const count = () => ['error', 'ready', 'node error'].map((event) => client.listenerCount(event))
  const [before, limit] = [count(), client.getMaxListeners()]
  const stores = Array.from({ length: 20 }, () => opened(client))
  await new Promise((resolve) => setImmediate(resolve))
  for (const { kv } of stores) await kv.close()
  process.off('warning', note)
  expect([warnings, count(), client.getMaxListeners()]).toEqual([[], before, limit])
  client.disconnect()
})

test('a client of the site without a listener for errors prints nothing while Redis is away: the site logs it', async () => {
  const printed = jest.spyOn(console, 'error').mockImplementation(() => {})
  const client = new Redis({ port: 1, host: '127.0.0.1', retryStrategy: () => 20 })
  const { kv, lines } = opened(client)
  await eventually(async () => lines.length > 0)
  await new Promise((resolve) => setTimeout(resolve, 300))
  expect(lines).toEqual([expect.stringContaining('(ECONNREFUSED)')])
  expect(printed.mock.calls).toEqual([])
  printed.mockRestore()
  client.disconnect()
  await kv.close()
})
