import express5 from 'express'
import { addPages, present, useSetup } from '../support/setup'
import {
  anonymousCookies,
  ask,
  documentHeaders,
  express4,
  expresses,
  forAll,
  headOf,
  hiddenReturnTo,
  percentEncoded,
  postForm,
  returnAddressIn,
  severalApps,
} from './address-support'
import { askRaw } from './cookies-raw'
import { oddQueries, oddTargets, poison } from './odd-requests'
import { beginFlow, hearEvents, landingToken } from './session-support'

/** Every Express with every setting of its query parser, and once behind proxies that it trusts. */
const parsers: [string, unknown][] = [
  ['simple', 'simple'],
  ['extended', 'extended'],
  ['off', false],
  ['custom', (text: string) => ({ t: ['made', 'up'], r: { text } })],
]
const settings = expresses.flatMap(([name]) => parsers.map(([parser]) => `${name}, query parser ${parser}`))

const events = hearEvents()
const setup = useSetup({
  build: (sso, gates) => {
    const make = (express: typeof express5, name: string, value: unknown) => {
      const app = express()
      app.set(name, value) // before any middleware: Express 4 looks no later
      return addPages(app.use(sso), sso, gates)
    }
    const apps = [express4, express5].flatMap((express) =>
      parsers.map(([, parser]) => make(express, 'query parser', parser)),
    )
    return severalApps(
      new Map([
        ...settings.map((name, index) => [name, present(apps[index])] as const),
        ['trusting', make(express5, 'trust proxy', true)],
        ['trusting 4', make(express4, 'trust proxy', true)],
      ]),
    )
  },
})
let site: string
beforeAll(() => {
  site = setup.morning.url
})
beforeEach(async () => {
  await setup.browser().visit(`${site}/`) // of 20 who go out slowly and never come back the site would think that Identify is broken
  events.clear()
})
afterAll(events.stop)

const documentLines = Object.entries(documentHeaders).map(([name, value]) => `${name}: ${value}`)
const hostLine = () => `Host: ${new URL(site).host}`

/** Where an answer sends the browser, with the return address inside Identify; both must be the site's. */
function whereTo(location: string): URL {
  const r = returnAddressIn(setup, location)
  return new URL(r ?? location, site)
}

describe('an odd request target', () => {
  test.each(['GET', 'HEAD', 'POST', 'OPTIONS'])('[R2] of %s never leads away from the site', async (method) => {
    for (const app of [settings[0], settings[4]]) {
      const answers = await forAll(oddTargets, (target) =>
        askRaw(site, [
          `${method} ${target} HTTP/1.1`,
          hostLine(),
          `x-app: ${app}`,
          'Content-Length: 0',
          ...documentLines,
        ]),
      )
      const heads = answers.filter((answer) => answer !== '').map(headOf)
      expect(heads.length).toBeGreaterThan(oddTargets.length / 2)
      const failed = oddTargets.filter((_target, index) => /^HTTP\/1.1 5/.test(answers[index] ?? ''))
      expect(failed).toEqual([])
      const led = heads.flatMap(({ location }) => (location === undefined ? [] : [whereTo(location).origin]))
      expect(led).toEqual(led.map(() => site))
      if (method === 'GET') expect(led.length).toBeGreaterThan(10)
    }
  })

  test('[R2] of a guarded page leads to the login page and from there back to the site', async () => {
    const cookie = await anonymousCookies(setup)
    const queries = ['', '?return_to=//evil.example', '?a=\\evil.example', '?r=//evil.example#x']
    const paths = ['/account', 'http://evil.example/account', 'HTTP://evil.example:80/account']
    const guarded = paths.flatMap((path) => queries.map((query) => path + query))
    for (const target of guarded) {
      const lines = [`GET ${target} HTTP/1.1`, hostLine(), `Cookie: ${cookie}`]
      const { location } = headOf(await askRaw(site, [...lines, ...documentLines]))
      const login = new URL(present(location))
      expect([login.origin, login.pathname, [...login.searchParams.keys()]]).toEqual([site, '/login', ['return_to']])
      const returnTo = present(login.searchParams.get('return_to'))
      expect([returnTo[0], new URL(returnTo, site).origin]).toEqual(['/', site])
      const told = await askRaw(site, [...lines, 'Accept: application/json', 'Sec-Fetch-Mode: cors'])
      const { loginUrl } = JSON.parse(present(told.split('\r\n\r\n')[1]))
      expect([headOf(told).status, loginUrl]).toEqual([401, `${site}/login?return_to=%2F`])
    }
  })
})

