import { ServerResponse } from 'node:http'
import type { Request, Response } from 'express'
import session, { type SessionData } from 'express-session'
import { MemoryKv } from '../../lib/storage/memory-kv'
import { sessionKey } from '../../lib/storage/site-store'
import type { Browser } from '../support/agent'
import { loggerTo } from '../support/log-lines'
import { bag, configOf, cookiesOf, dataOf, establish, type SessionSite, startSite, told } from './session-site'

/* What handlers do with `req.session` and `req.sessionStore` beyond reading and writing, and what that costs. */

let kv: MemoryKv
let site: SessionSite
let browser: Browser
beforeEach(async () => {
  kv = new MemoryKv(Date.now)
  site = await startSite({ kv })
  browser = site.browser()
})
afterEach(() => site.close())

const ask = (path: string, from = browser, headers: Record<string, string> = {}) =>
  from.fetchJson(`${site.url}${path}`, { headers })
const page: SessionSite['page'] = (path, show) => site.page(path, show)
const save = (req: Request) => told((done) => req.session.save(done))
const textOf = async (id: string) => {
  const pair = await site.records.readBoth(sessionKey(id))
  return pair === 'unavailable' ? pair : pair.data
}
const writes = () => site.commands.filter((command) => command === 'setUnlessMarker').length

describe('req.sessionStore', () => {
  test('an ID that is none of ours costs no command', async () => {
    page('/try', async (req, res) => {
      const { sessionStore: store, sessionID, session } = req
      bag(req)['a'] = 1
      const answers = []
      for (const odd of ['none-of-ours', `${sessionID}x`, `x${sessionID}`, [sessionID], undefined]) {
        const id = odd as string
        answers.push(await told((done) => store.get(id, done)))
        answers.push(await told((done) => store.set(id, { cookie: session.cookie } as SessionData, done)))
        answers.push(await told((done) => store.set(id, session, done)))
        answers.push(await told((done) => store.destroy(id, done)))
      }
      res.json({ answers, commands: [...site.commands] })
    })
    expect((await ask('/try')).json).toEqual({ answers: Array.from({ length: 20 }, () => null), commands: [] })
  })

  test('generate gives the request another session, and nothing becomes of the old one', async () => {
    page('/generate', async (req, res) => {
      const { session: old, sessionID } = req
      bag(req)['a'] = 1
      req.sessionStore.generate(req)
      const empty = dataOf(req)
      const refused = await told((done) => old.save(done))
      if (req.query['put']) bag(req)['b'] = 2
      res.json({ empty, refused, isAnother: req.sessionID !== sessionID, commands: [...site.commands] })
    })
    const bare = await ask('/generate')
    expect(bare.json).toEqual({ empty: {}, refused: null, isAnother: true, commands: [] })
    expect(cookiesOf(bare)).toEqual([])
    expect(cookiesOf(await ask('/generate?put=b'))).toHaveLength(1)
    expect((await ask('/read')).json).toEqual({ b: 2 })
  })

  test('generate twice in one page sends no cookie for an empty session', async () => {
    page('/twice', async (req, res) => {
      for (const _time of [1, 2]) await told((done) => req.session.regenerate(done))
      res.json({})
    })
    expect(cookiesOf(await ask('/twice'))).toEqual([])
  })

  test('set stores a session that a handler has made, as one that begins now and has no user', async () => {
    page('/set', async (req, res) => {
      const made = { cookie: req.session.cookie, b: 1 } as SessionData
      res.json(await told((done) => req.sessionStore.set(String(req.query['id']), made, done)))
    })
    await ask('/put/a/1')
    expect((await ask(`/set?id=${site.idOf(browser)}`, site.browser())).json).toBeNull()
    const stored = JSON.parse(String(await textOf(site.idOf(browser))))
    expect(stored).toEqual({ cookie: { since: site.clock.now }, b: 1 })
    expect((await ask('/read')).json).toEqual({ b: 1 })
  })

  test('get finds the data of a session that has a record or none, and of no session that has ended', async () => {
    page('/get', async (req, res) =>
      res.json(await told((done) => req.sessionStore.get(String(req.query['id']), done))),
    )
    const get = async () => (await ask(`/get?id=${id}`, site.browser())).json
    await ask('/put/a/1')
    let id = site.idOf(browser)
    expect(await get()).toMatchObject({ a: '1' })
    await ask('/log-in')
    expect(await get()).toBeNull() // has moved
    await kv.compareAndSet(
      `${site.prefix}sess:{${sessionKey(id)}}`,
      null,
      `{"cookie":{"since":${site.clock.now}},"a":1}`,
      60,
    )
    expect(await get()).toBeNull()
    id = site.idOf(browser)
    expect(await get()).toMatchObject({ a: '1' })
    await kv.del(`${site.prefix}sso2:{${sessionKey(id)}}`)
    expect(await get()).toBeNull() // data of a login without its record
  })

  test('another request than one of ours is given none, and the error says why', async () => {
    page('/other', (req, res) => {
      const thrown = (act: () => void) => {
        try {
          act()
        } catch (error) {
          return (error as Error).message
        }
        return undefined
      }
      const [other, store] = [{} as Request, req.sessionStore]
      res.json([thrown(() => store.generate(other)), thrown(() => store.regenerate(other, () => {}))])
    })
    const message =
      'express-sso2: This request did not pass through sso.session. See "Sso2SetupError" in docs/troubleshooting.md.'
    expect((await ask('/other')).json).toEqual([message, message])
  })
})

