<<<<<<< HEAD
import {
  claimed,
  confirmed,
  hurried,
  questionsAfter,
  stillDue,
  unanswered,
  unhurried,
} from '../../lib/decide/questions'
import { isStale, parseRecord, type SsoRecord, serialiseRecord } from '../../lib/decide/record'
=======
import { claimed, confirmed, stillDue, unanswered } from '../../lib/decide/questions'
import { isStale, parseRecord, serialiseRecord } from '../../lib/decide/record'
>>>>>>> 310f822 (Judge each system by one breaker and one monitor; report login in health())
import { anonRecord, loggedInRecord, NOW } from './samples'

test('a claim names its question, and an answer takes it away, notes that it ended and counts as checked', () => {
  const before = loggedInRecord({ checkedAt: NOW - 400, asked: 'q0', unansweredAt: NOW - 9 })
  const asking = claimed(before, 'q1', NOW)
  expect(asking).toStrictEqual({ ...before, askingAt: NOW, asking: 'q1' })
  const { unansweredAt: _unanswered, ...kept } = before
  expect(confirmed(asking, NOW + 1, 'q1')).toStrictEqual({ ...kept, checkedAt: NOW + 1, asked: 'q1' })
  expect(before).toEqual(loggedInRecord({ checkedAt: NOW - 400, asked: 'q0', unansweredAt: NOW - 9 }))
})

test('a question without an answer has ended too, and the time of the last answer stays', () => {
  const asking = claimed(loggedInRecord({ checkedAt: NOW - 400 }), 'q1', NOW)
<<<<<<< HEAD
  const then = { checkedAt: NOW - 400, asked: 'q1', unansweredAt: NOW + 3, misses: 1, pauseSeconds: 4 }
  expect(unanswered(asking, NOW + 3, 0, 360, 'q1')).toStrictEqual(loggedInRecord(then))
=======
  const record = unanswered(asking, NOW + 2)
  expect(record).toStrictEqual(loggedInRecord({ checkedAt: NOW - 400, asked: 'q1', unansweredAt: NOW })) // its beginning
  expect(parseRecord(serialiseRecord(record))).toStrictEqual(record)
  expect(confirmed(record, NOW)).toStrictEqual(loggedInRecord({ checkedAt: NOW, asked: 'q1' }))
})

test('a beginning in the future was noted by a wrong clock, and delays the session no longer than another one', () => {
  const asking = claimed(loggedInRecord(), 'q1', NOW + 50)
  expect(unanswered(asking, NOW)).toStrictEqual(loggedInRecord({ asked: 'q1', unansweredAt: NOW }))
>>>>>>> 310f822 (Judge each system by one breaker and one monitor; report login in health())
})

test('an answer that nobody had claimed leaves the name of the last question', () => {
  const asked = loggedInRecord({ asked: 'q0' })
<<<<<<< HEAD
  expect(confirmed(asked, NOW, 'q1')).toStrictEqual(asked)
  expect(unanswered(asked, NOW, 0, 360, 'q1')).toStrictEqual({
    ...asked,
    unansweredAt: NOW,
    misses: 1,
    pauseSeconds: 4,
  })
})

test('the response to an earlier status check leaves a later one in progress', () => {
  const later = claimed(loggedInRecord({ checkedAt: NOW - 400, asked: 'q0' }), 'q2', NOW)
  expect(confirmed(later, NOW + 1, 'q1')).toStrictEqual({ ...later, checkedAt: NOW + 1 })
  expect(unanswered(later, NOW + 1, 0, 360, 'q1')).toMatchObject({ askingAt: NOW, asking: 'q2', asked: 'q0' })
  expect(stillDue(later, 'q1')).toStrictEqual(later)
  expect(questionsAfter(later)).toStrictEqual({ askingAt: NOW, asking: 'q2', asked: 'q0' })
  expect(questionsAfter(later, 'q2')).toStrictEqual({ asked: 'q2' })
  expect(questionsAfter({})).toStrictEqual({})
})

