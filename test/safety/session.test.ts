import { randomUUID } from 'node:crypto'
import { inspect } from 'node:util'
import express from 'express'
import type { Sso2 } from '../../lib'
import {
  ada,
  addPages,
  eventually,
  type Gates,
  loggedIn,
  type Network,
  present,
  startNetwork,
  view,
} from '../flows/network'
import type { Browser } from '../support/agent'
import { beginFlow, hearEvents, land, landingToken } from './session-support'

let network: Network
let events: ReturnType<typeof hearEvents>
let warn: jest.SpyInstance
const tickets: string[] = []
const at = (path: string) => `${network.morning.url}${path}`

/** Everything that a page, a template or an error handler can print of a request. */
function build(sso: Sso2, gates: Gates) {
  const app = express()
  app.use(sso)
  app.get('/print', (req, res) => {
    const options = { depth: 12, showHidden: true, getters: true }
    const { sso2, session } = req
    res.json({
      json: JSON.stringify(sso2),
      names: Object.getOwnPropertyNames(sso2),
      clone: inspect(Object.assign({}, sso2), options),
      plain: [true, false].map((customInspect) => inspect(sso2, { ...options, customInspect })),
      locals: inspect(res.locals, options) + inspect(app.locals, options),
      // no getter that has a setter: Node.js has deprecated ones on the answer, to which the request leads
      session: inspect(session, { ...options, getters: 'get' }) + JSON.stringify(session),
      request: inspect(req, { ...options, getters: false, depth: 7 }),
    })
  })
  app.get('/fail', (req, _res, next) => {
    req.sso2.api.administrators().then(() => next(new Error('it did not fail')), next)
  })
  app.get('/throw', (req, _res, next) => next(Object.assign(new Error('a page failed'), { sso2: req.sso2, req })))
  addPages(app, sso, gates)
  const printError: express.ErrorRequestHandler = (error, _req, res, _next) => {
    const texts = [inspect(error, { depth: 12, showHidden: true }), JSON.stringify({ ...error, req: undefined })]
    res.status(500).json({ texts: [...texts, String(error), String(error.stack)] })
  }
  return app.use(printError)
}

const exchangeTicket = async (ticket: string) => {
  tickets.push(ticket)
  const { tokenUrl, clientId, clientSecret } = network.emulator.siteOptions('morning')
  const form = { grant_type: 'authorization_code', code: ticket, client_id: clientId, client_secret: clientSecret }
  const response = await fetch(tokenUrl, { method: 'POST', body: new URLSearchParams(form) })
  const grant = (await response.json()) as { access_token: string }
  tickets.push(grant.access_token)
  return grant
}

beforeAll(async () => {
  warn = jest.spyOn(console, 'warn').mockImplementation(() => {})
  events = hearEvents()
  network = await startNetwork({ build, site: (name) => (name === 'morning' ? { exchangeTicket } : {}) })
})
afterEach(() => {
  network.emulator.faults.clear()
  events.clear()
})
afterAll(async () => {
  await network.close()
  events.stop()
  warn.mockRestore()
})

/** Logged in, where a fault before may have opened the site's circuit. */
async function readerOf(site = network.morning): Promise<Browser> {
  await eventually(async () => (await site.sso.health()).sso === 'ok')
  return loggedIn(network, ada, site)
}

const sids = () => network.emulator.sessions().map(({ sid }) => sid)
const hasAny = (text: string, secrets: string[]) => secrets.filter((secret) => text.includes(secret))

test('[S5] a page that prints all it can reach prints no ticket, access token or SSO session ID', async () => {
  const browser = await readerOf()
  expect(tickets.length).toBeGreaterThanOrEqual(2)
  const { json } = await browser.fetchJson(at('/print'))
  expect(hasAny(JSON.stringify(json), [...tickets, ...sids(), ada.password])).toEqual([])
  expect(Object.keys(JSON.parse(json.json)).sort()).toEqual(['status', 'user'])
  expect(json.names).toEqual([])
  expect(json.request.length).toBeGreaterThan(2000)
})

test('[S5] an error on its way to the page holds none of them either', async () => {
  const browser = await readerOf()
  for (const kind of ['down', 'garbage'] as const) {
    network.emulator.faults.add({ operation: 'administrators', kind })
    const { status, body } = await browser.fetchJson(at('/fail'))
    expect(status).toBe(500)
    expect(hasAny(body, [...tickets, ...sids()])).toEqual([])
    network.emulator.faults.clear()
  }
  const { status, body } = await browser.fetchJson(at('/throw'))
  expect(status).toBe(500)
  expect(hasAny(body, [...tickets, ...sids()])).toEqual([])
})

