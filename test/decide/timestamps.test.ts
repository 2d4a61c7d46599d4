import { ageOf, isNear, isRevokedSince, isYoungerThan } from '../../lib/decide/timestamps'
import { NOW } from './samples'

const never = Number.POSITIVE_INFINITY
test.each<[moment: number | undefined, age: number, isYounger: boolean, isNearby: boolean]>([
  [NOW - 360, 360, false, false],
  [NOW - 10, 10, false, false],
  [NOW - 9, 9, true, true],
  [NOW, 0, true, true],
  [NOW + 9, 0, true, true],
  [NOW + 10, 0, true, false],
  [NOW + 60, 0, true, false], // clocks of good machines differ by less
  [NOW + 61, never, false, false],
  [NOW + 3600, never, false, false],
  [undefined, never, false, false],
])('a mark of the moment %s is %s s old, younger than 10 s: %s, and less than 10 s away: %s', (moment, ...told) => {
  expect([ageOf(moment, NOW), isYoungerThan(moment, NOW, 10), isNear(moment, NOW, 10)]).toEqual(told)
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
