import cookieSession from 'cookie-session'
import express, { type ErrorRequestHandler } from 'express'
import session from 'express-session'
import type { Sso2 } from '../../lib'
import type { Browser } from '../support/agent'
import { loggerTo } from '../support/log-lines'
import { identifyRedirects } from '../support/pausable-setup'
import { addPages, type Gates, sessionSecret, view } from '../support/setup'
import { loggedInBrowserAt, type RunningSite, startSite } from '../support/site'

/* What docs/sessions.md says of handlers that are written for plain express-session, row by row. */

const lines: string[] = []
const options = { logger: loggerTo(lines) }

function addHandlers(app: express.Express): express.Express {
  app.get('/regenerate', (req, res, next) => req.session.regenerate((error) => (error ? next(error) : res.json({}))))
  app.get('/destroy', (req, res, next) => req.session.destroy((error) => (error ? next(error) : res.json({}))))
  app.post('/log-in', express.json(), (req, res, next) => {
    const remember = (ok: boolean) => {
      req.session.cookie.maxAge = 60_000
      res.json({ ok })
    }
    req.sso2.login(req.body).then(({ ok }) => remember(ok), next)
  })
  return app
}

const ours = (sso: Sso2, gates: Gates) => addPages(addHandlers(express().use(sso)), sso, gates)
const own = (sso: Sso2, gates: Gates) => {
  const first = session({ secret: sessionSecret, resave: false, saveUninitialized: false })
  return addPages(addHandlers(express().use(first, sso.router, sso.middleware)), sso, gates)
}

let setup: RunningSite
const at = (path: string) => `${setup.url}${path}`
const script = async (browser: Browser) => (await browser.fetchJson(at('/'))).json.status
async function page(browser: Browser) {
  const visit = await browser.visit(at('/'))
  return { status: view(visit).status, redirects: identifyRedirects(visit) }
}

describe('on sso.session', () => {
  beforeAll(async () => {
    setup = await startSite({ options: { ...options, session: { cookieName: 'sessid' } }, build: ours })
  })
  afterAll(() => setup.close())
  beforeEach(() => {
    lines.length = 0
  })

  test('regenerate() keeps the login', async () => {
    const browser = await loggedInBrowserAt(setup)
    const before = browser.cookie('sessid')
    await browser.fetchJson(at('/regenerate'))
    expect(browser.cookie('sessid')).not.toBe(before)
    expect([await script(browser), await page(browser)]).toEqual(['loggedin', { status: 'loggedin', redirects: 0 }])
  })

  test('destroy() is no logout, and a line says so', async () => {
    const browser = await loggedInBrowserAt(setup)
    await browser.fetchJson(at('/destroy'))
    expect([await script(browser), await page(browser)]).toEqual(['none', { status: 'loggedin', redirects: 1 }])
    expect(lines).toEqual([expect.stringMatching(/destroy\(\) has ended a login.*req\.sso2\.logout\(\)/)])
  })
})

test('on a session of its own, regenerate() hides the login until the next page load brings it back', async () => {
  setup = await startSite({ options, build: own })
  const browser = await loggedInBrowserAt(setup)
  await browser.fetchJson(at('/regenerate'))
  const seen = [await script(browser), await page(browser), await script(browser)]
  await setup.close()
  expect(seen).toEqual(['none', { status: 'loggedin', redirects: 1 }, 'loggedin'])
})

test('cookie-session in the place of a session is refused at the first request, and the error says why', async () => {
  const cookies = cookieSession({ name: 'own', secret: sessionSecret })
  const problem: ErrorRequestHandler = (error, _req, res, _next) => void res.status(500).json({ error: String(error) })
  setup = await startSite({
    build: (sso, gates) =>
      addPages(express().use(cookies, sso.session, sso.router, sso.middleware), sso, gates).use(problem),
  })
  const { status, json } = await setup.browser().fetchJson(at('/'))
  await setup.close()
  expect([status, json.error]).toEqual([500, expect.stringMatching(/express-sso2: .*express-session.*cookie-session/)])
})
