/**
 * Attempts at one normalised user name: how many are left before the platform freezes the account, and the attempt in progress. Pure. Threats
 * F3, F16 to F18.
 */
import type { EpochSeconds } from '../protocol/claims'
import type { Limit } from './login-budgets'

/** Seconds until a value expires. A refused user name stays refused for the same time. */
export const ATTEMPTS_SECONDS = 900
/** Seconds until the lock of an attempt expires, longer than Authenticate and a Session Status call afterwards. */
const LOCK_SECONDS = 12
/** Attempts that a user name is assumed to have left, until the platform reports a number. */
const ASSUMED_LEFT = 5
/** A browser stops before the last attempt. An unrecognised browser also leaves one attempt to recognised browsers. */
const LAST = 1
const LAST_TWO = 2
/** Factors of `loginLimit` for a user name: wrong passwords of unrecognised browsers, and successful logins. */
const WRONG_PER_NAME = 3
const LOGINS_PER_NAME = 10

/** The stored value of a user name. */
export interface Attempts {
  /** Attempts left before a freeze, without the attempt in progress. Absent until the platform reports a number. */
  readonly left?: number
  /** When an attempt was last subtracted. */
  readonly at: EpochSeconds
  readonly lock?: AttemptLock
  /** Start of the window of the counts. */
  readonly since: EpochSeconds
  readonly wrong: number
  readonly wrongRecognised: number
  readonly logins: number
}

interface AttemptLock {
  /** Key of the session whose form is submitted. */
  readonly session: string
  readonly id: string
  readonly until: EpochSeconds
  /** `left` and `at` before the attempt. */
  readonly left?: number
  readonly at: EpochSeconds
}

/** Facts of an attempt. */
export interface AttemptFacts {
  readonly now: EpochSeconds
  readonly session: string
  readonly id: string
  /** Has the browser logged in with exactly the same user name before? */
  readonly isRecognised: boolean
  /** Can the site recognise browsers (`rememberDevices`)? */
  readonly remembersDevices: boolean
  readonly limit: Limit
}

/** Decision before Authenticate. */
export type AttemptDecision =
  | { readonly action: 'try'; readonly next: Attempts }
  | { readonly action: 'wait' }
  | { readonly action: 'refuse'; readonly reason: 'held' | 'name'; readonly seconds: number }

/** Result of an attempt. `wrong_password`: the platform refused the password, or may have. `left` is the number that the platform reported. */
export type AttemptResult =
  | { readonly outcome: 'success' | 'not_judged' }
  | { readonly outcome: 'refused' }
  | { readonly outcome: 'wrong_password'; readonly left: number | undefined }

/**
 * Decides whether an attempt may begin. Subtracts an attempt at once, because a response may be lost.
 * Table: docs/internals/decision-tables.md, "Login".
 */
export function beginAttempt(stored: Attempts | undefined, facts: AttemptFacts): AttemptDecision {
  const { now, session, id, isRecognised, limit } = facts
  const { lock, ...known } = currentAttempts(stored, now, limit)
  if (lock !== undefined && lock.session !== session) return { action: 'wait' }
  const least = isRecognised || !facts.remembersDevices ? LAST : LAST_TWO
  if (known.left !== undefined && known.left <= least)
    return { action: 'refuse', reason: 'held', seconds: known.at + ATTEMPTS_SECONDS - now }
  if (isWindowLimitReached(known, facts))
    return { action: 'refuse', reason: 'name', seconds: known.since + limit.perSeconds - now }
  const { left, at } = known
  const before = left === undefined ? { at } : { left, at }
  const next = { ...known, left: (left ?? ASSUMED_LEFT) - 1, at: now }
  return { action: 'try', next: { ...next, lock: { session, id, until: now + LOCK_SECONDS, ...before } } }
}

function isWindowLimitReached(
  { wrong, wrongRecognised, logins }: Attempts,
  { isRecognised, limit }: AttemptFacts,
): boolean {
  if (logins >= limit.attempts * LOGINS_PER_NAME) return true
  return isRecognised ? wrongRecognised >= limit.attempts : wrong >= limit.attempts * WRONG_PER_NAME
}

/** Returns the parts of a value that are still valid. A timestamp in the future was written with a wrong clock, and locks nothing. */
function currentAttempts(stored: Attempts | undefined, now: EpochSeconds, { perSeconds }: Limit): Attempts {
  if (stored === undefined) return { at: now, since: now, wrong: 0, wrongRecognised: 0, logins: 0 }
  const { left, lock, ...rest } = stored
  const isWindowOver = now - stored.since >= perSeconds || stored.since > now
  const counts = isWindowOver ? { since: now, wrong: 0, wrongRecognised: 0, logins: 0 } : {}
  const isLocked = lock !== undefined && lock.until > now && lock.until - now <= LOCK_SECONDS
  const isKnown = left !== undefined && now - stored.at < ATTEMPTS_SECONDS
  return { ...rest, ...(isKnown ? { left } : {}), ...(isLocked ? { lock } : {}), ...counts }
}

/**
 * Returns the value of a user name after an attempt.
 * A success, or an attempt that the platform did not judge, adds the subtracted attempt again.
 * A wrong password leaves the lower of the stored and the reported number.
 * @param stored current value. If another attempt has the lock, the finished attempt can only lower the number.
 */
export function endAttempt(stored: Attempts | undefined, facts: AttemptFacts, result: AttemptResult): Attempts {
  const { now, id, isRecognised, limit } = facts
  const { lock, ...found } = currentAttempts(stored, now, limit)
  const ownLock = stored?.lock?.id === id ? stored.lock : undefined
  const { left: _left, ...withoutLeft } = found
  const othersLock = lock === undefined || lock.id === id ? {} : { lock }
  const counted = { ...countedAs(found, result, isRecognised), ...othersLock }
  if (result.outcome === 'wrong_password')
    return { ...counted, left: leftAfter(found.left, ownLock, result.left), at: now }
  if (ownLock === undefined) return counted
  const before = ownLock.left === undefined ? {} : { left: ownLock.left }
  return { ...withoutLeft, ...counts(counted), ...before, at: ownLock.at }
}

const counts = ({ wrong, wrongRecognised, logins }: Attempts) => ({ wrong, wrongRecognised, logins })

function countedAs(found: Attempts, { outcome }: AttemptResult, isRecognised: boolean): Attempts {
  if (outcome === 'success') return { ...found, logins: found.logins + 1 }
  if (outcome === 'not_judged') return found
  return isRecognised ? { ...found, wrongRecognised: found.wrongRecognised + 1 } : { ...found, wrong: found.wrong + 1 }
}

/** @param left the stored number, from which the attempt is subtracted */
function leftAfter(left: number | undefined, ownLock: AttemptLock | undefined, reported: number | undefined): number {
  const isFirst = ownLock !== undefined && ownLock.left === undefined
  if (reported === undefined) return left ?? ASSUMED_LEFT - 1
  return isFirst || left === undefined ? reported : Math.min(left, reported)
}
