import { ServerResponse } from 'node:http'
import type { Request } from 'express'
import { serialiseRecord } from '../../lib/decide/record'
import { MemoryKv } from '../../lib/storage/memory-kv'
import { sessionKey } from '../../lib/storage/site-store'
import type { Browser } from '../support/agent'
import {
  bag,
  cookieName,
  cookiesOf,
  dataOf,
  establish,
  interrupted,
  type Meanwhile,
  recordOf,
  type SessionSite,
  startSite,
  told,
} from './session-site'

/* How a request goes over from one session to another: by regenerate, a login, an end, or because another request did so. */

let site: SessionSite
let browser: Browser
const meanwhile: Meanwhile = {}

beforeEach(async () => {
  site = await startSite({ kv: interrupted(new MemoryKv(Date.now), meanwhile) })
  browser = site.browser()
  meanwhile.next = undefined
  addRegenerate()
})
afterEach(() => site.close())

const ask = (path: string, from = browser, headers: Record<string, string> = {}) =>
  from.fetchJson(`${site.url}${path}`, { headers })
const page: SessionSite['page'] = (path, show) => site.page(path, show)

function addRegenerate(): void {
  page('/regenerate', async (req, res) => {
    const { saved, put } = req.query
    dataOf(req)
    if (saved) {
      bag(req)['saved'] = 1
      await told((done) => req.session.save(done))
    }
    const from = site.commands.length
    const answer = await told((done) => req.session.regenerate(done))
    const commands = site.commands.slice(from)
    const { state } = await site.stateOf(req)
    const data = dataOf(req)
    if (put) bag(req)['put'] = 1
    res.json({ told: answer, data, state, commands })
  })
}

