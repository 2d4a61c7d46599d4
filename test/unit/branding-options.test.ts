import { readFileSync } from 'node:fs'
import path from 'node:path'
import { LANGUAGES, TEXTS } from '../../lib/config/texts'
import { EN, type TextCode } from '../../lib/config/texts/en'
import { errorOf, make, optionsOf, required } from '../support/configuration'

/* Options of the built-in pages' look and language, of the site's own views, and of a login page of its own. */

/** Options that are refused, each once. No message holds what was given. */
function refused(options: object, environment?: NodeJS.ProcessEnv): string[] {
  expect(errorOf({ ...required, ...options }, environment).message).not.toContain('VALUE')
  return optionsOf(options, environment)
}

const places = ['/logo.svg', '/a/b?v=3#mark', 'https://cdn.example:8443/logo.svg?v=3']
const noPlaces: Record<string, unknown[]> = {
  'no text': [42],
  'no path from the root': ['', 'VALUE/logo.svg'],
  'another host': ['//VALUE.example/logo.svg', '/\\VALUE.example'],
  'a character that a path must encode': ['/VALUE\nlogo.svg', '/VALUE logo.svg', '/VALUE"logo'],
  'a scheme that runs or reads': ['JavaScript:VALUE//https://news.example/', 'data:image/svg+xml,VALUE'],
  'no https': ['http://VALUE.example/logo.svg'],
  'an address without a host': ['https:VALUE.example', 'https://'],
  'a user': ['https://user:VALUE@cdn.example/'],
  'a host that changes the policy of the page': [
    "https://cdn.example;script-src 'unsafe-inline';/VALUE",
    'https://*.VALUE.example/',
  ],
  'too long': [`/${'VALUE'.repeat(500)}`],
}
const placeOptions: [option: string, options: (place: unknown) => object][] = [
  ['brand.logoUrl', (logoUrl) => ({ brand: { logoUrl } })],
  ['brand.logoDarkUrl', (logoDarkUrl) => ({ brand: { logoDarkUrl } })],
  ['brand.stylesheetUrl', (stylesheetUrl) => ({ brand: { stylesheetUrl } })],
  ['links.forgotPassword', (forgotPassword) => ({ links: { forgotPassword } })],
  ['links.createAccount', (createAccount) => ({ links: { createAccount } })],
  ['links.help', (help) => ({ links: { help } })],
]

test.each(placeOptions)(
  '[R13] %s is a path or an https: address, and nothing that does something else',
  (option, of) => {
    for (const place of places) expect(() => make(of(place))).not.toThrow()
    for (const place of Object.values(noPlaces).flat()) expect([place, refused(of(place))]).toEqual([place, [option]])
    expect(() => make(of('http://localhost:3000/logo.svg'))).not.toThrow()
    expect(
      refused({ ...of('http://localhost:3000/logo.svg'), redis: 'redis://r' }, { NODE_ENV: 'production' }),
    ).toEqual([option])
  },
)

test.each<[options: object, places: string[]]>([
  [{ brand: 'VALUE' }, ['brand']],
  [{ brand: { name: 'The\nVALUE' } }, ['brand.name']],
  [{ brand: { name: 'x'.repeat(101) } }, ['brand.name']],
  [{ brand: { color: 'red' } }, ['brand.color']],
  [{ brand: { color: '#123456;VALUE' } }, ['brand.color']],
  [{ links: { signUp: '/VALUE' } }, ['links.signUp']],
  [{ language: 'no' }, ['language']],
  [{ loginName: 'phone' }, ['loginName']],
  [{ texts: { login_title: 'Hello', toString: 'VALUE' } }, ['texts.toString']],
  [{ contentSecurityPolicy: true }, ['contentSecurityPolicy']],
  [{ contentSecurityPolicy: "default-src 'self'\nVALUE: x" }, ['contentSecurityPolicy']],
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

  test('of the site replace single ones of its language, and the others stay', () => {
    const { texts } = make({ language: 'sv', texts: { login_title: 'Välkommen' } })
    expect(texts).toEqual({ ...TEXTS.sv, login_title: 'Välkommen' })
    expect(TEXTS.sv.login_title).toBe('Logga in')
  })
})

describe('[F11] routes.login as an address', () => {
  const own = 'https://news.example/sign-in'

  test.each<[options: object, loginPage: string | undefined, route: string | false]>([
    [{}, 'https://news.example/login', '/login'],
    [{ routes: { login: false } }, undefined, false],
    [{ routes: { login: own } }, own, false],
    [{ routes: { login: 'HTTPS://NEWS.example:443/sign-in' } }, own, false],
    [
      { routes: { login: 'https://zażółć.example/ó' }, siteUrl: 'https://xn--za-6ja4f8n1l.EXAMPLE' },
      'https://xn--za-6ja4f8n1l.example/%C3%B3',
      false,
    ],
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

  const otherHosts = [
    'https://VALUE.example/',
    'https://news.example@VALUE.example/',
    '//VALUE.example',
    '/\\VALUE.example',
  ]
  const otherOrigins = ['https://news.example:8443/VALUE', 'http://news.example/VALUE']
  const noAddresses = ['/VALUE?x', 'VALUE', 'javascript:VALUE//news.example', true]
  const ownParameters = ['return_to=/VALUE', 'sso2=VALUE'].map((query) => `https://news.example/?${query}`)
  test.each([...otherHosts, ...otherOrigins, ...noAddresses, ...ownParameters])('%p is refused', (login) => {
    expect(refused({ routes: { login } })).toEqual(['routes.login'])
  })

  test('only the login page may be one', () => {
    for (const name of ['landing', 'logout', 'logoutAll'])
      expect(refused({ routes: { [name]: own } })).toEqual([`routes.${name}`])
  })
})
