import { isTextCode } from '../../lib/config/texts'
import {
  type Attempt,
  decideLogin,
  decideLostLogin,
  decideSilentLogin,
  failureTexts,
  isJudged,
  type LoginError,
  type LoginOutcome,
  type LoginResult,
  loginErrorStatus,
  loginFailed,
  neutralised,
  withinLimits,
} from '../../lib/decide/login'
import { Sso2ResponseError, Sso2UnavailableError, TokenError } from '../../lib/errors'
import type { SessionToken } from '../../lib/protocol/session-token'
import { sessionToken } from './samples'

const welcome = sessionToken({ sts: 'loggedin', at: 'ticket' })
const failed = (err: SessionToken['err'], more: object = {}) => sessionToken({ err, ...more })
const signIn = { ok: true, token: welcome }
const ended = loginFailed('session_ended')
const notNow = loginFailed('unavailable')

test.each<[token: SessionToken, answer: object, attempt: Attempt]>([
  [welcome, signIn, 'success'],
  [failed('session_terminated'), ended, 'not_judged'],
  [failed('session_not_found'), ended, 'not_judged'],
  [failed('invalid_token'), notNow, 'not_judged'],
  [failed('unknown_error'), notNow, 'wrong_password'],
  [failed('invalid_credentials', { raa: 2 }), { error: 'invalid_credentials', remainingAttempts: 2 }, 'wrong_password'],
  [failed('invalid_credentials', { raa: 0 }), { error: 'invalid_credentials', remainingAttempts: 0 }, 'wrong_password'],
  [failed('invalid_credentials'), { error: 'invalid_credentials' }, 'wrong_password'],
  [failed('account_frozen', { frf: 300 }), { error: 'account_frozen', frozenForSeconds: 300 }, 'refused'],
  [failed('account_not_active'), { error: 'account_not_active' }, 'refused'],
  [failed('invalid_otp'), { error: 'invalid_otp' }, 'wrong_password'],
])('Authenticate answers with %j: the result is %j, and the attempt was %j', (token, answer, attempt) => {
  expect(decideLogin(token)).toEqual({ answer: { ok: false, ...answer }, attempt })
})

const silent: LoginOutcome = { answer: notNow, attempt: 'wrong_password' }

test.each<[status: string, token: SessionToken, outcome: object]>([
  ['logged in, with a ticket', welcome, { answer: signIn, attempt: 'not_judged' }],
  ['still anonymous', sessionToken({ sts: 'anon' }), silent],
  ['logged in, without a ticket', sessionToken({ sts: 'loggedin' }), silent],
  ['terminated', sessionToken({ sts: 'terminated' }), silent],
  ['not found', failed('session_not_found'), { ...silent, answer: ended }],
])('after a login without a response the session is %s', (_status, token, outcome) => {
  expect(decideLostLogin(silent, token)).toEqual(outcome)
})

test.each<[what: string, error: unknown, outcome: Attempt]>([
  ['that was never sent', new Sso2UnavailableError('authenticate', true, 'refused'), 'not_judged'],
  ['without a response in time', new Sso2UnavailableError('authenticate', false, 'late', true), 'wrong_password'],
  ['whose connection broke', new Sso2UnavailableError('authenticate', false, 'reset'), 'wrong_password'],
  ['that got a 503', new Sso2ResponseError('authenticate', 503, 'failed'), 'not_judged'],
  ['that got a 500', new Sso2ResponseError('authenticate', 500, 'failed'), 'wrong_password'],
  ['whose token does not verify', new TokenError('signature'), 'wrong_password'],
])('[F17] an attempt %s may have been judged, or not', (_what, error, outcome) => {
  expect(decideSilentLogin(error)).toMatchObject({ answer: notNow, attempt: outcome })
})

