import { isStale, parseRecord, serialiseRecord } from '../../lib/decide/record'
import {
  afterFailedCheck,
  afterUnchangedCheck,
  afterUnusableLogin,
  checkStateAfter,
  withCheckLock,
} from '../../lib/decide/status-check'
import { anonRecord, loggedInRecord, NOW, sessionToken } from './samples'

const response = sessionToken({ sts: 'loggedin' })

test('a check lock names its check, and the response takes it away, notes that it ended and counts as checked', () => {
  const changes = { checkedAt: NOW - 400, lastCheckId: 'q0', unansweredAt: NOW - 9 }
  const before = loggedInRecord(changes)
  const asking = withCheckLock(before, 'q1', NOW)
  expect(asking).toStrictEqual({ ...before, checkBeganAt: NOW, currentCheckId: 'q1' })
  const checked = loggedInRecord({ checkedAt: NOW + 1, lastCheckId: 'q1' })
  expect(afterUnchangedCheck(asking, response, NOW + 1, 'q1')).toStrictEqual(checked)
  expect(before).toEqual(loggedInRecord(changes))
})

test('a check without a response has ended too, and the time of the last response stays', () => {
  const asking = withCheckLock(loggedInRecord({ checkedAt: NOW - 400 }), 'q1', NOW)
  const record = afterFailedCheck(asking, NOW + 2, 'q1')
  expect(record).toStrictEqual(loggedInRecord({ checkedAt: NOW - 400, lastCheckId: 'q1', unansweredAt: NOW })) // its beginning
  expect(parseRecord(serialiseRecord(record))).toStrictEqual(record)
  expect(afterUnchangedCheck(record, response, NOW, 'q2')).toStrictEqual(
    loggedInRecord({ checkedAt: NOW, lastCheckId: 'q1' }),
  )
})

test('a beginning in the future was noted by a wrong clock, and delays the session no longer than another one', () => {
  const asking = withCheckLock(loggedInRecord(), 'q1', NOW + 50)
  expect(afterFailedCheck(asking, NOW, 'q1')).toStrictEqual(loggedInRecord({ lastCheckId: 'q1', unansweredAt: NOW }))
})

test('the response to a check without a lock leaves the name of the last check', () => {
  const asked = loggedInRecord({ lastCheckId: 'q0' })
  expect(afterUnchangedCheck(asked, response, NOW, 'q1')).toStrictEqual(asked)
  expect(afterFailedCheck(asked, NOW, 'q1')).toStrictEqual({ ...asked, unansweredAt: NOW })
})

test('the response to an earlier status check leaves a later one in progress', () => {
  const later = withCheckLock(loggedInRecord({ checkedAt: NOW - 400, lastCheckId: 'q0' }), 'q2', NOW)
  expect(afterUnchangedCheck(later, response, NOW + 1, 'q1')).toStrictEqual({ ...later, checkedAt: NOW + 1 })
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
  expect(afterUnchangedCheck(anonRecord({ pending: true }), response, NOW, 'q1')).toStrictEqual(anonRecord())
  const refused = loggedInRecord({ accessRefused: true, accessUntil: NOW - 1, accessFailedAt: NOW - 2 })
  expect(afterUnchangedCheck(refused, response, NOW, 'q1')).toStrictEqual(refused)
})

test('a login that a request could not make is pending and checked by the next request', () => {
  const asking = withCheckLock(anonRecord(), 'q1', NOW)
  const pending = afterUnusableLogin(asking, 'q1')
  expect(pending).toStrictEqual(anonRecord({ pending: true, mustCheck: true, lastCheckId: 'q1' }))
  expect(isStale(pending, NOW, 360)).toBe(true)
  expect(afterUnchangedCheck(pending, response, NOW, 'q2')).toStrictEqual(anonRecord({ lastCheckId: 'q1' }))
  expect(afterUnusableLogin(withCheckLock(loggedInRecord(), 'q1', NOW), 'q1')).toStrictEqual(
    loggedInRecord({ lastCheckId: 'q1' }),
  )
})