describe('save', () => {
  test.each([
    ['nothing', {}],
    ['a member that is undefined', { x: undefined }],
    ['a function', { x: () => {} }],
    ['a symbol', { x: Symbol('x') }],
  ])('of a new session with %s costs no command and sends no cookie', async (_what, data) => {
    page('/save', async (req, res) => {
      Object.assign(req.session, data)
      res.json({ told: await save(req), commands: [...site.commands] })
    })
    const answer = await ask('/save')
    expect([answer.json, cookiesOf(answer)]).toEqual([{ told: null, commands: [] }, []])
    expect(site.commands).toEqual([])
  })

  test('of a login that has nothing costs no command', async () => {
    page('/save', async (req, res) => {
      site.commands.length = 0
      res.json({ told: await save(req), commands: [...site.commands] })
    })
    await ask('/log-in')
    expect((await ask('/save')).json).toEqual({ told: null, commands: [] })
  })

  test('of data that a login has saved is not done twice, and of what changed since then it is', async () => {
    page('/touched', async (req, res) => {
      dataOf(req)
      res.json({ id: await establish(site, req, 'loggedin') })
    })
    page('/saved', async (req, res) => {
      await establish(site, req, 'loggedin')
      res.json({ told: await save(req) })
    })
    page('/back', async (req, res) => {
      dataOf(req)
      await establish(site, req, 'loggedin')
      bag(req)['b'] = 1
      await save(req)
      delete bag(req)['b']
      res.json({})
    })
    await ask('/put/a/1')
    for (const [path, times] of [
      ['/touched', 1],
      ['/saved', 1],
      ['/back', 3],
    ] as const) {
      site.commands.length = 0
      expect((await ask(path)).status).toBe(200)
      expect([path, writes()]).toEqual([path, times])
      expect((await ask('/read')).json).toEqual({ a: '1' })
    }
  })

  test('a session object of before a login is saved nowhere', async () => {
    page('/old', async (req, res) => {
      const { session: old } = req
      await establish(site, req, 'loggedin')
      Object.assign(old, { late: 1 })
      site.commands.length = 0
      res.json({ told: await told((done) => old.save(done)), commands: [...site.commands] })
    })
    await ask('/put/a/1')
    expect((await ask('/old')).json).toEqual({ told: null, commands: [] })
    expect((await ask('/read')).json).toEqual({ a: '1' })
  })
})

