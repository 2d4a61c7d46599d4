/** Limits login attempts by address and user name, before Authenticate is asked. Threats F3, F4. */
import { createHash } from 'node:crypto'
import type { Cluster, Redis } from 'ioredis'
import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible'

/** Asks whether one more attempt is allowed. */
export interface LoginLimiter {
  /** @returns 0 when allowed, else the seconds to wait */
  consume(address: string, username: string): Promise<number>
}

/** @param limit attempts in a time, or false for none; @param client shares the counts between processes */
export function loginLimiter(
  limit: { readonly attempts: number; readonly perSeconds: number } | false,
  prefix: string,
  client: Redis | Cluster | undefined,
): LoginLimiter {
  if (!limit) return { consume: async () => 0 }
  const options = { points: limit.attempts, duration: limit.perSeconds, keyPrefix: `${prefix}limit` }
  const memory = new RateLimiterMemory(options)
  const limiter = client ? new RateLimiterRedis({ ...options, storeClient: client, insuranceLimiter: memory }) : memory
  return {
    consume: async (address, username) => {
      const name = createHash('sha256').update(`${address}\n${username.trim().toLowerCase()}`).digest('base64url')
      try {
        await limiter.consume(name)
        return 0
      } catch (refusal) {
        return refusal instanceof RateLimiterRes ? Math.max(1, Math.ceil(refusal.msBeforeNext / 1000)) : 0
      }
    },
  }
}
