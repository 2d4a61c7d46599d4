import type { AttemptResult } from '../../lib/decide/attempts'
import {
  attemptResultOf,
  decideLogin,
  decideLoginStart,
  decideLostLogin,
  decideSuccession,
  type LoginDecision,
  type LoginError,
  lostAttemptResult,
} from '../../lib/decide/login'
import { Sso2ResponseError, Sso2UnavailableError, TokenError } from '../../lib/errors'
import type { SessionToken } from '../../lib/protocol/session-token'
import { sessionToken } from './samples'

const welcome = sessionToken({ sts: 'loggedin', at: 'ticket' })
const rows: [name: string, answer: SessionToken | undefined, decision: LoginDecision][] = [
  ['a login with its ticket signs in', welcome, { action: 'sign_in', token: welcome }],
  [
    'wrong credentials are shown with the attempts left',
    sessionToken({ err: 'invalid_credentials', raa: 2 }),
    { action: 'show', error: 'invalid_credentials', remainingAttempts: 2 },
  ],
  [
    'no attempt left is shown as zero',
    sessionToken({ err: 'invalid_credentials', raa: 0 }),
    { action: 'show', error: 'invalid_credentials', remainingAttempts: 0 },
  ],
  [
    'wrong credentials are shown without a count where none is given',
    sessionToken({ err: 'invalid_credentials' }),
    { action: 'show', error: 'invalid_credentials' },
  ],
  [
    'a frozen account is shown with its time',
    sessionToken({ err: 'account_frozen', frf: 300 }),
    { action: 'show', error: 'account_frozen', frozenForSeconds: 300 },
  ],
  [
    'an inactive account is shown',
    sessionToken({ err: 'account_not_active' }),
    { action: 'show', error: 'account_not_active' },
  ],
  [
    'too many sessions are shown',
    sessionToken({ err: 'session_limit_reached' }),
    { action: 'show', error: 'session_limit_reached' },
  ],
  [
    'a wrong one-time password is shown',
    sessionToken({ err: 'invalid_otp' }),
    { action: 'show', error: 'invalid_otp' },
  ],
  [
    'a used one-time password is shown',
    sessionToken({ err: 'otp_consumed_or_expired' }),
    { action: 'show', error: 'otp_consumed_or_expired' },
  ],
  [
    'a login of another account is shown',
    sessionToken({ err: 'session_already_logged_in_on_another_account', sts: 'loggedin' }),
    { action: 'show', error: 'session_already_logged_in_on_another_account' },
  ],
  ['a terminated session identifies', sessionToken({ err: 'session_terminated' }), { action: 'identify' }],
  ['an unknown session identifies', sessionToken({ err: 'session_not_found' }), { action: 'identify' }],
  ['a lost answer is asked after', undefined, { action: 'ask_status' }],
  [
    'a refused request of ours is not the user\u2019s fault',
    sessionToken({ err: 'invalid_token' }),
    { action: 'not_now' },
  ],
  [
    'an error that nobody knows is not the user\u2019s fault',
    sessionToken({ err: 'unknown_error' }),
    { action: 'not_now' },
  ],
]
test.each(rows)('%s', (_name, answer, decision) => {
  expect(decideLogin(answer)).toStrictEqual(decision)
})

const lost: [name: string, answer: SessionToken | undefined, decision: LoginDecision][] = [
  ['that took place signs in', welcome, { action: 'sign_in', token: welcome }],
  ['that did not take place is not now', sessionToken({ sts: 'anon' }), { action: 'not_now' }],
  ['that took place, and brings no ticket, is not now', sessionToken({ sts: 'loggedin' }), { action: 'not_now' }],
  [
    'whose answer has a ticket and another status is not now',
    sessionToken({ sts: 'terminated', at: 'x' }),
    { action: 'not_now' },
  ],
  [
    'whose answer has a ticket and an error is not now',
    sessionToken({ sts: 'loggedin', at: 'x', err: 'unknown_error' }),
    { action: 'not_now' },
  ],
  ['of a session that is gone identifies', sessionToken({ err: 'session_not_found' }), { action: 'identify' }],
  ['of which nobody can be asked is not now', undefined, { action: 'not_now' }],
]
test.each(lost)('a lost login %s', (_name, answer, decision) => {
  expect(decideLostLogin(answer)).toEqual(decision)
})

