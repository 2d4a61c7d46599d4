import { randomUUID } from 'node:crypto'
import diagnostics from 'node:diagnostics_channel'
import express, { type Express, type Request, type RequestHandler, type Response } from 'express'
import session from 'express-session'
import type { Sso2 } from '../../lib'
import { sessionKey } from '../../lib/storage/site-store'
import type { Browser } from '../support/agent'
import { loggerTo } from '../support/log-lines'
import { useRedis } from '../support/redis'
import {
  ada,
  grace,
  loggedInBrowser,
  logIn,
  resumeStore,
  sessionIdOf,
  startSetup,
  useSetup,
  view,
  viewOf,
  visitor,
} from '../support/setup'
import { Turnstile } from '../support/turnstile'

/* `req.session` where it is not as express-session: docs/sessions.md. What is the same is in session-like-express.test.ts. */

/** A handler reads the session before the pages of the package. @param own a session of the site's own */
const pages =
  (own?: RequestHandler) =>
  (sso: Sso2): Express => {
    const app = express().use(own ?? sso.session, (req, _res, next) => next(void req.session), sso)
    app.all('/do/:steps', async (req: Request<{ steps: string }>, res) => {
      const { sessionID, sessionStore } = req
      Object.assign(req.session.cookie, JSON.parse(String(req.query['cookie'] ?? '{}')))
      const told: string[] = []
      for (const step of req.params.steps.split(',')) {
        if (step === 'wait') await turnstile.pass()
        else if (step in calls) told.push(await calls[step as keyof typeof calls](req))
        else Object.assign(req.session, { saved: step === 'nothing' ? undefined : step })
      }
      sessionStore.get(sessionID, (_error, found) => {
        res.json({ told, isThere: Boolean(found), sessionID, saved: req.session?.saved })
      })
    })
    app.get('/others/:id', (req, res) => {
      const { session, sessionStore } = req
      session.saved = 'own'
      sessionStore.set(req.params.id, { cookie: session.cookie, saved: 'of another' }, () =>
        sessionStore.destroy('of nobody', () => void res.json({})),
      )
    })
    app.use((req: Request, res: Response) => void res.json(viewOf(req)))
    return app
  }

/** Requests with the step `wait` wait here. */
const turnstile = new Turnstile()
const call = (name: 'save' | 'reload' | 'regenerate' | 'destroy') => (req: Request) =>
  new Promise<string>((resolve) => req.session[name]((error: unknown) => resolve(error ? 'error' : 'done')))
/** Steps. Any other one is a value to keep. */
const calls = {
  save: call('save'),
  reload: call('reload'),
  regenerate: call('regenerate'),
  destroy: call('destroy'),
  login: async (req: Request) => ((await req.sso2.login(ada)).ok ? 'done' : 'error'),
  logout: (req: Request) => req.sso2.logout(),
}

const lines: string[] = []
const prefix = `session-${randomUUID()}:`
const setup = useSetup({
  build: pages(),
  site: { logger: loggerTo(lines), session: { prefix, absoluteSeconds: 100_000 } },
})
const ask = (browser: Browser, path: string, headers: Record<string, string> = {}) =>
  browser.fetchJson(`${setup.morning.url}${path}`, { headers })
const cookieOf = (browser: Browser) => ({ cookie: `sso2.sid=${browser.cookie('sso2.sid')}` })
const dataKey = (browser: Browser) => `${prefix}sess:{${sessionKey(sessionIdOf(browser))}}`
const sidCookies = (headers: { readonly 'set-cookie'?: string[] | undefined }) =>
  (headers['set-cookie'] ?? []).filter((line) => line.startsWith('sso2.sid='))

test('[S1] the cookie of a session: HttpOnly, SameSite=Lax, Path=/, whatever the page says, for as long as the session may live', async () => {
  const put = async (browser: Browser, value: string, cookie = {}) =>
    sidCookies((await ask(browser, `/do/${value}?cookie=${JSON.stringify(cookie)}`)).headers)[0]
  const attributes = { sameSite: 'none', httpOnly: false, path: '/shop', domain: 'example.com', maxAge: 300_000_000 }
  const line = await put(setup.browser(), 'a', attributes)
  expect(line).toMatch(/^sso2\.sid=s%3A[^;]+; Path=\/; HttpOnly; SameSite=Lax; Max-Age=100000$/)
  const browser = setup.browser()
  expect(await put(browser, 'a', { maxAge: 300_000 })).toMatch(/; Max-Age=300$/)
  expect(await put(browser, 'b')).toMatch(/; Max-Age=300$/)
  await put(browser, 'nothing')
  expect(await setup.redis.exists(dataKey(browser))).toBe(0) // no session is stored without data
})

