import cookieParser from 'cookie-parser'
import express, { type Express, type RequestHandler } from 'express'
import type { Sso2 } from '../../lib'
import { ada, logIn } from '../support/setup'
import { loggedInBrowserAt, type RunningSite, startSite } from '../support/site'

/* CSRF middleware of a site: our forms check where they come from, and have no token of it. */

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

let setup: RunningSite
afterEach(() => setup.close())
const at = (path: string) => `${setup.url}${path}`

test.each(middleware)('after sso, %s leaves our forms alone and protects those of the site', async (_name, make) => {
  setup = await startSite({ build: after(make()) })
  const browser = await loggedInBrowserAt(setup)
  const shown = async () => JSON.parse((await browser.visit(at('/'))).body) as unknown
  expect(await shown()).toEqual({ status: 'loggedin', user: 'account-ada' })
  expect((await browser.submit(at('/comment'), { text: 'hello' })).status).toBe(403)
  setup.emulator.clock.advance(2)
  expect((await browser.submit(at('/logout'), { return_to: '/' })).status).toBe(200)
  expect(await shown()).toEqual({ status: 'anon' })
  setup.emulator.clock.advance(2)
  await logIn(browser, setup, ada)
  expect((await browser.submit(at('/logout-all'), { return_to: '/' })).status).toBe(200)
  expect(await shown()).toEqual({ status: 'anon' })
})

test.each(middleware)('before sso, %s refuses our forms, and the platform is not asked', async (_name, make) => {
  setup = await startSite({ build: before(make()) })
  const browser = setup.browser()
  await browser.visit(at('/'))
  for (const path of ['/login', '/logout', '/logout-all']) {
    const { status, body } = await browser.submit(at(path), { ...ada, return_to: '/' })
    expect([path, status, JSON.parse(body)]).toEqual([path, 403, { refused: true }])
  }
  expect(setup.countCalls('authenticate')).toBe(0)
})
