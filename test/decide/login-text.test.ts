import { isTextCode } from '../../lib/config/texts'
import type { LoginResult } from '../../lib/decide/login'
import { textOfFailure } from '../../lib/decide/login'

type Failure = Omit<Extract<LoginResult, { ok: false }>, 'ok'>

test.each<[failure: Failure, code: string, values: object]>([
  [{ error: 'invalid_credentials' }, 'invalid_credentials', {}],
  [{ error: 'invalid_credentials', remainingAttempts: 2 }, 'invalid_credentials_attempts', { attempts: 2 }],
  [{ error: 'invalid_credentials', remainingAttempts: 1 }, 'invalid_credentials_last', {}],
  [{ error: 'invalid_credentials', remainingAttempts: 0 }, 'account_frozen', {}],
  [{ error: 'account_frozen' }, 'account_frozen', {}],
  [{ error: 'account_frozen', frozenForSeconds: 0 }, 'account_frozen_minute', {}],
  [{ error: 'account_frozen', frozenForSeconds: 60 }, 'account_frozen_minute', {}],
  [{ error: 'account_frozen', frozenForSeconds: 61 }, 'account_frozen_minutes', { minutes: 2 }],
  [{ error: 'account_frozen', frozenForSeconds: 5400 }, 'account_frozen_minutes', { minutes: 90 }],
  [{ error: 'account_frozen', frozenForSeconds: 5401 }, 'account_frozen_hours', { hours: 2 }],
  [{ error: 'account_frozen', frozenForSeconds: 43_200 }, 'account_frozen_hours', { hours: 12 }],
  [{ error: 'too_many_attempts' }, 'too_many_attempts', {}],
  [{ error: 'too_many_attempts', retryAfterSeconds: 90 }, 'too_many_attempts', {}],
  [{ error: 'too_many_attempts', retryAfterSeconds: 91 }, 'too_many_attempts_minutes', { minutes: 2 }],
  [{ error: 'too_many_attempts', retryAfterSeconds: 5400 }, 'too_many_attempts_minutes', { minutes: 90 }],
  [{ error: 'too_many_attempts', retryAfterSeconds: 5401 }, 'too_many_attempts_hours', { hours: 2 }],
  [{ error: 'too_many_attempts', retryAfterSeconds: 86_400 }, 'too_many_attempts_hours', { hours: 24 }],
  [{ error: 'unavailable' }, 'unavailable_form', {}],
  [{ error: 'busy' }, 'busy', {}],
  [{ error: 'account_not_active', frozenForSeconds: 60 }, 'account_not_active', {}],
  [{ error: 'login_failed' }, 'login_failed', {}],
])('%p is told with %s %p', (failure, code, values) => {
  expect(textOfFailure({ ok: false, ...failure })).toEqual({ code, values })
  expect(isTextCode(code)).toBe(true)
})
