import express, { type Express, type Request, type RequestHandler, type Response } from 'express'
import session from 'express-session'
import type { Sso2 } from '../../lib'
import type { Browser } from '../support/agent'
import { grace, present, sessionSecret } from '../support/setup'
import { loggedInBrowserAt, type RunningSite, startSite } from '../support/site'

/* Staff logins by passport beside users of the SSO system, over the site's own express-session. */

interface Passport {
  initialize(): RequestHandler
  session(): RequestHandler
  use(strategy: object): void
  authenticate(name: string, options: object): RequestHandler
  serializeUser(write: (user: { name: string }, done: (error: null, id: string) => void) => void): void
  deserializeUser(read: (id: string, done: (error: null, user: object) => void) => void): void
}
const { Passport } = require('passport') as { Passport: new () => Passport }
const { Strategy } = require('passport-local') as { Strategy: new (verify: (...args: never[]) => void) => object }

const bag = (req: Request) => req.session as unknown as Record<string, unknown>

function pages(sso: Sso2): Express {
  const passport = new Passport()
  passport.use(
    new Strategy((name: string, password: string, done: (error: null, user: unknown) => void) =>
      done(null, password === 'staff' && { name }),
    ),
  )
  passport.serializeUser((user, done) => done(null, user.name))
  passport.deserializeUser((name, done) => done(null, { name }))
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

let setup: RunningSite
beforeEach(async () => {
  setup = await startSite({ build: pages })
})
afterEach(() => setup.close())

const at = (path: string) => `${setup.url}${path}`
const page = async (browser: Browser, path = '/') => JSON.parse((await browser.visit(at(path))).body) as unknown
const staffLogin = async (browser: Browser) =>
  (await browser.fetchJson(at('/staff'), { json: { username: 'sub-editor', password: 'staff' } })).json

test('a staff login with keepSessionInfo stays, with basket and user, on the pages that follow', async () => {
  const browser = await loggedInBrowserAt(setup)
  await page(browser, '/put')
  expect(await staffLogin(browser)).toMatchObject({ staff: 'sub-editor', basket: 'apple' })
  const all = { user: 'account-ada', status: 'loggedin', staff: 'sub-editor', basket: 'apple' }
  for (let visits = 0; visits < 3; visits += 1) expect(await page(browser)).toEqual(all)
})

async function logInElsewhere(browser: Browser): Promise<void> {
  const { emulator, sso } = setup
  await browser.fetchJson(sso.client.identifyUrl(at('/'))) // as another site does
  const { sid } = present(emulator.sessions().find(({ status }) => status === 'anon'))
  await sso.client.authenticate({ sid, usr: grace.username, pwd: grace.password, ipa: '192.0.2.1', uas: 'a browser' })
}

test.each<[what: string, logInAgain: (browser: Browser) => Promise<unknown>]>([
  ['an account that another site has logged in', logInElsewhere],
])('what was copied does not reach %s', async (_what, logInAgain) => {
  const browser = await loggedInBrowserAt(setup)
  await page(browser, '/put')
  await staffLogin(browser)
  for (const { sid } of setup.emulator.sessions()) setup.emulator.terminate(sid)
  await logInAgain(browser)
  expect(await page(browser)).toEqual({ user: 'account-grace', status: 'loggedin' })
})
