/** What an Authenticate answer means. Pure. Interface: "POST {sso_url}/authenticate" and "SSO2 errors". */
import type { EpochSeconds } from '../protocol/claims'
import type { SessionToken } from '../protocol/session-token'
import type { User } from './record'

/** Errors that the login form shows to the user. */
type ShownLoginError =
  | 'invalid_credentials'
  | 'account_frozen'
  | 'account_not_active'
  | 'session_limit_reached'
  | 'invalid_otp'
  | 'otp_consumed_or_expired'
  | 'session_already_logged_in_on_another_account'

/** Every error that a login can end with. */
export type LoginError =
  | ShownLoginError
  | 'login_failed'
  | 'session_ended'
  | 'too_many_attempts'
  | 'unavailable'
  | 'invalid_request'
  | 'busy'

/** What a login came to. */
export type LoginResult =
  | { readonly ok: true; readonly user: User }
  | {
      readonly ok: false
      readonly error: LoginError
      readonly remainingAttempts?: number
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

/** Decides one login. Table: docs/decisions.md, "login". @param answer `undefined` when the answer was lost */
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

/** Did the platform judge a password? An outage or an ended session costs nobody an attempt. */
export function isGuess(result: LoginResult): boolean {
  return !result.ok && result.error !== 'unavailable' && result.error !== 'session_ended'
}

/** Would one more wrong password freeze the account? Then its name is held against strangers. */
export function isLastTry(result: LoginResult): boolean {
  return !result.ok && (result.remainingAttempts ?? Number.POSITIVE_INFINITY) <= 1
}

/** For how many seconds a name is still held; 0 when it is not. */
export function heldFor(until: EpochSeconds, now: EpochSeconds): number {
  return Math.max(0, until - now)
}
