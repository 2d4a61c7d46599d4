/** What the answer to Authenticate means, the errors of a login, and their texts. Pure. Table of texts: docs/login-pages.md. Interface: "POST {sso_url}/authenticate" and "SSO2 errors". */
import { Sso2ResponseError, Sso2UnavailableError } from '../errors'
import { hasTicket, type SessionToken, type TicketToken } from '../protocol/session-token'
import type { User } from './record'

/**
 * Errors of a login. Seven are errors of the SSO system (Interface: "SSO2 errors").
 * `login_failed`: one of them, with `loginMessages: 'neutral'`.
 * `session_ended`: the browser needs another session first, from `identifyUrl()`.
 * `too_many_attempts`: refused before Authenticate, for now.
 * `unavailable`: a system did not answer, which says nothing about the password.
 * `invalid_request`: no user name or no password.
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

/** A login that failed. */
export type FailedLogin = Extract<LoginResult, { ok: false }>

/** How the platform judged an attempt. `refused`: for another reason than the password. `wrong_password`: it refused the password, or may have. */
export type Attempt = 'success' | 'not_judged' | 'refused' | 'wrong_password'

/** What the site will let pass of a browser. */
export interface AttemptsLeft {
  readonly attempts: number
  /** Seconds until the next attempt may be sent, 0 if there are attempts left. */
  readonly seconds: number
}

/** HTTP status of the errors that say nothing about username and password. Any other error: 401. */
const NOT_JUDGED: Readonly<Partial<Record<LoginError, number>>> = {
  session_ended: 401,
  too_many_attempts: 429,
  unavailable: 503,
  invalid_request: 400,
}

/** Returns the HTTP status of a failed login. */
export const loginErrorStatus = (error: LoginError): number => NOT_JUDGED[error] ?? 401

/** Does the result answer every submit of the same form? */
export const isJudged = (result: LoginResult): boolean => result.ok || NOT_JUDGED[result.error] === undefined

/** Errors that tell an attacker which accounts exist. */
const TELLING: ReadonlySet<LoginError> = new Set([
  'invalid_credentials',
  'invalid_otp',
  'account_frozen',
  'account_not_active',
])

/** Replaces the error if `loginMessages` is `'neutral'`. Threat F7. */
export const neutralised = (loginMessages: 'detailed' | 'neutral', failure: FailedLogin): FailedLogin =>
  loginMessages === 'neutral' && TELLING.has(failure.error) ? loginFailed('login_failed') : failure

/** Returns a failure without numbers. */
export const loginFailed = (error: LoginError): FailedLogin => ({ ok: false, error })

/** What an answer of the SSO system means: a token with a ticket, or a failure. */
export interface LoginOutcome {
  readonly answer: { readonly ok: true; readonly token: TicketToken } | FailedLogin
  readonly attempt: Attempt
}

/** Errors of a wrong password or one-time password. */
const WRONG: ReadonlySet<LoginError> = new Set(['invalid_credentials', 'invalid_otp'])

/** Decides a login by the answer to Authenticate. Table: docs/internals/decision-tables.md, "Login". */
export function decideLogin(token: SessionToken): LoginOutcome {
  if (hasTicket(token)) return { answer: { ok: true, token }, attempt: 'success' }
  const { err, raa, frf } = token
  switch (err) {
    case 'session_terminated':
    case 'session_not_found':
      return { answer: loginFailed('session_ended'), attempt: 'not_judged' }
    case undefined: // readSessionToken has refused it
    case 'invalid_token':
      return { answer: loginFailed('unavailable'), attempt: 'not_judged' }
    case 'unknown_error': // may mean a wrong password
      return { answer: loginFailed('unavailable'), attempt: 'wrong_password' }
    default:
      return {
        answer: { ok: false, error: err, remainingAttempts: raa, frozenForSeconds: frf },
        attempt: WRONG.has(err) ? 'wrong_password' : 'refused',
      }
  }
}

/**
 * Decides a login without an answer. The platform may have judged the attempt, unless it was not sent or the status is 503 or 429.
 * @param error of the Authenticate call
 */
export function decideSilentLogin(error: unknown): LoginOutcome {
  const wasSent = !(error instanceof Sso2UnavailableError && error.retryable)
  const isTurnedAway = error instanceof Sso2ResponseError && (error.httpStatus === 503 || error.httpStatus === 429)
  return { answer: loginFailed('unavailable'), attempt: wasSent && !isTurnedAway ? 'wrong_password' : 'not_judged' }
}

/**
 * Decides a login whose answer was lost. Session Status tells that a user is logged in, perhaps by another site: it has judged no password.
 * @param silent the outcome so far @param found the answer to Session Status
 */
export function decideLostLogin(silent: LoginOutcome, found: SessionToken): LoginOutcome {
  if (found.err === 'session_not_found') return { ...silent, answer: loginFailed('session_ended') }
  return hasTicket(found) ? { answer: { ok: true, token: found }, attempt: 'not_judged' } : silent
}

/** Returns the failure with the attempts that the site will let pass, if they are fewer than those of the platform. */
export function withinLimits(failure: FailedLogin, left: AttemptsLeft | undefined): FailedLogin {
  const { error, remainingAttempts } = failure
  if (left === undefined || !WRONG.has(error) || remainingAttempts === 0) return failure
  const attempts =
    remainingAttempts === undefined ? {} : { remainingAttempts: Math.min(remainingAttempts, left.attempts) }
  return { ...failure, ...attempts, ...(left.attempts === 0 ? { retryAfterSeconds: left.seconds } : {}) }
}

/** A longer time in seconds is shown in minutes. */
const MINUTES_FROM = 90
/** A longer time in seconds is shown in hours. */
const HOURS_FROM = 90 * 60

/** A text by its code, with the values to fill in. */
const text = <Code extends string>(code: Code, values: Readonly<Record<string, number>> = {}) => ({ code, values })

/** Returns the texts of a failed login: the text of its error or a more precise one, and after the last attempt how long to wait. */
export function failureTexts({ error, remainingAttempts, frozenForSeconds, retryAfterSeconds = 0 }: FailedLogin) {
  const wait = textWithTime('too_many_attempts', 'too_many_attempts', retryAfterSeconds)
  if (error === 'too_many_attempts') return [wait]
  if (retryAfterSeconds > 0) return [text(error), wait]
  if (error === 'invalid_credentials' && remainingAttempts !== undefined) return [attemptsLeft(remainingAttempts)]
  if (error === 'account_frozen' && frozenForSeconds !== undefined)
    return [textWithTime('account_frozen', 'account_frozen_minute', frozenForSeconds)]
  return [text(error === 'unavailable' ? 'unavailable_form' : error)]
}

/** If zero attempts are left, the platform has frozen the account with the same response. */
function attemptsLeft(attempts: number) {
  if (attempts > 1) return text('invalid_credentials_attempts', { attempts })
  return text(attempts === 1 ? 'invalid_credentials_last' : 'account_frozen')
}

/** @param short the text for less than a minute or two */
function textWithTime<Code extends string, Short extends string>(code: Code, short: Short, seconds: number) {
  if (seconds > HOURS_FROM) return text(`${code}_hours` as const, { hours: Math.ceil(seconds / 3600) })
  return seconds > MINUTES_FROM ? text(`${code}_minutes` as const, { minutes: Math.ceil(seconds / 60) }) : text(short)
}
