import cookieParser from 'cookie-parser'
import express, { type Express, type RequestHandler } from 'express'
import type { Sso2 } from '../../lib'
import { loggerTo } from '../support/log-lines'
import { ada, addPages, type Gates, logIn, view } from '../support/setup'
import { loggedInBrowserAt, type RunningSite, startSite } from '../support/site'

/* Middleware of a site beside ours: parsers in front of `sso` that read the body, and guards against CSRF, whose token our forms do not have. */

const formidable: () => RequestHandler = require('express-formidable')

let setup: RunningSite
let lines: string[]
const start = async (...before: RequestHandler[]) => {
  lines = []
  const build = (sso: Sso2, gates: Gates): Express => addPages(express().use(...before, sso), sso, gates)
  setup = await startSite({ build, options: { logger: loggerTo(lines) } })
}
afterEach(() => setup.close())

const post = (body: object) => setup.browser().fetchJson(`${setup.url}/login`, { json: body })

test('express-formidable: a login is answered 500, and one line names the cause; a script and a form alike', async () => {
  await start(formidable())
  const browser = setup.browser()
  expect((await post(ada)).json).toEqual({ error: 'bad_request' })
  const { status } = await browser.submit(`${setup.url}/login`, ada)
  expect(status).toBe(500)
  const told = lines.filter((line) => /A form could not be read/.test(line))
  expect(told).toHaveLength(1)
  expect(setup.countCalls('authenticate')).toBe(0)
  expect(lines.join()).not.toContain(ada.password)
})

test.each([
  ['express.json', express.json()],
  ['express.urlencoded, which leaves JSON alone', express.urlencoded()],
  ['express.raw', express.raw({ type: () => true })],
])('%s in front is no such fault: form and JSON log in', async (_name, parser) => {
  await start(parser)
  expect((await post({})).json).toEqual({ error: 'invalid_request' })
  expect(view(await logIn(setup.browser(), setup, ada))).toMatchObject({ status: 'loggedin', username: 'ada' })
  const browser = setup.browser()
  await browser.visit(`${setup.url}/`)
  expect((await browser.fetchJson(`${setup.url}/login`, { json: ada })).status).toBe(200)
  expect(lines).toEqual([])
})

const csurf = require('csurf') as () => RequestHandler
const { doubleCsrf } = require('csrf-csrf') as {
  doubleCsrf(options: object): { doubleCsrfProtection: RequestHandler }
}
const double = () =>
  doubleCsrf({
    getSecret: () => 'a-secret-of-the-site-itself',
    getSessionIdentifier: () => 'one-visitor',
    cookieName: 'csrf',
    cookieOptions: { secure: false },
  }).doubleCsrfProtection

const middleware: [string, () => RequestHandler][] = [
  ['csurf', csurf],
  ['csrf-csrf', double],
]

function withPages(app: Express): Express {
  app.get('/', (req, res) => void res.json({ status: req.sso2.status, user: req.sso2.user?.accountId }))
  app.post('/comment', (_req, res) => void res.json({ saved: true }))
  // as Express' own handler takes the status: lusca sets it on the response
  const answer: express.ErrorRequestHandler = (error, _req, res, _next) =>
    void res.status(error.status ?? (res.statusCode < 400 ? 500 : res.statusCode)).json({ refused: true })
  return app.use(answer)
}

const after = (csrf: RequestHandler) => (sso: Sso2) =>
  withPages(express().use(cookieParser()).use(sso).use(express.urlencoded()).use(csrf))
const before = (csrf: RequestHandler) => (sso: Sso2) =>
  withPages(
    express().use(cookieParser()).use(sso.session).use(express.urlencoded()).use(csrf, sso.router, sso.middleware),
  )

test.each(middleware)('after sso, %s leaves our forms alone and protects those of the site', async (_name, make) => {
  setup = await startSite({ build: after(make()) })
  const browser = await loggedInBrowserAt(setup)
  const shown = async () => JSON.parse((await browser.visit(`${setup.url}/`)).body) as unknown
  expect(await shown()).toEqual({ status: 'loggedin', user: 'account-ada' })
  expect((await browser.submit(`${setup.url}/comment`, { text: 'hello' })).status).toBe(403)
  setup.emulator.clock.advance(2)
  expect((await browser.submit(`${setup.url}/logout`, { return_to: '/' })).status).toBe(200)
  expect(await shown()).toEqual({ status: 'anon' })
  setup.emulator.clock.advance(2)
  await logIn(browser, setup, ada)
  expect((await browser.submit(`${setup.url}/logout-all`, { return_to: '/' })).status).toBe(200)
  expect(await shown()).toEqual({ status: 'anon' })
})

test.each(middleware)('before sso, %s refuses our forms, and the platform is not asked', async (_name, make) => {
  setup = await startSite({ build: before(make()) })
  const browser = setup.browser()
  await browser.visit(`${setup.url}/`)
  for (const path of ['/login', '/logout', '/logout-all']) {
    const { status, body } = await browser.submit(setup.url + path, { ...ada, return_to: '/' })
    expect([path, status, JSON.parse(body)]).toEqual([path, 403, { refused: true }])
  }
  expect(setup.countCalls('authenticate')).toBe(0)
})
