import {
  decideLogin,
  decideLoginStart,
  decideLostLogin,
  decideSuccession,
  heldFor,
  isGuess,
  isLastTry,
  isReleasedBy,
  type LoginDecision,
  type LoginError,
  type LoginResult,
  lowerOf,
  type Tries,
  triesAfter,
  triesLeft,
} from '../../lib/decide/login'
import type { SessionToken } from '../../lib/protocol/session-token'
import { NOW, sessionToken } from './samples'

const welcome = sessionToken({ sts: 'loggedin', at: 'ticket' })
const rows: [name: string, answer: SessionToken | undefined, decision: LoginDecision][] = [
  ['a login with its ticket signs in', welcome, { do: 'sign_in', token: welcome }],
  [
    'wrong credentials are shown with the attempts left',
    sessionToken({ err: 'invalid_credentials', raa: 2 }),
    { do: 'show', error: 'invalid_credentials', remainingAttempts: 2 },
  ],
  [
    'no attempt left is shown as zero',
    sessionToken({ err: 'invalid_credentials', raa: 0 }),
    { do: 'show', error: 'invalid_credentials', remainingAttempts: 0 },
  ],
  [
    'wrong credentials are shown without a count where none is given',
    sessionToken({ err: 'invalid_credentials' }),
    { do: 'show', error: 'invalid_credentials' },
  ],
  [
    'a frozen account is shown with its time',
    sessionToken({ err: 'account_frozen', frf: 300 }),
    { do: 'show', error: 'account_frozen', frozenForSeconds: 300 },
  ],
  [
    'an inactive account is shown',
    sessionToken({ err: 'account_not_active' }),
    { do: 'show', error: 'account_not_active' },
  ],
  [
    'too many sessions are shown',
    sessionToken({ err: 'session_limit_reached' }),
    { do: 'show', error: 'session_limit_reached' },
  ],
  ['a wrong one-time password is shown', sessionToken({ err: 'invalid_otp' }), { do: 'show', error: 'invalid_otp' }],
  [
    'a used one-time password is shown',
    sessionToken({ err: 'otp_consumed_or_expired' }),
    { do: 'show', error: 'otp_consumed_or_expired' },
  ],
  [
    'a login of another account is shown',
    sessionToken({ err: 'session_already_logged_in_on_another_account', sts: 'loggedin' }),
    { do: 'show', error: 'session_already_logged_in_on_another_account' },
  ],
  ['a terminated session identifies', sessionToken({ err: 'session_terminated' }), { do: 'identify' }],
  ['an unknown session identifies', sessionToken({ err: 'session_not_found' }), { do: 'identify' }],
  ['a lost answer is asked after', undefined, { do: 'ask_status' }],
  ['a refused request of ours is not the user\u2019s fault', sessionToken({ err: 'invalid_token' }), { do: 'not_now' }],
  [
    'an error that nobody knows is not the user\u2019s fault',
    sessionToken({ err: 'unknown_error' }),
    { do: 'not_now' },
  ],
]
test.each(rows)('%s', (_name, answer, decision) => {
  expect(decideLogin(answer)).toStrictEqual(decision)
})

const lost: [name: string, answer: SessionToken | undefined, decision: LoginDecision][] = [
  ['that took place signs in', welcome, { do: 'sign_in', token: welcome }],
  ['that did not take place is not now', sessionToken({ sts: 'anon' }), { do: 'not_now' }],
  ['that took place, and brings no ticket, is not now', sessionToken({ sts: 'loggedin' }), { do: 'not_now' }],
  [
    'whose answer has a ticket and another status is not now',
    sessionToken({ sts: 'terminated', at: 'x' }),
    { do: 'not_now' },
  ],
  [
    'whose answer has a ticket and an error is not now',
    sessionToken({ sts: 'loggedin', at: 'x', err: 'unknown_error' }),
    { do: 'not_now' },
  ],
  ['of a session that is gone identifies', sessionToken({ err: 'session_not_found' }), { do: 'identify' }],
  ['of which nobody can be asked is not now', undefined, { do: 'not_now' }],
]
test.each(lost)('a lost login %s', (_name, answer, decision) => {
  expect(decideLostLogin(answer)).toEqual(decision)
})

test.each<[name: string, answer: SessionToken | undefined, decision: LoginDecision | undefined]>([
  ['went through', welcome, { do: 'sign_in', token: welcome }],
  ['did not: the form that came after it is sent', sessionToken({ sts: 'anon' }), undefined],
  ['was of a session that has ended', sessionToken({ sts: 'terminated' }), { do: 'identify' }],
  ['was of a session that is forgotten', sessionToken({ err: 'session_not_found' }), { do: 'identify' }],
  ['went through, without a ticket', sessionToken({ sts: 'loggedin' }), { do: 'not_now' }],
  ['cannot be told of', sessionToken({ err: 'invalid_token' }), { do: 'not_now' }],
  ['cannot be told of, anonymous', sessionToken({ err: 'invalid_token', sts: 'anon' }), { do: 'not_now' }],
  ['cannot be told of, terminated', sessionToken({ err: 'invalid_token', sts: 'terminated' }), { do: 'not_now' }],
  ['nobody can be asked about', undefined, { do: 'not_now' }],
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
  expect(decideLoginStart({ storeAvailable: store, ssoAvailable: sso, hasRecord })).toBe(error)
})