describe('reload', () => {
  beforeEach(() => {
    page('/reload', async (req, res) => {
      const answer = await told((done) => req.session.reload(done))
      if (req.query['put']) bag(req)['put'] = 1
      res.json({ answer, data: dataOf(req) })
    })
  })

  test('gives what is stored, and the session stays as old as it is', async () => {
    const began = site.clock.now
    await ask('/put/a/1')
    site.clock.now += 100
    expect((await ask('/reload?put=1')).json).toEqual({ answer: null, data: { a: '1', put: 1 } })
    expect(JSON.parse(String(await textOf(site.idOf(browser))))).toEqual({ cookie: { since: began }, a: '1', put: 1 })
  })

  test('what has been reloaded is what a login goes on from', async () => {
    page('/reload-and-log-in', async (req, res) => {
      bag(req)['b'] = 1
      await told((done) => req.session.reload(done))
      delete bag(req)['a']
      await establish(site, req, 'loggedin')
      res.json(dataOf(req))
    })
    await ask('/put/a/1')
    await ask('/put/c/1')
    expect((await ask('/reload-and-log-in')).json).toEqual({ c: '1' })
  })

  test('a login without data has a session, and a user without stored data has none', async () => {
    expect((await ask('/reload')).json.answer).toBe('failed to load session')
    await ask('/log-in')
    expect((await ask('/reload')).json).toEqual({ answer: null, data: {} })
  })
})

describe('destroy', () => {
  const destroy = (req: Request) => told((done) => req.session.destroy(done))

  test('tells its callback that it is done; of a login also the package, and the operator that it was no logout', async () => {
    const lines: string[] = []
    await site.close()
    site = await startSite({ kv: new MemoryKv(Date.now), config: configOf({ logger: loggerTo(lines) }) })
    page('/destroy', async (req, res) => {
      bag(req)['x'] = 1
      res.json({ told: await destroy(req) })
    })
    await ask('/put/a/1')
    expect((await ask('/destroy')).json).toEqual({ told: null })
    expect([site.destroyed, lines]).toEqual([[], []])
    await ask('/log-in')
    const key = sessionKey(site.idOf(browser))
    expect((await ask('/destroy')).json).toEqual({ told: null })
    expect(site.destroyed).toEqual([key])
    expect(lines).toEqual([expect.stringMatching(/destroy\(\) has ended a login on this site only.*req\.sso2\.logout/)])
  })

  test('an error of what follows from it is for the callback', async () => {
    page('/destroy', async (req, res) => res.json({ told: await destroy(req) }))
    site.sessions.onDestroy = async () => {
      throw new Error('what follows has failed')
    }
    await ask('/log-in')
    expect((await ask('/destroy')).json).toEqual({ told: 'what follows has failed' })
  })

  test('after a login in the same request leaves no cookie behind', async () => {
    page('/in-and-out', async (req, res) => {
      bag(req)['a'] = 1
      await establish(site, req, 'loggedin')
      res.json({ told: await destroy(req) })
    })
    const answer = await ask('/in-and-out')
    expect([answer.json, cookiesOf(answer)]).toEqual([{ told: null }, []])
  })
})

describe('an answer', () => {
  const { writeHead } = ServerResponse.prototype

  test('whose session is only read is left alone, that of a late request too', async () => {
    page('/head', (req, res) => {
      dataOf(req)
      res.json({ isUntouched: res.writeHead === writeHead })
    })
    await ask('/put/a/1')
    const old = site.cookieOf(browser)
    expect((await ask('/head')).json).toEqual({ isUntouched: true })
    site.clock.now += 50
    await ask('/log-in')
    site.clock.now += 20
    site.commands.length = 0
    expect((await ask('/head', site.browser(), old)).json).toEqual({ isUntouched: true })
    expect(site.commands).toEqual(['mget'])
  })

  test('is waited for once, however often the session changes', async () => {
    page('/twice', async (req, res) => {
      bag(req)['a'] = 1
      const before = res.writeHead
      await establish(site, req, 'loggedin')
      await establish(site, req, 'loggedin')
      res.json({ isTheSame: res.writeHead === before, isUntouched: before === writeHead })
    })
    const answer = await ask('/twice')
    expect(answer.json).toEqual({ isTheSame: true, isUntouched: false })
    expect(cookiesOf(answer)).toHaveLength(1)
    expect((await ask('/read')).json).toEqual({ a: 1 })
  })
})

