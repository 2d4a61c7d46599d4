/** Opens connections to Redis, and keeps commands in the configured database. */
import type { Cluster, Redis } from 'ioredis'
import { redisRefusalCode } from '../log/redis-failure-advice'

const CONNECT_MS = 2000
/** Maximum time for which an ending process waits for a Redis that does not answer. */
const DISCONNECT_MS = 300
/** At most once in so many milliseconds, a write refused by a replica makes a new connection. */
const DEMOTION_MS = 2000

/**
 * Opens a connection that never hangs. Retries are bounded, and a command that may have run is not sent again.
 * Needs neither INFO nor CLIENT, which a proxy in front of Redis may not know.
 */
export function openRedis(address: string): Redis {
  const ioredis: typeof import('ioredis') = require('ioredis') // a site without Redis, or with its own client, does not load ioredis here
  let demotedAt = Number.NEGATIVE_INFINITY
  const redis = new ioredis.Redis(address, {
    connectTimeout: CONNECT_MS,
    disconnectTimeout: DISCONNECT_MS,
    maxRetriesPerRequest: 1,
    autoResendUnfulfilledCommands: false,
    enableReadyCheck: false,
    disableClientInfo: true,
    retryStrategy: () => 100 + Math.random() * 100,
    // the address may point to another master by now
    reconnectOnError: (error) => {
      if (redisRefusalCode(error) !== 'READONLY' || performance.now() - demotedAt < DEMOTION_MS) return false
      demotedAt = performance.now()
      return true
    },
  })
  redis.on('error', () => {}) // each command reports its own failure, and an unheard 'error' event would end the process
  return redis
}

/**
 * Returns a function that runs commands in the configured database.
 * ioredis goes on in database 0 after a refused SELECT. So each connection is asked once more, and serves no command before it has agreed.
 */
export function inDatabase(client: Redis | Cluster): <T>(command: () => Promise<T>) => Promise<T> {
  const { db = 0 } = client.isCluster ? {} : (client as Redis).options
  if (db === 0) return (command) => command()
  const redis = client as Redis
  let agreed: Redis['stream'] | undefined
  return async (command) => {
    const { stream } = redis
    if (stream === undefined || stream !== agreed || !stream.writable) {
      await redis.select(db)
      agreed = stream
    }
    return command()
  }
}
