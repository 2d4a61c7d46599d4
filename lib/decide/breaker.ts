/**
 * The circuit breaker of a system, as a value: results of calls and probes determine the next state. Pure. Table:
 * docs/internals/decision-tables.md, "Breaker". Times are milliseconds of a monotonic clock.
 */

/** Total weight of failures that opens the breaker, if no call succeeds in between. */
const OPENING_WEIGHT = 5
/** The longest pause that a system may request (`Retry-After`). */
const MAX_PAUSE_MS = 60_000

/**
 * Kind of a failed call. A `user_call` may have failed for its user or its operation alone. It says nothing about the system, but is a
 * reason to probe the system. A `probe` concerns no user.
 */
export type CallKind = 'call' | 'user_call' | 'probe'
const WEIGHTS: Readonly<Record<CallKind, number>> = { call: 1, user_call: 0, probe: 2 }

/** State of a breaker. */
export interface Breaker {
  /** Weight of the failures since the last success. */
  readonly weight: number
  readonly hasFailedProbe: boolean
  /** When the newest successful call began. */
  readonly lastSuccessAt: number
  /** The system has requested a pause until then. */
  readonly pausedUntil: number
}

/** A failed call or probe. */
export interface FailedAttempt {
  readonly attempt: CallKind
  readonly beganAt: number
  readonly endedAt: number
  readonly pauseMs: number
}

/** The state before the first call. */
export const CLOSED: Breaker = Object.freeze({
  weight: 0,
  hasFailedProbe: false,
  lastSuccessAt: Number.NEGATIVE_INFINITY,
  pausedUntil: Number.NEGATIVE_INFINITY,
})

/** Closes the breaker after a success. */
export function afterSuccess({ lastSuccessAt }: Breaker, beganAt: number): Breaker {
  return { ...CLOSED, lastSuccessAt: Math.max(lastSuccessAt, beganAt) }
}

/** Counts a failure. @returns the same state if the call began before a successful call: the failure says nothing about the system now */
export function afterFailure(breaker: Breaker, { attempt, beganAt, endedAt, pauseMs }: FailedAttempt): Breaker {
  if (beganAt < breaker.lastSuccessAt) return breaker
  const until = attempt === 'user_call' ? 0 : endedAt + Math.min(pauseMs, MAX_PAUSE_MS)
  return {
    ...breaker,
    weight: breaker.weight + WEIGHTS[attempt],
    hasFailedProbe: breaker.hasFailedProbe || attempt === 'probe',
    pausedUntil: Math.max(breaker.pausedUntil, until),
  }
}

/** Is the breaker open? Then only probes are sent. */
export function isOpen({ weight }: Breaker): boolean {
  return weight >= OPENING_WEIGHT
}

/** Returns the milliseconds until the next probe may be sent. `Retry-After` is respected while the breaker is open. */
export function breakerPause(breaker: Breaker, now: number): number {
  return isOpen(breaker) ? Math.max(0, breaker.pausedUntil - now) : 0
}
