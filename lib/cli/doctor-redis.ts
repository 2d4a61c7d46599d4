/** Checks that Redis is reachable, accepts writes and keeps its data, and checks the version. */
import { type Cluster, Redis } from 'ioredis'
import { COMMAND_MS } from '../storage/redis-kv'
import { connectionAdvice } from './connection-advice'
import { about, errorCode, type Finding, STORE, unavailableAt } from './doctor-finding'

const ANSWER_MS = 3000
const { ok, note, wrong } = about(STORE)

/**
 * Yields the findings about Redis.
 * @param redis as configured: an address, or the site's own client, which stays open
 */
export async function* redisFindings(redis: string | Redis | Cluster | undefined): AsyncGenerator<Finding> {
  if (redis === undefined)
    return yield note(
      'not configured: sessions are in memory. A restart loses them, and processes do not share them',
      'REDIS_URL=redis://127.0.0.1:6379',
    )
  const client = typeof redis === 'string' ? connectRedis(redis) : redis
  let cause: unknown
  const onError = (error: unknown) => {
    cause = error
  }
  client.on('error', onError)
  try {
    for (const info of await infosOf(client)) yield* redisInfoFindings(info)
    if (typeof redis === 'string') yield* databaseFindings(client as Redis)
    yield* speedFindings(client)
  } catch (error) {
    yield unavailableAt(STORE, unreachable(cause ?? error))
  } finally {
    // a connection of the doctor may still report an error after its end
    if (client === redis) client.off('error', onError)
    else client.disconnect()
  }
}

/** A refused database leaves the connection in database 0, where the site stores nothing. */
async function* databaseFindings(client: Redis): AsyncGenerator<Finding> {
  const { db } = client.options
  if (!db) return
  try {
    await withRedisDeadline(client.select(db))
  } catch (error) {
    if (!String(error).includes('DB index')) throw error
    yield wrong(`Redis has no database ${db}`, 'REDIS_URL=redis://host:6379/0   or more databases in redis.conf')
  }
}

/** The quickest of three answers counts, as a busy machine delays some. */
async function* speedFindings(client: Redis | Cluster): AsyncGenerator<Finding> {
  let quickest = ANSWER_MS
  for (let asked = 0; asked < 3; asked++) {
    const began = performance.now()
    await withRedisDeadline((client as Redis).ping())
    quickest = Math.min(quickest, Math.round(performance.now() - began))
  }
  if (quickest < COMMAND_MS) return
  yield wrong(
    `Redis answers after ${quickest} ms. After ${COMMAND_MS} ms a site takes it as down`,
    'run Redis near the site',
  )
}

function connectRedis(address: string): Redis {
  return new Redis(address, {
    lazyConnect: true,
    retryStrategy: null,
    connectTimeout: ANSWER_MS,
    commandTimeout: ANSWER_MS,
    maxRetriesPerRequest: 0,
  })
}

/** Reads the INFO text of each master. */
async function infosOf(client: Redis | Cluster): Promise<string[]> {
  const nodes = client.isCluster ? (client as Cluster).nodes('master') : [client] // the site's own client can be of another copy of ioredis
  return Promise.all(nodes.map((node) => withRedisDeadline(node.info())))
}

function withRedisDeadline<T>(answer: Promise<T>): Promise<T> {
  const late = AbortSignal.timeout(ANSWER_MS)
  return Promise.race([
    answer,
    new Promise<never>((_resolve, reject) => late.addEventListener('abort', () => reject(late.reason))),
  ])
}

const SCHEMES = 'rediss:// is for a port with TLS, redis:// for a port without'

/** Advice for refusals. A Redis error message begins with the name of the refusal. */
const REFUSALS: Readonly<Record<string, string>> = {
  NOAUTH: 'REDIS_URL=redis://:<password>@host:6379',
  WRONGPASS: 'REDIS_URL=redis://:<password>@host:6379   with the right password',
  NOPERM: 'allow the Redis user INFO and the commands of "Permissions" in docs/deployment.md',
  LOADING: 'wait until Redis has loaded its data',
  DENIED: 'CONFIG SET protected-mode no, or better a password in REDIS_URL',
}

function unreachable(error: unknown): Finding {
  const message = error instanceof Error ? error.message : ''
  if (message === 'Command timed out')
    return wrong(
      `Redis takes the connection, and does not answer within ${ANSWER_MS / 1000} s`,
      `restart it; ${SCHEMES}`,
    )
  const [, refusal = ''] = /^(?:ERR )?-?([A-Z]{5,})\b/.exec(message) ?? []
  if (Object.hasOwn(REFUSALS, refusal)) return wrong(`Redis refuses the connection: ${refusal}`, REFUSALS[refusal])
  const code = errorCode(error)
  const why = code === 'Error' ? 'the connection was closed' : code
  const advice = connectionAdvice(code) ?? SCHEMES
  return wrong(`Redis cannot be reached: ${why}`, `redis-cli -u "$REDIS_URL" ping   must answer PONG; ${advice}`)
}

function* redisInfoFindings(info: string): Generator<Finding> {
  const field = (name: string) => new RegExp(`^${name}:(.*)$`, 'm').exec(info)?.[1]?.trim() ?? ''
  const version = field('redis_version')
  yield Number.parseInt(version, 10) < 7
    ? note(`version ${version} is not tested`, 'use Redis 7 or later')
    : ok(`version ${version}`)
  if (field('role') === 'slave')
    yield wrong('this Redis is a replica and accepts no writes', 'set REDIS_URL to the address of the master')
  yield memoryFinding(field)
}

function memoryFinding(field: (name: string) => string): Finding {
  const policy = field('maxmemory_policy') || 'unknown'
  const [most, used] = [Number(field('maxmemory')), Number(field('used_memory'))]
  if (most === 0) return ok(`eviction policy ${policy}, no memory limit`)
  if (policy !== 'noeviction') {
    const evicted = Number(field('evicted_keys'))
    const already = evicted > 0 ? ` (${evicted} keys so far)` : ''
    return wrong(
      `eviction policy ${policy}${already}: if memory is full, Redis deletes logins and pending logouts`,
      'redis-cli -u "$REDIS_URL" CONFIG SET maxmemory-policy noeviction   and the same in redis.conf',
    )
  }
  return used > most
    ? wrong(
        'the memory of Redis is full, and it accepts no writes',
        'redis-cli -u "$REDIS_URL" CONFIG SET maxmemory 1gb   or a larger server',
      )
    : ok('eviction policy noeviction')
}
