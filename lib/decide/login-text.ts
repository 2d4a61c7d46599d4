/** Which text a failed login is told with, and with which numbers. Pure. Table: docs/texts.md, "Texts". */
import type { LoginResult } from './login'

/** A text by its code, and what is filled in. */
export interface Message<Code extends string = string> {
  readonly code: Code
  readonly values: Readonly<Record<string, number>>
}

type Failure = Extract<LoginResult, { ok: false }>

/** Longer than this many seconds is told in hours. */
const HOURS_FROM = 90 * 60
/** From here on a wait is told in minutes. */
const MINUTES_FROM = 90

const messages = <Code extends string>(code: Code, values: Message['values'] = {}): Message<Code> => ({ code, values })

/** The code of the error, or of a text that says more of it. */
export function textOfFailure(failure: Failure) {
  const { error, remainingAttempts, frozenForSeconds, retryAfterSeconds = 0 } = failure
  switch (error) {
    case 'invalid_credentials':
      return remainingAttempts === undefined ? messages(error) : attemptsLeft(remainingAttempts)
    case 'account_frozen':
      return frozenForSeconds === undefined ? messages(error) : frozenFor(frozenForSeconds)
    case 'too_many_attempts':
      return retryAfterSeconds > MINUTES_FROM ? waitFor(retryAfterSeconds) : messages(error)
    case 'unavailable':
      return messages('unavailable_form')
    default:
      return messages(error)
  }
}

const inMinutes = (seconds: number) => ({ minutes: Math.ceil(seconds / 60) })
const inHours = (seconds: number) => ({ hours: Math.ceil(seconds / 3600) })

/** The platform may count down to zero: then it has locked the account with this answer. */
function attemptsLeft(attempts: number) {
  if (attempts > 1) return messages('invalid_credentials_attempts', { attempts })
  return messages(attempts === 1 ? 'invalid_credentials_last' : 'account_frozen')
}

function frozenFor(seconds: number) {
  if (seconds > HOURS_FROM) return messages('account_frozen_hours', inHours(seconds))
  return seconds > 60 ? messages('account_frozen_minutes', inMinutes(seconds)) : messages('account_frozen_minute')
}

function waitFor(seconds: number) {
  return seconds > HOURS_FROM
    ? messages('too_many_attempts_hours', inHours(seconds))
    : messages('too_many_attempts_minutes', inMinutes(seconds))
}
