/** Bounds how many anonymous sessions one visitor's network begins, so that a flood does not fill the store. Threat S8. */
import { createHash } from 'node:crypto'
import type { Cluster, Redis } from 'ioredis'
import type { LandingLimit } from '../site'
import { makeLimiter } from './limiter'
import { isLocalAddress, networkOf } from './network'

/** Far more than a university or a mobile network behind one address needs: ten new visitors a second. */
const LIMIT = { attempts: 600, perSeconds: 60 }

/** A local address is never limited: it may be a proxy's, in the place of all visitors. */
export function landingLimit(prefix: string, redis: Redis | Cluster | undefined): LandingLimit {
  const landings = makeLimiter('landing', LIMIT, prefix, redis)
  return async (address) => {
    if (isLocalAddress(address)) return false
    const name = createHash('sha256').update(networkOf(address)).digest('base64url')
    return typeof (await landings.take(name)) === 'number' // better no limit than no session
  }
}
