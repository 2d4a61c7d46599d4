/**
 * The circuit breaker of one system that the site depends on, as a value: results of calls and probes in, the next state out. Pure.
 * Table: docs/internals/decision-tables.md, "Breaker". Times are milliseconds of a monotonic clock.
 */

/** Failures of this weight, without a success in between, open the breaker. */
const OPENING_WEIGHT = 5
/** A system may ask for a pause (`Retry-After`) of at most so long. */
const MAX_PAUSE_MS = 60_000

/**
 * What has failed. A `user_call` may have failed for its user alone: that says nothing about the system, and is only a reason to probe it.
 * A `probe` asks about no user.
 */
export type CallKind = 'call' | 'user_call' | 'probe'
const WEIGHTS: Readonly<Record<CallKind, number>> = { call: 1, user_call: 0, probe: 2 }

/** State of a breaker. */
export interface Breaker {
  /** Weight of the failures since the last success. */
  readonly weight: number
  /** Has a probe failed since the last success? */
  readonly hasFailedProbe: boolean
  /** When the newest of the calls began that succeeded. */
  readonly wellAt: number
  /** Until then the system has asked for a pause. */
  readonly pausedUntil: number
}

/** A failed call or probe. */
export interface FailedAttempt {
  readonly attempt: CallKind
  readonly beganAt: number
  readonly endedAt: number
  /** `Retry-After` of the response. */
  readonly pauseMs: number
}

/** The state before the first call. */
export const CLOSED: Breaker = Object.freeze({
  weight: 0,
  hasFailedProbe: false,
  wellAt: Number.NEGATIVE_INFINITY,
  pausedUntil: Number.NEGATIVE_INFINITY,
})

/** One success closes the breaker. */
export function afterSuccess({ wellAt }: Breaker, beganAt: number): Breaker {
  return { ...CLOSED, wellAt: Math.max(wellAt, beganAt) }
}

/** Does this failure tell how the system is now? One of a call that began before a successful one does not. */
export function isMoreRecent({ wellAt }: Breaker, { beganAt }: Pick<FailedAttempt, 'beganAt'>): boolean {
  return beganAt >= wellAt
}

/** Counts a failure, if it is news. */
export function afterFailure(breaker: Breaker, failed: FailedAttempt): Breaker {
  const { attempt, endedAt, pauseMs } = failed
  if (!isMoreRecent(breaker, failed)) return breaker
  return {
    ...breaker,
    weight: breaker.weight + WEIGHTS[attempt],
    hasFailedProbe: breaker.hasFailedProbe || attempt === 'probe',
    pausedUntil: Math.max(breaker.pausedUntil, endedAt + Math.min(pauseMs, MAX_PAUSE_MS)),
  }
}

/** While it is open, only probes are sent. */
export function isOpen({ weight }: Breaker): boolean {
  return weight >= OPENING_WEIGHT
}

/** Milliseconds until the next probe may be sent: `Retry-After` is respected while the breaker is open. */
export function pauseOf(breaker: Breaker, now: number): number {
  return isOpen(breaker) ? Math.max(0, breaker.pausedUntil - now) : 0
}
