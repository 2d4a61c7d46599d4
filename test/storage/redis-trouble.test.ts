import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Redis } from 'ioredis'
import { Log } from '../../lib/log/log'
import type { Kv } from '../../lib/storage/kv'
import { openStore } from '../../lib/storage/open-store'
import { makeCertificate } from '../support/certificate'
import { loggerTo } from '../support/log-lines'
import { freePort } from '../support/ports'
import { startRedis, type TestRedis } from '../support/redis'
import { eventually, pause, untilAnswered } from '../support/wait'

/* A Redis that is set up wrongly: the store stays unavailable, and the log says what to change. */

const KEY = 'site:{a}'
const stores: Kv[] = []
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
  const store = openStore({ redis, prefix: 'site:', clock: { now: () => Date.now() }, log: new Log(loggerTo(lines)) })
  stores.push(store.kv)
  if (redis instanceof Redis) clients.push(redis)
  return { ...store, lines }
}
type Opened = ReturnType<typeof opened>

/** Reads and writes until the store has a line for its operator. */
const failing = (store: Opened) =>
  eventually(async () => {
    await Promise.allSettled([store.kv.mget([KEY]), store.kv.probe()])
    return store.lines.length > 0
  })

/** Tries reads, writes and probes for as long as a recovery would take. @returns how many were answered */
async function answersOf({ kv }: Opened): Promise<number> {
  let answers = 0
  const count = () => {
    answers += 1
  }
  for (let round = 0; round < 8; round += 1) {
    const sent = [kv.mget([KEY]), kv.set(KEY, '1', 60), kv.probe()]
    await Promise.all(sent.map((answer) => answer.then(count, () => {})))
    await pause(200)
  }
  return answers
}

/** Sets what the user of a site may do. @returns the address with that user */
async function withUser(rules: string, database = ''): Promise<string> {
  await admin.call('ACL', 'SETUSER', 'site', 'reset', 'on', '>a-password', '~*', '&*', '+@all', ...rules.split(' '))
  return `redis://site:a-password@127.0.0.1:${server.port}${database}`
}

describe('a database that cannot be selected', () => {
  const ways: [name: string, rules: string, database: string][] = [
    ['does not exist', '+@all', '/99'],
    ['is forbidden to the user', '-select', '/3'],
  ]
  test.each(ways)('%s: the store stays unavailable, and database 0 empty', async (_name, rules, database) => {
    const address = await withUser(rules, database)
    const own = [{}, { enableReadyCheck: false, disableClientInfo: true }].map((options) => new Redis(address, options))
    const all = [address, ...own].map(opened)
    expect(await Promise.all(all.map(answersOf))).toEqual([0, 0, 0])
    for (const { kv, lines } of all) {
      expect([kv.isAvailable, kv.failure]).toEqual([false, expect.stringMatching(/^SELECT refused: (ERR|NOPERM)$/)])
      const check = /Check that the database number in redis \(REDIS_URL\) exists, and that the user may run SELECT/
      expect(lines).toEqual([expect.stringMatching(check)])
      expect(lines.join()).not.toContain('a-password')
    }
    expect(await admin.dbsize()).toBe(0)
  })
})

describe('a command that Redis refuses is named', () => {
  test.each<[rule: string, said: RegExp]>([
    ['-mget', /reads refused: NOPERM.*may not run MGET\. "Permissions" in docs\/deployment\.md lists/],
    ['-eval -evalsha', /writes refused: NOPERM.*may not run EVAL/],
    ['-zadd', /writes refused: NOPERM.*(may not run ZADD|ACL LOG names)/],
    ['resetkeys ~other:*', /refused: NOPERM.*keys that begin with session\.prefix/],
  ])('by the permissions of the user: %s', async (rule, said) => {
    const store = opened(await withUser(rule))
    await failing(store)
    expect(store.lines[0]).toMatch(said)
    expect(store.lines[0]).not.toMatch(/username and password|a-password|site:\{/)
  })

  test('because Redis does not know it; INFO is named with a client that asks for it', async () => {
    const renamed = ['eval', 'info', 'client'].flatMap((command) => ['--rename-command', command, ''])
    const { url } = await start(...renamed)
    const [own, asking] = [opened(url), opened(new Redis(url))]
    await Promise.all([own, asking].map(failing))
    expect(own.lines[0]).toMatch(/know EVAL\. "Permissions" in docs\/deployment\.md lists/)
    expect(asking.lines[0]).toMatch(/INFO refused: ERR.*know INFO, or set enableReadyCheck: false/)
  })
})

test('TLS: the line names the scheme that is wrong, and NODE_EXTRA_CA_CERTS for an authority of the site', async () => {
  const { file } = makeCertificate(folder)
  const port = String(await freePort())
  const files = ['--tls-cert-file', file, '--tls-key-file', path.join(folder, '2.key'), '--tls-ca-cert-file', file]
  const started = await start('--tls-port', port, '--tls-auth-clients', 'no', ...files)
  const scheme = /the scheme of redis \(REDIS_URL\): rediss:\/\//
  const addresses: [address: string, line: RegExp][] = [
    [`rediss://127.0.0.1:${started.port}`, scheme],
    [`redis://127.0.0.1:${port}`, scheme],
    [`rediss://localhost:${port}`, /DEPTH_ZERO_SELF_SIGNED_CERT.*NODE_EXTRA_CA_CERTS/],
  ]
  for (const [address, line] of addresses) {
    const store = opened(address)
    await failing(store)
    expect(store.lines.join()).toMatch(line)
  }
})

test.each<[how: string, folder: string | undefined, lines: unknown[]]>([
  ['empty: a line says that sessions were lost', undefined, [expect.stringMatching(/sessions were lost/)]],
  ['with its data: no line says so', folder, []],
])('a Redis comes back %s', async (_how, kept, lines) => {
  const data = kept === undefined ? {} : { folder: kept }
  const before = await startRedis(data)
  const store = opened(before.url)
  await untilAnswered(() => store.kv.probe())
  await before.stop()
  await failing(store)
  servers.push(await startRedis({ port: before.port, ...data }))
  await eventually(async () => store.lines.some((text) => text.includes('responds again')))
  expect(store.lines.filter((text) => text.includes('The store is empty'))).toEqual(lines)
})
