/** Opens the store of a site, and logs its failures. */
import type { Cluster, Redis } from 'ioredis'
import type { Config } from '../config'
import { isRefusedWrite, redisFailureReason, redisRefusalCode } from '../log/redis-failure-advice'
import type { Kv } from './kv'
import { MemoryKv } from './memory-kv'
import type { GuardListener } from './redis-guard'
import { RedisKv } from './redis-kv'

const CONNECT_MS = 2000
/** A connection without data for so many milliseconds after a command is replaced. */
const SILENCE_MS = 1000
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
    socketTimeout: SILENCE_MS,
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

/** Opens the store. @returns the store, and the client of Redis if there is one */
export function openStore({ redis, prefix, clock, log }: Pick<Config, 'redis' | 'prefix' | 'clock' | 'log'>): {
  kv: Kv
  client: Redis | Cluster | undefined
} {
  if (redis === undefined) return { kv: new MemoryKv(() => clock.now()), client: undefined }
  const client = typeof redis === 'string' ? openRedis(redis) : redis
  const listener: GuardListener = {
    failed(failure) {
      const detail = redisFailureReason(failure)
      log.warn(`store:${detail}`, isRefusedWrite(failure) ? 'Redis refuses writes' : 'Redis does not respond', {
        detail,
      })
    },
    recovered: (failure) =>
      log.recovered('store', isRefusedWrite(failure) ? 'Redis takes writes again.' : 'Redis responds again.'),
  }
  return { kv: new RedisKv(client, typeof redis === 'string', listener, prefix), client }
}
