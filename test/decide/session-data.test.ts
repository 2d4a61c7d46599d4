import { NO_ENTRY, readEntry, type StoredEntry, serialiseRecord } from '../../lib/decide/record'
import {
  belongsToLogin,
  type CookieTimes,
  cookieEnd,
  dataLife,
  mustRenewExpiry,
  readData,
  readMetadata,
  remainingLives,
  type SessionMetadata,
  type SiteData,
  sessionPhaseOf,
  usableData,
  withChanges,
  writeData,
} from '../../lib/decide/session-data'
import { anonRecord, loggedInRecord, NOW } from './samples'

const lives = { idleSeconds: 1000, anonymousIdleSeconds: 100, absoluteSeconds: 5000 }
const loggedIn = readEntry(serialiseRecord(loggedInRecord()))
const anonymous = readEntry(serialiseRecord(anonRecord()))
const later = (status: string): StoredEntry => ({ state: 'unreadable', raw: JSON.stringify({ v: 9, status }) })
const origin = (more: Partial<SessionMetadata> = {}): SessionMetadata => ({ since: NOW, isLoggedIn: false, ...more })

test.each<[SessionMetadata, SiteData, string]>([
  [origin(), {}, `{"cookie":{"since":${NOW}}}`],
  [origin({ isLoggedIn: true }), { a: 1 }, `{"cookie":{"since":${NOW},"isLoggedIn":true},"a":1}`],
  [origin({ maxAge: 5000 }), { 1: 'x' }, `{"cookie":{"since":${NOW},"maxAge":5000},"1":"x"}`],
  [origin(), { a: undefined }, `{"cookie":{"since":${NOW}}}`],
])('data of %j, %j is written as %s, and read again', (from, data, text) => {
  expect(writeData(from, data)).toBe(text)
  expect(readData(text)).toEqual({ ...from, data })
  expect(readMetadata(text)).toEqual(from)
})

test('a life that is no number is none', () => {
  const text = `{"cookie":{"since":${NOW},"maxAge":"5"}}`
  expect(readData(text)).toStrictEqual({ since: NOW, isLoggedIn: false, data: {} })
})

test('data lose a member named __proto__, also one that is written with escapes', () => {
  const text = `{"cookie":{"since":${NOW}},"a":{"__proto__":{"isAdmin":true}},"\\u005f_proto__":{"isAdmin":true}}`
  const { data } = readData(text) ?? {}
  expect([Reflect.ownKeys(data ?? {}), Reflect.ownKeys(data?.['a'] as object)]).toEqual([['a'], []])
})

const garbage = ['', 'garbage', '{', 'null', '[]', '42', '{}', '{"cookie":null}', '{"cookie":[]}']
test.each([null, ...garbage, '{"cookie":{"since":"now"}}'])('%j is no data', (text) => {
  expect(readData(text)).toBeUndefined()
  expect(readMetadata(text ?? '')).toBeUndefined()
})

test('what a site calls maxAge does not pass for ours', () => {
  expect(readMetadata(`{"a":{"cookie":{"since":1,"maxAge":2}},"cookie":{"since":${NOW}}}`)).toBeUndefined()
})

test.each<[what: string, SessionMetadata, isIn: boolean, isUsable: boolean]>([
  ['anonymous data', origin(), false, true],
  ['anonymous data, after a login', origin(), true, true],
  ["a login's data", origin({ isLoggedIn: true }), true, true],
  ["a login's data whose login is gone", origin({ isLoggedIn: true }), false, false],
  ['data a second before the absolute limit', origin({ since: NOW - 4999 }), false, true],
  ['data at the absolute limit', origin({ since: NOW - 5000 }), false, false],
])('%s can be had, or not', (_what, from, isIn, isUsable) => {
  expect(usableData(writeData(from, { a: 1 }), isIn, NOW, lives) !== undefined).toBe(isUsable)
})

test.each<[SessionMetadata, number]>([
  [origin(), 100],
  [origin({ isLoggedIn: true }), 1000],
  [origin({ maxAge: 2500 }), 3],
  [origin({ maxAge: 3_000_000 }), 3000],
  [origin({ maxAge: 9_000_000 }), 5000],
  [origin({ maxAge: 0 }), 0],
  [origin({ maxAge: -1000 }), -1],
  [origin({ since: NOW - 4990 }), 10],
  [origin({ since: NOW - 6000 }), 1],
])('data of %j lives %i seconds unused', (from, seconds) => {
  expect(dataLife(from, NOW, lives)).toBe(seconds)
})