describe('regenerate()', () => {
  test('of a new user who has nothing asks whether the store is there, and sends no cookie', async () => {
    const answer = await ask('/regenerate')
    expect(answer.json).toMatchObject({ told: null, data: {}, state: 'none', commands: ['mget'] })
    expect(cookiesOf(answer)).toEqual([])
    expect(cookiesOf(await ask('/regenerate?put=1'))).toHaveLength(1)
    expect((await ask('/read')).json).toEqual({ put: 1 })
  })

  test('of a new user who has just got a session ends that one, and sends the cookie of the next', async () => {
    const answer = await ask('/regenerate?saved=1')
    expect(answer.json).toMatchObject({ told: null, data: {}, state: 'none' })
    expect(answer.json.commands).toContain('compareAndSet')
    expect(cookiesOf(answer)).toHaveLength(1)
    expect((await ask('/read')).json).toEqual({})
  })

  test.each(['', '?put=1'])('of a visitor with data sends the cookie of the next session (%p)', async (query) => {
    await ask('/put/a/1')
    const before = site.idOf(browser)
    expect(cookiesOf(await ask(`/regenerate${query}`))).toHaveLength(1)
    expect(site.idOf(browser)).not.toBe(before)
    expect((await ask('/read')).json).toEqual(query ? { put: 1 } : {})
  })

  test('of a user who has nothing takes the login along, and sends the cookie', async () => {
    await ask('/log-in')
    const before = site.idOf(browser)
    const answer = await ask('/regenerate')
    expect([answer.json.told, answer.json.state]).toEqual([null, 'live'])
    expect(cookiesOf(answer)).toHaveLength(1)
    expect(site.idOf(browser)).not.toBe(before)
    expect((await ask('/regenerate')).json.state).toBe('live')
  })

  test('of data that cannot be had any more, by a page that keeps nothing, sends no cookie', async () => {
    await ask('/put/a/1')
    await site.records.saveData(sessionKey(site.idOf(browser)), 'garbage', 100)
    const answer = await ask('/regenerate')
    expect([answer.json.told, answer.json.commands, cookiesOf(answer)]).toEqual([null, ['mget'], []])
  })

  test('of a request that comes late does nothing, and what it puts is kept nowhere', async () => {
    await ask('/put/a/1')
    const old = site.cookieOf(browser)
    await ask('/log-in')
    const late = await ask('/regenerate?put=1', site.browser(), old)
    expect(late.json).toMatchObject({ told: null, data: {}, state: 'moved', commands: [] })
    expect(cookiesOf(late)).toEqual([])
    expect((await ask('/read')).json).toEqual({ a: '1' })
  })

  test.each([
    ['a moment ago gives way', 0, 0],
    ['long ago begins another', 61, 1],
  ])('of a session that another request has moved %s', async (_when, seconds, cookies) => {
    await ask('/put/a/1')
    const old = site.cookieOf(browser)
    page('/slow', async (req, res) => {
      const { session } = req
      await ask('/log-in')
      site.clock.now += seconds
      const answer = await told((done) => session.regenerate(done))
      bag(req)['late'] = 1
      site.commands.length = 0
      await told((done) => req.session.save(done))
      const isUntouched = res.writeHead === ServerResponse.prototype.writeHead
      res.json({ told: answer, saves: site.commands.length, isUntouched })
    })
    const slow = await ask('/slow', site.browser(), old)
    expect(slow.json).toEqual({ told: null, saves: cookies, isUntouched: cookies === 0 })
    expect(cookiesOf(slow)).toHaveLength(cookies)
    expect((await ask('/read')).json).toEqual({ a: '1' })
  })

  test('of a session that another request moves at the very same time gives way', async () => {
    await ask('/put/a/1')
    const old = site.cookieOf(browser)
    meanwhile.next = { command: 'compareAndSet', act: () => ask('/log-in') }
    const answer = await ask('/regenerate?put=1', site.browser(), old)
    expect([answer.json.told, cookiesOf(answer)]).toEqual([null, []])
    expect((await ask('/read')).json).toEqual({ a: '1' })
  })

  test('of a session in whose place a record comes and goes all the time fails after four tries', async () => {
    await ask('/put/a/1')
    const key = sessionKey(site.idOf(browser))
    const record = serialiseRecord(recordOf(site, 'anon'))
    let tries = 0
    const comes = () => {
      meanwhile.next = { command: 'compareAndSet', act: () => site.records.replace(key, null, record, 100).then(goes) }
    }
    const goes = () => {
      tries += 1
      meanwhile.next = { command: 'mget', act: () => site.records.drop(key, record).then(comes) }
    }
    comes()
    const answer = await ask('/regenerate')
    meanwhile.next = undefined
    expect([answer.json.told, tries, cookiesOf(answer)]).toEqual([expect.stringContaining('store'), 4, []])
    expect((await ask('/read')).json).toEqual({ a: '1' })
  })

  test.each(['', '?put=1'])('of a login that ends at the very same time goes on without it (%p)', async (query) => {
    await ask('/log-in')
    const stale = site.cookieOf(browser)
    const other = site.browser()
    meanwhile.next = { command: 'compareAndSet', act: () => ask('/end', other, stale) }
    const answer = await ask(`/regenerate${query}`)
    expect([answer.json.told, answer.json.state]).toEqual([null, 'none'])
    expect(cookiesOf(answer)).toHaveLength(1)
    expect((await ask('/read')).json).toEqual(query ? { put: 1 } : {})
  })
})

describe('a login', () => {
  test('of a user without data writes none, and is known within the same request', async () => {
    page('/log-in-and-look', async (req, res) => {
      await establish(site, req, 'loggedin')
      res.json(await site.stateOf(req))
    })
    expect((await ask('/log-in-and-look')).json).toMatchObject({ state: 'live' })
    expect(site.commands).not.toContain('setUnlessMarker')
  })

  test('of a logged-in user keeps what the login had, twice in a request too', async () => {
    page('/twice', async (req, res) => {
      await establish(site, req, 'loggedin')
      res.json({ id: await establish(site, req, 'loggedin') })
    })
    await ask('/log-in')
    await ask('/put/a/1')
    for (const path of ['/log-in', '/twice']) {
      expect((await ask(path)).status).toBe(200)
      expect((await ask('/read')).json).toEqual({ a: '1' })
    }
  })

  test('in the place of one that this version cannot read takes none of its data', async () => {
    await ask('/log-in')
    await ask('/put/a/1')
    const key = sessionKey(site.idOf(browser))
    const stored = await site.records.read(key)
    const later = '{"v":99,"status":"loggedin"}'
    expect(stored !== 'unavailable' && (await site.records.replace(key, stored.raw, later, 100))).toBe(true)
    expect((await ask('/read')).json).toEqual({ a: '1' })
    await ask('/log-in')
    expect((await ask('/read')).json).toEqual({})
  })

  const circle: Record<string, unknown> = {}
  circle['itself'] = circle

  test.each<[what: string, change: (req: Request) => unknown, kept: object]>([
    ['put a BigInt into the session', (req) => Object.assign(bag(req), { odd: 1n }), { a: '1' }],
    ['put a circle into the session', (req) => Object.assign(bag(req), { odd: circle }), { a: '1' }],
    ['set req.session to null', (req) => Object.assign(req, { session: null }), { a: '1' }],
    ['set req.session to an object of its own', (req) => Object.assign(req, { session: { b: 1 } }), { a: '1', b: 1 }],
  ])('goes well, and keeps the data, though the page has %s', async (_what, change, kept) => {
    page('/odd', async (req, res) => {
      dataOf(req)
      change(req)
      res.json({ id: await establish(site, req, 'loggedin') })
    })
    await ask('/put/a/1')
    expect((await ask('/odd')).json.id).toEqual(expect.any(String))
    expect((await ask('/read')).json).toEqual(kept)
  })
})