test.each<[spread: number, most: number, pauses: number[]]>([
  [0, 360, [4, 8, 16, 32, 64, 128, 256, 360, 360]],
  [1, 360, [5, 10, 20, 40, 80, 160, 320, 360, 360]],
  [0.5, 360, [5, 9, 18, 36, 72, 144, 288, 360, 360]],
  [0.5, 1, [4, 4, 4]],
])(
  'with a spread of %p and at most %i s, questions without an answer are followed by pauses of %j s',
  (spread, most, pauses) => {
    let record = loggedInRecord({ checkedAt: NOW - 400 }) as SsoRecord
    for (const pause of pauses) {
      record = unanswered(record, NOW, spread, most, 'q1')
      expect(record.pauseSeconds).toBe(pause)
    }
    expect(record.misses).toBe(pauses.length)
    expect(parseRecord(serialiseRecord(record))).toStrictEqual(record)
    expect(confirmed(record, NOW, 'q1')).toStrictEqual(loggedInRecord({ checkedAt: NOW }))
  },
)

test('a hurried question that gets no answer makes no longer pause, and the next one that is not does', () => {
  const first = unanswered(loggedInRecord({ checkedAt: NOW - 400 }), NOW, 0, 360, 'q0')
  const second = unanswered(claimed(hurried(first), 'q1', NOW + 3), NOW + 3, 1, 360, 'q1')
  expect(second).toStrictEqual({ ...first, unansweredAt: NOW + 3, hurried: true, asked: 'q1' })
  expect(parseRecord(serialiseRecord(second))).toStrictEqual(second)
  const third = unanswered(unhurried(second), NOW + 7, 0, 360, 'q2')
  expect(third).toStrictEqual({ ...first, unansweredAt: NOW + 7, asked: 'q1', misses: 2, pauseSeconds: 8 })
  expect(confirmed(second, NOW, 'q2')).toStrictEqual(loggedInRecord({ checkedAt: NOW, asked: 'q1' }))
  const without = loggedInRecord({ hurried: true })
  expect(unanswered(without, NOW, 0, 360, 'q1')).toStrictEqual({
    ...without,
    unansweredAt: NOW,
    misses: 1,
    pauseSeconds: 4,
  })
})

test('an outage of days makes no pause that cannot be counted', () => {
  let record = loggedInRecord() as SsoRecord
  for (let misses = 0; misses < 2000; misses += 1) record = unanswered(record, NOW, 1, 360, 'q1')
  expect(record.pauseSeconds).toBe(360)
=======
  expect(confirmed(asked, NOW)).toStrictEqual(asked)
  expect(unanswered(asked, NOW)).toStrictEqual({ ...asked, unansweredAt: NOW })
>>>>>>> 310f822 (Judge each system by one breaker and one monitor; report login in health())
})

test('an answer that changes nothing ends a pending login, and leaves what is known of the access token', () => {
  expect(confirmed(anonRecord({ pending: true }), NOW, 'q1')).toStrictEqual(anonRecord())
  const refused = loggedInRecord({ accessRefused: true, accessUntil: NOW - 1, accessFailedAt: NOW - 2 })
  expect(confirmed(refused, NOW, 'q1')).toStrictEqual(refused)
})

test('a login that a request could not make is pending and due, until an answer says otherwise', () => {
  const asking = claimed(anonRecord(), 'q1', NOW)
  const due = stillDue(asking, 'q1')
  expect(due).toStrictEqual(anonRecord({ pending: true, due: true, asked: 'q1' }))
  expect(isStale(due, NOW, 360)).toBe(true)
  expect(confirmed(due, NOW, 'q2')).toStrictEqual(anonRecord({ asked: 'q1' }))
  expect(stillDue(claimed(loggedInRecord(), 'q1', NOW), 'q1')).toStrictEqual(loggedInRecord({ asked: 'q1' }))
})
