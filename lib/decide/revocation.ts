/** Whether a logout of all sessions came while a login was in progress. Pure. Table and argument: docs/internals/decision-tables.md, "Two of a session at once". */

/** The server's clock may have been set back by so much since the logout, in milliseconds; a revocation further ahead is ignored. */
const MAX_SET_BACK_MS = 60_000
/** Two clocks that are both being corrected differ by at most this part of the time that passes. */
const MAX_DRIFT = 0.001
const ROUNDING_MS = 1

/**
 * Did the logout come after the login had begun? Both times count from one moment, at which the login was added to its index: so no
 * clock is compared with another one, only how far each has come.
 * @param ageMs how long ago the account was logged out, by the server's clock; `null` if it was not
 * @param elapsedMs how long ago the login began, by the process
 */
export function isRevokedSince(ageMs: number | null, elapsedMs: number): boolean {
  if (ageMs === null || ageMs < -MAX_SET_BACK_MS) return false
  return ageMs <= elapsedMs * (1 + MAX_DRIFT) + ROUNDING_MS
}
