import { once } from 'node:events'
import http from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import net from 'node:net'
import { inspect } from 'node:util'
import type { Request, RequestHandler, Response } from 'express'
import session, { type SessionOptions } from 'express-session'
import type { Kv } from '../../lib/storage/kv'
import { MemoryKv } from '../../lib/storage/memory-kv'
import { sessionKey } from '../../lib/storage/site-store'
import type { Browser } from '../support/agent'
import { loggerTo } from '../support/log-lines'
import { bag, configOf, cookieName, dataOf, establish, type SessionSite, startSite, told } from './session-site'

let site: SessionSite
let kv: Kv
let browser: Browser
const open = async (before: RequestHandler[] = [], config = configOf()) => {
  kv = new MemoryKv(Date.now)
  site = await startSite({ kv, before, config })
  browser = site.browser()
}
const ask = (path: string) => browser.fetchJson(`${site.url}${path}`)
const page: SessionSite['page'] = (path, show) => site.page(path, show)
afterEach(() => site.close())

/** What an upgrade without Express finds, with something else in the place of an answer. */
async function bare(
  cookie: string | undefined,
  res: object,
  act: (req: Request) => unknown = dataOf,
  handler: RequestHandler = site.sessions.handler,
): Promise<unknown> {
  const server = http.createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const found = new Promise((resolve, reject) => {
    server.once('upgrade', (req: Request, socket) => {
      const next = (error?: unknown) => {
        if (error) return reject(error)
        Promise.resolve(act(req)).then(resolve, reject)
        socket.destroy()
      }
      try {
        handler(req, res as never, next)
      } catch (error) {
        reject(error)
        socket.destroy()
      }
    })
  })
  const lines = ['GET /socket HTTP/1.1', 'Host: a', 'Connection: Upgrade', 'Upgrade: websocket']
  const client = net.connect((server.address() as AddressInfo).port, '127.0.0.1')
  client.on('error', () => {})
  client.write(`${[...lines, ...(cookie ? [`Cookie: ${cookie}`] : [])].join('\r\n')}\r\n\r\n`)
  return found.finally(() => server.close())
}

describe('[O17] an upgrade with an empty object as answer', () => {
  const engine = () => ({
    setHeader: () => {},
    getHeader: () => {},
    removeHeader: () => {},
    writeHead: () => {},
    end: () => {},
  })

  test.each([
    ['an empty object', () => ({})],
    ["engine.io's", engine],
  ])('reads and saves the session, with %s', async (_what, res) => {
    await open()
    await ask('/put/a/1')
    const { cookie } = site.cookieOf(browser)
    const write = (req: Request) => {
      bag(req)['b'] = 2
      return told((done) => req.session.save(done))
    }
    expect(await bare(cookie, res())).toEqual({ a: '1' })
    expect(await bare(cookie, res(), write)).toBeNull()
    expect((await ask('/read')).json).toEqual({ a: '1', b: 2 })
    expect(await bare(`${cookie}; ${cookie}`, res())).toEqual({})
    expect(await bare(undefined, res())).toEqual({})
  })

  test('can be given a session that follows, or none', async () => {
    await open()
    await ask('/put/a/1')
    const { cookie } = site.cookieOf(browser)
    const follow = (req: Request) => establish(site, req, 'anon').then(() => dataOf(req))
    const leave = (req: Request) => site.sessions.replaceWithEmptySession(req).then(() => dataOf(req))
    expect(await bare(cookie, {}, follow)).toEqual({ a: '1' })
    expect(await bare(undefined, {}, leave)).toEqual({})
  })
})

