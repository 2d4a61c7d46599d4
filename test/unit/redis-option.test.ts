import { inspect } from 'node:util'
import { Cluster, Redis, type RedisOptions } from 'ioredis'
import { Redis as NewerRedis } from 'ioredis6'
import { errorOf, make, problemsOf, required } from '../support/configuration'

/* The option `redis`: every part of an address is checked, and clients whose options change replies or move reads are refused. */

/** What a password may be part of. No error shows it. */
const SECRET = 'hunter2'

const wrong: [part: string, says: RegExp, addresses: string[]][] = [
  ['scheme', /^must be an address redis/, [`http://${SECRET}@r`, `redis:/${SECRET}`, SECRET]],
  ['white space', /^must not hold white space/, [`redis://:${SECRET} x@r`, `redis://:${SECRET}@r/0\n`]],
  ['user name and password', /percent-encoded/, [`redis://:p#${SECRET}/w@r:6379`, `redis://:${SECRET}%@r`]],
  ['host', /^must have a host/, [`redis://:${SECRET}@`, `redis://:${SECRET}@r,r2`, 'redis://::1:6379']],
  ['port', /^must have a port from 1 to 65535/, [`redis://:${SECRET}@r:76000`, `redis://u:${SECRET}`]],
  ['database', /^must end with the number of a database/, ['redis://r/sessions', `redis://:${SECRET}@r/0x1`]],
  ['parameter', /^must have no parameter but family/, ['redis://r?family=5', `redis://r/0?password=${SECRET}`]],
]

test.each(wrong)(
  'an address with a wrong %s is a problem of the configuration, which does not show it',
  (_part, says, addresses) => {
    for (const redis of addresses) {
      const given = errorOf({ ...required, redis, graceSeconds: -1 })
      expect([redis, given.problems.map(({ option }) => option).sort()]).toEqual([redis, ['graceSeconds', 'redis']])
      expect(given.problems).toContainEqual({
        option: 'redis',
        variable: 'REDIS_URL',
        message: expect.stringMatching(says),
      })
      const variable = errorOf(required, { REDIS_URL: redis })
      for (const error of [given, variable])
        expect(inspect(error, { depth: 20, showHidden: true }) + error.stack).not.toContain(SECRET)
    }
  },
)

test.each([
  ['redis://localhost:6379', { host: 'localhost', port: 6379, db: 0, password: null }],
  ['redis://user:p%23s%2Fs%40%25@127.0.0.1', { username: 'user', password: 'p#s/s@%', host: '127.0.0.1' }],
  ['redis://:zażółć@zażółć.example/3', { password: 'zażółć', host: 'xn--za-6ja4f8n1l.example', db: 3 }],
  ['redis://[::1]:6390/2?family=6', { host: '::1', port: 6390, db: 2, family: 6 }],
])('%s is read by ioredis as it is meant', (redis, options) => {
  const address = make({ redis }).redis
  const client = new Redis(String(address), { lazyConnect: true })
  expect(client.options).toMatchObject(options)
})

const lazy = (options: RedisOptions) => new Redis({ ...options, lazyConnect: true })
const cluster = (options: object) => new Cluster([{ host: '127.0.0.1', port: 1 }], { ...options, lazyConnect: true })
const sentinels = [{ host: '127.0.0.1', port: 1 }]

test.each<[option: string, client: unknown]>([
  ['stringNumbers', lazy({ stringNumbers: true })],
  ['replyMapping', new NewerRedis({ replyMapping: 'resp3', lazyConnect: true })],
  ['scaleReads', cluster({ scaleReads: 'slave' })],
  ['role', lazy({ sentinels, name: 'news', role: 'slave' })],
  ['keyPrefix', cluster({ redisOptions: { keyPrefix: 'news:' } })],
])('a client with %s is refused by the name of that option', (option, redis) => {
  const says = expect.stringMatching(`^must not be a client with ${option}`)
  expect(problemsOf({ redis })).toEqual([{ option: 'redis', variable: 'REDIS_URL', message: says }])
})

test('other clients are taken', () => {
  const clients = [
    ...[lazy({}), lazy({ stringNumbers: false, readOnly: false, role: 'master', sentinels, name: 'news' })],
    ...[cluster({}), cluster({ scaleReads: 'master', redisOptions: { password: SECRET } })],
    ...[new NewerRedis({ lazyConnect: true }), lazy({ keyPrefix: 'news:', enableAutoPipelining: true })],
  ]
  for (const redis of clients) expect(make({ redis }).redis).toBe(redis)
})