describe('[S11] a login that was ended elsewhere', () => {
  test('is anonymous at the next request after six minutes', async () => {
    const browser = await readerOf()
    const old = present(network.emulator.sessions().at(-1)).sid
    network.emulator.clock.advance(100)
    network.emulator.terminate(old)
    expect(view(await browser.visit(at('/'))).status).toBe('loggedin')
    network.emulator.clock.advance(261)
    events.clear()
    const after = await browser.visit(at('/'))
    expect(view(after)).toMatchObject({ status: 'anon' })
    expect(events.heard).toContain('check identify terminated')
    expect(network.emulator.sessions().at(-1)).toMatchObject({ status: 'anon' })
  })

  test('is refused by a sensitive page at once', async () => {
    const browser = await readerOf()
    expect(view(await browser.visit(at('/sensitive'))).status).toBe('loggedin')
    network.emulator.terminate(present(network.emulator.sessions().at(-1)).sid)
    events.clear()
    const { status, json } = await browser.fetchJson(at('/sensitive'))
    expect({ status, error: json.error }).toEqual({ status: 401, error: 'login_required' })
    expect(events.heard).toContain('check identify terminated')
    expect(view(await browser.visit(at('/'))).status).toBe('anon')
  })

  test('is not served beyond the grace while the SSO system is away', async () => {
    const browser = await readerOf()
    network.emulator.terminate(present(network.emulator.sessions().at(-1)).sid)
    network.emulator.faults.add({ operation: 'sessionstatus', kind: 'status', code: 400 })
    network.emulator.clock.advance(361)
    expect(view(await browser.visit(at('/')))).toMatchObject({ status: 'loggedin', degraded: 'sso_unavailable' })
    network.emulator.clock.advance(900)
    events.clear()
    const late = view(await browser.visit(at('/')))
    expect(late).toMatchObject({ status: 'none', degraded: 'sso_unavailable' })
    expect(late.username).toBeUndefined()
    expect(events.heard).toContain('degraded served sso_unavailable')
  })
})

describe('[S12] a logout while the SSO system does not take it', () => {
  /** A browser whose logout is not confirmed, and the SSO session that still lives. */
  async function loggedOut(): Promise<{ browser: Browser; sid: string }> {
    const browser = await readerOf()
    const { sid } = present(network.emulator.sessions().at(-1))
    network.emulator.faults.add({ operation: 'logout', kind: 'down' })
    events.clear()
    expect(view(await browser.submit(at('/logout'), { return_to: '/' })).status).toBe('none')
    expect(events.heard).toContain('logout pending')
    return { browser, sid }
  }

  async function browsesAnonymously(browser: Browser): Promise<void> {
    const before = network.count('identify')
    for (let page = 1; page <= 20; page += 1) {
      const shown = view(await browser.visit(at(`/page/${page}`)))
      expect(shown).toEqual({ status: 'none', degraded: 'logout_pending', url: `/page/${page}` })
    }
    expect(network.count('identify')).toBe(before)
  }

  test('stays anonymous for 20 pages, and once it is confirmed Identify gives a new anonymous session', async () => {
    const { browser, sid } = await loggedOut()
    expect(network.emulator.sessions().find((session) => session.sid === sid)?.status).toBe('loggedin')
    await browsesAnonymously(browser)
    expect(events.heard).toContain('degraded served logout_pending')
    network.emulator.faults.clear()
    await eventually(async () => view(await browser.visit(at('/'))).status === 'anon')
    const sessions = network.emulator.sessions()
    expect(sessions.find((session) => session.sid === sid)?.status).toBe('terminated')
    expect(sessions.at(-1)).toMatchObject({ status: 'anon' })
    expect(sessions.at(-1)?.sid).not.toBe(sid)
  })

  test('the landing refuses a token of the logged-out session, and its ticket is not exchanged', async () => {
    const { sid } = await loggedOut()
    const flow = await beginFlow(network)
    const before = tickets.length
    events.clear()
    const token = landingToken(network, { sid, sts: 'loggedin', at: 'a-ticket' })
    const answer = await land(network, flow, token)
    expect(answer.status).toBe(303)
    expect(answer.setCookie.filter((line) => line.startsWith('sso2.sid='))).toEqual([])
    expect(events.heard).toContain('landing log_out signed_out')
    expect(tickets).toHaveLength(before)
  })

  test('stays anonymous when Redis has lost everything', async () => {
    const { browser, sid } = await loggedOut()
    await network.redis.del(await network.keys())
    await browsesAnonymously(browser)
    network.emulator.faults.clear()
    const { status } = view(await browser.visit(at('/')))
    const isEnded = network.emulator.sessions().find((session) => session.sid === sid)?.status === 'terminated'
    // the process that keeps the logout may have told the SSO system of it just now
    expect(isEnded ? ['none', 'anon'] : ['none']).toContain(status)
  })

  test('that Redis has lost gives way to the login page once the user presses "log in"', async () => {
    const { browser } = await loggedOut()
    await network.redis.del(await network.keys())
    network.emulator.faults.clear()
    const form = await browser.visit(at('/login'))
    expect(form.status).toBe(200)
  })
})

test('[S13] no answer of our own routes may be kept by a cache', async () => {
  const browser = await readerOf()
  const answers = [
    (await browser.visit(at('/logout'))).headers,
    (await browser.fetchJson(at('/logout'), { method: 'POST' })).headers,
    (await browser.visit(at('/login'))).headers,
    (await browser.fetchJson(at('/login'), { json: { username: 'ada', password: 'wrong' } })).headers,
    (await browser.fetchJson(at('/account'))).headers,
    (await network.browser().fetchJson(at('/'), { headers: { 'sec-fetch-dest': 'document' } })).headers,
    (await land(network, await beginFlow(network), landingToken(network, { sid: randomUUID() }))).headers,
    (await browser.fetchJson(at('/sso2/landing?t=x'))).headers,
    (await browser.fetchJson(at('/sso2/landing'))).headers,
    (await browser.fetchJson(at('/login'), { method: 'DELETE' })).headers,
  ]
  for (const [index, headers] of answers.entries()) {
    expect(headers['cache-control']).toBe('no-store')
    const isPageWithForm = [0, 2].includes(index)
    expect(headers['referrer-policy']).toBe(isPageWithForm ? 'same-origin' : 'no-referrer')
  }
})
