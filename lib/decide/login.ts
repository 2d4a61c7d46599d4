/** What an Authenticate answer means. Pure. Interface: "POST {sso_url}/authenticate" and "SSO2 errors". */
import type { EpochSeconds } from '../protocol/claims'
import type { SessionToken } from '../protocol/session-token'
import type { User } from './record'

/**
 * Every error that a login can end with. Seven are the SSO system's own (Interface: "SSO2 errors"). `login_failed`: one of them, under
 * `loginMessages: 'neutral'`. `session_ended`: the browser needs another session first, from `identifyUrl()`. `too_many_attempts`: not
 * asked, for now. `unavailable`: somebody who is needed did not answer, which says nothing of the password. `invalid_request`: no user name
 * or no password. `busy`: another login of this browser is under way.
 */
export type LoginError =
  | 'invalid_credentials'
  | 'account_frozen'
  | 'account_not_active'
  | 'session_limit_reached'
  | 'invalid_otp'
  | 'otp_consumed_or_expired'
  | 'session_already_logged_in_on_another_account'
  | 'login_failed'
  | 'session_ended'
  | 'too_many_attempts'
  | 'unavailable'
  | 'invalid_request'
  | 'busy'

/** Errors of a login that never came to be judged. */
const UNJUDGED = ['session_ended', 'too_many_attempts', 'unavailable', 'invalid_request', 'busy'] as const

/** What the SSO system says of a login, and the form shows to the user. */
type ShownLoginError = Exclude<LoginError, 'login_failed' | (typeof UNJUDGED)[number]>

/** What a login came to. Interface: "POST {sso_url}/authenticate". */
export type LoginResult =
  | {
      readonly ok: true
      /** What `loadUser` returned. */
      readonly user: User
    }
  | {
      readonly ok: false
      /** A stable code; its text is in `texts`. */
      readonly error: LoginError
      /** With `invalid_credentials`: attempts before the account is frozen, where the SSO system told them (`raa`). */
      readonly remainingAttempts?: number
      /** With `account_frozen`: seconds until it is no more (`frf`). */
      readonly frozenForSeconds?: number
      /** With `too_many_attempts`: seconds to wait. */
      readonly retryAfterSeconds?: number
    }

/** One decision after Authenticate. */
export type LoginDecision =
  | { readonly do: 'sign_in'; readonly token: SessionToken }
  | {
      readonly do: 'show'
      readonly error: ShownLoginError
      readonly remainingAttempts?: number
      readonly frozenForSeconds?: number
    }
  | { readonly do: 'identify' }
  | { readonly do: 'ask_status' }
  | { readonly do: 'not_now' }

/** Decides one login. Table: docs/internals/decision-tables.md, "login". @param answer `undefined` when the answer was lost */
export function decideLogin(answer: SessionToken | undefined): LoginDecision {
  if (!answer) return { do: 'ask_status' }
  switch (answer.err) {
    case undefined:
      return { do: 'sign_in', token: answer }
    case 'session_terminated':
    case 'session_not_found':
      return { do: 'identify' }
    case 'invalid_token':
    case 'unknown_error':
      return { do: 'not_now' }
    default:
      return {
        do: 'show',
        error: answer.err,
        ...(answer.raa === undefined ? {} : { remainingAttempts: answer.raa }),
        ...(answer.frf === undefined ? {} : { frozenForSeconds: answer.frf }),
      }
  }
}

/** What Session Status says of a login whose answer was lost. @param answer `undefined` when none came */
export function decideLostLogin(answer: SessionToken | undefined): LoginDecision {
  if (answer?.err === 'session_not_found') return { do: 'identify' }
  const isIn = answer !== undefined && answer.err === undefined && answer.sts === 'loggedin' && answer.at !== undefined
  return isIn ? { do: 'sign_in', token: answer } : { do: 'not_now' }
}

/**
 * What Session Status says of a login that was under way in a process that is gone: `undefined` where nobody is logged in, so
 * that the form which came after it may be sent. @param answer `undefined` when none came
 */
export function decideSuccession(answer: SessionToken | undefined): LoginDecision | undefined {
  if (answer === undefined) return { do: 'not_now' }
  if (answer.err === undefined && answer.sts === 'anon') return undefined
  if (answer.err === undefined && answer.sts === 'terminated') return { do: 'identify' }
  return decideLostLogin(answer)
}

/** May a login begin, and if not, what is said? A form of a visitor without a session goes nowhere while the SSO system is away. */
export function decideLoginStart(facts: {
  readonly storeAvailable: boolean
  readonly ssoAvailable: boolean
  readonly hasRecord: boolean
}): LoginError | undefined {
  if (!facts.storeAvailable) return 'unavailable'
  if (facts.hasRecord) return undefined
  return facts.ssoAvailable ? 'session_ended' : 'unavailable'
}

/** Did the platform judge a password, and refuse it? An outage, an ended session or a login that was not asked costs nobody an attempt. */
export function isGuess(result: LoginResult): boolean {
  return !result.ok && !UNJUDGED.some((error) => error === result.error)
}

/** So many tries a name is taken to have before a freeze, where nobody has been told. */
const ASSUMED_TRIES = 4

/**
 * How many tries a name has left before a freeze, after this one: as the SSO system tells; where it does not, as for a wrong
 * one-time password, one less. @param before as far as was known @returns nothing where no try was spent
 */
export function triesLeft(result: LoginResult, before: number | undefined): number | undefined {
  if (result.ok) return undefined
  if (result.error !== 'invalid_otp' && result.error !== 'invalid_credentials') return undefined
  return result.remainingAttempts ?? Math.max(0, (before ?? ASSUMED_TRIES) - 1)
}

/** What is noted of a user name in all its spellings: any of them may be the same account at the platform, or another one. */
export interface Tries {
  /** Before a freeze. */
  readonly left: number
  /** The one that was tried; nothing where it was several. */
  readonly spelling: string | undefined
}

/** What to note of a name after a login. What was told of one spelling says nothing good of another. @returns nothing: as it was */
export function triesAfter(result: LoginResult, spelling: string, noted: Tries | undefined): Tries | undefined {
  const left = triesLeft(result, noted?.left)
  if (left === undefined) return undefined
  if (noted === undefined || noted.spelling === spelling) return { left, spelling }
  return { left: Math.min(left, noted.left), spelling: undefined }
}

/** Somebody else's try was noted meanwhile, and nobody knows which was judged first: the lower count stands. */
export function lowerOf(tries: Tries, noted: Tries | undefined): Tries {
  return { ...tries, left: Math.min(tries.left, noted?.left ?? tries.left) }
}

/** Does a login make up for what is noted? Only where all of it was tried under the very name that has logged in. */
export function isReleasedBy(result: LoginResult, spelling: string, noted: Tries | undefined): boolean {
  return result.ok && noted?.spelling === spelling
}

/** Would one more wrong password freeze the account? Then its name is held against strangers. */
export function isLastTry(left: number | undefined): boolean {
  return left !== undefined && left <= 1
}

/** For how many seconds a name is still held; 0 when it is not. */
export function heldFor(until: EpochSeconds, now: EpochSeconds): number {
  return Math.max(0, until - now)
}
