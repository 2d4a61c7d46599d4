import express5 from 'express'
import {
  ask,
  documentHeaders,
  express4,
  forAll,
  hiddenReturnTo,
  percentEncoded,
  postForm,
  returnAddressIn,
  severalApps,
} from '../support/addresses'
import { beginFlow, landingToken } from '../support/landing'
import { askRaw } from '../support/raw'
import { addPages, present, useSetup } from '../support/setup'

/** Request targets that may be misread as the address of another site. */
const oddTargets: readonly string[] = [
  '//evil.example/a?b=c',
  '/\\evil.example',
  '/%2Fevil.example',
  '/.//evil.example/',
  '/a/..//evil.example/',
  'http://evil.example/a?b=c',
  'javascript:alert(1)',
  '*',
  '/\t/evil.example',
  '/a\u00e9\u00ff',
  '/a?sso2=1.AAAAAAAAAAAAAAAAAAAAAA&r=//evil.example',
  `/${'a'.repeat(3000)}`,
  'http://evil.example/login?return_to=/a',
  '//evil.example/login?return_to=/a',
  'http://evil.example/sso2/landing?t=a&r=http://evil.example/',
]

/** Headers that claim another host. */
const poison: [string, Record<string, string>][] = [
  ['Host', { host: 'evil.example' }],
  ['X-Forwarded-Host', { 'x-forwarded-host': 'evil.example' }],
  ['X-Forwarded-Proto', { 'x-forwarded-proto': 'https', 'x-forwarded-ssl': 'on' }],
  ['Forwarded', { forwarded: 'for=203.0.113.9;host=evil.example;proto=https' }],
  ['X-Original-URL', { 'x-original-url': '//evil.example/', 'x-rewrite-url': 'http://evil.example/' }],
]

/** Queries of the landing with the status each gets; `TOKEN` stands for a good token. */
const oddQueries: [string, number][] = [
  ['t', 303],
  ['t[]=TOKEN&r=/', 400],
  ['__proto__[t]=TOKEN&r=/', 400],
  ['t=TOKEN&t=TOKEN&r=/', 400],
  ['t=TOKEN&%74=TOKEN&r=/', 400],
  ['t=TOKEN&r=/&r=//evil.example', 400],
  ['t=TOKEN&R=/', 303],
]

/** Express 4 and 5 with their own query parsers, with one of the site, and behind proxies that they trust. */
const made: [name: string, express: typeof express5, setting: string, value: unknown][] = [
  ['Express 4', express4, 'query parser', 'extended'],
  ['Express 5', express5, 'query parser', 'simple'],
  ['Express 5 with a query parser of the site', express5, 'query parser', () => ({ t: ['made', 'up'], r: { a: 'b' } })],
  ['Express 5 that trusts proxies', express5, 'trust proxy', true],
]

const setup = useSetup({
  build: (sso, gates) => {
    const make = (express: typeof express5, setting: string, value: unknown) => {
      const app = express()
      app.set(setting, value) // before any middleware: Express 4 looks no later
      return addPages(app.use(sso), sso, gates)
    }
    return severalApps(new Map(made.map(([name, ...how]) => [name, make(...how)] as const)))
  },
})
let site: string
beforeAll(() => {
  site = setup.morning.url
})
// of 20 who go out slowly and never come back the site would think that Identify is broken
beforeEach(() => setup.browser().visit(`${site}/`))

const documentLines = Object.entries(documentHeaders).map(([name, value]) => `${name}: ${value}`)
const hostLine = () => `Host: ${new URL(site).host}`

/** Where an answer sends the browser, with the return address inside Identify; both must be the site's. */
function whereTo(location: string): URL {
  const r = returnAddressIn(setup, location)
  return new URL(r ?? location, site)
}

test.each(['GET', 'POST'])('[R2] an odd request target of %s never leads away from the site', async (method) => {
  for (const app of ['Express 4', 'Express 5']) {
    const answers = await forAll(oddTargets, (target) =>
      askRaw(site, [
        `${method} ${target} HTTP/1.1`,
        hostLine(),
        `x-app: ${app}`,
        'Content-Length: 0',
        ...documentLines,
      ]),
    )
    const heads = answers.filter((answer) => answer !== '').map((answer) => present(answer.split('\r\n\r\n')[0]))
    expect(heads.length).toBeGreaterThan(oddTargets.length / 2)
    const failed = oddTargets.filter((_target, index) => /^HTTP\/1.1 5/.test(answers[index] ?? ''))
    expect(failed).toEqual([])
    const locations = heads.flatMap((head) => /^location: ?(.*)$/im.exec(head)?.[1] ?? [])
    const led = locations.map((location) => whereTo(location).origin)
    expect(led).toEqual(led.map(() => site))
    if (method === 'GET') expect(led.length).toBeGreaterThan(7)
  }
})

const paths = ['/a|b^c`d{e}', '/a"b<c>%zz%', '/a?<script>alert(1)</script>', '/a?b=%E9%zz&&c', '/a?"\'`|\\^[]{}']

