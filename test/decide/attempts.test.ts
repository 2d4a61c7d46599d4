import {
  type AttemptDecision,
  type AttemptFacts,
  type AttemptResult,
  type Attempts,
  beginAttempt,
  endAttempt,
} from '../../lib/decide/attempts'
import { NOW } from './samples'

const limit = { attempts: 10, perSeconds: 60 }
const facts = (more: Partial<AttemptFacts> = {}): AttemptFacts => ({
  now: NOW,
  session: 's1',
  id: 'a1',
  isRecognised: false,
  remembersDevices: true,
  limit,
  ...more,
})
const value = (more: Partial<Attempts> = {}): Attempts => ({
  at: NOW - 100,
  since: NOW - 10,
  wrong: 0,
  wrongRecognised: 0,
  logins: 0,
  ...more,
})
const lock = (more: object = {}) => ({ session: 's2', id: 'a2', until: NOW + 12, at: NOW - 100, ...more })
const shortly = (decision: AttemptDecision) =>
  decision.action === 'refuse'
    ? `refuse ${decision.reason} ${decision.seconds}`
    : decision.action === 'try'
      ? `try ${decision.next.left}`
      : decision.action

const known = { isRecognised: true }
const off = { remembersDevices: false }
test.each<[what: string, stored: Attempts | undefined, facts: Partial<AttemptFacts>, decision: string]>([
  ['nothing known', undefined, {}, 'try 4'],
  ['three left', value({ left: 3 }), {}, 'try 2'],
  ['two left, which leaves one to recognised browsers', value({ left: 2 }), {}, 'refuse held 800'],
  ['two left, recognised', value({ left: 2 }), known, 'try 1'],
  ['two left, where no browser is recognised', value({ left: 2 }), off, 'try 1'],
  ['one left', value({ left: 1 }), {}, 'refuse held 800'],
  ['one left, recognised', value({ left: 1 }), known, 'refuse held 800'],
  ['one left, where no browser is recognised', value({ left: 1 }), off, 'refuse held 800'],
  ['none left', value({ left: 0 }), known, 'refuse held 800'],
  ['one left, 15 minutes ago', value({ left: 1, at: NOW - 900 }), {}, 'try 4'],
  ['one left, a second before', value({ left: 1, at: NOW - 899 }), {}, 'refuse held 1'],
  ['an attempt in progress', value({ left: 4, lock: lock() }), {}, 'wait'],
  ['an attempt in progress, recognised', value({ left: 4, lock: lock() }), known, 'wait'],
  ['an attempt in progress with one left', value({ left: 1, lock: lock() }), {}, 'wait'],
  ['the attempt of this form, whose process died', value({ left: 4, lock: lock({ session: 's1' }) }), {}, 'try 3'],
  ['a lock that has expired', value({ left: 4, lock: lock({ until: NOW }) }), {}, 'try 3'],
  ['a lock of a clock that is an hour ahead', value({ left: 4, lock: lock({ until: NOW + 3600 }) }), {}, 'try 3'],
  ['30 wrong passwords in a minute', value({ left: 99, wrong: 30 }), {}, 'refuse name 50'],
  ['29 wrong passwords in a minute', value({ left: 99, wrong: 29 }), {}, 'try 98'],
  ['30 wrong passwords in this very second', value({ left: 99, wrong: 30, since: NOW }), {}, 'refuse name 60'],
  ['30 wrong passwords, recognised', value({ left: 99, wrong: 30 }), known, 'try 98'],
  ['30 wrong passwords in the minute before', value({ left: 99, wrong: 30, since: NOW - 60 }), {}, 'try 98'],
  ['10 wrong passwords of recognised browsers', value({ left: 99, wrongRecognised: 10 }), known, 'refuse name 50'],
  ['10 wrong passwords of recognised browsers, unrecognised', value({ left: 99, wrongRecognised: 10 }), {}, 'try 98'],
  ['100 logins in a minute', value({ logins: 100 }), {}, 'refuse name 50'],
  ['100 logins in a minute, recognised', value({ logins: 100 }), known, 'refuse name 50'],
  ['99 logins in a minute', value({ logins: 99 }), {}, 'try 4'],
  ['a window of a clock that is ahead', value({ left: 99, wrong: 30, since: NOW + 3600 }), {}, 'try 98'],
])('[F3] with %s', (_what, stored, more, decision) => {
  expect(shortly(beginAttempt(stored, facts(more)))).toBe(decision)
})

