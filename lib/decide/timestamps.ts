/** Compares timestamps of several machines, of which each may have a wrong clock. Pure. Table: docs/internals/decision-tables.md. */
import type { EpochSeconds } from '../protocol/claims'

/** A timestamp further in the future was written with a wrong clock, and is ignored. As much as the tolerance of tokens, in seconds. */
const MAX_CLOCK_SKEW_SECONDS = 60

/** Returns the age of a timestamp in seconds. The age is infinite without a timestamp, or if the timestamp is ignored. */
export function ageOf(moment: EpochSeconds | undefined, now: EpochSeconds): number {
  if (moment === undefined || moment - now > MAX_CLOCK_SKEW_SECONDS) return Number.POSITIVE_INFINITY
  return Math.max(0, now - moment)
}

/** Does a timestamp exist that is younger than `seconds`? */
export function isYoungerThan(moment: EpochSeconds | undefined, now: EpochSeconds, seconds: number): boolean {
  return ageOf(moment, now) < seconds
}

/** Is a timestamp less than `seconds` away? So a pause lasts at most twice as long if the clock of the process that began the pause is ahead. */
export function isNear(moment: EpochSeconds | undefined, now: EpochSeconds, seconds: number): boolean {
  return moment !== undefined && Math.abs(now - moment) < seconds
}

/** The server's clock may have been set back by so much since a logout, in milliseconds. A revocation further ahead is ignored. */
const MAX_SET_BACK_MS = 60_000
/** Maximum difference of two clocks during a correction, as a part of the elapsed time. */
const MAX_DRIFT = 0.001
const ROUNDING_MS = 1

/**
 * Was a logout of all sessions later than the start of a login?
 * Both times are counted back from the moment at which the login was added to its index. So no clock is compared with another
 * clock.
 * @param ageMs time since the logout of the account, by the server's clock, or `null` without a logout
 * @param elapsedMs time since the start of the login, by the process
 */
export function isRevokedSince(ageMs: number | null, elapsedMs: number): boolean {
  if (ageMs === null || ageMs < -MAX_SET_BACK_MS) return false
  return ageMs <= elapsedMs * (1 + MAX_DRIFT) + ROUNDING_MS
}