describe('the request', () => {
  test.each([
    ['sso.session', []],
    ['the site’s own session', [session({ secret: 'own', resave: false, saveUninitialized: false })]],
  ])('with %s has the ID of its session, and the time at which it arrived', async (_name, before) => {
    const other = await startSite({ kv, before })
    const begun = Date.now()
    other.page('/facts', async (req, res) => {
      const { id } = req.session
      res.json({ isSame: other.sessions.idOf(req) === id, arrivedAt: other.sessions.arrivalOf(req) })
    })
    const { json } = await other.browser().fetchJson(`${other.url}/facts`)
    expect(json).toEqual({ isSame: true, arrivedAt: expect.any(Number) })
    expect(json.arrivedAt).toBeGreaterThanOrEqual(begun)
    await other.close()
  })

  test('hands its session on to no object that only has its properties', async () => {
    page('/copy', (req, res) => {
      const { session } = Object.getOwnPropertyDescriptors(req)
      const copy: { session?: unknown } = Object.defineProperty({}, 'session', session as PropertyDescriptor)
      copy.session = 1
      res.json({ session: typeof copy.session })
    })
    await ask('/put/a/1')
    expect((await ask('/copy')).json).toEqual({ session: 'undefined' })
  })

  test('that comes through sso.session twice at once has one session', async () => {
    const both = site.browser()
    await ask('/put/a/1', both)
    const app = (req: Request, res: Response) => {
      let count = 0
      const next = () => {
        count += 1
        if (count === 2) res.end(JSON.stringify(dataOf(req)))
      }
      site.sessions.handler(req, res, next)
      site.sessions.handler(req, res, next)
    }
    site.server.removeAllListeners('request')
    site.server.on('request', app as never)
    expect((await ask('/', both)).json).toEqual({ a: '1' })
  })
})

describe('how long a session lives', () => {
  const life = (seconds: number) =>
    page(`/life/${seconds}`, (req, res) => {
      bag(req)['a'] = Math.random()
      req.session.cookie.maxAge = seconds * 1000
      res.json({})
    })

  test.each([
    [90, 3],
    [120, 3],
    [121, 1],
  ])('where it is only %i seconds it is renewed by each of three pages %i times', async (seconds, times) => {
    life(seconds)
    await ask(`/life/${seconds}`)
    site.commands.length = 0
    for (let pages = 0; pages < 3; pages += 1) await ask('/read')
    expect(site.commands.filter((command) => command === 'expire')).toHaveLength(2 * times)
  })

  test('the shorter of the two lives counts, of a record and of data', async () => {
    life(90)
    await ask('/log-in')
    await ask('/life/90')
    site.clock.now += 20
    site.commands.length = 0
    for (let pages = 0; pages < 3; pages += 1) await ask('/read')
    expect(site.commands.filter((command) => command === 'expire')).toHaveLength(6)
  })

  test('data that is checked is renewed, data that is not there or has just been written is not', async () => {
    page('/check', async (req, res) => {
      if (req.query['in']) await establish(site, req, 'loggedin')
      site.commands.length = 0
      res.json({ life: site.sessions.dataLifeOf(req) ?? 'none', commands: site.commands })
    })
    expect((await ask('/check')).json).toEqual({ life: 'none', commands: [] })
    await ask('/put/a/1')
    expect((await ask('/check?in=1')).json).toEqual({ life: 'none', commands: [] })
    expect((await ask('/check')).json).toEqual({ life: 1000, commands: [] })
  })

  test('data that a login puts in later are as old as the login', async () => {
    const began = site.clock.now
    await ask('/log-in')
    site.clock.now += 50
    await ask('/put/a/1')
    expect(JSON.parse(String(await textOf(site.idOf(browser)))).cookie.since).toBe(began)
  })

  test.each(['NaN', 'Infinity'])('a maxAge of %s is none', async (seconds) => {
    page('/odd', (req, res) => {
      bag(req)['a'] = 1
      req.session.cookie.maxAge = Number(seconds)
      res.end()
    })
    const [line = ''] = cookiesOf(await ask('/odd'))
    const end = Date.parse(/Expires=([^;]+)/.exec(line)?.[1] ?? '')
    expect(Math.abs(end - (site.clock.now + 10_000) * 1000)).toBeLessThan(5000)
    expect((await ask('/read')).json).toEqual({ a: 1 })
  })
})
