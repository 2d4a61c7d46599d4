/** The report of `sso.health()`. Pure. Table: docs/internals/decision-tables.md, "Health". */

/** The known state of the systems around the site. It comes from calls for visitors, so it needs traffic. Only Redis is called for the report. */
export interface Health {
  /** True if all of `sso`, `store` and `login` are `'ok'`, and the clock is within `clockToleranceSeconds`, as far as it is known. */
  readonly ok: boolean
  /** `'unavailable'` while the circuit breaker of the SSO system is open, or that of Identify: new visitors are not redirected there. */
  readonly sso: 'ok' | 'unavailable'
  /** Tried now, with a harmless read and a harmless write: Redis, or memory. `'unavailable'` until both have succeeded. */
  readonly store: 'ok' | 'unavailable'
  /**
   * Why the store is unavailable, in a form that stays the same: `'writes refused: OOM'`, `'reads refused: NOAUTH'`, `'ECONNREFUSED'`,
   * `'no answer in time'` or `'no connection'`. In a Cluster the node follows: `'ECONNREFUSED (10.0.0.1:6379)'`.
   */
  readonly storeReason?: string
  /**
   * `'unavailable'` while no user could log in: from a failed call of the token endpoint or the user path, with a probe of it that failed
   * as well, until the next success. A failure for one account alone does not count. Hooks of the site (`exchangeTicket`, `loadUser`) are
   * not watched.
   */
  readonly login: 'ok' | 'unavailable'
  /** This machine's clock minus the SSO system's clock. `undefined` before its first response. */
  readonly clockOffsetSeconds: number | undefined
}

/** Facts of the report. */
export interface HealthFacts {
  /** Are the circuit breakers of the SSO system and of Identify closed? */
  readonly isSsoAvailable: boolean
  /** Why the store is unavailable. `undefined` while it is available. */
  readonly storeReason: string | undefined
  /** Has no probe of the token endpoint or the user path failed since the last success? */
  readonly canLogIn: boolean
  readonly clockOffsetSeconds: number | undefined
  readonly clockToleranceSeconds: number
}

const stateOf = (isWell: boolean) => (isWell ? 'ok' : 'unavailable')

/** Makes the report. */
export function healthOf(facts: HealthFacts): Health {
  const { isSsoAvailable, storeReason, canLogIn, clockOffsetSeconds, clockToleranceSeconds } = facts
  const isClockRight = Math.abs(clockOffsetSeconds ?? 0) <= clockToleranceSeconds
  return {
    ok: isSsoAvailable && storeReason === undefined && canLogIn && isClockRight,
    sso: stateOf(isSsoAvailable),
    store: stateOf(storeReason === undefined),
    ...(storeReason === undefined ? {} : { storeReason }),
    login: stateOf(canLogIn),
    clockOffsetSeconds,
  }
}
