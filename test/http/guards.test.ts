import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import express, { type Express, type NextFunction, type Request, type Response } from 'express'
import { type DenialReason, type Sso2, Sso2SetupError, Sso2UnavailableError, sso2 } from '../../lib'
import { TEXTS } from '../../lib/config/texts'
import { ask, documentHeaders } from '../support/addresses'
import type { Browser } from '../support/agent'
import { addPages, type Gates, grace } from '../support/setup'
import { loggedInBrowserAt, type RunningSite, startSite } from '../support/site'

/* Which users a guard lets in, how it answers the others, and which options it takes. */

type Allow = NonNullable<NonNullable<Parameters<Sso2['requireLogin']>[0]>['allow']>

let setup: RunningSite
afterEach(() => setup.close())

const no = () => false
const allowed: Record<string, Allow> = {
  yes: () => true,
  later: async (user, req) => user.accountId === 'account-ada' && req.path === '/later',
  no,
  'not-there': (user) => (user as { groups?: string[] }).groups?.includes('editors') as boolean,
  throws: () => JSON.parse('{'),
  'throws-nothing': () => {
    throw undefined
  },
  rejects: () => Promise.reject(new Sso2UnavailableError('roles', true, 'the table is away')),
  'no-answer': (() => 'false') as never,
}

function guardedPages(sso: Sso2, gates: Gates): Express {
  const app = express().use(sso)
  const page = (req: Request, res: Response) => void res.json({ seen: req.sso2.user?.accountId })
  for (const [name, allow] of Object.entries(allowed)) app.get(`/${name}`, sso.requireLogin({ allow }), page)
  app.get('/fresh', sso.requireLogin({ fresh: true, allow: no }), page)
  app.all('/any/no', sso.requireLogin({ allow: no }))
  app.all('/any/fresh', sso.requireLogin({ fresh: true }))
  const onDenied = (_req: Request, res: Response, reason: DenialReason) => void res.status(418).send(reason)
  app.get('/denied/no', sso.requireLogin({ allow: no, onDenied }))
  app.get('/denied/fresh', sso.requireLogin({ fresh: true, onDenied }))
  const fails = (): never => {
    throw new Error('onDenied failed')
  }
  app.get('/denied/rejects', sso.requireLogin({ onDenied: async () => fails() }))
  addPages(app, sso, gates)
  app.use((error: Error, _req: Request, res: Response, _next: NextFunction) => void res.status(500).json(error.message))
  return app
}

const json = async (browser: Browser, path: string) => {
  const { status, json } = await browser.fetchJson(`${setup.url}${path}`)
  return [status, json]
}

describe('requireLogin({ allow })', () => {
  let browser: Browser
  beforeEach(async () => {
    setup = await startSite({ build: guardedPages })
    browser = await loggedInBrowserAt(setup)
  })

  test('lets in the users that it allows, and is told user and request', async () => {
    for (const path of ['/yes', '/later']) expect(await json(browser, path)).toEqual([200, { seen: 'account-ada' }])
    const other = await loggedInBrowserAt(setup, grace)
    expect(await json(other, '/yes')).toEqual([200, { seen: 'account-grace' }])
    expect(await json(other, '/later')).toEqual([403, { error: 'not_allowed' }])
  })

  test.each(['/no', '/not-there', '/no-answer', '/fresh'])('%s: 403, as page or JSON, with no-store', async (path) => {
    expect(await json(browser, path)).toEqual([403, { error: 'not_allowed' }])
    const { status, body, headers } = await browser.visit(`${setup.url}${path}`)
    expect([status, headers['cache-control']]).toEqual([403, 'no-store'])
    expect(body).toContain(TEXTS.en.not_allowed)
  })

  test.each([
    ['/throws', /JSON/],
    ['/throws-nothing', /A hook or view failed without an error/],
    ['/rejects', /^roles: the table is away$/],
  ])('%s: its error goes to the error handler', async (path, message) => {
    expect(await json(browser, path)).toEqual([500, expect.stringMatching(message)])
  })
})

