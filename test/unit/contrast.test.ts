import { accentOf, contrast, EDGE_CONTRAST, isColor, TEXT_CONTRAST } from '../../lib/decide/contrast'
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

test('the button has the very colour that was given, but on a dark page a light one in place of a colour as dark as the page', () => {
  const brandOf = (given: string) => schemes.map((scheme) => colorsOf(scheme, given)['brand'])
  expect(colors.map((given) => colorsOf('light', given)['brand'])).toEqual(colors)
  for (const given of ['#c8102e', '#17477a', '#14532d', '#ffd400']) expect(brandOf(given)).toEqual([given, given])
  for (const given of ['#000000', '#0a0a0a', '#001f3f']) expect(brandOf(given)).toEqual([given, SCHEMES.dark.ink])
  expect(accentOf('#FA0', ['#ffffff'], TEXT_CONTRAST).brand).toBe('#ffaa00')
})

/** A colour with a shade over it, `#rrggbbaa`. */
function shaded(color: string, shade: string): string {
  const at = (text: string, index: number) => Number.parseInt(text.slice(index, index + 2), 16)
  const part = at(shade, 7) / 255
  const mixed = [1, 3, 5].map((index) => Math.round(at(color, index) * (1 - part) + at(shade, index) * part))
  return `#${mixed.map((value) => value.toString(16).padStart(2, '0')).join('')}`
}

test('the text on a button under the pointer can be read', () => {
  const least = (given: string) => {
    const { brand = '', hover = '', 'on-brand': onBrand = '' } = colorsOf('light', given)
    return contrast(shaded(brand, hover), onBrand)
  }
  expect(colors.filter((given) => least(given) < TEXT_CONTRAST)).toEqual([])
})

test('errors are red, but amber where the button is red', () => {
  const badOf = (given: string) => colorsOf('light', given)['bad']
  expect(['#c8102e', '#a33a1b', '#e30613'].map(badOf)).toEqual(Array(3).fill(SCHEMES.light.warn))
  expect(['#17477a', '#14532d', '#ffd400', '#777777'].map(badOf)).toEqual(Array(4).fill(SCHEMES.light.bad))
})