const refused = (error: LoginError, remainingAttempts?: number): LoginResult => ({
  ok: false,
  error,
  ...(remainingAttempts === undefined ? {} : { remainingAttempts }),
})
test.each<[result: LoginResult, guess: boolean, last: boolean]>([
  [{ ok: true, user: { accountId: 'a1' } }, false, false],
  [refused('invalid_credentials', 2), true, false],
  [refused('invalid_credentials', 1), true, true],
  [refused('invalid_credentials', 0), true, true],
  [refused('invalid_credentials'), true, false],
  [refused('account_frozen'), true, false],
  [refused('unavailable'), false, false],
  [refused('session_ended'), false, false],
  [refused('invalid_otp'), true, false],
  [refused('too_many_attempts'), false, false],
  [refused('busy'), false, false],
  [refused('invalid_request'), false, false],
])(
  'of a login that came to %j it is told whether it was a guess, and the last before a freeze',
  (result, guess, last) => {
    expect([isGuess(result), isLastTry(triesLeft(result, undefined))]).toEqual([guess, last])
  },
)

test.each<[result: LoginResult, before: number | undefined, left: number | undefined]>([
  [refused('invalid_credentials', 4), undefined, 4],
  [refused('invalid_credentials', 4), 2, 4],
  [refused('invalid_credentials'), 2, 1],
  [refused('invalid_credentials'), undefined, 3],
  [refused('account_frozen'), 2, undefined],
  [refused('invalid_otp'), 4, 3],
  [refused('invalid_otp'), 1, 0],
  [refused('invalid_otp'), 0, 0],
  [refused('invalid_otp'), undefined, 3],
  [refused('unavailable'), 3, undefined],
  [{ ok: true, user: { accountId: 'a1' } }, 3, undefined],
])('after %j a name that had %p tries left has %p', (result, before, left) => {
  expect(triesLeft(result, before)).toBe(left)
})

const of = (left: number, spelling?: string): Tries => ({ left, spelling })
const ok: LoginResult = { ok: true, user: { accountId: 'a1' } }
test.each<[what: string, result: LoginResult, noted: Tries | undefined, after: Tries | undefined]>([
  ['the first try is of its spelling', refused('invalid_credentials', 4), undefined, of(4, 'ada')],
  ['of one spelling counts what is told, more', refused('invalid_credentials', 4), of(1, 'ada'), of(4, 'ada')],
  ['of one spelling counts what is told, less', refused('invalid_credentials', 1), of(4, 'ada'), of(1, 'ada')],
  ['another spelling raises nothing', refused('invalid_credentials', 4), of(1, 'ADA'), of(1)],
  ['another spelling lowers it', refused('invalid_credentials', 1), of(4, 'ADA'), of(1)],
  ['of several nothing is raised', refused('invalid_credentials', 4), of(2), of(2)],
  ['of several it is lowered', refused('invalid_credentials', 1), of(2), of(1)],
  ['what is not told is one less', refused('invalid_otp'), of(3, 'ada'), of(2, 'ada')],
  ['what is not told is one less, whoever spelled it', refused('invalid_otp'), of(3, 'ADA'), of(2)],
  ['what is not told of several is one less', refused('invalid_credentials'), of(3), of(2)],
  ['what was not judged changes nothing', refused('unavailable'), of(3, 'ada'), undefined],
  ['a login is no try', ok, of(3, 'ada'), undefined],
])('of the tries of a name: %s', (_what, result, noted, after) => {
  expect(triesAfter(result, 'ada', noted)).toStrictEqual(after)
})

test.each<[tries: Tries, noted: Tries | undefined, lower: Tries]>([
  [of(3, 'ada'), of(1, 'ada'), of(1, 'ada')],
  [of(1, 'ada'), of(3, 'ada'), of(1, 'ada')],
  [of(1, 'ada'), undefined, of(1, 'ada')],
])('of %j, where %j was noted meanwhile, stands %j', (tries, noted, lower) => {
  expect(lowerOf(tries, noted)).toStrictEqual(lower)
})

test.each<[result: LoginResult, noted: Tries | undefined, isReleased: boolean]>([
  [ok, of(1, 'ada'), true],
  [ok, of(1, 'ADA'), false],
  [ok, of(1), false],
  [ok, undefined, false],
  [refused('invalid_credentials', 4), of(1, 'ada'), false],
])('%j of "ada" with %j noted: is it released? %p', (result, noted, isReleased) => {
  expect(isReleasedBy(result, 'ada', noted)).toBe(isReleased)
})

test.each([
  [0, 0],
  [NOW - 1, 0],
  [NOW, 0],
  [NOW + 900, 900],
])('a name that is held until %i is held for %i s', (until, seconds) => {
  expect(heldFor(until, NOW)).toBe(seconds)
})
