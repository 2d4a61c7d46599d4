/** The known state of the systems around the site: `sso.health()`. Table: docs/internals/decision-tables.md, "Health". */
import { NO_ANSWER } from '../storage/redis-failure'
import { unlessUnavailable } from '../storage/site-store'
import type { Site } from './site'

/** The known state of the systems around the site, from calls for visitors: traffic is needed. Only Redis is called for the report. */
export interface Health {
  /** True if all of `sso`, `store` and `login` are `'ok'`, and the clock is within `clockToleranceSeconds`, as far as known. */
  readonly ok: boolean
  /** `'unavailable'` while the circuit breaker of the SSO system or of Identify is open: new visitors are not redirected to Identify. */
  readonly sso: 'ok' | 'unavailable'
  /** Redis, or memory. One key is read and written for the report, so in a Cluster one master is asked. `'unavailable'` until both succeed. */
  readonly store: 'ok' | 'unavailable'
  /** Why the store is unavailable: the code of a refusal or of Node.js (`'OOM'`, `'NOAUTH'`, `'ECONNREFUSED'`), or `'no_answer'`. */
  readonly storeReason?: string
  /**
   * `'unavailable'` while users cannot log in: after three failures in a row of the exchange of tickets or of the user path, until the next
   * success, at most a minute after the last failure. A refused ticket or an unknown user does not count.
   */
  readonly login: 'ok' | 'unavailable'
  /** This machine's clock minus the SSO system's clock. `undefined` before the first response of the SSO system. */
  readonly clockOffsetSeconds: number | undefined
}

/** Probes the session store, and reports the known state of the other systems. */
export async function health({ client, config, identifyHealth, loginHealth, records }: Site): Promise<Health> {
  const isStored = await unlessUnavailable(() => records.kv.probe().then(() => true), false)
  const { clockOffsetSeconds } = client
  const states = {
    sso: stateOf(identifyHealth.isAvailable),
    store: stateOf(isStored),
    login: stateOf(loginHealth.isAvailable),
  }
  const isClockRight = Math.abs(clockOffsetSeconds ?? 0) <= config.clockToleranceSeconds
  const ok = isClockRight && Object.values(states).every((state) => state === 'ok')
  return { ok, ...states, ...(isStored ? {} : { storeReason: records.kv.failure ?? NO_ANSWER }), clockOffsetSeconds }
}

const stateOf = (isWell: boolean): 'ok' | 'unavailable' => (isWell ? 'ok' : 'unavailable')
