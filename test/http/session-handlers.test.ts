import { inspect } from 'node:util'
import cookieSession from 'cookie-session'
import express, { type ErrorRequestHandler, type Express, type Request, type Response } from 'express'
import session from 'express-session'
import type { Sso2 } from '../../lib'
import type { Browser } from '../support/agent'
import { loggerTo } from '../support/log-lines'
import { identifyRedirects } from '../support/pausable-setup'
import { addPages, type Gates, grace, present, sessionSecret, view } from '../support/setup'
import { loggedInBrowserAt, type RunningSite, startSite } from '../support/site'

/* What docs/sessions.md says of handlers that are written for plain express-session, row by row. */

const lines: string[] = []
const options = { logger: loggerTo(lines) }

function addHandlers(app: express.Express): express.Express {
  app.get('/regenerate', (req, res, next) => req.session.regenerate((error) => (error ? next(error) : res.json({}))))
  app.get('/inspect', (req, res) => void res.send(inspect(req, { depth: 12 })))
  app.get('/destroy-and-log-out', (req, res, next) => {
    req.session.destroy(() => void req.sso2.logoutAll().then((result) => res.json(result), next))
  })
  app.get('/set-to-null', (req, res) => {
    Object.assign(req, { session: null })
    res.json({ session: req.session })
  })
  app.get('/destroy', (req, res, next) => req.session.destroy((error) => (error ? next(error) : res.json({}))))
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
  test.each(['regenerate', 'destroy'])('%s() is no logout, and a line says so', async (call) => {
    const browser = await loggedInBrowserAt(setup)
    const before = browser.cookie('sessid')
    await browser.fetchJson(at(`/${call}`))
    expect([await script(browser), await page(browser)]).toEqual(['none', { status: 'loggedin', redirects: 1 }])
    expect(browser.cookie('sessid')).not.toBe(before)
    expect(lines).toContainEqual(expect.stringMatching(/destroy\(\) ended a login.*req\.sso2\.logout\(\)/))
  })
  test('destroy(), then a logout of all → the SSO system ends all sessions of the account, and so does the site', async () => {
    const [one, two] = [await loggedInBrowserAt(setup), await loggedInBrowserAt(setup)]
    expect((await one.fetchJson(at('/destroy-and-log-out'))).json).toBe('confirmed')
    expect([(await page(one)).status, (await page(two)).status]).toEqual(['anon', 'anon'])
  })
  test('a printed request shows no key', async () => {
    const { body } = await (await loggedInBrowserAt(setup)).fetchJson(at('/inspect'))
    expect(body).not.toMatch(/<Buffer( [0-9a-f]{2}){32}>/)
  })
  test('req.session = null is no logout', async () => {
    const browser = await loggedInBrowserAt(setup)
    const { json, headers } = await browser.fetchJson(at('/set-to-null'))
    expect([json, headers['set-cookie'], await script(browser)]).toEqual([{ session: null }, undefined, 'loggedin'])
  })
})

test('on a session of its own, a logout without a cookie ends none, and regenerate() hides the login until the next page load brings it back', async () => {
  setup = await startSite({ options, build: own })
  const { json } = await setup.browser().fetchJson(at('/logout'), { json: {} })
  expect(json.logout).toBe('no_session')
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

/* Staff logins by passport beside users of the SSO system, over the site's own express-session. */

const { Passport } = require('passport')
const { Strategy } = require('passport-local')
type Done = (error: null, result: unknown) => void

const bag = (req: Request) => req.session as unknown as Record<string, unknown>

function staffPages(sso: Sso2): Express {
  const passport = new Passport()
  passport.use(
    new Strategy((name: string, password: string, done: Done) => done(null, password === 'staff' && { name })),
  )
  passport.serializeUser((user: { name: string }, done: Done) => done(null, user.name))
  passport.deserializeUser((name: string, done: Done) => done(null, { name }))
  const first = session({ secret: sessionSecret, resave: false, saveUninitialized: false })
  const app = express().use(first, sso.router, sso.middleware, passport.initialize(), passport.session())
  const staff = passport.authenticate('local', { keepSessionInfo: true, failureRedirect: '/failed' })
  app.post('/staff', express.json(), staff, show)
  app.get('/put', (req, res) => {
    bag(req)['basket'] = 'apple'
    show(req, res)
  })
  return app.use(show)
}

/** What passport adds to a request. */
type WithStaff = Request & { user?: { name: string } }
const show = (req: Request, res: Response) => {
  const staff = (req as WithStaff).user?.name
  res.json({ user: req.sso2.user?.accountId, status: req.sso2.status, staff, basket: bag(req)['basket'] })
}

const shown = async (browser: Browser, path = '/') => JSON.parse((await browser.visit(at(path))).body) as unknown
const staffLogin = async (browser: Browser) =>
  (await browser.fetchJson(at('/staff'), { json: { username: 'sub-editor', password: 'staff' } })).json

test('a staff login with keepSessionInfo stays, with basket and user, and neither reaches an account that another site has logged in', async () => {
  setup = await startSite({ build: staffPages })
  const browser = await loggedInBrowserAt(setup)
  await shown(browser, '/put')
  const all = { user: 'account-ada', status: 'loggedin', staff: 'sub-editor', basket: 'apple' }
  expect(await staffLogin(browser)).toMatchObject({ staff: 'sub-editor', basket: 'apple' })
  const seen = [await shown(browser)]
  await staffLogin(browser) // copies the data to a session that waits for a login
  for (const { sid } of setup.emulator.sessions()) setup.emulator.terminate(sid)
  const { client } = setup.sso
  await browser.fetchJson(client.identifyUrl(at('/'))) // as another site does
  const { sid } = present(setup.emulator.sessions().find(({ status }) => status === 'anon'))
  await client.authenticate({ sid, usr: grace.username, pwd: grace.password, ipa: '192.0.2.1', uas: 'a browser' })
  seen.push(await shown(browser))
  await setup.close()
  expect(seen).toEqual([all, { user: 'account-grace', status: 'loggedin' }])
})
