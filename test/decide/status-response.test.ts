import type { SsoRecord } from '../../lib/decide/record'
import { decideStatus, type StatusDecision } from '../../lib/decide/status-check'
import { sso2ErrorCodes } from '../../lib/protocol/claims'
import type { SessionToken } from '../../lib/protocol/session-token'
import { anonRecord, loggedInRecord, sessionToken } from './samples'

const withTicket = sessionToken({ sts: 'loggedin', at: 'ticket' })
const [stillAnon, stillLoggedIn] = [sessionToken({ sts: 'anon' }), sessionToken({ sts: 'loggedin' })]
const [anon, loggedIn] = [anonRecord(), loggedInRecord()]

const rows: [name: string, record: SsoRecord, answer: SessionToken | undefined, decision: StatusDecision][] = [
  ['anonymous as before is kept', anon, stillAnon, { action: 'keep', token: stillAnon }],
  ['logged in as before is kept', loggedIn, stillLoggedIn, { action: 'keep', token: stillLoggedIn }],
  ['a new login with its ticket signs in', anon, withTicket, { action: 'sign_in', token: withTicket }],
  [
    'a new login without a ticket ends the session here',
    anon,
    sessionToken({ sts: 'loggedin' }),
    { action: 'identify', reason: 'no_ticket' },
  ],
  [
    'a login that asked for a ticket and got one signs in again, with a new access token',
    loggedIn,
    withTicket,
    { action: 'sign_in', token: withTicket },
  ],
  [
    'a pending login with its ticket signs in',
    anonRecord({ pending: true }),
    withTicket,
    { action: 'sign_in', token: withTicket },
  ],
  [
    'a terminated login ends the session here',
    loggedIn,
    sessionToken({ sts: 'terminated' }),
    { action: 'identify', reason: 'terminated' },
  ],
  [
    'a terminated anonymous session ends the session here',
    anon,
    sessionToken({ sts: 'terminated' }),
    { action: 'identify', reason: 'terminated' },
  ],
  [
    'a login that became anonymous ends the session here',
    loggedIn,
    sessionToken({ sts: 'anon' }),
    { action: 'identify', reason: 'changed_back' },
  ],
  [
    'an unknown session ends the session here',
    loggedIn,
    sessionToken({ err: 'session_not_found' }),
    { action: 'identify', reason: 'session_not_found' },
  ],
  [
    'an unknown anonymous session ends the session here',
    anon,
    sessionToken({ err: 'session_not_found' }),
    { action: 'identify', reason: 'session_not_found' },
  ],
  ['no answer is kept for now', loggedIn, undefined, { action: 'keep_for_now', reason: 'no_answer' }],
  [
    'no answer about an anonymous session is kept for now',
    anon,
    undefined,
    { action: 'keep_for_now', reason: 'no_answer' },
  ],
]
test('a token that was refused is kept for now, and the decision says why', () => {
  expect(decideStatus(loggedIn, 'session_mismatch')).toEqual({ action: 'keep_for_now', reason: 'session_mismatch' })
})

test.each(rows)('%s', (_name, record, answer, decision) => {
  expect(decideStatus(record, answer)).toEqual(decision)
})

const others = [...Object.keys(sso2ErrorCodes), 'unknown_error'].filter((err) => err !== 'session_not_found')
test.each(others as NonNullable<SessionToken['err']>[])(
  'the error %s is kept for now, as a refusal, whatever the record',
  (err) => {
    for (const record of [anon, loggedIn]) {
      expect(decideStatus(record, sessionToken({ err }))).toEqual({ action: 'keep_for_now', reason: 'refused' })
    }
  },
)
