/** `sso.health()`: the known state of the systems that a site depends on. */
import { NO_ANSWER } from '../decide/redis-failure-advice'
import type { Site } from './site'

/** What is known of the systems around the site. */
export interface Health {
  /** Is all well? */
  readonly ok: boolean
  /** `'unavailable'` from a row of failures until it answers again. */
  readonly sso: 'ok' | 'unavailable'
  /** Tried now, with a harmless read and a harmless write: Redis, or memory. `'unavailable'` until both have succeeded. */
  readonly store: 'ok' | 'unavailable'
  /**
   * Why the store is unavailable, in a form that stays the same: `'writes refused: OOM'`, `'reads refused: NOAUTH'`, `'ECONNREFUSED'`,
   * `'no answer in time'` or `'no connection'`. In a Cluster the node follows: `'ECONNREFUSED (10.0.0.1:6379)'`.
   */
  readonly storeReason?: string
  /** Our clock minus the SSO system's; `undefined` before its first answer. */
  readonly clockOffsetSeconds: number | undefined
}

/** Tries the store, and reports what is known of the rest. */
export async function health({ client, front, records }: Site): Promise<Health> {
  const store = (await records.probe()) === 'done' ? 'ok' : 'unavailable'
  const sso = front.isAvailable ? 'ok' : 'unavailable'
  const storeReason = store === 'ok' ? {} : { storeReason: records.failure ?? NO_ANSWER }
  return {
    ok: store === 'ok' && sso === 'ok',
    sso,
    store,
    ...storeReason,
    clockOffsetSeconds: client.clockOffsetSeconds,
  }
}
