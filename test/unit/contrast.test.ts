import { contrast, EDGE_CONTRAST, isColor, TEXT_CONTRAST } from '../../lib/decide/contrast'
import { colorsOf, SCHEMES } from '../../lib/web/pages/style'

const hex = (value: number) => `#${value.toString(16).padStart(6, '0')}`
/** Colours from all over, and those at the edges. */
const all = Array.from({ length: 300 }, (_, index) => hex((index * 7_919_123) % 0x1000000))
const colors = ['#000000', '#ffffff', '#ffff00', '#757575', '#767676', '#777777', ...all]
const schemes = Object.keys(SCHEMES) as (keyof typeof SCHEMES)[]

test.each([
  ['#000000', '#ffffff', 21],
  ['#fff', '#ffffff', 1],
  ['#777777', '#ffffff', 4.48],
  ['#17477a', '#f6f4f0', 8.62],
])('%s and %s have a contrast of %f', (one, other, expected) => {
  expect(contrast(one, other)).toBeCloseTo(expected, 2)
})

test.each<[text: string, isOne: boolean]>([
  ['#17477a', true],
  ['#ABC', true],
  ['17477a', false],
  ['red', false],
  ['#17477a;--x:y', false],
  ['#17477a\n', false],
  ['', false],
])('%j as a colour: %p', (text, isOne) => {
  expect(isColor(text)).toBe(isOne)
})

/** Which colour stands on which, and how much the two must differ. */
const pairs: [name: string, ground: string, least: number][] = [
  ['on-brand', 'brand', TEXT_CONTRAST],
  ['link', 'card', TEXT_CONTRAST],
  ['link', 'paper', TEXT_CONTRAST],
  ['brand-edge', 'card', EDGE_CONTRAST],
  ['brand-edge', 'paper', EDGE_CONTRAST],
  ['ink', 'card', TEXT_CONTRAST],
  ['ink', 'paper', TEXT_CONTRAST],
  ['muted', 'card', TEXT_CONTRAST],
  ['muted', 'paper', TEXT_CONTRAST],
  ['bad', 'bad-paper', TEXT_CONTRAST],
  ['warn', 'warn-paper', TEXT_CONTRAST],
  ['line', 'card', EDGE_CONTRAST],
]

/** The pairs of a scheme that cannot be read. */
const unreadable = (given: string) =>
  schemes.flatMap((scheme) => {
    const used = colorsOf(scheme, given)
    const of = (name: string) => used[name] ?? ''
    return pairs.filter(([name, ground, least]) => contrast(of(name), of(ground)) < least)
  })

test('whatever colour a site gives, all of every page can be read, light and dark', () => {
  expect(colors.filter((given) => unreadable(given).length > 0)).toEqual([])
})
