import type { SsoRecord } from '../../lib/decide/record'
import { decideStatus, type StatusDecision } from '../../lib/decide/status-check'
import { sso2ErrorCodes } from '../../lib/protocol/claims'
import type { SessionToken } from '../../lib/protocol/session-token'
import { anonRecord, loggedInRecord, sessionToken } from './samples'

const withTicket = sessionToken({ sts: 'loggedin', at: 'ticket' })
const [anon, loggedIn] = [anonRecord(), loggedInRecord()]

const keep = (token: SessionToken): StatusDecision => ({ action: 'keep', token })
const signIn: StatusDecision = { action: 'sign_in', token: withTicket }
type Reason<Action> = Extract<StatusDecision, { action: Action; reason: string }>['reason']
const identify = (reason: Reason<'identify'>): StatusDecision => ({ action: 'identify', reason })
const keepForNow = (reason: Reason<'keep_for_now'>): StatusDecision => ({ action: 'keep_for_now', reason })
const [isAnon, isIn] = [sessionToken({ sts: 'anon' }), sessionToken({ sts: 'loggedin' })]
const isOver = sessionToken({ sts: 'terminated' })
const mismatch = 'session_mismatch'
const notFound = sessionToken({ err: 'session_not_found' })

type Answer = Parameters<typeof decideStatus>[1]
test.each<[name: string, record: SsoRecord, answer: Answer, decision: StatusDecision]>([
  ['anonymous as before is kept', anon, isAnon, keep(isAnon)],
  ['logged in as before is kept', loggedIn, isIn, keep(isIn)],
  ['a new login with its ticket signs in', anon, withTicket, signIn],
  ['a new login without a ticket ends the session here', anon, isIn, identify('no_ticket')],
  ['a login that asked for a ticket and got one signs in again, with a new access token', loggedIn, withTicket, signIn],
  ['a pending login with its ticket signs in', anonRecord({ pending: true }), withTicket, signIn],
  ['a terminated login ends the session here', loggedIn, isOver, identify('terminated')],
  ['a terminated anonymous session ends the session here', anon, isOver, identify('terminated')],
  ['a login that became anonymous ends the session here', loggedIn, isAnon, identify('changed_back')],
  ['an unknown session ends the session here', loggedIn, notFound, identify('session_not_found')],
  ['an unknown anonymous session ends the session here', anon, notFound, identify('session_not_found')],
  ['no response is kept for now', loggedIn, undefined, keepForNow('no_answer')],
  ['no response about an anonymous session is kept for now', anon, undefined, keepForNow('no_answer')],
  ['a refused token is kept for now, and the decision says why', loggedIn, mismatch, keepForNow(mismatch)],
])('%s', (_name, record, answer, decision) => {
  expect(decideStatus(record, answer)).toEqual(decision)
})

const others = [...Object.keys(sso2ErrorCodes), 'unknown_error'].filter((err) => err !== 'session_not_found')
test.each(others as NonNullable<SessionToken['err']>[])(
  'the error %s is kept for now, as a refusal, whatever the record',
  (err) => {
    for (const record of [anon, loggedIn])
      expect(decideStatus(record, sessionToken({ err }))).toEqual(keepForNow('refused'))
  },
)
