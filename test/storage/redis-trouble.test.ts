import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Redis } from 'ioredis'
import { Log } from '../../lib/config/log'
import type { Kv } from '../../lib/storage/kv'
import { openStore } from '../../lib/storage/open-store'
import { makeCertificate } from '../support/certificate'
import { loggerTo } from '../support/log-lines'
import { freePort } from '../support/ports'
import { startRedis, type TestRedis } from '../support/redis'
import { eventually, pause, untilAnswered } from '../support/wait'

/* A Redis that is set up wrongly: the store stays unavailable, and the log says what to change. */

/** A store over an address or a client, and its log lines. */
function opened(redis: string | Redis) {
  const lines: string[] = []
  const store = openStore({ redis, prefix: 'site:', clock: { now: () => Date.now() }, log: new Log(loggerTo(lines)) })
  stores.push(store.kv)
  return { ...store, lines }
}

type Opened = ReturnType<typeof opened>

/** Tries reads, writes and probes for as long as a recovery would take. @returns how many were answered */
async function answersOf({ kv }: Opened): Promise<number> {
  let answers = 0
  const count = () => {
    answers += 1
  }
  for (let round = 0; round < 12; round += 1) {
    const sent = [kv.mget(['site:{a}']), kv.set('site:{a}', '1', 60), kv.probe()]
    await Promise.all(sent.map((answer) => answer.then(count, () => {})))
    await pause(200)
  }
  return answers
}

