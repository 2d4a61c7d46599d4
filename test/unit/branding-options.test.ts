import { readFileSync } from 'node:fs'
import path from 'node:path'
import { LANGUAGES, TEXTS } from '../../lib/config/texts'
import { EN, type TextCode } from '../../lib/config/texts/en'
import { contrast, EDGE_CONTRAST, TEXT_CONTRAST } from '../../lib/decide/contrast'
import { colorsOf, SCHEMES } from '../../lib/web/pages/style'
import { errorOf, make, optionsOf, required } from '../support/configuration'

/* Options of the built-in pages' look and language, of the site's own views, and of a login page of its own. */

/** Options that are refused, each once. No message holds what was given. */
function refused(options: object, environment?: NodeJS.ProcessEnv): string[] {
  expect(errorOf({ ...required, ...options }, environment).message).not.toContain('VALUE')
  return optionsOf(options, environment)
}

const places = ['/logo.svg', '/a/b?v=3#mark', 'https://cdn.example:8443/logo.svg?v=3']
/** No path from the root, another host, a scheme that runs, no https, a user, a host that changes the policy of the page, too long. */
const noPlaces = [
  ...['VALUE/logo.svg', '//VALUE.example/logo.svg', '/\\VALUE.example', '/VALUE\nlogo.svg'],
  ...['JavaScript:VALUE//https://news.example/', 'http://VALUE.example/logo.svg', 'https://user:VALUE@cdn.example/'],
  ...["https://cdn.example;script-src 'unsafe-inline';/VALUE", `/${'VALUE'.repeat(500)}`],
]
const placeOptions: [option: string, options: (place: unknown) => object][] = [
  ['brand.logoUrl', (logoUrl) => ({ brand: { logoUrl } })],
  ['brand.stylesheetUrl', (stylesheetUrl) => ({ brand: { stylesheetUrl } })],
  ['links.forgotPassword', (forgotPassword) => ({ links: { forgotPassword } })],
]

test.each(placeOptions)(
  '[R13] %s is a path or an https: address, and nothing that does something else',
  (option, of) => {
    for (const place of places) expect(() => make(of(place))).not.toThrow()
    for (const place of noPlaces) expect([place, refused(of(place))]).toEqual([place, [option]])
    expect(() => make(of('http://localhost:3000/logo.svg'))).not.toThrow()
    expect(
      refused({ ...of('http://localhost:3000/logo.svg'), redis: 'redis://r' }, { NODE_ENV: 'production' }),
    ).toEqual([option])
  },
)

test.each<[options: object, places: string[]]>([
  [{ brand: { name: 'The\nVALUE' } }, ['brand.name']],
  [{ brand: { color: '#123456;VALUE' } }, ['brand.color']],
  [{ links: { signUp: '/VALUE' } }, ['links.signUp']],
  [{ language: 'no' }, ['language']],
  [{ texts: { login_title: 'Hello', toString: 'VALUE' } }, ['texts.toString']],
  [{ views: { login: () => '' }, contentSecurityPolicy: "default-src 'self'\nVALUE: x" }, ['contentSecurityPolicy']],
])('%p is refused at its place', (options, names) => {
  expect(refused(options)).toEqual(names)
})

describe('texts', () => {
  const codes = Object.keys(EN) as TextCode[]
  const holes = (text: string) => (text.match(/\{\w+\}/g) ?? []).sort()

  test.each(LANGUAGES)('in %s: every code, filled in at the same places, and nothing left in English', (language) => {
    const texts = TEXTS[language]
    expect(Object.keys(texts)).toEqual(codes)
    for (const code of codes) {
      expect([code, holes(texts[code])]).toEqual([code, holes(EN[code])])
      expect(texts[code]).toMatch(/^\S(.*\S)?$/)
      expect(texts[code]).not.toMatch(/ {2}|['"]/)
    }
    const same = codes.filter((code) => texts[code] === EN[code])
    expect(same).toEqual(language === 'en' ? codes : [])
  })

  test('stand in docs/login-pages.md, all of them and in these words', () => {
    const page = readFileSync(path.join(__dirname, '..', '..', 'docs', 'login-pages.md'), 'utf8')
    const rows = page.slice(page.indexOf('### All texts')).matchAll(/^\| `(\w+)` +\| (.*?) +\|/gm)
    expect(Object.fromEntries([...rows].map(([, code, text]) => [code, text]))).toEqual(EN)
  })
})

describe('[F11] routes.login as an address', () => {
  const own = 'https://news.example/sign-in'

  test.each<[options: object, loginPage: string | undefined, route: string | false]>([
    [{}, 'https://news.example/login', '/login'],
    [{ routes: { login: false } }, undefined, false],
    [{ routes: { login: own } }, own, false],
    [{ routes: { login: 'HTTPS://NEWS.example:443/sign-in' } }, own, false],
    [{ siteUrl: 'https://news.example/paper' }, 'https://news.example/paper/login', '/login'],
    [
      { routes: { login: 'https://id.example/login' }, trustedReturnOrigins: ['https://id.example'] },
      'https://id.example/login',
      false,
    ],
  ])('%p leads to %s', (options, loginPage, login) => {
    const config = make(options)
    expect([config.loginPage, config.routes.login]).toEqual([loginPage, login])
  })

  test.each([
    ...['https://VALUE.example/', 'https://news.example@VALUE.example/', '//VALUE.example', '/\\VALUE.example'],
    ...[
      'https://news.example:8443/VALUE',
      '/VALUE?x',
      'javascript:VALUE//news.example',
      'https://news.example/?sso2=VALUE',
    ],
  ])('%p is refused', (login) => {
    expect(refused({ routes: { login } })).toEqual(['routes.login'])
  })

  test('only the login page may be one', () => {
    for (const name of ['landing', 'logout', 'logoutAll'])
      expect(refused({ routes: { [name]: own } })).toEqual([`routes.${name}`])
  })
})

const hex = (value: number) => `#${value.toString(16).padStart(6, '0')}`
/** Colours from all over, and those at the edges. */
const all = Array.from({ length: 300 }, (_, index) => hex((index * 7_919_123) % 0x1000000))
const colors = ['#000000', '#ffffff', '#ffff00', '#757575', '#767676', '#777777', ...all]
const schemes = Object.keys(SCHEMES) as (keyof typeof SCHEMES)[]

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
