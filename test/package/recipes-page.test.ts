import { once } from 'node:events'
import type { Server } from 'node:http'
import express, { type Express } from 'express'
import * as library from '../../lib'
import { createEmulator, type Emulator } from '../../lib/emulator'
import { Browser } from '../support/agent'
import { blocksBelow } from '../support/markdown'
import { freePort } from '../support/ports'
import { ada, eventually, grace, sessionSecret } from '../support/setup'
import { readText } from '../support/sources'

/* Recipes of docs/recipes.md, run as they stand there, each in a site of its own against the emulator. */

const page = readText('docs', 'recipes.md')
const { compile } = require('../support/compile.js') as { compile(source: string): string }

const servers: Server[] = []
const closing: (() => Promise<void>)[] = []
let emulator: Emulator
let siteUrl: string

beforeEach(async () => {
  siteUrl = `http://localhost:${await freePort()}`
  const landingPage = `${siteUrl}/sso2/landing`
  const clientSecret = 'client-secret-of-the-recipe-0123456789'
  emulator = createEmulator({ clients: [{ clientId: 'recipe', clientSecret, name: 'Recipe', landingPage }] })
  await emulator.listen()
})
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.close()
    server.closeAllConnections()
  }
  for (const close of closing.splice(0)) await close()
  await emulator.close()
})

/** The TypeScript below a heading. */
function recipe(heading: string): string {
  const block = blocksBelow(page, `### ${heading}`).find(({ language }) => language === 'ts')
  if (!block) throw new Error(`docs/recipes.md has no recipe ${heading}`)
  return block.code
}

/** The function that the recipes use. */
function isOurForm(): unknown {
  const [block] = blocksBelow(readText('docs', 'login-pages.md'), '### Same-origin rule')
  const code = (block?.code ?? '').replace('https://news.example', siteUrl)
  return new Function('exports', `${compile(code)}\nreturn isOurForm`)({})
}

/** Runs a recipe. @param after adds pages of the test */
async function start(heading: string, after: (app: Express) => void = () => {}): Promise<Browser> {
  const app = express()
  const makeSite: typeof library.sso2 = (options) => {
    const sso = library.sso2({ ...emulator.siteOptions(), siteUrl, sessionSecret, clock: emulator.clock, ...options })
    closing.push(() => sso.close())
    return sso
  }
  const code = recipe(heading)
  const sso = makeSite({})
  if (!/app\.use\(sso\)/.test(code)) app.use(sso)
  const load = (name: string) => (name === 'express-sso2' ? { ...library, sso2: makeSite } : require(name))
  const own = ['require', 'exports', 'app', 'isOurForm', ...(/const sso = /.test(code) ? [] : ['sso'])]
  new Function(...own, compile(code))(load, {}, app, isOurForm(), sso)
  after(app)
  const server = app.listen(Number(new URL(siteUrl).port))
  servers.push(server)
  await once(server, 'listening')
  return new Browser()
}

async function logIn(browser: Browser, user: typeof ada): Promise<void> {
  await browser.visit(`${siteUrl}/login`)
  const { url } = await browser.submit(`${siteUrl}/login`, { ...user, return_to: '/after' })
  expect(url).toBe(`${siteUrl}/after`)
}

test("Show the user's name in the page header", async () => {
  const browser = await start("Show the user's name in the page header", (app) => {
    app.get('/header', (_req, res) => res.json({ name: res.locals['user']?.name, cache: res.get('cache-control') }))
  })
  expect(JSON.parse((await browser.visit(`${siteUrl}/header`)).body)).not.toHaveProperty('name')
  await logIn(browser, ada)
  const { body } = await browser.visit(`${siteUrl}/header`)
  expect(JSON.parse(body)).toEqual({ name: 'Ada Lindqvist', cache: 'private, no-store' })
})

test('Return to the same page after a login', async () => {
  const browser = await start('Return to the same page after a login')
  const { body } = await browser.visit(`${siteUrl}/articles/7?part=2`)
  const [, href = ''] = /href="([^"]+)"/.exec(body) ?? []
  const form = await browser.visit(`${siteUrl}${href}`)
  expect(form.status).toBe(200)
  const { url, body: full } = await browser.submit(`${siteUrl}/login`, { ...ada, return_to: '/articles/7?part=2' })
  expect([url, full]).toEqual([`${siteUrl}/articles/7?part=2`, 'Full article'])
})

test('Show a banner when the login could not be verified', async () => {
  const browser = await start('Show a banner when the login could not be verified', (app) => {
    app.get('/banner', (_req, res) => res.json(res.locals['banner'] ?? null))
  })
  await logIn(browser, ada)
  expect((await browser.visit(`${siteUrl}/banner`)).body).toBe('null')
  emulator.faults.add({ operation: 'sessionstatus', kind: 'down' })
  emulator.clock.advance(361)
  expect((await browser.visit(`${siteUrl}/banner`)).body).toContain('may not work')
})

test('Build a paywall with some free articles', async () => {
  const browser = await start('Build a paywall with some free articles')
  for (const id of [1, 2, 3, 3]) expect((await browser.visit(`${siteUrl}/read/${id}`)).body).toBe(`Article ${id}`)
  expect(new URL((await browser.visit(`${siteUrl}/read/4`)).url).pathname).toBe('/login')
  const { body } = await browser.submit(`${siteUrl}/login`, { ...ada, return_to: '/read/4' })
  expect(body).toBe('Article 4')
})