test.each<[error: LoginError, status: number, isForEverySubmit: boolean, neutral: LoginError]>([
  ['invalid_credentials', 401, true, 'login_failed'],
  ['account_frozen', 401, true, 'login_failed'],
  ['session_limit_reached', 401, true, 'session_limit_reached'],
  ['session_ended', 401, false, 'session_ended'],
  ['too_many_attempts', 429, false, 'too_many_attempts'],
  ['unavailable', 503, false, 'unavailable'],
  ['invalid_request', 400, false, 'invalid_request'],
])('[F7] the error %s: status %i, shared with other submits: %p, with neutral messages %s', (...row) => {
  const [error, status, isForEverySubmit, neutral] = row
  expect([loginErrorStatus(error), isJudged(loginFailed(error))]).toEqual([status, isForEverySubmit])
  const shown = (messages: 'detailed' | 'neutral') => neutralised(messages, loginFailed(error)).error
  expect([shown('detailed'), shown('neutral')]).toEqual([error, neutral])
})

type Failure = Omit<Extract<LoginResult, { ok: false }>, 'ok'>

test.each<[failure: Failure, code: string, values: object]>([
  [{ error: 'invalid_credentials' }, 'invalid_credentials', {}],
  [{ error: 'invalid_credentials', remainingAttempts: 2 }, 'invalid_credentials_attempts', { attempts: 2 }],
  [{ error: 'invalid_credentials', remainingAttempts: 1 }, 'invalid_credentials_last', {}],
  [{ error: 'invalid_credentials', remainingAttempts: 0 }, 'account_frozen', {}],
  [{ error: 'account_frozen' }, 'account_frozen', {}],
  [{ error: 'account_frozen', frozenForSeconds: 90 }, 'account_frozen_minute', {}],
  [{ error: 'account_frozen', frozenForSeconds: 91 }, 'account_frozen_minutes', { minutes: 2 }],
  [{ error: 'account_frozen', frozenForSeconds: 5401 }, 'account_frozen_hours', { hours: 2 }],
  [{ error: 'too_many_attempts' }, 'too_many_attempts', {}],
  [{ error: 'too_many_attempts', retryAfterSeconds: 91 }, 'too_many_attempts_minutes', { minutes: 2 }],
  [{ error: 'too_many_attempts', retryAfterSeconds: 5401 }, 'too_many_attempts_hours', { hours: 2 }],
  [{ error: 'unavailable' }, 'unavailable_form', {}],
  [{ error: 'login_failed' }, 'login_failed', {}],
])('%p is told with %s %p', (failure, code, values) => {
  expect(failureTexts({ ok: false, ...failure })).toEqual([{ code, values }])
  expect(isTextCode(code)).toBe(true)
})

test.each<[what: string, failure: Failure, attempts: number, told: Failure, codes: readonly string[]]>([
  [
    'the platform grants more than the site',
    { error: 'invalid_credentials', remainingAttempts: 4 },
    2,
    { error: 'invalid_credentials', remainingAttempts: 2 },
    ['invalid_credentials_attempts'],
  ],
  [
    'the site accepts no more',
    { error: 'invalid_credentials', remainingAttempts: 2 },
    0,
    { error: 'invalid_credentials', remainingAttempts: 0, retryAfterSeconds: 880 },
    ['invalid_credentials', 'too_many_attempts_minutes'],
  ],
  [
    'the site accepts no more, and the platform has reported no number',
    { error: 'invalid_otp' },
    0,
    { error: 'invalid_otp', retryAfterSeconds: 880 },
    ['invalid_otp', 'too_many_attempts_minutes'],
  ],
])('a failed login tells what the site will let pass: %s', (_what, failure, attempts, told, codes) => {
  const left = { attempts, seconds: attempts === 0 ? 880 : 0 }
  const shown = withinLimits({ ok: false, ...failure }, left)
  expect(shown).toEqual({ ok: false, ...told })
  expect(failureTexts(shown).map(({ code }) => code)).toEqual(codes)
  expect(withinLimits({ ok: false, ...failure }, undefined)).toEqual({ ok: false, ...failure })
})
