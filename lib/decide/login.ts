/** Decisions of a login, its errors, and the text of each error. Pure. Table of texts: docs/login-pages.md. Interface: "POST {sso_url}/authenticate" and "SSO2 errors". */
import { Sso2ResponseError, Sso2UnavailableError } from '../errors'
import type { SessionToken } from '../protocol/session-token'
import type { User } from './record'

/**
 * Errors of a login. Seven are errors of the SSO system (Interface: "SSO2 errors").
 * `login_failed`: one of them, with `loginMessages: 'neutral'`.
 * `session_ended`: the browser needs another session first, from `identifyUrl()`.
 * `too_many_attempts`: refused before Authenticate, for now.
 * `unavailable`: a system did not answer, which says nothing about the password.
 * `invalid_request`: no user name or no password.
 * `busy`: another login of this browser is in progress.
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

/** Errors of a login that the platform did not judge. */
const UNJUDGED = ['session_ended', 'too_many_attempts', 'unavailable', 'invalid_request', 'busy'] as const

/** Errors of the SSO system that the form shows to the user. */
type ShownLoginError = Exclude<LoginError, 'login_failed' | (typeof UNJUDGED)[number]>

/** Numbers of a failed login. */
export interface LoginNumbers {
  /**
   * With `invalid_credentials`, if the SSO system reported a number (`raa`): the attempts that are left. The login limits may leave fewer
   * than the SSO system. 0: the account is frozen, or `retryAfterSeconds` says when the site accepts the next attempt.
   */
  readonly remainingAttempts?: number | undefined
  /** With `account_frozen`: seconds until the account is unlocked (`frf`). */
  readonly frozenForSeconds?: number | undefined
  /** With `too_many_attempts`, and after the last attempt that the login limits leave: seconds to wait. */
  readonly retryAfterSeconds?: number | undefined
}

/** Result of a login. Interface: "POST {sso_url}/authenticate". */
export type LoginResult =
  | {
      readonly ok: true
      /** The value that `loadUser` returned. */
      readonly user: User
    }
  | (LoginNumbers & {
      readonly ok: false
      /** A stable code. `sso.text(error, result)` returns its text. */
      readonly error: LoginError
    })

/**
 * How the platform judged an attempt. `refused`: for another reason than the password. `wrong_password`: the platform refused the password,
 * or may have. `left` is the number that the platform reported.
 */
export type AttemptResult =
  | { readonly outcome: 'success' | 'not_judged' | 'refused' }
  | { readonly outcome: 'wrong_password'; readonly left: number | undefined }

/** What the site will let pass of a browser. */
export interface AttemptsLeft {
  readonly attempts: number
  /** Seconds until the next attempt may be sent, 0 if there are attempts left. */
  readonly seconds: number
}

/** Decision after Authenticate. */
export type LoginDecision =
  | { readonly action: 'sign_in'; readonly token: SessionToken }
  | {
      readonly action: 'show_error'
      readonly error: ShownLoginError
      readonly remainingAttempts?: number
      readonly frozenForSeconds?: number
    }
  | { readonly action: 'identify' }
  | { readonly action: 'unavailable' }

/** Decides a login. Table: docs/internals/decision-tables.md, "Login". */
export function decideLogin(answer: SessionToken): LoginDecision {
  switch (answer.err) {
    case undefined:
      return { action: 'sign_in', token: answer }
    case 'session_terminated':
    case 'session_not_found':
      return { action: 'identify' }
    case 'invalid_token':
    case 'unknown_error':
      return { action: 'unavailable' }
    default:
      return {
        action: 'show_error',
        error: answer.err,
        ...(answer.raa === undefined ? {} : { remainingAttempts: answer.raa }),
        ...(answer.frf === undefined ? {} : { frozenForSeconds: answer.frf }),
      }
  }
}

/** Decides a login whose response was lost, from Session Status. @param answer `undefined` without a response */
export function decideLostLogin(answer: SessionToken | undefined): LoginDecision {
  if (answer?.err === 'session_not_found') return { action: 'identify' }
  const isIn = answer !== undefined && answer.err === undefined && answer.sts === 'loggedin' && answer.at !== undefined
  return isIn ? { action: 'sign_in', token: answer } : { action: 'unavailable' }
}

