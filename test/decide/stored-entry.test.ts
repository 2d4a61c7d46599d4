import {
  hasJustEnded,
  hasMovedOrEnded,
  markerText,
  mayBeAlive,
  mayBeReplaced,
  mayMove,
  NO_ENTRY,
  readEntry,
  recordIn,
  type StoredEntry,
  serialiseRecord,
} from '../../lib/decide/record'
import { loggedInRecord, NOW } from './samples'

const record = loggedInRecord()
const live = serialiseRecord(record)
const grave = { since: NOW, successor: '' }
const followed: StoredEntry = { ...grave, state: 'moved', raw: `moved.${NOW}.A-_9`, successor: 'A-_9' }

test.each<[name: string, raw: string | null, stored: StoredEntry]>([
  ['nothing', null, { state: 'none', raw: null }],
  ['a record', live, { state: 'live', raw: live, record }],
  ['the grave of an ended session', markerText('ended', NOW), { ...grave, state: 'ended', raw: `ended.${NOW}` }],
  ['the grave of a moved session', markerText('moved', NOW, 'A-_9'), followed],
  ['a moved session without a successor', markerText('moved', NOW), { ...grave, state: 'moved', raw: `moved.${NOW}` }],
  ['a marker without a time', 'ended', { state: 'unreadable', raw: 'ended' }],
  ['another marker without a time', 'moved', { state: 'unreadable', raw: 'moved' }],
])('%s is read as what it is', (_name, raw, stored) => {
  expect(readEntry(raw)).toEqual(stored)
})

const graves = ['Ended', 'ended.', `ended.${NOW}.`, `ended.${NOW}. `, `ended.${NOW}\n`, ` ended.${NOW}`]
const moves = ['ended.9999999999999', 'moved.x', `moved.${NOW}.a.b`]
const records = ['{}', '[]', 'null', live.slice(0, -1), live.replace('"v":1', '"v":3')]
test.each(['', 'garbage', ...graves, ...moves, ...records])('%j is something that cannot be read', (raw) => {
  expect(readEntry(raw)).toEqual({ state: 'unreadable', raw })
})

test('no deleted-session marker looks like a record, for the store tells them by the first letter', () => {
  const texts = [markerText('ended', NOW), markerText('moved', NOW, 'x')]
  expect(texts).toEqual([`ended.${NOW}`, `moved.${NOW}.x`])
  expect(texts.map((text) => text.startsWith('{'))).toEqual([false, false])
  expect(live.startsWith('{')).toBe(true)
})

test.each<[name: string, raw: string | null, late: boolean]>([
  ['a session that ended now', `ended.${NOW}`, true],
  ['a session that moved now', `moved.${NOW}.x`, true],
  ['a session that ended 59 s ago', `ended.${NOW - 59}`, true],
  ['a session that ended 60 s ago', `ended.${NOW - 60}`, false],
  ['a session that ends in the future', `ended.${NOW + 61}`, false],
  ['a session whose end has no time', 'ended', false],
  ['a living session', live, false],
  ['something that cannot be read', 'garbage', false],
  ['no session', null, false],
])('a request with %s comes late: %#', (_name, raw, late) => {
  expect(hasJustEnded(readEntry(raw), NOW)).toBe(late)
})

test('no entry is one frozen value', () => {
  expect(readEntry(null)).toBe(NO_ENTRY)
  expect(Object.isFrozen(NO_ENTRY)).toBe(true)
})

test.each<[raw: string | null, isLive: boolean, isGone: boolean, ...mayMoveAndBeFollowed: boolean[]]>([
  [null, false, false, true, false, true],
  [live, true, false, true, true, true],
  ['garbage', true, false, false, false, true],
  [`moved.${NOW}.x`, false, true, false, false, false],
  [`ended.${NOW}`, false, true, false, false, false],
])('of %j it is told whether it may live, is gone, may move and may be followed', (raw, ...told) => {
  const stored = readEntry(raw)
  const answers = [mayBeAlive, hasMovedOrEnded, mayMove].map((is) => is(stored))
  for (const alsoAfterNone of [true, false]) answers.push(mayBeReplaced(stored, alsoAfterNone))
  expect(answers).toEqual(told)
  expect(recordIn(stored)).toEqual(raw === live ? record : undefined)
})
