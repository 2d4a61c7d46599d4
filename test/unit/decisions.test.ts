import {
  blockReason,
  countReturn,
  type LoopCause,
  type ReturnCount,
  readReturnCount,
} from '../../lib/decide/loop-guard'
import {
  type DegradedReason,
  decideStatus,
  isVerified,
  type SsoRecord,
  type StatusDecision,
  show,
  userOf,
} from '../../lib/decide/record'

import { sso2ErrorCodes } from '../../lib/protocol/claims'
import type { SessionToken, TicketToken } from '../../lib/protocol/session-token'
import { anonRecord, loginRecord, sessionToken } from './samples'

/* Small decisions, each with the rows of its table in docs/internals/decision-tables.md. */

describe('an answer of Session Status', () => {
  const [anon, pending, loggedIn] = [anonRecord(), anonRecord({ pending: true }), loginRecord()]
  const withTicket = sessionToken({ sts: 'loggedin', at: 'ticket' }) as TicketToken
  const [isAnon, isIn] = [sessionToken({ sts: 'anon' }), sessionToken({ sts: 'loggedin' })]
  const isEnded = sessionToken({ sts: 'terminated' })
  const notFound = sessionToken({ err: 'session_not_found' })

  const keep: StatusDecision = { action: 'keep' }
  const signIn: StatusDecision = { action: 'log_in', token: withTicket }
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
  test.each(others as NonNullable<SessionToken['err']>[])(
    'the error %s changes nothing, whatever the record',
    (err) => {
      for (const record of [anon, loggedIn])
        expect(decideStatus(record, sessionToken({ err }))).toEqual(noAnswer('refused'))
    },
  )
})

describe('who is shown', () => {
  test.each<
    [what: string, identity: ReturnType<typeof show>, user: string | undefined, degraded: DegradedReason | undefined]
  >([
    ['nobody', show(undefined), undefined, undefined],
    ['nobody, in an outage', show(undefined, 'store_unavailable'), undefined, 'store_unavailable'],
    ['an anonymous visitor', show(anonRecord()), undefined, undefined],
    ['a user', show(loginRecord()), 'a1', undefined],
    ['a user within the grace period', show(loginRecord(), 'sso_unavailable'), 'a1', 'sso_unavailable'],
    ['a login whose user is not known', show(anonRecord({ pending: true })), undefined, 'user_unknown'],
    ['the same in an outage', show(anonRecord({ pending: true }), 'sso_unavailable'), undefined, 'sso_unavailable'],
  ])('%s', (_what, identity, user, degraded) => {
    expect([userOf(identity)?.accountId, identity.degraded]).toEqual([user, degraded])
  })

  test.each<[reason: DegradedReason | undefined, isVerified: boolean]>([
    [undefined, true],
    ['user_unknown', true],
    ['logout_pending', true],
    ['sso_unavailable', false],
    ['store_unavailable', false],
    ['identify_loop', false],
  ])('a status with the reason %s is verified: %s', (reason, expected) => {
    expect(isVerified(show(undefined, reason))).toBe(expected)
  })
})

describe('another redirect to Identify', () => {
  /** The count after landings with these outcomes. */
  const landed = (...causes: LoopCause[]): ReturnCount | undefined =>
    causes.reduce<ReturnCount | undefined>((known, cause) => readReturnCount(countReturn(known, cause).text), undefined)

  test.each<[what: string, count: ReturnCount | undefined, reason: DegradedReason | undefined]>([
    ['no landing', undefined, undefined],
    ['one landing that went well', landed(''), undefined],
    ['five landings that went well: the session does not stay', landed('', '', '', '', ''), 'identify_loop'],
    ['a refused token', landed('token_refused'), 'token_refused'],
    ['a landing that Redis did not store', landed('', 'store_unavailable'), 'store_unavailable'],
    ['a landing that ended a login of before the logout', landed('logout_pending'), 'logout_pending'],
    ['a landing that went well after a refused token', landed('token_refused', ''), undefined],
  ])('%s: another redirect, or the reason why not', (_what, count, reason) => {
    expect(blockReason(count)).toBe(reason)
  })

  test('the browser forgets a count after 10 s, and a failure after 4 s', () => {
    expect([countReturn(undefined, '').seconds, countReturn(undefined, 'token_refused').seconds]).toEqual([10, 4])
  })

  test('a count is read as it was written, and nothing else is one', () => {
    expect(readReturnCount('1000.token_refused')).toEqual({ count: 1000, cause: 'token_refused' })
    for (const other of [undefined, '', '2', '-1.', '2.other', '2.toString', '2.token_refused.x'])
      expect(readReturnCount(other)).toBeUndefined()
  })
})
