/** Opens the store of a site, and logs its failures. */
import type { Cluster, Redis } from 'ioredis'
import type { Config } from '../config'
import { LOG_LINES } from '../log/log-lines'
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
  const { redisEviction } = LOG_LINES
  const listener: GuardListener = {
    connected: evictionCheck(client, (policy) =>
      log.warn('redis:eviction', {
        ...redisEviction,
        happened: `${redisEviction.happened} (maxmemory-policy ${policy})`,
      }),
    ),
    failed: (failure) => log.warn(`store:${redisFailureReason(failure)}`, redisFailureAdvice(failure)),
    recovered: (failure) => log.over('store', redisRecovery(failure)),
    lostData: () => log.warn('redis:lost', LOG_LINES.redisLostData),
  }
  return { kv: redisKv(client, typeof redis === 'string', listener, prefix), client }
}

/** Reads the eviction policy of a server. @param info response to INFO @returns `undefined` if the server evicts nothing */
function evictionPolicyOf(info: string): string | undefined {
  const field = (name: string) => new RegExp(`^${name}:(.*)$`, 'm').exec(info)?.[1] ?? ''
  const policy = field('maxmemory_policy')
  if (policy === 'noeviction' || field('maxmemory') === '0') return undefined
  return policy || 'unknown'
}

/** Returns a function whose first call reads the eviction policy of each server in the background. A Redis that evicts drops sessions. */
function evictionCheck(client: Redis | Cluster, warn: (policy: string) => void): () => void {
  let isDone = false
  return () => {
    if (isDone) return
    isDone = true
    const servers = client.isCluster ? (client as Cluster).nodes('master') : [client as Redis]
    for (const server of servers)
      server.info().then(
        (info) => {
          const policy = evictionPolicyOf(info)
          if (policy !== undefined) warn(policy)
        },
        () => {}, // the Redis user may not be allowed to read the policy
      )
  }
}