const fromArticle = (more: Record<string, string>) => ({ referer: `${setup.url}/article?a=1`, ...more })
const article = `/login?return_to=${encodeURIComponent('/article?a=1')}`
const script = { accept: '*/*', 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty', 'sec-fetch-site': 'same-origin' }
const navigation = { ...documentHeaders, 'sec-fetch-site': 'same-origin' }
const refusedBy = (path: string, headers: Record<string, string>, method = 'GET') =>
  ask(setup.url, { method, path, headers: fromArticle(headers) })
const outage = () => setup.emulator.faults.add({ operation: 'sessionstatus', kind: 'down' })

/** Who reads an answer: the headers of the request, and what every answer to it has. */
const html = expect.stringMatching(/^text\/html/)
const data = expect.stringMatching(/^application\/json/)
const readers: [who: string, method: string, headers: Record<string, string>, answer: object][] = [
  ['a form that a person sends', 'POST', navigation, { 'content-type': html, 'x-frame-options': 'DENY' }],
  ['a frame of the site', 'GET', { ...navigation, 'sec-fetch-dest': 'iframe' }, { 'x-frame-options': 'SAMEORIGIN' }],
  ['htmx', 'POST', { ...script, accept: 'text/html', 'hx-request': 'true' }, { 'content-type': data }],
  ['a frame of Turbo', 'GET', { ...script, accept: 'text/html', 'turbo-frame': 'a' }, { 'content-type': data }],
  ['a script', 'GET', script, { 'content-type': data }],
]

describe('a request that a guard refuses', () => {
  beforeEach(async () => {
    setup = await startSite({ build: guardedPages })
  })

  test.each(readers)('%s gets 401, 403 and 503 in the form that it can show', async (_who, method, headers, answer) => {
    const browser = await loggedInBrowserAt(setup)
    const cookie = { cookie: browser.cookies.map(({ name, value }) => `${name}=${value}`).join('; ') }
    const answers = [
      await refusedBy('/any/no', headers, method),
      await refusedBy('/any/no', { ...headers, ...cookie }, method),
    ]
    outage()
    answers.push(await refusedBy('/any/fresh', { ...headers, ...cookie }, method))
    expect(answers.map(({ status }) => status)).toEqual([401, 403, 503])
    for (const { headers: sent, body } of answers) {
      expect(sent).toMatchObject({ 'cache-control': 'no-store', ...answer })
      expect(body.startsWith('{')).toBe(Object.values(answer).includes(data))
    }
  })

  test('the page for a form says how to keep its text, with a link that opens the login in a new tab', async () => {
    const { status, body, headers } = await refusedBy('/any/no', navigation, 'POST')
    expect([status, headers['location']]).toEqual([401, undefined])
    expect(body).toContain(TEXTS.en.login_required_form)
    expect(body).toContain(
      `<a class="button" href="${setup.url}${article}" target="_blank" rel="noreferrer">Log in</a>`,
    )
  })

  test('htmx and Turbo are told the login page: for a link that htmx follows, with that link as the way back', async () => {
    const htmx = await refusedBy('/any/no', { ...script, 'hx-request': 'true' }, 'POST')
    expect(htmx.headers['hx-redirect']).toBe(setup.url + article)
    const boosted = await refusedBy('/any/no?a=1', { ...script, 'hx-request': 'true', 'hx-boosted': 'true' })
    expect(boosted.headers['hx-redirect']).toBe(`${setup.url}/login?return_to=${encodeURIComponent('/any/no?a=1')}`)
    const turbo = await refusedBy('/any/no', { ...script, 'turbo-frame': 'a' })
    expect([turbo.headers['turbo-location'], turbo.headers['hx-redirect']]).toEqual([setup.url + article, undefined])
  })

  test('a script returns to its page: the front page, if the browser does not say which', async () => {
    const front = `${setup.url}/login?return_to=%2F`
    for (const [referer, loginUrl] of [
      [`${setup.url}/article?a=1`, setup.url + article],
      ['', front],
      ['https://evil.example/', front],
      [
        `${setup.url}//evil.example/a`,
        `${setup.url}/login?return_to=${encodeURIComponent(`${setup.url}//evil.example/a`)}`,
      ],
    ] as const) {
      const { body } = await refusedBy('/any/no', { ...script, referer })
      expect(JSON.parse(body)).toEqual({ error: 'login_required', loginUrl })
    }
  })
})

describe('requireLogin({ onDenied })', () => {
  beforeEach(async () => {
    setup = await startSite({ build: guardedPages })
  })

  test('answers in place of the package, with the reason, and no shared cache keeps its answer', async () => {
    const browser = setup.browser()
    await browser.visit(`${setup.url}/`)
    const told = async (path: string) => {
      const { status, body, headers } = await browser.visit(`${setup.url}${path}`)
      return [status, body, headers['cache-control']]
    }
    expect(await told('/denied/no')).toEqual([418, 'login_required', 'private, no-store'])
    const { body } = await browser.fetchJson(`${setup.url}/denied/no`)
    expect(body).toBe('login_required')
    const user = await loggedInBrowserAt(setup)
    expect((await user.visit(`${setup.url}/denied/no`)).body).toBe('not_allowed')
    outage()
    expect((await user.visit(`${setup.url}/denied/fresh`)).body).toBe('unverified')
  })

  test.each(['rejects'])('an error of it goes to the error handler (%s)', async (how) => {
    expect(await json(setup.browser(), `/denied/${how}`)).toEqual([500, 'onDenied failed'])
  })
})

test('a guard with an option that is unknown or wrong is refused where it is made', async () => {
  setup = await startSite()
  const wrong = [{ alow: () => false }, { allow: ['editors'] }, { fresh: 'no' }, { onDenied: '/login' }]
  const missing = [{ alow: undefined }, { allow: undefined }, { fresh: undefined }] // a misspelt name of what the site has
  for (const options of [...wrong, ...missing])
    expect(() => setup.sso.requireLogin(options as object)).toThrow(Sso2SetupError)
  const request = new IncomingMessage(new Socket()) as object
  for (const notOptions of [() => false, null, 'editors', request])
    expect(() => setup.sso.requireLogin(notOptions as object)).toThrow('Write sso.requireLogin(). It takes')
  expect(() => (setup.sso.identify as (req: object) => void)(request)).toThrow('Write sso.identify()')
  expect(() => sso2(request)).toThrow('Write const sso = sso2(), then app.use(sso)')
  for (const notOptions of [null, 'http://localhost', []] as unknown[])
    expect(() => sso2(notOptions as object)).toThrow('The options of sso2() must be an object')
})