test('Read roles from your own table', async () => {
  const [editor, reader] = [await start('Read roles from your own table'), new Browser()]
  await logIn(editor, ada)
  await logIn(reader, grace)
  expect((await editor.visit(`${siteUrl}/edit`)).body).toBe('Editor')
  expect((await reader.visit(`${siteUrl}/edit`)).status).toBe(403)
})

test('Allow only subscribers', async () => {
  const browser = await start('Allow only subscribers')
  await logIn(browser, ada)
  for (const _again of [1, 2]) expect((await browser.visit(`${siteUrl}/archive`)).status).toBe(200)
  expect(emulator.calls({ operation: 'me' }).length).toBe(2) // the login's, and one for both visits
})

test('Answer scripts of another origin: the preflight, which has no cookies, passes the guard', async () => {
  await start('Answer scripts of another origin')
  const origin = 'https://apps.news.example'
  const headers = { origin, 'access-control-request-method': 'GET', 'access-control-request-headers': 'content-type' }
  const preflight = await fetch(`${siteUrl}/api/orders`, { method: 'OPTIONS', headers })
  expect([preflight.status, preflight.headers.get('access-control-allow-origin')]).toEqual([204, origin])
  const refused = await fetch(`${siteUrl}/api/orders`, { headers: { origin } })
  expect([refused.status, refused.headers.get('access-control-allow-origin')]).toEqual([401, origin])
  expect((await fetch(`${siteUrl}/api/orders`)).headers.get('access-control-allow-origin')).toBeNull()
})

test('Check editors more often than readers', async () => {
  const [editor, reader] = [await start('Check editors more often than readers'), new Browser()]
  await logIn(editor, ada)
  await logIn(reader, grace)
  emulator.faults.add({ operation: 'sessionstatus', kind: 'down' })
  expect((await editor.visit(`${siteUrl}/desk`)).status).toBe(503)
  expect((await reader.visit(`${siteUrl}/desk`)).body).toBe('Desk')
})

test('Log out everywhere after a change of password', async () => {
  const [here, elsewhere] = [await start('Log out everywhere after a change of password', withStatus), new Browser()]
  await logIn(here, ada)
  await logIn(elsewhere, ada)
  await here.submit(`${siteUrl}/password-changed`, {})
  for (const browser of [here, elsewhere]) expect((await browser.visit(`${siteUrl}/status`)).body).toBe('"anon"')
})

test('Log a user out everywhere from a support tool', async () => {
  const heading = 'Log a user out everywhere from a support tool'
  const [user, agent, other] = [await start(heading, withStatus), new Browser(), new Browser()]
  await logIn(user, ada)
  await logIn(other, ada)
  await logIn(agent, grace)
  const statusOf = async (browser: Browser) => (await browser.fetchJson(`${siteUrl}/status`)).json
  const tell = (browser: Browser) =>
    browser.fetchJson(`${siteUrl}/support/log-out?account=account-ada`, { method: 'POST' })
  expect((await tell(user)).status).toBe(403)
  emulator.account('ada').logoutAll() // without the note of the time, the site notices at the next status check
  expect(await statusOf(user)).toBe('loggedin')
  expect((await tell(agent)).status).toBe(204)
  expect([await statusOf(user), await statusOf(other), await statusOf(agent)]).toEqual(['none', 'none', 'loggedin'])
  await logIn(user, ada)
  expect(await statusOf(user)).toBe('loggedin')
})

const withStatus = (app: Express) => void app.get('/status', (req, res) => res.json(req.sso2.status))

test('Serve an API for a mobile app or another server', async () => {
  await start('Serve an API for a mobile app or another server')
  const call = (authorization: string) => fetch(`${siteUrl}/api/v1/news`, { headers: { authorization } })
  expect([(await call('none')).status, (await call('Bearer your-check')).status]).toEqual([401, 200])
})

test('Move a basket into your own table at login', async () => {
  const browser = await start('Move a basket into your own table at login', (app) => {
    app.get('/add', (req, res) => res.json(Object.assign(req.session, { basket: ['apple'] })))
    app.get('/basket', (req, res) => res.json(Object(req.session).basket ?? null))
  })
  await browser.visit(`${siteUrl}/add`)
  expect((await browser.visit(`${siteUrl}/basket`)).body).toBe('["apple"]')
  await logIn(browser, ada)
  expect((await browser.visit(`${siteUrl}/basket`)).body).toBe('null')
})

test('Limit requests per user', async () => {
  const browser = await start(
    'Limit requests per user',
    (app) => void app.get('/search', (_req, res) => res.send('Hit')),
  )
  await logIn(browser, ada)
  const statuses = []
  for (let count = 0; count < 101; count += 1) statuses.push((await browser.fetchJson(`${siteUrl}/search`)).status)
  expect([statuses[99], statuses[100]]).toEqual([200, 429])
})

test('Configure health checks on Kubernetes', async () => {
  await start('Configure health checks on Kubernetes')
  emulator.faults.add({ operation: 'sessionstatus', kind: 'down' })
  emulator.faults.add({ operation: 'identify', kind: 'down' })
  const browser = new Browser()
  await eventually(async () => {
    await browser.visit(`${siteUrl}/`).catch(() => {}) // the first visitors of an outage end at the SSO system
    return JSON.parse((await browser.fetchJson(`${siteUrl}/health`)).body).ok === false
  })
  const statusOf = async (path: string) => (await fetch(`${siteUrl}${path}`)).status
  expect(await Promise.all(['/live', '/ready', '/health'].map(statusOf))).toEqual([200, 200, 200])
})
