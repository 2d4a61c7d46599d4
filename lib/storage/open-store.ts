/** Opens the store of a site, and logs its failures. */
import type { Cluster, Redis } from 'ioredis'
import type { Config } from '../config'
import { redisFailureAdvice, redisFailureReason } from '../decide/redis-failure-advice'
import type { Kv } from './kv'
import { MemoryKv } from './memory-kv'
import { evictionCheck } from './redis-eviction'
import { openRedis, redisKv } from './redis-kv'
import type { ServersListener } from './redis-servers'

/** @returns the store, and the client of Redis if there is one */
export function openStore({ redis, prefix, clock, log }: Pick<Config, 'redis' | 'prefix' | 'clock' | 'log'>): {
  kv: Kv
  client: Redis | Cluster | undefined
} {
  if (redis === undefined) return { kv: new MemoryKv(() => clock.now()), client: undefined }
  const client = typeof redis === 'string' ? openRedis(redis) : redis
  const listener: ServersListener = {
    connected: evictionCheck(client, (text) => log.warn('redis:eviction', `Redis: ${text}`)),
    failed: (failure) => log.warn(`store:${redisFailureReason(failure)}`, redisFailureAdvice(failure)),
    recovered: () => log.over('store', 'Redis answers again'),
  }
  return { kv: redisKv(client, typeof redis === 'string', listener, prefix), client }
}