describe('a page with an odd address', () => {
  const paths = [
    '/a|b^c`d{e}',
    '/a"b<c>',
    '/a%zz%',
    '/a?<script>alert(1)</script>',
    '/a?b=%E9%zz&&c',
    '/a?"\'`|\\^[]{}',
  ]
  paths.push('/sm%C3%B8r/%E6%96%B0', '/a//b/./c/../d', '/a?')

  test.each(expresses.map(([name]) => `${name}, query parser simple`))(
    '[R5] is redirected to as it was written, with no body, on %s',
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
})

describe('a poisoned header', () => {
  const shapeOf = (lines: string[]) => lines.map((line) => line.replace(/=[^;]*/, '='))

  test.each(poison)('[R3] %s changes no redirect, no form and no cookie', async (_name, headers) => {
    for (const app of [settings[0], settings[4], 'trusting', 'trusting 4']) {
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

  test('[R3] Host that comes twice, or not at all, leads nowhere', async () => {
    const own = hostLine()
    for (const lines of [[own, 'Host: evil.example'], ['Host: evil.example', own], ['Host: '], []]) {
      const { status, location } = headOf(await askRaw(site, ['GET /a HTTP/1.1', ...lines, ...documentLines]))
      expect(status).toBeLessThan(500)
      expect(location === undefined ? site : whereTo(location).origin).toBe(site)
    }
  })
})

describe('a line break', () => {
  const breaks = ['\r\n', '\n', '\r', '\u0000', '\u560a\u560d', '%0d%0a']
  const values = breaks.flatMap((mark) =>
    ['/a', '/a?b=', '/a#', '', '//', 'http://'].map(
      (head) => `${head}${mark}Set-Cookie: hostile=1${mark}Location: //evil.example`,
    ),
  )

  test.each<[where: string, way: (value: string) => ReturnType<typeof ask>]>([
    ['r of the landing', (value) => ask(site, { path: `/sso2/landing?t=bad&r=${value}` })],
    ['t of the landing', (value) => ask(site, { path: `/sso2/landing?t=${value}&r=/` })],
    ['return_to of the login form', (value) => ask(site, { path: `/login?return_to=${value}` })],
    ['return_to of a logout', (value) => postForm(site, '/logout', `return_to=${value}`)],
    ['a name that tries to log in', (value) => postForm(site, '/login', `username=${value}&password=a`)],
    ['the query of a page', (value) => ask(site, { path: `/a?${value}`, headers: documentHeaders })],
    ['the path of a page', (value) => ask(site, { path: `/${value}`, headers: documentHeaders })],
  ])('[R4] in %s makes no header and no error', async (_name, way) => {
    const answers = await forAll(values.map(percentEncoded), way)
    expect(answers.map(({ status }) => status).filter((status) => status >= 500)).toEqual([])
    expect(answers.flatMap(({ setCookie }) => setCookie).filter((line) => /hostile/.test(line))).toEqual([])
    const led = answers.flatMap(({ location }) => location ?? [])
    expect(led.filter((location) => whereTo(location).origin !== site || /[\r\n]/.test(location))).toEqual([])
    expect(Object.keys(Object.assign({}, ...answers.map(({ headers }) => headers)))).not.toContain('refresh')
  })

  test('[R4] sent as it is ends the request', async () => {
    const answer = await askRaw(site, ['GET /sso2/landing?t=bad&r=/a\r\nSet-Cookie: hostile=1 HTTP/1.1', hostLine()])
    expect(headOf(answer).status).toBeLessThan(500)
    expect(answer).not.toContain('hostile')
  })
})

describe.each(settings)('on %s', (app) => {
  test('[R6] a landing with odd parameters is refused without an error, and uses up nothing', async () => {
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
  })
})