test.each<[what: string, times: Partial<CookieTimes>, end: number]>([
  ['no end set', {}, (NOW + 5000) * 1000],
  ['no end set, an older session', { since: NOW - 1000 }, (NOW + 4000) * 1000],
  ['an end', { wanted: NOW * 1000 + 60_250 }, NOW * 1000 + 60_250],
  ['an end after the session', { wanted: (NOW + 9000) * 1000 }, (NOW + 5000) * 1000],
  ['an end that is now', { wanted: NOW * 1000 }, NOW * 1000],
  ['by a clock a second behind', { wanted: NOW * 1000 + 60_000, systemNow: NOW * 1000 - 1000 }, NOW * 1000 + 61_000],
  ['by a clock 100 s behind', { wanted: NOW * 1000 - 40_000, systemNow: (NOW - 100) * 1000 }, NOW * 1000 + 60_000],
])('the end of a cookie: %s', (_what, times, end) => {
  expect(cookieEnd({ since: NOW, wanted: undefined, now: NOW, systemNow: NOW * 1000 + 999, ...times }, lives)).toBe(end)
})

test.each<[what: string, StoredEntry, text: string | null, { data: number; record: number }]>([
  ['data alone', NO_ENTRY, writeData(origin(), {}), { data: 100, record: 100 }],
  ['a login without data', loggedIn, null, { data: 1000, record: 1000 }],
  ['a login and its data', loggedIn, writeData(origin({ isLoggedIn: true }), {}), { data: 1000, record: 1000 }],
  ['data with an age of its own', loggedIn, writeData(origin({ maxAge: 5000 }), {}), { data: 5, record: 1000 }],
  ['data of another spelling', anonymous, `{"a":1,"cookie":{"since":${NOW}}}`, { data: 100, record: 100 }],
])('%s is renewed for its own time', (_what, stored, text, expected) => {
  expect(remainingLives(stored, text, NOW, lives)).toEqual(expected)
})

test.each<[what: string, StoredEntry, lives: { data: number; record: number }, age: number, boolean]>([
  ['data alone', NO_ENTRY, { data: 100, record: 100 }, 0, true],
  ['a record that was just checked', loggedIn, { data: 1000, record: 1000 }, 99, false],
  ['a record whose life is a tenth gone', loggedIn, { data: 1000, record: 1000 }, 100, true],
  ['a record whose data live shorter', loggedIn, { data: 50, record: 1000 }, 5, true],
  ['a record that was checked by a clock far ahead', loggedIn, { data: 1000, record: 1000 }, -61, true],
  ['a record that this version cannot read', later('loggedin'), { data: 1000, record: 1000 }, 0, true],
])('%s, lives %j, after %d s: due to be renewed: %s', (_what, stored, both, age, expected) => {
  expect(mustRenewExpiry(stored, both, NOW + age)).toBe(expected)
})

test.each<[what: string, StoredEntry, data: string | null, string]>([
  ['a record', loggedIn, null, 'live'],
  ['a record of a later version', later('anon'), null, 'live'],
  ['garbage in place of a record', { state: 'unreadable', raw: 'garbage' }, 'data', 'new'],
  ['data alone', NO_ENTRY, 'data', 'data_only'],
  ['nothing', NO_ENTRY, null, 'new'],
  ['one that moved a moment ago', readEntry(`moved.${NOW - 59}`), null, 'just_ended'],
  ['one that ended a minute ago', readEntry(`ended.${NOW - 60}`), null, 'new'],
  ['one that the site destroyed', readEntry('ended.0'), null, 'new'],
])('a session with %s stands where it should', (_what, stored, data, standing) => {
  expect(sessionPhaseOf(stored, data, NOW)).toBe(standing)
})

test.each<[StoredEntry, boolean]>([
  [loggedIn, true],
  [anonymous, false],
  [NO_ENTRY, false],
  [later('loggedin'), true],
  [later('anon'), false],
])('%j belongs to a login: %s', (stored, expected) => {
  expect(belongsToLogin(stored)).toBe(expected)
})

test.each<[what: string, before: SiteData, now: SiteData, under: SiteData, expected: SiteData]>([
  ['nothing changed', { a: 1 }, { a: 1 }, { a: 2, b: 3 }, { a: 2, b: 3 }],
  ['a change', { a: 1 }, { a: 9 }, { a: 2 }, { a: 9 }],
  ['something new', {}, { b: 9 }, { a: 2 }, { a: 2, b: 9 }],
  ['something taken away', { a: 1, b: 1 }, { b: 1 }, { a: 2, b: 2 }, { b: 2 }],
  ['a change within', { a: { x: [1] } }, { a: { x: [2] } }, { a: { x: [1], y: 1 } }, { a: { x: [2] } }],
  ['a name of every object', {}, JSON.parse('{"__proto__":1}'), {}, JSON.parse('{"__proto__":1}')],
])('%s is laid over other data', (_what, before, now, under, expected) => {
  expect(withChanges(before, now, under)).toEqual(expected)
  expect(Object.keys(withChanges(before, now, under))).toEqual(Object.keys(expected))
})
