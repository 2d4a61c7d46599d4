import {
  ageOf,
  couldBeLoggedIn,
  EMPTY_RECORD,
  type Entry,
  goneText,
  isOver,
  isStale,
  lifetimeOf,
  needsTicket,
  readEntry,
  type SsoRecord,
} from '../../lib/decide/record'
import { anonRecord, loginRecord, NOW } from './samples'

const live = (record: SsoRecord): Entry => ({ state: 'live', record })
const gone = { next: 'a-key_1', sidHash: 's-1', account: 'a_1' }
const nobody = { next: '', sidHash: '', account: '' }

test.each<[what: string, text: string | null, entry: Entry]>([
  ['nothing', null, { state: 'none' }],
  ['a session whose SSO session has ended', EMPTY_RECORD, { state: 'empty' }],
  ['a session that has moved', goneText(gone), { state: 'gone', gone }],
  ['a session that has ended', goneText(nobody), { state: 'gone', gone: nobody }],
  ['an anonymous record', JSON.stringify(anonRecord()), live(anonRecord())],
  ['a pending login', JSON.stringify(anonRecord({ pending: true })), live(anonRecord({ pending: true }))],
  ['a login', JSON.stringify(loginRecord()), live(loginRecord())],
])('%s comes back as it was written', (_what, text, entry) => {
  expect(readEntry(text)).toEqual(entry)
})

test('a record of the next version is read, with whatever it has more', () => {
  const next = { ...loginRecord(), v: 2, roles: ['editor'], deep: { a: [null] } }
  expect(readEntry(JSON.stringify(next))).toEqual(live(next))
})

const text = JSON.stringify(loginRecord())
test.each([
  ['an array', `[${text}]`],
  ['a version after the next', text.replace('"v":1', '"v":3')],
  ['an unknown status', text.replace('"loggedin"', '"terminated"')],
  ['a login without a user', text.replace(/,"user":\{[^}]*\}/, '')],
  ['a login that does not say when it began', text.replace(/"startedAt":\d+,/, '')],
  ['a marker with too few parts', 'gone:a:b'],
])('%s cannot be read', (_what, garbage) => {
  expect(readEntry(garbage)).toEqual({ state: 'unreadable' })
})

test.each<[what: string, record: SsoRecord, recheckSeconds: number, age: number]>([
  ['a login after recheckSeconds', loginRecord(), 360, 360],
  ['an anonymous record after recheckSeconds', anonRecord(), 360, 360],
  ['a pending login after 30 s', anonRecord({ pending: true }), 360, 30],
  ['a record that the next request must check', anonRecord({ checkedAt: 0 }), 360, 0],
])('%s is stale', (_what, record, recheckSeconds, age) => {
  const at = (seconds: number) => isStale(record, NOW + seconds, recheckSeconds)
  expect([at(age), age > 0 && at(age - 1)]).toEqual([true, false])
})

test('a time a minute ahead is of another clock, one further ahead is wrong and counts as very old', () => {
  expect([ageOf(NOW - 9, NOW), ageOf(NOW + 60, NOW), ageOf(NOW + 61, NOW)]).toEqual([9, 0, Number.POSITIVE_INFINITY])
})

const lives = { idleSeconds: 1000, anonymousIdleSeconds: 100, absoluteSeconds: 5000 }
test.each<[what: string, record: SsoRecord | undefined, seconds: number]>([
  ['a login lives its idle time', loginRecord({ since: NOW - 1000 }), 1000],
  ['an anonymous session lives its shorter one', anonRecord({ since: NOW - 1000 }), 100],
  ['nothing lives beyond the absolute limit', loginRecord({ since: NOW - 4400 }), 600],
  ['a beginning in the future gives no longer life', loginRecord({ since: NOW + 9999 }), 1000],
])('%s', (_what, record, seconds) => {
  expect(lifetimeOf(record, NOW, lives)).toBe(seconds)
})

test('a session is over at its absolute limit', () => {
  const isOverAfter = (seconds: number) => isOver(loginRecord({ since: NOW - seconds }), NOW, lives)
  expect([isOverAfter(4999), isOverAfter(5000)]).toEqual([false, true])
})

test.each<[what: string, record: SsoRecord, expected: boolean]>([
  ['an anonymous record', anonRecord(), false],
  ['a login', loginRecord(), true],
  ['a pending login', anonRecord({ pending: true }), true],
  ['a login whose outcome is unknown', anonRecord({ checkedAt: 0 }), true],
])('%s: may the SSO session be logged in already?', (_what, record, expected) => {
  expect(couldBeLoggedIn(record)).toBe(expected)
})

test.each<[what: string, record: SsoRecord, wanted: boolean]>([
  ['an anonymous session', anonRecord(), true],
  ['a pending login', anonRecord({ pending: true }), true],
  ['a login', loginRecord(), false],
  ['a login whose access token outlives the next check', loginRecord({ accessUntil: NOW + 361 }), false],
  ['a login whose access token ends by the next check', loginRecord({ accessUntil: NOW + 360 }), true],
  ['a login whose access token was refused', loginRecord({ accessUntil: 0 }), true],
])('%s needs a ticket: %#', (_what, record, wanted) => {
  expect(needsTicket(record, NOW, 360)).toBe(wanted)
})