describe('the end of a session', () => {
  test('that was not there drops no cookie', async () => {
    expect(cookiesOf(await ask('/end?show=1'))).toEqual([])
    expect(cookiesOf(await ask('/end?touch=1&show=1'))).toEqual([])
  })

  test('which the page has touched before lets it put something into the next one', async () => {
    await ask('/put/a/1')
    expect(cookiesOf(await ask('/end?touch=1&put=b'))).toHaveLength(1)
    expect((await ask('/read')).json).toEqual({ b: 'put' })
  })
})

describe('a session that another request got', () => {
  beforeEach(async () => {
    await ask('/put/a/1')
  })

  test('sends its cookie, though the page touches nothing', async () => {
    await ask('/log-in')
    const other = site.browser()
    expect(cookiesOf(await ask(`/adopt/${site.idOf(browser)}`, other))).toHaveLength(1)
    expect(site.idOf(other)).toBe(site.idOf(browser))
  })

  test('can be emptied', async () => {
    const id = site.idOf(browser)
    await ask(`/adopt/${id}?touch=1&clear=1`, site.browser())
    expect(await site.records.readBoth(sessionKey(id))).toMatchObject({ data: null })
  })

  test('and that has gone on since then is not taken, and the cookie stays as it is', async () => {
    const id = site.idOf(browser)
    await ask('/log-in')
    site.commands.length = 0
    const answer = await ask(`/adopt/${id}?put=b`, site.browser())
    expect(cookiesOf(answer)).toEqual([])
    expect(site.commands).not.toContain('setUnlessMarker')
  })

  test('and that is not there is none', async () => {
    const other = site.browser()
    const unknown = 'a'.repeat(43)
    expect(cookiesOf(await ask(`/adopt/${unknown}`, other))).toEqual([])
    expect(cookiesOf(await ask(`/adopt/${unknown}?put=b`, other))).toHaveLength(1)
    expect(site.idOf(other)).not.toBe(unknown)
    expect((await ask('/read', other)).json).toEqual({ b: 'put' })
  })
})

test('a request whose session another one has moved goes on with an empty one, saves nothing, and leaves the cookie alone', async () => {
  page('/leave', async (req, res) => {
    dataOf(req)
    const { key = '', stored } = await site.sessions.stateOf(req)
    if (stored !== 'unavailable')
      await site.records.writeMarker(key, stored.raw, 'moved', site.sessions.nextId(req, 'hash'))
    site.sessions.detach(req)
    const empty = dataOf(req)
    bag(req)['late'] = 1
    site.sessions.detach(req)
    site.commands.length = 0
    const answer = await told((done) => req.session.save(done))
    const commands = [...site.commands]
    res.json({ empty, data: dataOf(req), told: answer, commands, ...(await site.stateOf(req)) })
  })
  await ask('/put/a/1')
  const before = browser.cookie(cookieName)
  const answer = await ask('/leave')
  expect(answer.json).toEqual({ empty: {}, data: { late: 1 }, told: null, commands: [], hasKey: true, state: 'moved' })
  expect([cookiesOf(answer), browser.cookie(cookieName)]).toEqual([[], before])
})
