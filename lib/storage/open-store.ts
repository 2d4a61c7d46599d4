/** Opens the store of a site, and logs its failures. */
import type { Cluster, Redis } from 'ioredis'
import type { Config } from '../config'
import { redisFailureAdvice, redisFailureReason, redisRecovery } from '../log/redis-failure-advice'
import type { Kv } from './kv'
import { MemoryKv } from './memory-kv'
import { openRedis } from './redis-connection'
import type { GuardListener } from './redis-guard'
import { redisKv } from './redis-kv'

/** Opens the store. @returns the store, and the client of Redis if there is one */
export function openStore({ redis, prefix, clock, log }: Pick<Config, 'redis' | 'prefix' | 'clock' | 'log'>): {
  kv: Kv
  client: Redis | Cluster | undefined
} {
  if (redis === undefined) return { kv: new MemoryKv(() => clock.now()), client: undefined }
  const client = typeof redis === 'string' ? openRedis(redis) : redis
  const listener: GuardListener = {
    failed: (failure) => log.warn(`store:${redisFailureReason(failure)}`, redisFailureAdvice(failure)),
    recovered: (failure) => log.over('store', redisRecovery(failure)),
  }
  return { kv: redisKv(client, typeof redis === 'string', listener, prefix), client }
}