test('a form that is sent twice logs in twice, where a handler reads req.session before. Its cookie ends with the session', async () => {
  const browser = await visitor(setup)
  const first = cookieOf(browser)
  setup.emulator.clock.advance(5000)
  const { json, headers } = await ask(browser, '/do/login')
  expect([json.told, sidCookies(headers)]).toEqual([['done'], [expect.stringMatching(/; Max-Age=9[45]\d{3}$/)]])
  expect((await ask(setup.browser(), '/do/login', first)).json.told).toEqual(['done'])
})

test('a visitor whose SSO session has ended keeps the session, and goes through Identify once', async () => {
  const browser = await visitor(setup)
  const id = sessionIdOf(browser)
  for (const { sid } of setup.emulator.sessions()) setup.emulator.terminate(sid)
  setup.emulator.clock.advance(361)
  expect((await ask(browser, '/')).json.status).toBe('none')
  expect((await browser.visit(`${setup.morning.url}/`)).trail).toHaveLength(4)
  expect(sessionIdOf(browser)).toBe(id)
})

test.each(['destroy', 'regenerate'])(
  '[S6] %s() is final: a request that saves late does not bring the session back',
  async (end) => {
    const browser = setup.browser()
    await ask(browser, '/do/a')
    const old = cookieOf(browser)
    const held = turnstile.close()
    const late = ask(browser, '/do/wait,late,save')
    await held.arrived
    expect(sidCookies((await ask(browser, `/do/${end}`)).headers)).toEqual([]) // an empty session has no cookie
    held.open()
    expect((await late).json.isThere).toBe(false)
    expect((await ask(setup.browser(), '/', old)).json).not.toHaveProperty('saved')
  },
)

test('[S6] a session that has ended between two saves of the request that began it stays ended', async () => {
  const keys = () => setup.redis.keys(`${prefix}sess:*`)
  const before = await keys()
  const held = turnstile.close()
  const late = ask(setup.browser(), '/do/once,save,wait,twice')
  await held.arrived
  await setup.redis.del((await keys()).filter((key) => !before.includes(key)))
  held.open()
  await late
  expect((await keys()).sort()).toEqual(before.sort())
})

test('what another request has saved is replaced by a save after reload(), and not by sessionStore.set() for another session', async () => {
  const browser = setup.browser()
  await ask(browser, '/do/first')
  const held = turnstile.close()
  const late = ask(browser, '/do/wait,reload,first,save')
  await held.arrived
  await ask(browser, '/do/second')
  const other = setup.browser()
  await ask(other, `/others/${sessionIdOf(browser)}`)
  expect((await ask(other, '/')).json).toMatchObject({ saved: 'own' })
  expect((await ask(browser, '/')).json).toMatchObject({ saved: 'second' })
  held.open()
  await late
  expect((await ask(browser, '/')).json).toMatchObject({ saved: 'first' })
})

test('a form of another site begins no session, and a line says so. A session whose cookie comes with it is saved', async () => {
  const browser = setup.browser()
  const sender = { method: 'POST', headers: { 'sec-fetch-site': 'cross-site' } }
  const put = (value: string) => browser.fetchJson(`${setup.morning.url}/do/${value}`, sender)
  const { headers } = await put('a')
  expect([sidCookies(headers), lines]).toEqual([[], [expect.stringContaining('form of another site')]])
  await ask(browser, '/do/b')
  await put('c')
  expect((await ask(browser, '/')).json).toMatchObject({ saved: 'c' })
})

test('[S20] data of a login whose record is lost, or after its logout: shown to nobody, whoever logs in next', async () => {
  const browser = await loggedInBrowser(setup)
  await ask(browser, '/do/of-ada')
  expect(await setup.redis.ttl(dataKey(browser))).toBeGreaterThan(86_400) // as long as the login
  await setup.redis.del(dataKey(browser).replace(':sess:', ':sso2:'))
  expect((await ask(browser, '/')).json).not.toHaveProperty('saved')
  await browser.visit(`${setup.morning.url}/`)
  await browser.submit(`${setup.morning.url}/logout`, {})
  await logIn(browser, setup.morning, grace)
  const { json } = await ask(browser, '/')
  expect([json.username, json.saved]).toEqual(['grace', undefined])
  expect((await ask(browser, '/do/of-grace,logout')).json).not.toHaveProperty('saved')
})

