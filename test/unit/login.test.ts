import { isTextCode } from '../../lib/config/texts'
import type { AttemptResult, LoginResult } from '../../lib/decide/login'
import {
  attemptResultOf,
  decideLogin,
  decideLostLogin,
  failureMessages,
  type LoginDecision,
  lostAttemptResult,
  withinLimits,
} from '../../lib/decide/login'
import { Sso2ResponseError, Sso2UnavailableError, TokenError } from '../../lib/errors'
import type { SessionToken } from '../../lib/protocol/session-token'
import { sessionToken } from './samples'

const welcome = sessionToken({ sts: 'loggedin', at: 'ticket' })
type ShownError = Extract<LoginDecision, { action: 'show_error' }>['error']
const signIn: LoginDecision = { action: 'sign_in', token: welcome }
const identify: LoginDecision = { action: 'identify' }
const notNow: LoginDecision = { action: 'unavailable' }
const loggedIn = sessionToken({ sts: 'loggedin' })
const anon = sessionToken({ sts: 'anon' })
const terminated = sessionToken({ sts: 'terminated' })
const failed = (err: SessionToken['err'], more: object = {}) => sessionToken({ err, ...more })

test.each<[response: string, token: SessionToken, decision: LoginDecision]>([
  ['a login with its ticket', welcome, signIn],
  ['a terminated session', failed('session_terminated'), identify],
  ['an unknown session', failed('session_not_found'), identify],
  ['an unknown error, which is not the fault of the user', failed('unknown_error'), notNow],
])('Authenticate answers with %s', (_response, token, decision) => {
  expect(decideLogin(token)).toStrictEqual(decision)
})

test.each<[error: ShownError, claims: object, shown: object]>([
  ['invalid_credentials', { raa: 2 }, { remainingAttempts: 2 }],
  ['account_frozen', { frf: 300 }, { frozenForSeconds: 300 }],
  ['account_not_active', {}, {}],
  ['session_already_logged_in_on_another_account', { sts: 'loggedin' }, {}],
])('Authenticate answers with the error %s and %j, which the form shows with %j', (error, claims, shown) => {
  expect(decideLogin(failed(error, claims))).toStrictEqual({ action: 'show_error', error, ...shown })
})

test.each<[status: string, token: SessionToken | undefined, decision: LoginDecision]>([
  ['logged in, with a ticket', welcome, signIn],
  ['still anonymous', anon, notNow],
  ['logged in, without a ticket', loggedIn, notNow],
  ['terminated', terminated, notNow],
  ['not found', failed('session_not_found'), identify],
  ['not told, for SSO2 is away', undefined, notNow],
])('after a login without a response the session is %s', (_status, token, decision) => {
  expect(decideLostLogin(token)).toEqual(decision)
})

test.each<[err: SessionToken['err'], raa: number | undefined, result: AttemptResult]>([
  [undefined, undefined, { outcome: 'success' }],
  ['invalid_credentials', 2, { outcome: 'wrong_password', left: 2 }],
  ['invalid_credentials', undefined, { outcome: 'wrong_password', left: undefined }],
  ['invalid_otp', undefined, { outcome: 'wrong_password', left: undefined }],
  ['account_frozen', undefined, { outcome: 'refused' }],
  ['invalid_token', undefined, { outcome: 'not_judged' }],
])('an Authenticate response with the error %p and %p attempts left is an attempt that was %j', (err, raa, result) => {
  expect(attemptResultOf({ err, raa })).toEqual(result)
})

test.each<[what: string, error: unknown, outcome: AttemptResult['outcome']]>([
  ['that was never sent', new Sso2UnavailableError('authenticate', true, 'refused'), 'not_judged'],
  ['without a response in time', new Sso2UnavailableError('authenticate', false, 'late', true), 'wrong_password'],
  ['whose connection broke', new Sso2UnavailableError('authenticate', false, 'reset'), 'wrong_password'],
  ['that got a 503', new Sso2ResponseError('authenticate', 503, 'failed'), 'not_judged'],
  ['that got a 500', new Sso2ResponseError('authenticate', 500, 'failed'), 'wrong_password'],
  ['whose token does not verify', new TokenError('signature'), 'wrong_password'],
])('[F17] an attempt %s may have been judged, or not', (_what, error, outcome) => {
  expect(lostAttemptResult(error).outcome).toBe(outcome)
})

type Failure = Omit<Extract<LoginResult, { ok: false }>, 'ok'>

test.each<[failure: Failure, code: string, values: object]>([
  [{ error: 'invalid_credentials' }, 'invalid_credentials', {}],
  [{ error: 'invalid_credentials', remainingAttempts: 2 }, 'invalid_credentials_attempts', { attempts: 2 }],
  [{ error: 'invalid_credentials', remainingAttempts: 1 }, 'invalid_credentials_last', {}],
  [{ error: 'invalid_credentials', remainingAttempts: 0 }, 'account_frozen', {}],
  [{ error: 'account_frozen' }, 'account_frozen', {}],
  [{ error: 'account_frozen', frozenForSeconds: 60 }, 'account_frozen_minute', {}],
  [{ error: 'account_frozen', frozenForSeconds: 61 }, 'account_frozen_minutes', { minutes: 2 }],
  [{ error: 'account_frozen', frozenForSeconds: 5401 }, 'account_frozen_hours', { hours: 2 }],
  [{ error: 'too_many_attempts' }, 'too_many_attempts', {}],
  [{ error: 'too_many_attempts', retryAfterSeconds: 91 }, 'too_many_attempts_minutes', { minutes: 2 }],
  [{ error: 'unavailable' }, 'unavailable_form', {}],
])('%p is told with %s %p', (failure, code, values) => {
  expect(failureMessages({ ok: false, ...failure })).toEqual([{ code, values }])
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
])('a failed login tells what the site will let pass: %s', (_what, failure, attempts, told, codes) => {
  const left = { attempts, seconds: attempts === 0 ? 880 : 0 }
  const shown = withinLimits({ ok: false, ...failure }, left)
  expect(shown).toEqual({ ok: false, ...told })
  expect(failureMessages(shown).map(({ code }) => code)).toEqual(codes)
  expect(withinLimits({ ok: false, ...failure }, undefined)).toEqual({ ok: false, ...failure })
})
