import fc from 'fast-check'
import { accentOf, contrast, EDGE_CONTRAST, isColor, readableColor, TEXT_CONTRAST } from '../../lib/decide/contrast'
import { colorsOf, SCHEMES } from '../../lib/web/pages/style'

const hex = (value: number) => `#${value.toString(16).padStart(6, '0')}`
const color = fc.integer({ min: 0, max: 0xffffff }).map(hex)
const schemes = Object.keys(SCHEMES) as (keyof typeof SCHEMES)[]

test.each([
  ['#000000', '#ffffff', 21],
  ['#fff', '#ffffff', 1],
  ['#767676', '#ffffff', 4.54],
  ['#777777', '#ffffff', 4.48],
  ['#0000ff', '#ffffff', 8.59],
  ['#17477a', '#f6f4f0', 8.62],
])('%s and %s have a contrast of %f', (one, other, expected) => {
  expect(contrast(one, other)).toBeCloseTo(expected, 2)
})

test.each<[text: string, isOne: boolean]>([
  ['#17477a', true],
  ['#ABC', true],
  ['#abcd', false],
  ['17477a', false],
  ['red', false],
  ['#17477', false],
  ['#17477a;--x:y', false],
  ['#17477a\n', false],
  ['x#17477a', false],
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
    const colors = colorsOf(scheme, given)
    const of = (name: string) => colors[name] ?? ''
    return pairs.filter(([name, ground, least]) => contrast(of(name), of(ground)) < least)
  })

test('whatever colour a site gives, all of every page can be read, light and dark', () => {
  fc.assert(
    fc.property(color, (given) => expect(unreadable(given)).toEqual([])),
    { numRuns: 1000, examples: [['#000000'], ['#ffffff'], ['#ffff00'], ['#757575'], ['#767676'], ['#777777']] },
  )
})

/** A colour with a shade over it, `#rrggbbaa`. */
function shaded(color: string, shade: string): string {
  const at = (text: string, index: number) => Number.parseInt(text.slice(index, index + 2), 16)
  const part = at(shade, 7) / 255
  const mixed = [1, 3, 5].map((index) => Math.round(at(color, index) * (1 - part) + at(shade, index) * part))
  return `#${mixed.map((value) => value.toString(16).padStart(2, '0')).join('')}`
}

test('the text on a button under the pointer can be read', () => {
  fc.assert(
    fc.property(color, (given) => {
      const { brand = '', hover = '', 'on-brand': onBrand = '' } = colorsOf('light', given)
      expect(contrast(shaded(brand, hover), onBrand)).toBeGreaterThanOrEqual(TEXT_CONTRAST)
    }),
    { numRuns: 1000, examples: [['#000000'], ['#ffffff'], ['#757575'], ['#777777'], ['#999999'], ['#c8102e']] },
  )
})

test('errors are red, but amber where the button is red', () => {
  const badOf = (given: string) => colorsOf('light', given)['bad']
  expect(['#c8102e', '#a33a1b', '#e30613'].map(badOf)).toEqual(Array(3).fill(SCHEMES.light.warn))
  expect(['#17477a', '#14532d', '#ffd400', '#777777'].map(badOf)).toEqual(Array(4).fill(SCHEMES.light.bad))
})

test('the button has the very colour that was given, but on a dark page a light one in place of a colour as dark as the page', () => {
  const brandOf = (given: string) => schemes.map((scheme) => colorsOf(scheme, given)['brand'])
  fc.assert(fc.property(color, (given) => expect(colorsOf('light', given)['brand']).toBe(given)))
  for (const given of ['#c8102e', '#17477a', '#14532d', '#ffd400']) expect(brandOf(given)).toEqual([given, given])
  for (const given of ['#000000', '#0a0a0a', '#001f3f']) expect(brandOf(given)).toEqual([given, SCHEMES.dark.ink])
  expect(accentOf('#FA0', ['#ffffff'], TEXT_CONTRAST).brand).toBe('#ffaa00')
})

test('a colour that stands out already stays as it is, and another is moved no further than it must be', () => {
  fc.assert(
    fc.property(color, fc.constantFrom('#ffffff', '#222120'), (given, ground) => {
      const moved = readableColor(given, [ground], TEXT_CONTRAST)
      if (contrast(given, ground) >= TEXT_CONTRAST) expect(moved).toBe(given)
      else expect(contrast(moved, ground)).toBeLessThan(TEXT_CONTRAST + 0.6)
    }),
    { examples: [['#17477a', '#ffffff']] },
  )
})

test('where even black and white have less contrast than asked for, the better of them is taken', () => {
  expect(readableColor('#808080', ['#767676'], 10)).toBe('#000000')
  expect(readableColor('#808080', ['#101010'], 21)).toBe('#ffffff')
})

test('the text on a button is white as long as it can be read, and black after that', () => {
  expect(accentOf('#767676', ['#ffffff'], TEXT_CONTRAST).onBrand).toBe('#ffffff')
  expect(accentOf('#777777', ['#ffffff'], TEXT_CONTRAST).onBrand).toBe('#000000')
})

test('a contrast that is just as asked for is enough', () => {
  expect(readableColor('#ff0000', ['#ffffff'], contrast('#ff0000', '#ffffff'))).toBe('#ff0000')
})