const server = useRedis()
const awayLines: string[] = []
const away = useSetup({ build: pages(), site: () => ({ redis: server.url(), logger: loggerTo(awayLines) }) })
const at = (path: string) => `${away.morning.url}${path}`

test('[O9, S14] Redis refuses writes: a page that changes its session is served, and an event and a log line say that it was not saved', async () => {
  const events: unknown[] = []
  const note = (event: unknown) => void events.push(event)
  const browser = await visitor(away)
  const visit = (path: string) => browser.fetchJson(at(path))
  await visit('/do/before')
  await server.refuseWrites()
  diagnostics.subscribe('express-sso2:degraded', note)
  expect((await visit('/do/after')).status).toBe(200)
  expect((await visit('/do/saved,save')).json).toMatchObject({ told: ['error'] })
  diagnostics.unsubscribe('express-sso2:degraded', note)
  expect(events).toContainEqual(expect.objectContaining({ outcome: 'not_saved', reason: 'store_unavailable' }))
  expect(awayLines.filter((line) => line.includes('could not be saved'))).toHaveLength(1)
  await server.takeWrites()
  expect((await visit('/')).json).toMatchObject({ saved: 'before' })
})

test('[O9, S14] Redis hangs: a session that could not be read keeps its ID, and is neither read nor saved later in the request; two cookies name none', async () => {
  const browser = await loggedInBrowser(away)
  await browser.fetchJson(at('/do/before'))
  const held = [turnstile.close(), turnstile.close(), turnstile.close()] // after three silences Redis counts as down
  server.hang()
  const calls = ['save', 'save', 'reload'].map((name) => browser.fetchJson(at(`/do/wait,late,${name}`)))
  for (const { arrived } of held) await arrived
  expect(sidCookies((await away.browser().fetchJson(at('/do/a'))).headers)).toEqual([])
  const { cookie } = cookieOf(browser)
  const headers = { cookie: `${cookie}; ${cookie}` }
  expect((await away.browser().visit(at('/'), { headers })).trail).toHaveLength(1)
  const sessionID = sessionIdOf(browser)
  expect((await away.browser().fetchJson(at('/do/wait'), { headers })).json.sessionID).not.toBe(sessionID)
  await resumeStore(server, away.morning.sso)
  for (const { open } of held) open()
  for (const call of calls) expect((await call).json).toMatchObject({ told: ['error'], isThere: false, sessionID })
  expect((await browser.fetchJson(at('/'))).json).toMatchObject({ status: 'loggedin', saved: 'before' })
})

test("Redis hangs: a site's own express-session keeps its data. Its store fails: a login is refused, a logout logs the user out, and a line says so", async () => {
  class Fragile extends session.MemoryStore {
    failing: 'set' | 'destroy' | undefined
    override set(id: string, data: session.SessionData, done?: (error?: unknown) => void): void {
      if (this.failing === 'set') done?.(new Error('away'))
      else super.set(id, data, done)
    }
    override destroy(id: string, done?: (error?: unknown) => void): void {
      const isFailing = this.failing === 'destroy'
      if (isFailing) this.failing = undefined // the next call works
      if (isFailing) done?.(new Error('away'))
      else super.destroy(id, done)
    }
  }
  const store = new Fragile()
  const lines: string[] = []
  const first = session({ secret: 'of the site', resave: false, saveUninitialized: false, store })
  const own = await startSetup({ build: pages(first), site: { redis: server.url(), logger: loggerTo(lines) } })
  const stranger = await visitor(own)
  const browser = await loggedInBrowser(own)
  await browser.fetchJson(`${own.morning.url}/do/kept`)
  server.hang()
  expect((await browser.fetchJson(`${own.morning.url}/`)).json).toMatchObject({ status: 'none', saved: 'kept' })
  await resumeStore(server, own.morning.sso)
  lines.length = 0
  store.failing = 'set'
  expect((await stranger.fetchJson(`${own.morning.url}/login`, { json: ada })).status).toBe(500)
  store.failing = 'destroy'
  const page = await browser.submit(`${own.morning.url}/logout`, {})
  expect(view(page).status).toBe('anon')
  expect(lines).toEqual([expect.stringMatching(/Your own session store failed.* has not deleted a session/)])
  await own.close()
})