test('OPTIONS * has an empty session, and its answer is sent', async () => {
  await open()
  site.app.use((req, res) => void res.json({ data: dataOf(req), id: typeof req.sessionID }))
  const client = net.connect(Number(new URL(site.url).port), '127.0.0.1')
  client.end('OPTIONS * HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
  let answer = ''
  for await (const chunk of client) answer += chunk
  expect(answer).toMatch(/^HTTP\/1\.1 200[\s\S]*\{"data":\{\},"id":"string"\}/)
})

test('[S19] what express-session writes for DEBUG holds no signed cookie', async () => {
  const lines: string[] = []
  await jest.isolateModulesAsync(async () => {
    const debug: { enable(names: string): void; log: unknown } = jest.requireActual(
      createRequire(require.resolve('express-session')).resolve('debug'),
    )
    debug.log = (...parts: unknown[]) => void lines.push(inspect(parts))
    debug.enable('express-session')
    const isolated: typeof import('./session-site') = jest.requireActual('./session-site')
    kv = new MemoryKv(Date.now)
    site = await isolated.startSite({ kv })
  })
  browser = site.browser()
  page('/again', (req, res) => {
    bag(req)['a'] = 2
    req.session.cookie.maxAge = 1000
    res.end()
  })
  page('/new', (req, res) => req.session.regenerate(() => res.end()))
  for (const path of ['/put/a/1', '/again', '/read', '/new', '/put/a/1']) await ask(path)
  expect(lines.join('\n')).toMatch(/saving/)
  expect(lines.filter((line) => /s:|s%3A|set-cookie/.test(line))).toEqual([])
})

test('a request with a session prints no data and no ID of it', async () => {
  await open()
  page('/print', (req, res) => {
    const shown = () =>
      inspect(req, { depth: 3, showHidden: true }) +
      JSON.stringify(Object.getOwnPropertySymbols(req).map((name) => Reflect.get(req, name)))
    res.json({ shown: shown() })
  })
  await ask('/put/a/very-own-data')
  const { json } = await ask('/print')
  const shown = json.shown.replaceAll(/s%3A[\w%.+/-]+/g, '') // the header Cookie, as it came
  expect(shown).toContain('[session]')
  expect(shown).not.toContain('very-own-data')
  expect(json.shown).toContain(`s%3A${site.idOf(browser)}`)
  expect(shown).not.toContain(site.idOf(browser))
})

test('without any session the error says what to mount', async () => {
  await open()
  const request = { headers: {} } as Request
  await expect(site.sessions.stateOf(request)).rejects.toThrow(
    /Mount sso\.session, or your own express-session, before/,
  )
})

const callable = () => {}
test.each<[string, object]>([
  ['nothing', { session: {} }],
  ['nothing but an ID', { session: {}, sessionID: 'an-id' }],
  ['what passport wants', { session: { regenerate: callable, save: callable } }],
  ['all but an ID', { session: { regenerate: callable, reload: callable } }],
  ['an ID and what passport wants', { session: { regenerate: callable }, sessionID: 'an-id' }],
  ['an ID and no regenerate', { session: { reload: callable }, sessionID: 'an-id' }],
])('with a session that has %s of express-session the error says what to mount', async (_what, parts) => {
  await open()
  const request = Object.assign(Object.create(null), { headers: {} }, parts) as Request
  await expect(site.sessions.stateOf(request)).rejects.toThrow(
    /The session in req\.session is not of express-session.*cookie-session.*app\.use\(sso\) alone/,
  )
})

/** A session of the site's own. */
const own = (options: Partial<SessionOptions> = {}) =>
  session({ secret: 'the secret of the site', resave: false, saveUninitialized: false, ...options })

describe("a site's own session", () => {
  beforeEach(async () => {
    await open([own()])
    page('/next-id', (req, res) => res.json(site.sessions.nextId(req, 'hash')))
  })
  const seen = async () => ({ ...(await ask('/state')).json, next: (await ask('/next-id')).json })

  test('is left as it is, and its ID leads to the record', async () => {
    expect(await seen()).toEqual({ state: 'none', hasKey: false, next: '' })
    await ask('/put/a/1')
    const before = browser.cookie('connect.sid')
    await ask('/log-in')
    expect(browser.cookie('connect.sid')).not.toBe(before)
    expect((await ask('/read')).json).toEqual({ a: '1', sso2: expect.any(String) })
    expect(await seen()).toEqual({ state: 'live', hasKey: true, next: '' })
    expect(browser.cookie(cookieName)).toBeUndefined()
  })

  test('is emptied when it ends, and what comes after moves along to the next login', async () => {
    await ask('/put/a/1')
    await ask('/log-in')
    expect((await ask('/end?show=1')).json).toEqual({})
    await ask('/put/b/2')
    await ask('/log-in')
    expect((await ask('/read')).json).toEqual({ b: '2', sso2: expect.any(String) })
  })

  test('whose login was lost hands none of its data to the next one', async () => {
    await ask('/put/a/1')
    const { json } = await ask('/log-in')
    expect(json.id).toEqual(expect.any(String))
    await kv.del(`${site.prefix}sso2:{${sessionKey(json.id)}}`)
    await ask('/log-in')
    expect((await ask('/read')).json).toEqual({ sso2: expect.any(String) })
  })

  test('that sets a cookie for a login keeps the answer from shared caches', async () => {
    expect((await ask('/log-in')).headers['set-cookie']).toHaveLength(1)
    expect((await ask('/log-in')).headers['cache-control']).toBe('private, no-store')
  })
})

describe("what happens in the middle of a request to a site's own session", () => {
  /** A store of the site's that can be taken away. */
  class Fragile extends session.MemoryStore {
    isAway = false
    override set = (...[id, data, done]: Parameters<session.MemoryStore['set']>) =>
      this.isAway ? done?.(new Error('away')) : super.set(id, data, done)
    override destroy = (...[id, done]: Parameters<session.MemoryStore['destroy']>) =>
      this.isAway ? done?.(new Error('away')) : super.destroy(id, done)
  }
  let store: Fragile
  const lines: string[] = []
  beforeEach(async () => {
    lines.length = 0
    store = new Fragile()
    await open([own({ store })], configOf({ logger: loggerTo(lines) }))
  })

  test('a login of a user who has none yet makes one', async () => {
    const { json, headers } = await ask('/log-in?put=a')
    expect(json.id).toEqual(expect.any(String))
    expect(headers['set-cookie']).toHaveLength(1)
    expect((await ask('/read')).json).toEqual({ a: 'put', sso2: expect.any(String) })
  })

  test('what another tab has put in meanwhile goes along with a login, and what this one has changed over it', async () => {
    page('/slow-log-in', async (req, res) => {
      await site.sessions.stateOf(req)
      Object.assign(bag(req), { mine: 1, both: 'mine' })
      delete bag(req)['gone']
      await ask('/put/other/1')
      await ask('/put/both/other')
      res.json({ id: await establish(site, req, 'loggedin') })
    })
    await ask('/put/gone/1')
    await ask('/put/stays/1')
    expect((await ask('/slow-log-in')).json.id).toEqual(expect.any(String))
    const both = { stays: '1', other: '1', mine: 1, both: 'mine', sso2: expect.any(String) }
    expect((await ask('/read')).json).toEqual(both)
  })

  test.each([true, false])(
    'what comes after an end goes along with a login of the same request (saved in between: %p)',
    async (isSaved) => {
      page('/end-and-log-in', async (req, res) => {
        const { key = '' } = await site.sessions.stateOf(req)
        await site.records.end(key)
        await site.sessions.replaceWithEmptySession(req)
        bag(req)['b'] = 1
        if (isSaved) await told((done) => req.session.save(done))
        bag(req)['c'] = 1
        res.json({ id: await establish(site, req, 'loggedin') })
      })
      await ask('/log-in?put=a')
      expect((await ask('/end-and-log-in')).json.id).toEqual(expect.any(String))
      expect((await ask('/read')).json).toEqual({ b: 1, c: 1, sso2: expect.any(String) })
    },
  )

  test('a store of the site that fails is known to a login, and logged at an end', async () => {
    await ask('/put/a/1')
    store.isAway = true
    expect((await ask('/log-in')).json).toEqual({ id: 'unavailable' })
    expect((await ask('/end')).status).toBe(200)
    const line = expect.stringMatching(/The store of the site's own express-session has not deleted a session/)
    expect(lines).toEqual([line])
  })

  test('it is known as such, and what is done to ours leaves it alone', async () => {
    page('/look', async (req, res) => {
      const { isExternal, isUnreadable } = await site.sessions.stateOf(req)
      site.commands.length = 0
      const life = site.sessions.dataLifeOf(req) ?? 'none'
      site.sessions.detach(req)
      await site.sessions.adopt(req, 'a'.repeat(43))
      res.json({ isExternal, isUnreadable, data: dataOf(req), life, commands: site.commands })
    })
    await ask('/put/a/1')
    const untouched = { isExternal: true, isUnreadable: false, data: { a: '1' }, life: 'none', commands: [] }
    expect((await ask('/look')).json).toEqual(untouched)
  })

  test('an upgrade can be given a session that follows', async () => {
    const res = { on: () => {}, end: () => {}, writeHead: () => {} }
    const logIn = (req: Request) => establish(site, req, 'loggedin')
    expect(await bare(undefined, res, logIn, own({ saveUninitialized: true, store }))).toMatch(/^[\w-]{32}$/)
  })
})

test('a session that the site lays over ours is one of its own', async () => {
  await open()
  const over = own()
  const look = async (req: Request, res: Response) => res.json((await site.sessions.stateOf(req)).isExternal)
  page('/over', (req, res) => {
    Reflect.deleteProperty(req, 'session')
    over(req, res, () => look(req, res))
  })
  page('/ours', (req, res) => {
    dataOf(req)
    return look(req, res)
  })
  expect((await ask('/over')).json).toBe(true)
  expect((await ask('/ours')).json).toBe(false)
})

test.each<[string, object]>([
  ['nothing', {}],
  ['no writeHead', { setHeader: () => {} }],
  ['no setHeader', { writeHead: () => {} }],
])('[O17] what stands in the place of an answer and has %s is left as it is by a login', async (_what, res) => {
  await open()
  const before = { ...res }
  expect(await bare(undefined, res, (req) => establish(site, req, 'anon'))).toEqual(expect.any(String))
  expect(res).toEqual(before)
})
