import type { SsoRecord } from '../../lib/decide/record'
import { decideStatus, type StatusDecision } from '../../lib/decide/status-check'
import { sso2ErrorCodes } from '../../lib/protocol/claims'
import type { SessionToken } from '../../lib/protocol/session-token'
import { anonRecord, loginRecord, sessionToken } from './samples'

const [anon, pending, loggedIn] = [anonRecord(), anonRecord({ pending: true }), loginRecord()]
const withTicket = sessionToken({ sts: 'loggedin', at: 'ticket' })
const [isAnon, isIn] = [sessionToken({ sts: 'anon' }), sessionToken({ sts: 'loggedin' })]
const isEnded = sessionToken({ sts: 'terminated' })
const notFound = sessionToken({ err: 'session_not_found' })

const keep: StatusDecision = { action: 'keep' }
const signIn: StatusDecision = { action: 'sign_in', token: withTicket }
type Reason<Action> = Extract<StatusDecision, { action: Action; reason: string }>['reason']
const over = (reason: Reason<'over'>): StatusDecision => ({ action: 'over', reason })
const noAnswer = (reason: Reason<'no_answer'>): StatusDecision => ({ action: 'no_answer', reason })

test.each<[what: string, record: SsoRecord, answer: Parameters<typeof decideStatus>[1], decision: StatusDecision]>([
  ['anonymous as before is kept', anon, isAnon, keep],
  ['logged in as before is kept', loggedIn, isIn, keep],
  ['a new login with its ticket signs in', anon, withTicket, signIn],
  ['a pending login with its ticket signs in', pending, withTicket, signIn],
  ['a pending login that is anonymous is kept', pending, isAnon, keep],
  ['a login that has asked for a ticket signs in again', loggedIn, withTicket, signIn],
  ['a new login without a ticket ends the session here', anon, isIn, over('no_ticket')],
  ['a terminated login ends the session here', loggedIn, isEnded, over('terminated')],
  ['a terminated anonymous session ends the session here', anon, isEnded, over('terminated')],
  ['a login that became anonymous ends the session here', loggedIn, isAnon, over('changed_back')],
  ['an unknown session ends the session here', loggedIn, notFound, over('session_not_found')],
  ['an unknown anonymous session ends the session here', anon, notFound, over('session_not_found')],
  ['no response changes nothing', loggedIn, undefined, noAnswer('no_answer')],
  ['no response about an anonymous session changes nothing', anon, undefined, noAnswer('no_answer')],
  ['a refused token changes nothing', loggedIn, 'session_mismatch', noAnswer('session_mismatch')],
])('%s', (_what, record, answer, decision) => {
  expect(decideStatus(record, answer)).toEqual(decision)
})

const others = [...Object.keys(sso2ErrorCodes), 'unknown_error'].filter((err) => err !== 'session_not_found')
test.each(others as NonNullable<SessionToken['err']>[])('the error %s changes nothing, whatever the record', (err) => {
  for (const record of [anon, loggedIn])
    expect(decideStatus(record, sessionToken({ err }))).toEqual(noAnswer('refused'))
})