test.each(['Express 4', 'Express 5'])(
  '[R5] a page with an odd address is redirected to as it was written, with no body, on %s',
  async (app) => {
    for (const path of paths) {
      const start = await ask(site, { path, headers: documentHeaders, app })
      expect([start.status, start.body, start.headers['content-type']]).toEqual([302, '', undefined])
      const r = present(returnAddressIn(setup, start.location))
      expect(r.replace(/[?&]sso2=[\w.-]+$/, '')).toBe(site + path)
      const cookie = present(start.setCookie.find((line) => line.startsWith('sso2.b='))?.split(';')[0])
      const landing = `/sso2/landing?t=bad&r=${encodeURIComponent(r)}`
      const landed = await ask(site, { path: landing, headers: { ...documentHeaders, cookie }, app })
      expect([landed.status, landed.body, landed.headers['content-type']]).toEqual([303, '', undefined])
      expect(landed.location).toBe(site + path)
    }
  },
)

const shapeOf = (lines: string[]) => lines.map((line) => line.replace(/=[^;]*/, '='))

test.each(poison)('[R3] the poisoned header %s changes no redirect, no form and no cookie', async (_name, headers) => {
  for (const [app] of made) {
    const start = (more: Record<string, string>) =>
      ask(site, { path: '/a?b=c', headers: { ...documentHeaders, ...more }, app })
    const [plain, poisoned] = [await start({}), await start(headers)]
    const r = (location: string | undefined) => returnAddressIn(setup, location)?.replace(/sso2=.*/, 'sso2=')
    expect(r(poisoned.location)).toBe(`${site}/a?b=c&sso2=`)
    expect(r(poisoned.location)).toBe(r(plain.location))
    expect(shapeOf(poisoned.setCookie)).toEqual(shapeOf(plain.setCookie))
    expect(poisoned.setCookie.join()).not.toMatch(/domain=|secure|evil\./i)
    const form = await ask(site, { path: '/login?return_to=/b', headers: { ...headers }, app })
    expect(hiddenReturnTo(form.body)).toBe(`${site}/b`)
    expect(form.body).toContain('<form method="post">') // sent to the address of the page, whatever the header says
    expect(form.body + JSON.stringify(form.headers)).not.toContain('evil.')
    const landed = await ask(site, { path: '/sso2/landing?t=bad&r=/b', headers, app })
    expect(landed.location?.replace(/\?.*/, '')).toBe(`${site}/b`)
    const out = await postForm(site, '/logout', 'return_to=/b', { headers, app })
    expect(r(out.location)).toBe(`${site}/b?sso2=`)
  }
})

const breaks = ['\r\n', '\n', '\r', '\u0000', '\u560a\u560d', '%0d%0a']
const values = breaks.flatMap((mark) =>
  ['/a', '/a?b=', '/a#', '', '//', 'http://'].map(
    (head) => `${head}${mark}Set-Cookie: hostile=1${mark}Location: //evil.example`,
  ),
)

test.each<[where: string, way: (value: string) => ReturnType<typeof ask>]>([
  ['r of the landing', (value) => ask(site, { path: `/sso2/landing?t=bad&r=${value}` })],
  ['return_to of a logout', (value) => postForm(site, '/logout', `return_to=${value}`)],
  ['the query of a page', (value) => ask(site, { path: `/a?${value}`, headers: documentHeaders })],
])('[R4] a line break in %s makes no header and no error', async (_name, way) => {
  const answers = await forAll(values.map(percentEncoded), way)
  expect(answers.map(({ status }) => status).filter((status) => status >= 500)).toEqual([])
  expect(answers.flatMap(({ setCookie }) => setCookie).filter((line) => /hostile/.test(line))).toEqual([])
  const led = answers.flatMap(({ location }) => location ?? [])
  expect(led.filter((location) => whereTo(location).origin !== site || /[\r\n]/.test(location))).toEqual([])
  expect(Object.keys(Object.assign({}, ...answers.map(({ headers }) => headers)))).not.toContain('refresh')
})

test.each(made)(
  '[R6] on %s a landing with odd parameters is refused without an error, and uses up nothing',
  async (app) => {
    const { cookie, r } = await beginFlow(setup)
    const token = landingToken(setup, { sid: `s-${app}` })
    const headers = { ...documentHeaders, cookie }
    const land = (query: string) =>
      ask(site, { path: `/sso2/landing?${query.replaceAll('TOKEN', token)}`, headers, app })
    const keys = new Set(await setup.keys())
    for (const [query, status] of oddQueries) {
      const answer = await land(query)
      expect([query, answer.status]).toEqual([query, status])
      expect(answer.location === undefined ? site : whereTo(answer.location).origin).toBe(site)
      expect(answer.setCookie.join()).not.toContain('sso2.sid')
    }
    expect((await setup.keys()).filter((key) => !keys.has(key))).toEqual([])
    expect((await land(`t=TOKEN&r=${encodeURIComponent(r)}&other=1`)).setCookie.join()).toContain('sso2.sid')
  },
)
