/** Redis: reachable, version, eviction policy. */
import { type Cluster, Redis } from 'ioredis'
import { about, codeOf, type Finding } from './doctor-finding'

const ANSWER_MS = 3000

/** @param redis as configured; from the environment it is an address */
export async function* redisFindings(redis: string | Redis | Cluster | undefined): AsyncGenerator<Finding> {
  const { note, wrong } = about('Redis')
  if (typeof redis !== 'string')
    return yield note('not configured: sessions are in memory, lost at a restart and not shared between processes')
  const client = new Redis(redis, {
    lazyConnect: true,
    retryStrategy: null,
    connectTimeout: ANSWER_MS,
    commandTimeout: ANSWER_MS,
    maxRetriesPerRequest: 0,
  })
  let cause: unknown
  client.on('error', (error) => {
    cause = error
  })
  try {
    await client.connect()
    yield* examine(await client.info())
  } catch (error) {
    yield wrong(`cannot be reached: ${codeOf(cause ?? error)}`)
  } finally {
    client.disconnect()
  }
}

function* examine(info: string): Generator<Finding> {
  const { ok, note } = about('Redis')
  const field = (name: string) => new RegExp(`^${name}:(.*)$`, 'm').exec(info)?.[1]?.trim() ?? ''
  const version = field('redis_version')
  const isOld = Number.parseInt(version, 10) < 6
  yield (isOld ? note : ok)(`version ${version}${isOld ? '; 6 or later is tested' : ''}`)
  const policy = field('maxmemory_policy')
  const isSafe = policy === 'noeviction' || field('maxmemory') === '0'
  yield (isSafe ? ok : note)(
    `eviction policy ${policy || 'unknown'}${isSafe ? '' : ': under pressure sessions are dropped, and used tokens forgotten; use noeviction'}`,
  )
}