/** Errors of a wrong password or one-time password. */
const WRONG: ReadonlySet<string> = new Set(['invalid_credentials', 'invalid_otp'])
/** Errors with which the platform has judged no password. */
const NOT_JUDGED: ReadonlySet<string> = new Set(['session_terminated', 'session_not_found', 'invalid_token'])

/** Returns the result of an attempt from the Authenticate response. An unknown error may mean a wrong password. */
export function attemptResultOf({ err, raa }: Pick<SessionToken, 'err' | 'raa'>): AttemptResult {
  if (err === undefined) return { outcome: 'success' }
  if (NOT_JUDGED.has(err)) return { outcome: 'not_judged' }
  return WRONG.has(err) || err === 'unknown_error' ? { outcome: 'wrong_password', left: raa } : { outcome: 'refused' }
}

/**
 * Returns the result of an attempt without a response.
 * The platform may have judged the attempt, unless the attempt was not sent or the status is 503 or 429.
 */
export function lostAttemptResult(error: unknown): AttemptResult {
  const wasSent = !(error instanceof Sso2UnavailableError && error.retryable)
  const isTurnedAway = error instanceof Sso2ResponseError && (error.httpStatus === 503 || error.httpStatus === 429)
  return wasSent && !isTurnedAway ? { outcome: 'wrong_password', left: undefined } : { outcome: 'not_judged' }
}

/** A text by its code, with the values to fill in. */
export interface Message<Code extends string = string> {
  readonly code: Code
  readonly values: Readonly<Record<string, number>>
}

/** A login that failed. */
export type FailedLogin = Extract<LoginResult, { ok: false }>

/** A longer time in seconds is shown in hours. */
const HOURS_FROM = 90 * 60
const MINUTES_FROM = 90

const messageOf = <Code extends string>(code: Code, values: Message['values'] = {}): Message<Code> => ({ code, values })

/** Returns the failure with the attempts that the site will let pass, if they are fewer than those of the platform. */
export function withinLimits(failure: FailedLogin, left: AttemptsLeft | undefined): FailedLogin {
  const { error, remainingAttempts } = failure
  if (left === undefined || !WRONG.has(error) || remainingAttempts === 0) return failure
  const attempts =
    remainingAttempts === undefined ? {} : { remainingAttempts: Math.min(remainingAttempts, left.attempts) }
  return { ...failure, ...attempts, ...(left.attempts === 0 ? { retryAfterSeconds: left.seconds } : {}) }
}

/** Returns the texts of a failed login: the text of its error or a more precise one, and after the last attempt how long to wait. */
export function failureMessages(failure: FailedLogin) {
  const { error, retryAfterSeconds = 0 } = failure
  if (error === 'too_many_attempts') return [waitFor(retryAfterSeconds)]
  return retryAfterSeconds > 0 ? [messageOf(error), waitFor(retryAfterSeconds)] : [failureMessage(failure)]
}

function failureMessage({ error, remainingAttempts, frozenForSeconds }: FailedLogin) {
  switch (error) {
    case 'invalid_credentials':
      return remainingAttempts === undefined ? messageOf(error) : attemptsLeft(remainingAttempts)
    case 'account_frozen':
      return frozenForSeconds === undefined ? messageOf(error) : frozenFor(frozenForSeconds)
    case 'unavailable':
      return messageOf('unavailable_form')
    default:
      return messageOf(error)
  }
}

const inMinutes = (seconds: number) => ({ minutes: Math.ceil(seconds / 60) })
const inHours = (seconds: number) => ({ hours: Math.ceil(seconds / 3600) })

/** Returns the text for the remaining attempts. If zero attempts are left, the platform has frozen the account with the same response. */
function attemptsLeft(attempts: number) {
  if (attempts > 1) return messageOf('invalid_credentials_attempts', { attempts })
  return messageOf(attempts === 1 ? 'invalid_credentials_last' : 'account_frozen')
}

function frozenFor(seconds: number) {
  if (seconds > HOURS_FROM) return messageOf('account_frozen_hours', inHours(seconds))
  return seconds > 60 ? messageOf('account_frozen_minutes', inMinutes(seconds)) : messageOf('account_frozen_minute')
}

function waitFor(seconds: number) {
  if (seconds <= MINUTES_FROM) return messageOf('too_many_attempts')
  return seconds > HOURS_FROM
    ? messageOf('too_many_attempts_hours', inHours(seconds))
    : messageOf('too_many_attempts_minutes', inMinutes(seconds))
}
