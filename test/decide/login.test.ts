import { decideLogin, type LoginDecision } from '../../lib/decide/login'
import type { SessionToken } from '../../lib/protocol/session-token'
import { sessionToken } from './samples'

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
  expect(decideLogin(answer)).toEqual(decision)
})
