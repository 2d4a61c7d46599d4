import { normalisedUsername } from '../../lib/decide/login-budgets'

test.each<[name: string, normalised: string]>([
  ['grace', 'grace'],
  ['GRACE', 'grace'],
  [' grace\t', 'grace'],
  ['gr\u00e0ce', 'grace'],
  ['gra\u0300ce', 'grace'],
  ['gr\u0101c\u0113', 'grace'],
  ['gra\u200bce', 'grace'],
  ['g\u00adrace', 'grace'],
  ['\ufeffgrace\u2060', 'grace'],
  ['grace\u{e0041}', 'grace'],
  ['gra\u115fce', 'grace'],
  ['\u3164grace\u{e0000}', 'grace'],
  ['gra\u0363ce', 'grace'],
  ['gra\ufe0fce', 'grace'],
  ['\uff27race', 'grace'],
  ['\u{1d404}ve', 'eve'],
  ['stra\u00dfe', 'strasse'],
  ['STRASSE', 'strasse'],
  ['\u017ftrasse', 'strasse'],
  ['\u0130da', 'ida'],
  ['\u0131da', 'ida'],
  ['\u03a3\u03b1\u03c2', '\u03c3\u03b1\u03c2'],
  ['ada@demo.example', 'ada@demo.example'],
  ['ada-b', 'ada-b'],
  ['\u200b', ''],
  ['s\u00f8ren', 'soren'],
  ['\u0142ars', 'lars'],
  ['\u0111an', 'dan'],
  ['\u00c6gir', 'aegir'],
  ['c\u0153ur', 'coeur'],
  ['johan4\u0001\u0001', 'johan4'],
  ['gr\u0640ace', 'grace'],
  ['\u0600grace', 'grace'],
  ['ada\u0661', 'ada1'],
  ['ada\u06f1', 'ada1'],
  ['ada\u0669', 'ada9'],
  ['\ua787om', 'tom'],
  ['stra\u1e9ee', 'strasse'],
])('[F16] the normalised user name of %j is %j', (name, normalised) => {
  expect(normalisedUsername(name)).toBe(normalised)
})

test('[F16] a normalised user name is its own', () => {
  const names = Array.from({ length: 0x3000 }, (_, code) => normalisedUsername(`a${String.fromCharCode(code)}b`))
  expect(names.filter((name) => normalisedUsername(name) !== name)).toEqual([])
})

test('names that differ in a letter differ', () => {
  expect(new Set(['grace', 'grade', 'grac', 'gracie', 'g race'].map(normalisedUsername)).size).toBe(5)
})
