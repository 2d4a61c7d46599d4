/** The store that a site is configured for, with what its operator is told of it. */
import type { Cluster, Redis } from 'ioredis'
import type { Config } from '../config'
import { storeTroubleOf } from '../decide/store-trouble'
import type { Kv } from './kv'
import { MemoryKv } from './memory-kv'
import { evictionWatch } from './redis-eviction'
import { openRedis, redisKv } from './redis-kv'

/** Opens it. @returns the store, and the client of Redis where there is one */
export function openStore({ redis, clock, log }: Pick<Config, 'redis' | 'clock' | 'log'>): {
  kv: Kv
  client: Redis | Cluster | undefined
} {
  if (redis === undefined) return { kv: new MemoryKv(() => clock.now()), client: undefined }
  const client = typeof redis === 'string' ? openRedis(redis) : redis
  const lookAtEviction = evictionWatch(client, (says) => log.warn('redis:eviction', `Redis: ${says}`))
  lookAtEviction()
  const watch = {
    failed: (error: unknown) => log.warn('store:away', storeTroubleOf(error)),
    back: () => {
      lookAtEviction()
      log.over('store', 'Redis answers again')
    },
  }
  return { kv: redisKv(client, typeof redis === 'string', watch), client }
}
