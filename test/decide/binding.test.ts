import {
  checkMarker,
  flowStart,
  isBindingValue,
  isBound,
  isBoundAsLast,
  isSignature,
  type MacKeys,
  type MarkerState,
  makeBinding,
  makeMarker,
  makeSignature,
} from '../../lib/decide/binding'
import { NOW } from './samples'

const keys: MacKeys = [Buffer.alloc(32, 1)]
const cookie = 'abcdefghijklmnopqrst-_'
const other = 'abcdefghijklmnopqrst__'
const value = makeBinding(keys, cookie, NOW)

test('a binding is the time and 22 characters of a MAC', () => {
  expect(value).toMatch(/^1800000000\.[A-Za-z0-9_-]{22}$/)
})

test.each([
  [-61, false],
  [-60, true],
  [0, true],
  [300, true],
  [301, false],
])('a binding looked at %i s after it was made: %s', (age, bound) => {
  expect(isBound(keys, cookie, value, NOW + age)).toBe(bound)
})

test.each<[name: string, cookie: string | undefined, value: string | undefined]>([
  ['no cookie', undefined, value],
  ['another browser\u2019s cookie', other, value],
  ['a cookie of another shape', 'short', makeBinding(keys, 'short', NOW)],
  ['no parameter', cookie, undefined],
  ['an empty parameter', cookie, ''],
  ['another time', cookie, value.replace(/^\d+/, String(NOW - 1))],
  ['a space', cookie, `${value} `],
  ['a space before', cookie, ` ${value}`],
  ['a letter before', cookie, `x${value}`],
  ['a shorter MAC', cookie, value.slice(0, -1)],
  ['a longer MAC', cookie, `${value}A`],
  ['another MAC', cookie, value.slice(0, 11) + 'A'.repeat(22)],
  ['a mark for another purpose', cookie, makeSignature(keys, 'marker', cookie, NOW)],
  ['a mark of another site', cookie, makeBinding([Buffer.alloc(32, 2)], cookie, NOW)],
])('%s does not bind', (_name, given, parameter) => {
  expect(isBound(keys, given, parameter, NOW)).toBe(false)
})

test('while secrets are rotated old bindings hold and new ones use the first', () => {
  const rotated = [Buffer.alloc(32, 9), ...keys]
  expect(isBound(rotated, cookie, value, NOW)).toBe(true)
  expect(isBound(keys, cookie, makeBinding(rotated, cookie, NOW), NOW)).toBe(false)
})

const last = makeBinding(keys, cookie, NOW, true)
test.each<[name: string, cookie: string | undefined, value: string, age: number, bound: boolean, asLast: boolean]>([
  ['one before', cookie, value, 0, true, false],
  ['the last', cookie, last, 0, true, true],
  ['the last, 300 s ago', cookie, last, 300, true, true],
  ['the last, 301 s ago', cookie, last, 301, false, false],
  ['the last, without a cookie', undefined, last, 0, false, false],
  ['the last, of another browser', other, last, 0, false, false],
  ['the last, of a cookie of another shape', 'short', makeBinding(keys, 'short', NOW, true), 0, false, false],
])('of a chain of redirects, %s binds or not, and is known as the last or not', (_name, given, made, age, ...is) => {
  expect([isBound(keys, given, made, NOW + age), isBoundAsLast(keys, given, made, NOW + age)]).toEqual(is)
})

test('no purpose stands in for another', () => {
  const purposes = ['flow', 'last-flow', 'marker', 'signed-out', 'device', 'doctor'] as const
  const fits = purposes.map((made) =>
    purposes.filter((asked) => isSignature(keys, asked, 'x', makeSignature(keys, made, 'x', NOW), NOW, 60)),
  )
  expect(fits).toEqual(purposes.map((purpose) => [purpose]))
})

const marker = makeMarker(keys, NOW)
test.each<[name: string, parameter: string | undefined, age: number, state: MarkerState]>([
  ['of now', marker, 0, 'current'],
  ['60 s ago', marker, 60, 'current'],
  ['61 s ago', marker, 61, 'old'],
  ['a year ago', marker, 31_536_000, 'old'],
  ['by a process an hour ahead', marker, -3600, 'current'],
  ['by a process years ahead', marker, -NOW, 'current'],
  ['with a changed time', marker.replace(/^\d+/, String(NOW - 1)), 0, 'none'],
  ['of another site', makeMarker([Buffer.alloc(32, 2)], NOW), 0, 'none'],
  ['for another purpose', makeSignature(keys, 'doctor', '', NOW), 0, 'none'],
  ['that is missing', undefined, 0, 'none'],
])('a marker %s counts as it should', (_name, parameter, age, state) => {
  expect(checkMarker(keys, parameter, NOW + age)).toBe(state)
})

test.each([
  [cookie, true],
  [undefined, false],
  ['', false],
  [`${cookie}a`, false],
  [`${cookie.slice(1)}=`, false],
  [`${cookie}\n`, false],
])('%j is a binding cookie\u2019s value: %s', (text, isOne) => {
  expect(isBindingValue(text)).toBe(isOne)
})

test('without a key no mark is made', () => {
  expect(() => makeBinding([], cookie, NOW)).toThrow(new TypeError('makeSignature: no key'))
})

test('where the subject ends and the time begins is part of what is signed', () => {
  const [, mac = ''] = makeSignature(keys, 'signed-out', 'x1', 80).split('.')
  expect(isSignature(keys, 'signed-out', 'x1', `80.${mac}`, 80, 60)).toBe(true)
  expect(isSignature(keys, 'signed-out', 'x', `180.${mac}`, 180, 60)).toBe(false)
})

test.each<[parameter: string | undefined, beginning: number | undefined]>([
  [value, NOW],
  [`1799999999.${'A'.repeat(22)}`, 1_799_999_999],
  ['', undefined],
  [undefined, undefined],
  ['1799999999', undefined],
])('the redirect with the parameter %j began at %s', (parameter, beginning) => {
  expect(flowStart(parameter)).toBe(beginning)
})
