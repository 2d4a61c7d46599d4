import fc from 'fast-check'
import { claimed, confirmed, parseRecord, serialiseRecord, staleAfter } from '../../lib/decide/record'
import { anonRecord, loggedInRecord, NOW } from './samples'

const text = serialiseRecord(loggedInRecord())

test.each([
  ['an anonymous record', anonRecord()],
  ['a pending login', anonRecord({ pending: true })],
  ['a record that is asked about', anonRecord({ askingAt: NOW })],
  ['a login', loggedInRecord()],
  [
    'a login with a user of many fields',
    loggedInRecord({ user: Object.assign({ accountId: 'a1' }, { name: '\u00c5se', groups: [1, { a: null }] }) }),
  ],
])('%s comes back as it was written', (_name, record) => {
  expect(parseRecord(serialiseRecord(record))).toEqual(record)
})

test.each([
  ['nothing', null],
  ['undefined', undefined],
  ['an empty text', ''],
  ['a tombstone', 'ended'],
  ['another tombstone', 'moved'],
  ['half a record', text.slice(0, -5)],
  ['an array', `[${text}]`],
  ['an empty object', '{}'],
  ['no version', text.replace('"v":1,', '')],
  ['another version', text.replace('"v":1', '"v":2')],
  ['the version as text', text.replace('"v":1', '"v":"1"')],
  ['an unknown status', text.replace('"loggedin"', '"terminated"')],
  ['a login without a user', text.replace(/,"user":\{[^}]*\}/, '')],
  ['a user without an account', text.replace('"accountId":"a1"', '')],
  ['an account that is a number', text.replace('"a1"', '7')],
  ['a time that is a text', text.replace(/"since":\d+/, '"since":"1"')],
  ['a time with a fraction', text.replace(/"checkedAt":\d+/, '"checkedAt":1.5')],
  ['an endless time', text.replace(/"checkedAt":\d+/, '"checkedAt":1e400')],
  ['no box', text.replace('"box":"sealed",', '').replace(',"box":"sealed"', '')],
  ['a member that no record has', text.replace('{', '{"admin":true,')],
  ['an anonymous record with a user', serialiseRecord(anonRecord()).replace('{', '{"user":{"accountId":"a1"},')],
  ['pending that is false', serialiseRecord(anonRecord()).replace('{', '{"pending":false,')],
])('%s is no record', (_name, garbage) => {
  expect(parseRecord(garbage)).toBeUndefined()
})

test('no text at all makes the reader throw', () => {
  const texts = fc.oneof(
    fc.string(),
    fc.json(),
    fc.json().map((json) => `{"v":1,"x":${json}}`),
  )
  fc.assert(fc.property(texts, (garbage) => expect(parseRecord(garbage)).toBeUndefined()))
})

test.each([
  ['a login after recheckSeconds', loggedInRecord(), 360, 360],
  ['an anonymous record after recheckSeconds', anonRecord(), 360, 360],
  ['a pending login after 30 s', anonRecord({ pending: true }), 360, 30],
  ['a pending login after less where recheckSeconds is less', anonRecord({ pending: true }), 10, 10],
])('%s is stale', (_name, record, recheckSeconds, seconds) => {
  expect(staleAfter(record, recheckSeconds)).toBe(seconds)
})

test('a claim is noted, and an answer takes it away and counts as checked', () => {
  const before = loggedInRecord({ checkedAt: NOW - 400 })
  const asking = claimed(before, NOW)
  expect(asking).toEqual({ ...before, askingAt: NOW })
  expect(confirmed(asking, NOW + 1)).toStrictEqual({ ...before, checkedAt: NOW + 1 })
  expect(before).toEqual(loggedInRecord({ checkedAt: NOW - 400 }))
})
