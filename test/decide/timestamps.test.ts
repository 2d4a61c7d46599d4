import { ageOf, isNear, isRevokedSince, isYoungerThan } from '../../lib/decide/timestamps'
import { NOW } from './samples'

test.each<[moment: number | undefined, age: number]>([
  [NOW - 360, 360],
  [NOW, 0],
  [NOW + 60, 0], // clocks of good machines differ by less
  [NOW + 61, Number.POSITIVE_INFINITY],
  [NOW + 3600, Number.POSITIVE_INFINITY],
  [undefined, Number.POSITIVE_INFINITY],
])('a mark of the moment %s is %s s old', (moment, age) => {
  expect(ageOf(moment, NOW)).toBe(age)
})

test.each<[moment: number | undefined, young: boolean]>([
  [NOW - 9, true],
  [NOW - 10, false],
  [NOW + 60, true],
  [NOW + 61, false],
  [undefined, false],
])('a mark of the moment %s is younger than 10 s: %s', (moment, young) => {
  expect(isYoungerThan(moment, NOW, 10)).toBe(young)
})

test.each<[moment: number | undefined, near: boolean]>([
  [NOW - 9, true],
  [NOW - 10, false],
  [NOW + 9, true],
  [NOW + 10, false],
  [undefined, false],
])('a mark of the moment %s is less than 10 s away: %s', (moment, near) => {
  expect(isNear(moment, NOW, 10)).toBe(near)
})

/* Both times in milliseconds, up to the moment in which the login was added to its index. */

test.each<[what: string, ageMs: number | null, elapsedMs: number, isRevoked: boolean]>([
  ['no logout', null, 60_000, false],
  ['a logout long before the login', 86_000_000, 3000, false],
  ['a logout before the login', 3010, 3000, false],
  ['a logout as the login began', 3000, 3000, true],
  ['a logout during the login', 1500, 3000, true],
  ['a logout just now', 0, 3000, true],
  ['within what two corrected clocks may differ by', 3003.9, 3000, true],
  ['a login of no time, within what is rounded', 1, 0, true],
  ['a login of no time, after that', 1.1, 0, false],
  ['the clock was set back by less than a minute since', -59_999, 0, true],
  ['the clock was set back by a minute since', -60_000, 0, true],
  ['the clock was set back by more: a timestamp in the future is ignored', -60_001, 60_000, false],
])('%s', (_what, ageMs, elapsedMs, isRevoked) => {
  expect(isRevokedSince(ageMs, elapsedMs)).toBe(isRevoked)
})
