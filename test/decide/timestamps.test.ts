import { ageOf, isYoungerThan } from '../../lib/decide/timestamps'
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
