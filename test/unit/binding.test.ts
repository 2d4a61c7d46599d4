import { checkMarker, issuedAtOf, type MarkerState, makeStamp, redirectStart } from '../../lib/decide/binding'
import type { MacKeys, Purpose } from '../../lib/decide/signed-cookie'
import { NOW } from './samples'

const AT = NOW * 1000
const keys: MacKeys = [Buffer.alloc(32, 1)]
const cookie = 'abcdefghijklmnopqrst-_'
const other = 'abcdefghijklmnopqrst__'
const stamp = makeStamp(keys, 'flow', cookie, AT)

test.each([
  [-60_001, false],
  [-60_000, true],
  [0, true],
  [300_000, true],
  [300_001, false],
])('a redirect looked at %i ms after it began: %s', (age, isBound) => {
  expect(redirectStart(keys, cookie, stamp, AT + age)).toBe(isBound ? AT : undefined)
})

test.each<[what: string, cookie: string, stamp: string | undefined]>([
  ["another browser's cookie", other, stamp],
  ['no parameter', cookie, undefined],
  ['another time', cookie, stamp.replace(/^\d+/, String(AT - 1))],
  ['a shorter MAC', cookie, stamp.slice(0, -1)],
  ['another MAC', cookie, stamp.slice(0, 14) + 'A'.repeat(22)],
  ['a stamp for another purpose', cookie, makeStamp(keys, 'marker', cookie, AT)],
  ['a stamp of another site', cookie, makeStamp([Buffer.alloc(32, 2)], 'flow', cookie, AT)],
])('%s does not bind', (_what, given, parameter) => {
  expect(redirectStart(keys, given, parameter, AT)).toBeUndefined()
})

test('while secrets are rotated old stamps hold, and new ones use the first secret', () => {
  const rotated = [Buffer.alloc(32, 9), ...keys]
  expect(redirectStart(rotated, cookie, stamp, AT)).toBe(AT)
  expect(redirectStart(keys, cookie, makeStamp(rotated, 'flow', cookie, AT), AT)).toBeUndefined()
})

test('no purpose stands in for another', () => {
  const purposes: Purpose[] = ['flow', 'marker', 'logout', 'loop', 'device', 'doctor']
  const fits = purposes.map((made) =>
    purposes.filter((asked) => issuedAtOf(keys, asked, 'x', makeStamp(keys, made, 'x', AT)) !== undefined),
  )
  expect(fits).toEqual(purposes.map((purpose) => [purpose]))
})

test('where the subject ends and the time begins is part of what is signed', () => {
  const [, mac = ''] = makeStamp(keys, 'flow', 'x1', 80).split('.')
  expect(issuedAtOf(keys, 'flow', 'x1', `80.${mac}`)).toBe(80)
  expect(issuedAtOf(keys, 'flow', 'x', `180.${mac}`)).toBeUndefined()
})

const marker = makeStamp(keys, 'marker', '', AT)
test.each<[what: string, parameter: string | undefined, age: number, state: MarkerState]>([
  ['of now', marker, 0, 'current'],
  ['60 s ago', marker, 60_000, 'current'],
  ['61 s ago', marker, 61_000, 'old'],
  ['by a process an hour ahead', marker, -3_600_000, 'current'],
  ['with a changed time', marker.replace(/^\d+/, String(AT - 1)), 0, 'none'],
  ['of another site', makeStamp([Buffer.alloc(32, 2)], 'marker', '', AT), 0, 'none'],
  ['for another purpose', makeStamp(keys, 'doctor', '', AT), 0, 'none'],
  ['that is missing', undefined, 0, 'none'],
])('a marker %s counts as it should', (_what, parameter, age, state) => {
  expect(checkMarker(keys, parameter, AT + age)).toBe(state)
})