const stores: Kv[] = []
const servers: TestRedis[] = []
const clients: { disconnect(): void }[] = []
const folder = mkdtempSync(path.join(tmpdir(), 'express-sso2-tls-'))
afterEach(async () => {
  for (const client of clients.splice(0)) client.disconnect() // first, because a closed store does not listen to its errors
  await Promise.all(stores.splice(0).map((kv) => kv.close()))
  await Promise.all(servers.splice(0).map((server) => server.stop()))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

async function started(...args: string[]) {
  const server = await startRedis({ args })
  const admin = new Redis(server.url).on('error', () => {}) // a server without INFO is never ready for it
  servers.push(server)
  clients.push(admin)
  return { server, admin }
}

const ALL_BUT = (...commands: string[]) => ['~*', '&*', '+@all', ...commands.map((command) => `-${command}`)]
const asUser = (server: TestRedis, database = '') => `redis://site:a-password@127.0.0.1:${server.port}${database}`

describe('a database that cannot be selected', () => {
  const ways: [name: string, rules: string[], database: number][] = [
    ['does not exist', ALL_BUT(), 3],
    ['is forbidden to the user', ALL_BUT('select'), 0],
  ]
  test.each(ways)('%s: the store stays unavailable, and database 0 empty', async (_name, rules, database) => {
    const { server, admin } = await started('--databases', database === 3 ? '1' : '16')
    await admin.call('ACL', 'SETUSER', 'site', 'on', '>a-password', ...rules)
    const address = asUser(server, '/3')
    const ownClients = [{}, { enableReadyCheck: false, disableClientInfo: true }].map((options) => () => {
      const client = new Redis(address, options)
      clients.push(client)
      return client
    })
    for (const redisOf of [() => address, ...ownClients]) {
      const store = opened(redisOf())
      expect(await answersOf(store)).toBe(0)
      expect([store.kv.isAvailable, store.kv.failure]).toEqual([
        false,
        expect.stringMatching(/^SELECT refused: (ERR|NOPERM)$/),
      ])
      expect(store.lines).toEqual([
        expect.stringMatching(
          /Check that the database number in redis \(REDIS_URL\) exists, and that the user may run SELECT/,
        ),
      ])
      expect(store.lines.join()).not.toContain('a-password')
    }
    expect(await admin.dbsize()).toBe(0)
  })

  test('is served again once it can be selected', async () => {
    const { server, admin } = await started()
    await admin.call('ACL', 'SETUSER', 'site', 'on', '>a-password', ...ALL_BUT('select'))
    const store = opened(asUser(server, '/3'))
    await expect(store.kv.mget(['site:{a}'])).rejects.toMatchObject({ operation: 'store' })
    await admin.call('ACL', 'SETUSER', 'site', '+select')
    await untilAnswered(() => store.kv.set('site:{a}', '1', 60))
    await eventually(async () => store.kv.failure === undefined)
    expect(await admin.dbsize()).toBe(0)
    await admin.select(3)
    expect(await admin.exists('site:{a}')).toBe(1)
  })
})

describe('a command that Redis refuses is named', () => {
  /** Reads and writes until the store has a failure. */
  const failing = async (store: Opened) => {
    await eventually(async () => {
      await Promise.allSettled([store.kv.mget(['site:{a}']), store.kv.probe()])
      return store.lines.length > 0
    })
  }

  test.each<[rule: string, said: RegExp]>([
    ['-mget', /reads refused: NOPERM.*may not run MGET\. "Permissions" in docs\/deployment\.md lists/],
    ['-eval -evalsha', /writes refused: NOPERM.*may not run EVAL/],
    ['-zadd', /writes refused: NOPERM.*(may not run ZADD|ACL LOG names)/],
    ['resetkeys ~other:*', /refused: NOPERM.*keys that begin with session\.prefix/],
  ])('by the permissions of the user: %s', async (rule, said) => {
    const { server, admin } = await started()
    await admin.call('ACL', 'SETUSER', 'site', 'on', '>a-password', ...ALL_BUT(), ...rule.split(' '))
    const store = opened(asUser(server))
    await failing(store)
    expect(store.lines[0]).toMatch(said)
    expect(store.lines[0]).not.toMatch(/username and password|a-password|site:\{/)
  })

  test.each<[command: string, said: RegExp]>([
    ['mget', /know MGET\. "Permissions" in docs\/deployment\.md lists/],
    ['eval', /know EVAL\. "Permissions" in docs\/deployment\.md lists/],
  ])('because Redis does not know it: %s', async (command, said) => {
    const { server } = await started('--rename-command', command, '')
    const store = opened(server.url)
    await failing(store)
    expect(store.lines[0]).toMatch(said)
  })

  test('INFO is not needed with an address, and named with a client that asks for it', async () => {
    const { server } = await started('--rename-command', 'info', '', '--rename-command', 'client', '')
    const store = opened(server.url)
    await untilAnswered(() => store.kv.set('site:{a}', '1', 60))
    expect(store.lines).toEqual([])
    const own = new Redis(server.url, { enableReadyCheck: false, disableClientInfo: true })
    const asking = new Redis(server.url)
    clients.push(own, asking)
    const [served, unserved] = [opened(own), opened(asking)]
    expect(await untilAnswered(() => served.kv.mget(['site:{a}']))).toEqual(['1'])
    await failing(unserved)
    expect(unserved.lines[0]).toMatch(/INFO refused: ERR.*know INFO, or set enableReadyCheck: false/)
  })
})

describe('TLS', () => {
  let certificate: ReturnType<typeof makeCertificate>
  let port: number
  beforeAll(async () => {
    certificate = makeCertificate(folder)
  })
  const startedWithTls = async () => {
    port = await freePort()
    const key = path.join(folder, '2.key')
    const { file } = certificate
    const files = [
      '--tls-cert-file',
      file,
      '--tls-key-file',
      key,
      '--tls-ca-cert-file',
      file,
      '--tls-auth-clients',
      'no',
    ]
    return started('--tls-port', String(port), ...files)
  }
  const line = async (store: Opened, ms = 6000) => {
    const end = performance.now() + ms
    while (store.lines.length === 0 && performance.now() < end) {
      await store.kv.mget(['site:{a}']).catch(() => {})
      await pause(50)
    }
    return store.lines.join('\n')
  }

  test('rediss:// to a port without TLS, and redis:// to a port with TLS: the line names the scheme', async () => {
    const { server } = await startedWithTls()
    for (const address of [`rediss://127.0.0.1:${server.port}`, `redis://127.0.0.1:${port}`])
      expect(await line(opened(address))).toMatch(/the scheme of redis \(REDIS_URL\): rediss:\/\//)
  })

  test('a certificate of an own authority: the line names NODE_EXTRA_CA_CERTS', async () => {
    await startedWithTls()
    expect(await line(opened(`rediss://localhost:${port}`))).toMatch(/DEPTH_ZERO_SELF_SIGNED_CERT.*NODE_EXTRA_CA_CERTS/)
  })
})

test('a Redis that comes back empty: a line says that the store is empty and sessions were lost', async () => {
  const { server } = await started()
  const store = opened(server.url)
  await untilAnswered(() => store.kv.probe())
  await server.stop()
  await eventually(async () =>
    store.kv.mget(['site:{a}']).then(
      () => false,
      () => store.lines.length > 0,
    ),
  )
  servers.push(await startRedis({ port: server.port }))
  await eventually(async () => store.lines.some((text) => text.includes('responds again')))
  const lost = store.lines.filter((text) => text.includes('The store is empty'))
  expect(lost).toEqual([expect.stringMatching(/sessions were lost/)])
  await pause(1500)
  expect(store.lines.filter((text) => text.includes('The store is empty'))).toHaveLength(1)
})

test('a Redis that comes back with its data: no line says that sessions were lost', async () => {
  const kept = mkdtempSync(path.join(tmpdir(), 'express-sso2-kept-'))
  const before = await startRedis({ folder: kept })
  const store = opened(before.url)
  await untilAnswered(() => store.kv.probe())
  await before.stop()
  await eventually(async () =>
    store.kv.mget(['site:{a}']).then(
      () => false,
      () => store.lines.length > 0,
    ),
  )
  servers.push(await startRedis({ port: before.port, folder: kept }))
  await eventually(async () => store.lines.some((text) => text.includes('responds again')))
  expect(store.lines.filter((text) => text.includes('The store is empty'))).toEqual([])
  rmSync(kept, { recursive: true, force: true })
})

test('a Redis that is full: the log says that it takes writes again', async () => {
  const { server, admin } = await started()
  const store = opened(server.url)
  await untilAnswered(() => store.kv.probe())
  await admin.config('SET', 'maxmemory', '1')
  await expect(store.kv.probe()).rejects.toMatchObject({ operation: 'store' })
  await admin.config('SET', 'maxmemory', '0')
  await eventually(async () => store.lines.length > 1)
  expect(store.lines).toEqual([
    expect.stringContaining('writes refused: OOM'),
    'express-sso2: Redis takes writes again.',
  ])
})
