import express, { type Express, type Request, type Response } from 'express'
import session, { MemoryStore, type SessionOptions } from 'express-session'
import type { Sso2 } from '../../lib'
import type { Browser } from '../support/agent'
import { type Gates, sessionSecret } from '../support/setup'
import { loggedInBrowserAt, type RunningSite, startSite } from '../support/site'

/* A site's own express-session with `resave` and `rolling`: a slow request saves its session, and sends its cookie, after a logout. */

const COOKIE = 'own'
const store = new MemoryStore()

const bag = (req: Request) => req.session as unknown as Record<string, unknown>
const show = (req: Request, res: Response) => {
  const { status, user } = req.sso2
  res.json({ status, user: user?.accountId, basket: bag(req)['basket'] })
}

const pagesWith =
  (options: Partial<SessionOptions>) =>
  (sso: Sso2, gates: Gates): Express => {
    const usual = { name: COOKIE, secret: sessionSecret, resave: true, saveUninitialized: false, store }
    const app = express().use(session({ ...usual, ...options }), sso.router, sso.middleware)
    app.get('/put', (req, res) => {
      bag(req)['basket'] = 'apple'
      show(req, res)
    })
    app.get('/slow', (req, res, next) => {
      gates.wait(String(req.query['gate'])).then(() => show(req, res), next)
    })
    return app.use(show)
  }

let setup: RunningSite
afterEach(() => setup.close())

const at = (path: string) => `${setup.url}${path}`
const json = async (browser: Browser, path = '/') => (await browser.fetchJson(at(path))).json as unknown

/** Logs in and fills the basket. A slow request then begins before the logout, and ends after it. */
async function logOutDuringSlowRequest(options: Partial<SessionOptions>) {
  setup = await startSite({ build: pagesWith(options) })
  const browser = await loggedInBrowserAt(setup)
  expect(await json(browser, '/put')).toEqual({ status: 'loggedin', user: 'account-ada', basket: 'apple' })
  const old = browser.cookie(COOKIE)
  const gate = setup.gates.add()
  const slow = json(browser, `/slow?gate=${gate.name}`)
  await gate.arrived
  setup.emulator.clock.advance(2) // so that the next landing has a token of its own
  await browser.submit(at('/logout'), { return_to: '/' })
  gate.open()
  await slow
  setup.emulator.clock.advance(2)
  return { browser, old }
}

const both: [string, Partial<SessionOptions>][] = [
  ['resave', {}],
  ['resave, rolling and saveUninitialized', { rolling: true, saveUninitialized: true }],
]

test.each(both)('%s: an old ID that a slow request brings back has no login and no data', async (_what, options) => {
  const { browser, old = '' } = await logOutDuringSlowRequest(options)
  if (options.rolling) expect(browser.cookie(COOKIE)).toBe(old)
  const thief = setup.browser()
  const headers = { cookie: `${COOKIE}=${old}` }
  expect((await thief.fetchJson(at('/'), { headers })).json).toEqual({ status: 'none' })
  const id = decodeURIComponent(old).slice(2).split('.')[0] ?? ''
  const left = await new Promise((resolve, reject) => {
    store.get(id, (error, found) => (error ? reject(error) : resolve(found)))
  })
  expect(left ?? undefined).toBeUndefined()
  expect((await thief.fetchJson(at('/'), { headers })).json).toEqual({ status: 'none' })
  expect(await json(browser)).not.toHaveProperty('basket')
  const page = await browser.visit(at('/'))
  expect(JSON.parse(page.body)).toEqual({ status: 'anon' })
  expect(browser.cookie(COOKIE)).not.toBe(old)
})
