import { isNonNegativeInteger, isObject } from '../../lib/protocol/json'

test.each<[value: unknown, isOne: boolean]>([
  [{}, true],
  [{ a: 1 }, true],
  [Object.create(null), true],
  [null, false],
  [[], false],
  ['{}', false],
  [undefined, false],
])('%j is an object of JSON: %s', (value, isOne) => {
  expect(isObject(value)).toBe(isOne)
})

test.each<[value: unknown, isOne: boolean]>([
  [0, true],
  [Number.MAX_SAFE_INTEGER, true],
  [-1, false],
  [0.5, false],
  [Number.MAX_SAFE_INTEGER + 1, false],
  [Number.NaN, false],
  ['1', false],
  [null, false],
])('%j is a whole number: %s', (value, isOne) => {
  expect(isNonNegativeInteger(value)).toBe(isOne)
})