test.each<[name: string, answer: SessionToken | undefined, decision: LoginDecision | undefined]>([
  ['went through', welcome, { action: 'sign_in', token: welcome }],
  ['did not: the form that came after it is sent', sessionToken({ sts: 'anon' }), undefined],
  ['was of a session that has ended', sessionToken({ sts: 'terminated' }), { action: 'identify' }],
  ['was of a session that is forgotten', sessionToken({ err: 'session_not_found' }), { action: 'identify' }],
  ['went through, without a ticket', sessionToken({ sts: 'loggedin' }), { action: 'not_now' }],
  ['cannot be told of', sessionToken({ err: 'invalid_token' }), { action: 'not_now' }],
  ['cannot be told of, anonymous', sessionToken({ err: 'invalid_token', sts: 'anon' }), { action: 'not_now' }],
  ['cannot be told of, terminated', sessionToken({ err: 'invalid_token', sts: 'terminated' }), { action: 'not_now' }],
  ['nobody can be asked about', undefined, { action: 'not_now' }],
])('a login that went down with its process and %s', (_name, answer, decision) => {
  expect(decideSuccession(answer)).toEqual(decision)
})

test.each<[store: boolean, sso: boolean, record: boolean, error: LoginError | undefined]>([
  [true, true, true, undefined],
  [true, false, true, undefined], // Authenticate itself finds out
  [true, true, false, 'session_ended'],
  [true, false, false, 'unavailable'],
  [false, true, true, 'unavailable'],
  [false, true, false, 'unavailable'],
  [false, false, true, 'unavailable'],
  [false, false, false, 'unavailable'],
])('a login with store %s, SSO2 %s and a record %s begins, or ends with %s', (store, sso, hasRecord, error) => {
  expect(decideLoginStart({ isStoreAvailable: store, isSsoAvailable: sso, hasRecord })).toBe(error)
})

test.each<[err: SessionToken['err'], raa: number | undefined, result: AttemptResult]>([
  [undefined, undefined, { was: 'right' }],
  ['invalid_credentials', 2, { was: 'wrong', left: 2 }],
  ['invalid_credentials', undefined, { was: 'wrong', left: undefined }],
  ['invalid_otp', undefined, { was: 'wrong', left: undefined }],
  ['unknown_error', undefined, { was: 'wrong', left: undefined }],
  ['account_frozen', undefined, { was: 'refused' }],
  ['account_not_active', undefined, { was: 'refused' }],
  ['session_limit_reached', undefined, { was: 'refused' }],
  ['otp_consumed_or_expired', undefined, { was: 'refused' }],
  ['session_already_logged_in_on_another_account', undefined, { was: 'refused' }],
  ['session_terminated', undefined, { was: 'not_judged' }],
  ['session_not_found', undefined, { was: 'not_judged' }],
  ['invalid_token', undefined, { was: 'not_judged' }],
])('an Authenticate response with the error %p and %p attempts left is an attempt that was %j', (err, raa, result) => {
  expect(attemptResultOf({ err, raa })).toEqual(result)
})

test.each<[what: string, error: unknown, was: AttemptResult['was']]>([
  ['that was never sent', new Sso2UnavailableError('authenticate', true, 'refused'), 'not_judged'],
  ['without a response in time', new Sso2UnavailableError('authenticate', false, 'late', true), 'wrong'],
  ['whose connection broke', new Sso2UnavailableError('authenticate', false, 'reset'), 'wrong'],
  ['that got a 503', new Sso2ResponseError('authenticate', 503, 'failed'), 'not_judged'],
  ['that got a 429', new Sso2ResponseError('authenticate', 429, 'failed'), 'not_judged'],
  ['that got a 500', new Sso2ResponseError('authenticate', 500, 'failed'), 'wrong'],
  ['that a gateway gave up', new Sso2ResponseError('authenticate', 504, 'failed'), 'wrong'],
  ['whose response holds no token', new Sso2ResponseError('authenticate', 200, 'no token'), 'wrong'],
  ['whose token does not verify', new TokenError('signature'), 'wrong'],
])('[F17] an attempt %s may have been judged, or not', (_what, error, was) => {
  expect(lostAttemptResult(error).was).toBe(was)
})
