import { randomUUID } from 'node:crypto'
import diagnostics from 'node:diagnostics_channel'
import express, { type Express, type Request, type Response } from 'express'
import session from 'express-session'
import type { Sso2 } from '../../lib'
import { sessionKey } from '../../lib/storage/site-store'
import type { Browser } from '../support/agent'
import { loggerTo } from '../support/log-lines'
import { useRedis } from '../support/redis'
import {
  grace,
  loggedInBrowser,
  logIn,
  sessionIdOf,
  startSetup,
  useSetup,
  view,
  viewOf,
  visitor,
} from '../support/setup'
import { Turnstile } from '../support/turnstile'

/* `req.session` where it is not as express-session: docs/sessions.md. What is the same is in session-like-express.test.ts. */

const pages = (sso: Sso2): Express => {
  const app = express().use(sso)
  app.all('/put/:value', (req: Request<{ value: string }>, res) => {
    const { maxAge } = req.query
    if (maxAge) req.session.cookie.maxAge = Number(maxAge) * 1000
    req.session.saved = req.params.value
    res.json({})
  })
  app.get('/save', (req, res) => {
    req.session.saved = 'saved'
    req.session.save((error) => void res.json({ told: error ? 'an error' : 'done' }))
  })
  app.get('/call/:name', async (req: Request<{ name: 'save' | 'reload' | 'regenerate' | 'destroy' }>, res) => {
    const { session: own, sessionID, sessionStore } = req
    await turnstile.pass()
    own.saved = 'late'
    own[req.params.name]((error: unknown) => {
      sessionStore.get(sessionID, (_error, found) => void res.json({ failed: Boolean(error), isThere: Boolean(found) }))
    })
  })
  app.get('/attributes', (req, res) => {
    req.session.saved = 'yes'
    Object.assign(req.session.cookie, { sameSite: 'none', httpOnly: false, path: '/shop', domain: 'example.com' })
    res.json({})
  })
  app.use((req: Request, res: Response) => void res.json(viewOf(req)))
  return app
}

/** Calls on `req.session` wait here. */
const turnstile = new Turnstile()

const lines: string[] = []
const prefix = `session-${randomUUID()}:`
const setup = useSetup({
  build: pages,
  site: { logger: loggerTo(lines), session: { prefix, absoluteSeconds: 100_000 } },
})
const ask = (browser: Browser, path: string, headers: Record<string, string> = {}) =>
  browser.fetchJson(`${setup.morning.url}${path}`, { headers })
const cookieOf = (browser: Browser) => ({ cookie: `sso2.sid=${browser.cookie('sso2.sid')}` })
const dataKey = (browser: Browser) => `${prefix}sess:{${sessionKey(sessionIdOf(browser))}}`
const sidCookies = (headers: { readonly 'set-cookie'?: string[] | undefined }) =>
  (headers['set-cookie'] ?? []).filter((line) => line.startsWith('sso2.sid='))

test('[S1] the cookie of a session: HttpOnly, SameSite=Lax, Path=/, whatever the page says, for as long as the session may live', async () => {
  const [line = ''] = sidCookies((await ask(setup.browser(), '/attributes')).headers)
  expect(line).toMatch(/^sso2\.sid=s%3A[^;]+; Path=\/; HttpOnly; SameSite=Lax; Max-Age=100000$/)
  expect(sidCookies((await ask(setup.browser(), '/put/a?maxAge=300')).headers)[0]).toMatch(/; Max-Age=300$/)
})

test.each(['destroy', 'regenerate'])(
  '[S6] %s() is final: a request that saves late does not bring the session back',
  async (end) => {
    const browser = setup.browser()
    await ask(browser, '/put/a')
    const old = cookieOf(browser)
    const held = turnstile.close()
    const late = ask(browser, '/call/save')
    await held.arrived
    await ask(browser, `/call/${end}`)
    held.open()
    expect((await late).json.isThere).toBe(false)
    expect((await ask(setup.browser(), '/', old)).json).not.toHaveProperty('saved')
  },
)

test('a form of another site begins no session, and a line says so', async () => {
  const sender = { method: 'POST', headers: { 'sec-fetch-site': 'cross-site' } }
  const { headers } = await setup.browser().fetchJson(`${setup.morning.url}/put/a`, sender)
  expect([sidCookies(headers), lines]).toEqual([[], [expect.stringContaining('form of another site')]])
})

test('[S20] data of a login whose record is lost: shown to nobody, whoever logs in next', async () => {
  const browser = await loggedInBrowser(setup)
  await ask(browser, '/put/of-ada')
  await setup.redis.del(dataKey(browser).replace(':sess:', ':sso2:'))
  expect((await ask(browser, '/')).json).not.toHaveProperty('saved')
  setup.emulator.faults.clear()
  await browser.visit(`${setup.morning.url}/`)
  await browser.submit(`${setup.morning.url}/logout`, {})
  await logIn(browser, setup.morning, grace)
  const { json } = await ask(browser, '/')
  expect([json.username, json.saved]).toEqual(['grace', undefined])
})

describe('[O9, S14] a Redis that refuses writes, or hangs', () => {
  const server = useRedis()
  test('a page that changes its session is served, and an event and a log line say that it was not saved', async () => {
    const lines: string[] = []
    const events: unknown[] = []
    const note = (event: unknown) => void events.push(event)
    const away = await startSetup({ build: pages, site: { redis: server.url(), logger: loggerTo(lines) } })
    const browser = await visitor(away)
    const visit = (path: string) => browser.fetchJson(`${away.morning.url}${path}`)
    await visit('/put/before')
    await server.refuseWrites()
    diagnostics.subscribe('express-sso2:degraded', note)
    expect((await visit('/put/after')).status).toBe(200)
    expect((await visit('/save')).json).toEqual({ told: 'an error' })
    diagnostics.unsubscribe('express-sso2:degraded', note)
    expect(events).toContainEqual(expect.objectContaining({ outcome: 'not_saved', reason: 'store_unavailable' }))
    expect(lines.filter((line) => line.includes('could not be saved'))).toHaveLength(1)
    await server.takeWrites()
    expect((await visit('/')).json).toMatchObject({ saved: 'before' })
    await away.close()
  })
})

test("the store of the site's own express-session fails at a logout: the user is logged out, and a line says so", async () => {
  class Fragile extends session.MemoryStore {
    isAway = false
    override destroy(id: string, done?: (error?: unknown) => void): void {
      if (this.isAway) done?.(new Error('away'))
      else super.destroy(id, done)
      this.isAway = false
    }
  }
  const store = new Fragile()
  const lines: string[] = []
  const build = (sso: Sso2): Express => {
    const app = express().use(session({ secret: 'of the site', resave: false, saveUninitialized: false, store }))
    return app.use(sso).use((req, res) => void res.json(viewOf(req)))
  }
  const own = await startSetup({ build, site: { logger: loggerTo(lines) } })
  const browser = await loggedInBrowser(own)
  store.isAway = true
  const page = await browser.submit(`${own.morning.url}/logout`, {})
  expect(view(page).status).toBe('anon')
  expect(lines).toEqual([expect.stringMatching(/Your own session store failed.* has not deleted a session/)])
  await own.close()
})
