import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Redis } from 'ioredis'
import { Log } from '../../lib/log/log'
import { openRedis, RedisKv } from '../../lib/storage/redis-kv'
import { makeCertificate } from '../support/certificate'
import { startRedisFront } from '../support/front'
import { loggerTo } from '../support/log-lines'
import { freePort } from '../support/ports'
import { startRedis, type TestRedis } from '../support/redis'
import { eventually, pause, timed, untilAnswered } from '../support/wait'

/* Clients of Redis, and a Redis that is set up wrongly: the store stays unavailable, and the log says what to change. */

const KEY = 'site:{a}'
const stores: RedisKv[] = []
const clients: Redis[] = []
const servers: TestRedis[] = []
const folder = mkdtempSync(path.join(tmpdir(), 'express-sso2-redis-trouble-'))
/** The Redis of the tests that need no settings of its start. */
let server: TestRedis
let admin: Redis

const start = async (...args: string[]) => {
  const started = await startRedis({ args })
  servers.push(started)
  return started
}
beforeAll(async () => {
  server = await startRedis()
  admin = new Redis(server.url)
})
afterEach(async () => {
  for (const client of clients.splice(0)) client.disconnect() // first, because a closed store does not listen to its errors
  await Promise.all(stores.splice(0).map((kv) => kv.close()))
  await Promise.all(servers.splice(0).map((started) => started.stop()))
  await admin.flushall()
})
afterAll(async () => {
  admin.disconnect()
  await server.stop()
  rmSync(folder, { recursive: true, force: true })
})

/** A store over an address or a client, and its log lines. */
function opened(redis: string | Redis) {
  const lines: string[] = []
  const kv = new RedisKv(redis, { prefix: 'site:', log: new Log(loggerTo(lines)) })
  stores.push(kv)
  if (redis instanceof Redis) clients.push(redis)
  return { kv, lines }
}
type Opened = ReturnType<typeof opened>

/** Reads and writes until the store has a line for its operator. */
const failing = (store: Opened) =>
  eventually(async () => {
    await Promise.allSettled([store.kv.mget([KEY]), store.kv.probe(), store.kv.addMember(`${KEY}:set`, 'a', 1, 60)])
    return store.lines.length > 0
  })

/** Tries reads, writes and probes for as long as a recovery would take. @returns how many were answered */
async function answersOf({ kv }: Opened): Promise<number> {
  let answers = 0
  for (let round = 0; round < 5; round += 1) {
    const sent = [kv.mget([KEY]), kv.set(KEY, '1', 60), kv.probe()]
    const settled = await Promise.allSettled(sent)
    answers += settled.filter(({ status }) => status === 'fulfilled').length
    await pause(200)
  }
  return answers
}

/** Sets what the user of a site may do. @returns the address with that user */
async function withUser(rules: string, database = ''): Promise<string> {
  await admin.call('ACL', 'SETUSER', 'site', 'reset', 'on', '>a-password', '~*', '&*', '+@all', ...rules.split(' '))
  return `redis://site:a-password@127.0.0.1:${server.port}${database}`
}

test('a client of our own ends with the store, and one of the site stays; ours sends neither INFO nor CLIENT', async () => {
  await admin.config('RESETSTAT')
  const [own, client] = [opened(server.url), new Redis(server.url, { lazyConnect: true })]
  await untilAnswered(() => own.kv.set(KEY, '1', 60))
  expect(await admin.info('commandstats')).not.toMatch(/cmdstat_(info|client)/) // which a proxy may not know
  await own.kv.close()
  await eventually(async () => own.kv.client.status === 'end')
  const given = opened(client)
  expect(await untilAnswered(() => given.kv.mget([KEY]))).toEqual(['1'])
  await given.kv.close()
  expect(client.status).toBe('ready')
})

test('errors of clients are not printed: while Redis is away, which the site logs, and while a closed client ends', async () => {
  const printed = jest.spyOn(console, 'error').mockImplementation(() => {})
  const { lines } = opened(new Redis({ port: 1, host: '127.0.0.1', retryStrategy: () => 20 }))
  const hanging = await start()
  hanging.hang()
  const { kv } = opened(hanging.url)
  await expect(kv.mget([KEY])).rejects.toThrow()
  await kv.close()
  await eventually(async () => kv.client.status === 'end')
  expect(lines).toEqual([expect.stringContaining('does not respond: ECONNREFUSED.')])
  expect(printed.mock.calls).toEqual([])
  printed.mockRestore()
})

