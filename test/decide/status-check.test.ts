import { isStale, parseRecord, type SsoRecord, serialiseRecord } from '../../lib/decide/record'
import {
  afterFailedCheck,
  afterUnchangedCheck,
  afterUnknownLogin,
  afterUnusableLogin,
  checkStateAfter,
  decideStatus,
  type StatusDecision,
  withCheckLock,
} from '../../lib/decide/status-check'
import { sso2ErrorCodes } from '../../lib/protocol/claims'
import type { SessionToken } from '../../lib/protocol/session-token'
import { anonRecord, loggedInRecord, NOW, sessionToken } from './samples'

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

/* What a check leaves in the record. */

test('a check lock names its check, and the response takes it away, notes that it ended and counts as checked', () => {
  const changes = { checkedAt: NOW - 400, lastCheckId: 'q0', unansweredAt: NOW - 9 }
  const before = loggedInRecord(changes)
  const asking = withCheckLock(before, 'q1', NOW)
  expect(asking).toStrictEqual({ ...before, checkBeganAt: NOW, currentCheckId: 'q1' })
  const checked = loggedInRecord({ checkedAt: NOW + 1, lastCheckId: 'q1' })
  expect(afterUnchangedCheck(asking, isIn, NOW + 1, 'q1')).toStrictEqual(checked)
  expect(before).toEqual(loggedInRecord(changes))
})

test('a check without a response has ended too, and the time of the last response stays', () => {
  const asking = withCheckLock(loggedInRecord({ checkedAt: NOW - 400 }), 'q1', NOW)
  const record = afterFailedCheck(asking, NOW + 2, 'q1')
  expect(record).toStrictEqual(loggedInRecord({ checkedAt: NOW - 400, lastCheckId: 'q1', unansweredAt: NOW })) // its beginning
  expect(parseRecord(serialiseRecord(record))).toStrictEqual(record)
  expect(afterUnchangedCheck(record, isIn, NOW, 'q2')).toStrictEqual(
    loggedInRecord({ checkedAt: NOW, lastCheckId: 'q1' }),
  )
})

test('a beginning in the future was noted by a wrong clock, and delays the session no longer than another one', () => {
  const asking = withCheckLock(loggedInRecord(), 'q1', NOW + 50)
  expect(afterFailedCheck(asking, NOW, 'q1')).toStrictEqual(loggedInRecord({ lastCheckId: 'q1', unansweredAt: NOW }))
})

test('the response to a check without a lock leaves the name of the last check', () => {
  const asked = loggedInRecord({ lastCheckId: 'q0' })
  expect(afterUnchangedCheck(asked, isIn, NOW, 'q1')).toStrictEqual(asked)
  expect(afterFailedCheck(asked, NOW, 'q1')).toStrictEqual({ ...asked, unansweredAt: NOW })
})

test('the response to an earlier status check leaves a later one in progress', () => {
  const later = withCheckLock(loggedInRecord({ checkedAt: NOW - 400, lastCheckId: 'q0' }), 'q2', NOW)
  expect(afterUnchangedCheck(later, isIn, NOW + 1, 'q1')).toStrictEqual({ ...later, checkedAt: NOW + 1 })
  const underWay = { checkBeganAt: NOW, currentCheckId: 'q2', lastCheckId: 'q0' }
  expect(afterFailedCheck(later, NOW + 1, 'q1')).toMatchObject(underWay)
  expect(afterUnusableLogin(later, 'q1')).toStrictEqual(later)
  expect(checkStateAfter(later)).toStrictEqual(underWay)
  expect(checkStateAfter(later, 'q2')).toStrictEqual({ lastCheckId: 'q2' })
  expect(checkStateAfter({})).toStrictEqual({})
  expect(checkStateAfter({ checkBeganAt: NOW })).toStrictEqual({}) // half of a check that is in progress
  expect(checkStateAfter({ currentCheckId: 'q2' })).toStrictEqual({})
})

test('a response that changes nothing ends a pending login, and leaves what is known of the access token', () => {
  expect(afterUnchangedCheck(anonRecord({ pending: true }), isIn, NOW, 'q1')).toStrictEqual(anonRecord())
  const refused = loggedInRecord({ accessRefused: true, accessUntil: NOW - 1, accessFailedAt: NOW - 2 })
  expect(afterUnchangedCheck(refused, isIn, NOW, 'q1')).toStrictEqual(refused)
})

test('a login that a request could not make is pending and checked by the next request', () => {
  const asking = withCheckLock(anonRecord(), 'q1', NOW)
  const pending = afterUnusableLogin(asking, 'q1')
  expect(pending).toStrictEqual(anonRecord({ pending: true, mustCheck: true, lastCheckId: 'q1' }))
  expect(isStale(pending, NOW, 360)).toBe(true)
  const checked = afterUnchangedCheck(withCheckLock(pending, 'q2', NOW), isIn, NOW, 'q2')
  expect(checked).toStrictEqual(anonRecord({ lastCheckId: 'q2' }))
  expect(afterUnusableLogin(withCheckLock(loggedInRecord(), 'q1', NOW), 'q1')).toStrictEqual(
    loggedInRecord({ lastCheckId: 'q1' }),
  )
})

describe('after a login whose outcome is unknown', () => {
  const mark = (record: SsoRecord) => afterUnknownLogin(record, record.sidHash) ?? record
  const answered = (record: SsoRecord, checkId: string) => afterUnchangedCheck(record, isAnon, NOW, checkId)

  test('a later request checks the status of an anonymous record', () => {
    const marked = mark(anon)
    expect([marked, isStale(marked, NOW, 360)]).toStrictEqual([anonRecord({ mustCheck: true }), true])
    expect(answered(withCheckLock(marked, 'q1', NOW), 'q1')).toStrictEqual(anonRecord({ lastCheckId: 'q1' }))
  })

  test('the response to a check that was in progress does not count', () => {
    const marked = answered(mark(withCheckLock(anonRecord({ lastCheckId: 'q0' }), 'q1', NOW)), 'q1')
    expect(marked).toStrictEqual(anonRecord({ lastCheckId: 'q0', mustCheck: true }))
    const checkedAgain = answered(withCheckLock(marked, 'q2', NOW), 'q1') // its lock had expired
    expect(checkedAgain).toMatchObject({ mustCheck: true, currentCheckId: 'q2' })
    expect(answered(checkedAgain, 'q2')).toStrictEqual(anonRecord({ lastCheckId: 'q2' }))
  })
})

test('a login, and a record of another SSO session, stay as they are', () => {
  expect(afterUnknownLogin(loggedIn, loggedIn.sidHash)).toBeUndefined()
  expect(afterUnknownLogin(anon, 'another')).toBeUndefined()
})
