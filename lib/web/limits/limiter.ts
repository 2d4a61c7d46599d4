/** Counts in the store, with a deadline: what the limits of logins and landings are made of. */
import type { Cluster, Redis } from 'ioredis'
import RateLimiterMemory from 'rate-limiter-flexible/lib/RateLimiterMemory.js' // the whole package loads a driver for every database
import RateLimiterRedis from 'rate-limiter-flexible/lib/RateLimiterRedis.js'
import RateLimiterRes from 'rate-limiter-flexible/lib/RateLimiterRes.js'
import { inTime } from '../../deadline'
import type { Unavailable } from '../../storage/unavailable'

/** The limiter's own commands have no deadline. */
const STORE_MS = 1000
const LATE = 'the limiter did not answer'

/** How often something may be done in a time. */
export interface Limit {
  readonly attempts: number
  readonly perSeconds: number
}

/** One limit; every name has its own count. `'unavailable'` when the store does not answer in time. */
export interface Limiter {
  /** Takes one. @returns seconds to wait when there is none left, otherwise `undefined` */
  take(name: string): Promise<number | undefined | Unavailable>
  giveBack(name: string): Promise<void>
}

/** @param redis shares the counts between processes; without it, and while it is away, they are this process's own */
export function makeLimiter(kind: string, limit: Limit, prefix: string, redis: Redis | Cluster | undefined): Limiter {
  const options = { points: limit.attempts, duration: limit.perSeconds, keyPrefix: `${prefix}limit:${kind}` }
  const memory = new RateLimiterMemory(options)
  const counts = redis ? new RateLimiterRedis({ ...options, storeClient: redis, insuranceLimiter: memory }) : memory
  return {
    take: async (name) => {
      try {
        await inTime(counts.consume(name), STORE_MS, LATE)
        return undefined
      } catch (refusal) {
        if (refusal instanceof RateLimiterRes) return refusal.msBeforeNext / 1000
        return 'unavailable'
      }
    },
    giveBack: async (name) => {
      await inTime(counts.reward(name), STORE_MS, LATE).catch(() => {}) // the count falls by itself
    },
  }
}