describe('a database that cannot be selected', () => {
  test('it is forbidden to the user: the store stays unavailable, and database 0 empty', async () => {
    const address = await withUser('-select', '/3')
    const own = [{}, { enableReadyCheck: false, disableClientInfo: true }].map((options) => new Redis(address, options))
    const all = [address, ...own].map(opened)
    expect(await Promise.all(all.map(answersOf))).toEqual([0, 0, 0])
    for (const { kv, lines } of all) {
      expect([kv.isAvailable, kv.failure]).toEqual([false, 'NOPERM'])
      expect(lines).toEqual([expect.stringMatching(/does not respond: NOPERM.*redis \(REDIS_URL\)/)])
      expect(lines.join()).not.toContain('a-password')
    }
    expect(await admin.dbsize()).toBe(0)
  })

  test('is served again once it can be selected', async () => {
    const store = opened(await withUser('-select', '/3'))
    await expect(store.kv.mget([KEY])).rejects.toMatchObject({ operation: 'store' })
    await admin.call('ACL', 'SETUSER', 'site', '+select')
    await untilAnswered(() => store.kv.set(KEY, '1', 60))
    await eventually(async () => store.kv.failure === undefined)
    expect(await admin.dbsize()).toBe(0)
  })
})

test.each(['-eval -evalsha', 'resetkeys ~other:*'])('a user of Redis with %s → the line says NOPERM', async (rule) => {
  const store = opened(await withUser(rule))
  await failing(store)
  expect(store.lines[0]).toMatch(/: NOPERM/)
  expect(store.lines[0]).not.toMatch(/a-password|site:\{/)
})

test('TLS: the line names what the table of troubleshooting explains', async () => {
  const { file } = makeCertificate(folder)
  const port = String(await freePort())
  const files = ['--tls-cert-file', file, '--tls-key-file', path.join(folder, '2.key'), '--tls-ca-cert-file', file]
  const started = await start('--tls-port', port, '--tls-auth-clients', 'no', ...files)
  const scheme = /redis \(REDIS_URL\): the page says/
  const addresses: [address: string, line: RegExp][] = [
    [`rediss://127.0.0.1:${started.port}`, scheme],
    [`redis://127.0.0.1:${port}`, scheme],
    [`rediss://localhost:${port}`, /DEPTH_ZERO_SELF_SIGNED_CERT/],
  ]
  for (const [address, line] of addresses) {
    const store = opened(address)
    await failing(store)
    expect(store.lines.join()).toMatch(line)
  }
})

test('Redis takes 200 ms for each command, and pages work → the store is available, and nothing is logged', async () => {
  const front = await startRedisFront(server.port)
  const { kv, lines } = opened(`redis://127.0.0.1:${front.port}`)
  await untilAnswered(() => kv.probe()) // loads the scripts
  front.delay(200)
  await kv.probe()
  expect([kv.failure, lines]).toEqual([undefined, []])
  await front.down()
})

test.each([
  ['of our own', (port: number) => openRedis(`redis://127.0.0.1:${port}`)],
  ['that was passed in with socketTimeout', (port: number) => new Redis(port, { socketTimeout: 1000 })],
])('a connection goes silent → a client %s has another one within 5 s', async (_name, open) => {
  const front = await startRedisFront(server.port)
  const client = open(front.port)
  const kv = new RedisKv(client, { prefix: 'site:', log: new Log(loggerTo([])) })
  await untilAnswered(() => kv.mget(['a'])) // the first of all connects as well
  front.silence()
  const [, ms] = await timed(() => untilAnswered(() => kv.mget(['a'])))
  expect(ms).toBeLessThan(5300)
  expect(kv.isAvailable).toBe(true)
  await kv.close()
  client.disconnect()
  await front.down()
})

test('a master becomes a replica → its first READONLY response makes a new connection, and no other refusal does', async () => {
  const { kv } = opened(server.url)
  await untilAnswered(() => kv.set(KEY, '1', 60))
  const connected = jest.fn()
  kv.client.on('connect', connected)
  await kv.addMember(KEY, 'a text is no set', 1, 60).catch(() => {})
  await untilAnswered(() => kv.mget([KEY]))
  expect(connected).not.toHaveBeenCalled()
  await admin.replicaof('127.0.0.1', 1)
  for (let writes = 0; writes < 10; writes += 1) {
    await kv.set(KEY, '2', 60).catch(() => {})
    await pause(50)
  }
  expect(connected).toHaveBeenCalledTimes(1)
  await admin.replicaof('NO', 'ONE')
  await untilAnswered(() => kv.set(KEY, '3', 60))
})

test('a connection is lost before the response → the command is not sent again, because it may have run', async () => {
  const front = await startRedisFront(server.port)
  const { kv } = opened(`redis://127.0.0.1:${front.port}`)
  await untilAnswered(() => kv.mget([KEY]))
  front.delay(2000)
  const answer = kv.run(() => kv.client.incr('a-count')).catch(({ operation }) => operation)
  await eventually(async () => (await admin.get('a-count')) !== null)
  front.lead(server.port)
  front.heal()
  expect(await answer).toBe('store')
  await untilAnswered(() => kv.mget([KEY]))
  expect(await admin.get('a-count')).toBe('1')
  await front.down()
})