function begun(stored: Attempts | undefined, more: Partial<AttemptFacts> = {}): Attempts {
  const decision = beginAttempt(stored, facts(more))
  if (decision.action !== 'try') throw new Error(`it may not begin: ${decision.action}`)
  return decision.next
}

const wrong = (left?: number): AttemptResult => ({ outcome: 'wrong_password', left })
test.each<[what: string, before: number | undefined, result: AttemptResult, left: number | undefined, at: number]>([
  ['the platform tells first', undefined, wrong(9), 9, NOW],
  ['the platform tells what is known', 4, wrong(3), 3, NOW],
  ['the platform tells less', 4, wrong(2), 2, NOW],
  ['the platform tells more, which may be of another account', 4, wrong(9), 3, NOW],
  ['the platform does not tell', 4, wrong(), 3, NOW],
  ['the platform does not tell at first', undefined, wrong(), 4, NOW],
  ['a success gives it back, and no more', 3, { outcome: 'success' }, 3, NOW - 100],
  ['a success where nothing was known', undefined, { outcome: 'success' }, undefined, NOW - 100],
  ['what was not judged gives it back', 3, { outcome: 'not_judged' }, 3, NOW - 100],
  ['a frozen account is no wrong password', 3, { outcome: 'refused' }, 3, NOW - 100],
])('[F3, F17] after an attempt: %s', (_what, before, result, left, at) => {
  const stored = value(before === undefined ? {} : { left: before })
  const after = endAttempt(begun(stored), facts({ now: NOW }), result)
  expect([after.left, after.at, after.lock]).toEqual([left, at, undefined])
})

test('[F17] an attempt whose end is never written has cost one, and its lock expires', () => {
  const left = begun(value({ left: 4 }))
  expect([left.left, left.lock?.until]).toEqual([3, NOW + 12])
  expect(begun(left, { now: NOW + 12, session: 's2', id: 'a2' }).left).toBe(2)
})

test('[F17] the form of a process that died begins with one attempt less, and its success gives back its own alone', () => {
  const second = begun(begun(value({ left: 4 })), { id: 'a2' })
  expect(second.left).toBe(2)
  expect(endAttempt(second, facts({ id: 'a2' }), { outcome: 'success' }).left).toBe(3)
})

test('[F3] an attempt whose lock another attempt has only lowers what is stored', () => {
  const other = begun(begun(value({ left: 4 })), { now: NOW + 13, session: 's2', id: 'a2' })
  expect(other.left).toBe(2)
  const late = facts({ now: NOW + 14 })
  expect(endAttempt(other, late, wrong(1))).toMatchObject({ left: 1, lock: { id: 'a2' } })
  expect(endAttempt(other, late, wrong(9))).toMatchObject({ left: 2, lock: { id: 'a2' } })
  expect(endAttempt(other, late, { outcome: 'success' })).toMatchObject({ left: 2, lock: { id: 'a2' } })
  expect(endAttempt(undefined, facts(), wrong(2)).left).toBe(2)
  expect(endAttempt(undefined, facts(), wrong()).left).toBe(4)
  expect(endAttempt(value({ left: 3 }), facts(), wrong(2)).left).toBe(2)
})

test.each<[result: AttemptResult, isRecognised: boolean, counts: readonly number[]]>([
  [wrong(3), false, [1, 0, 0]],
  [wrong(3), true, [0, 1, 0]],
  [{ outcome: 'refused' }, false, [1, 0, 0]],
  [{ outcome: 'success' }, false, [0, 0, 1]],
  [{ outcome: 'success' }, true, [0, 0, 1]],
  [{ outcome: 'not_judged' }, false, [0, 0, 0]],
])('[F4] %j of a browser that is recognised (%p) is counted as %j', (result, isRecognised, counts) => {
  const after = endAttempt(begun(undefined, { isRecognised }), facts({ isRecognised }), result)
  expect([after.wrong, after.wrongRecognised, after.logins]).toEqual(counts)
})
