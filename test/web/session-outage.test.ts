import diagnostics from 'node:diagnostics_channel'
import { ServerResponse } from 'node:http'
import type { Request, Response } from 'express'
import session from 'express-session'
import { Redis } from 'ioredis'
import { Sso2UnavailableError } from '../../lib/errors'
import type { Kv } from '../../lib/storage/kv'
import { openRedis } from '../../lib/storage/redis-connection'
import { redisKv } from '../../lib/storage/redis-kv'
import { sessionKey } from '../../lib/storage/site-store'
import type { Browser } from '../support/agent'
import { type Front, startRedisFront } from '../support/front'
import { loggerTo } from '../support/log-lines'
import { startRedis, type TestRedis } from '../support/redis'
import { eventually } from '../support/wait'
import {
  bag,
  check,
  configOf,
  cookieName,
  dataOf,
  establish,
  interrupted,
  type Meanwhile,
  type SessionSite,
  startSite,
} from './session-site'

let redis: TestRedis
let admin: Redis
let front: Front
let kv: Kv
const meanwhile: Meanwhile = {}
let site: SessionSite
let browser: Browser
const lines: string[] = []
const saves: unknown[] = []
const errors: unknown[] = []
const note = (message: unknown) => saves.push(message)
const ask = (path: string) => browser.fetchJson(`${site.url}${path}`)

beforeAll(async () => {
  diagnostics.subscribe('express-sso2:degraded', note)
  redis = await startRedis()
  admin = new Redis(redis.url)
  front = await startRedisFront(redis.port)
  kv = interrupted(redisKv(openRedis(`redis://127.0.0.1:${front.port}`), true), meanwhile)
  site = await startSite({ kv, config: configOf({ logger: loggerTo(lines) }) })
  addPages()
})
afterAll(async () => {
  await site.close()
  await kv.close()
  await front.down()
  admin.disconnect()
  await redis.stop()
  diagnostics.unsubscribe('express-sso2:degraded', note)
})
beforeEach(async () => {
  await upAndNoticed()
  browser = site.browser()
  saves.length = 0
  errors.length = 0
})

/** Until the client has noticed: not only that its connection is gone, which it forgets while it tries the next one. */
async function downAndNoticed(): Promise<void> {
  await front.down()
  await eventually(async () => kv.failure !== undefined)
}

/** Until the client has connected again, which it does in its own time. */
async function upAndNoticed(): Promise<void> {
  await front.up()
  await eventually(async () => (await kv.probe().catch(() => 'away')) !== 'away', 20)
}

/** What a callback was told: nothing, or which operation was not possible. */
const call = (run: (done: (error?: unknown) => void) => void) =>
  new Promise((resolve) => run((error) => resolve(error instanceof Sso2UnavailableError ? error.operation : error)))

function addPages(): void {
  const { app, sessions } = site
  app.get('/calls', async (req, res) => {
    const { session } = req
    const results: unknown[] = []
    for (const name of ['save', 'reload', 'regenerate', 'destroy'] as const)
      results.push(await call((done) => session[name](done)))
    res.json(results)
  })
  app.get('/regenerate', async (req, res) => res.json(await call((done) => req.session.regenerate(done))))
  app.get('/short', (req, res) => {
    bag(req)['a'] = 1
    req.session.cookie.maxAge = 90_000
    res.end()
  })
  app.get('/log-in-late', async (req, res) => {
    const { key = '', stored } = await sessions.stateOf(req)
    const id = sessions.nextId(req, 'hash')
    const revoked = typeof stored !== 'string' && (await site.records.writeMarker(key, stored.raw, 'moved', id))
    await front.down()
    if (!revoked || revoked === 'unavailable') throw new Error('not revoked')
    res.json({ id: await sessions.renew(req, { id, ...revoked, keepsData: true, accountId: 'ada' }) })
  })
  app.use((error: unknown, _req: Request, res: Response, next: (error: unknown) => void) => {
    errors.push(error)
    next(res.headersSent ? undefined : error)
  })
}

test('[S14] a user is served with an empty session that is not saved, and the cookie stays as it is', async () => {
  await ask('/put/a/1')
  await front.down()
  for (const path of ['/untouched', '/read', '/put/b/2']) {
    const { status, headers } = await ask(path)
    expect({ path, status, set: headers['set-cookie'] }).toEqual({ path, status: 200, set: undefined })
  }
  expect((await ask('/state')).json).toEqual({ hasKey: true, state: 'unavailable' })
  await upAndNoticed()
  expect((await ask('/read')).json).toEqual({ a: '1' })
})

test('[S14] a new user whose session cannot be stored is served as well, and gets a session once the store is back', async () => {
  await downAndNoticed()
  const { status, headers } = await ask('/put/a/1')
  expect({ status, set: headers['set-cookie'] }).toEqual({ status: 200, set: undefined })
  expect((await ask('/state')).json).toEqual({ hasKey: false, state: 'unavailable' })
  await upAndNoticed()
  expect((await ask('/put/a/1')).headers['set-cookie']).toHaveLength(1)
})

test.each(['a user', 'a new user'])(
  '[O17] every call on the session of %s tells its callback, and none throws',
  async (who) => {
    if (who === 'a user') await ask('/put/a/1')
    await downAndNoticed()
    const { status, json, headers } = await ask('/calls')
    expect({ status, json }).toEqual({ status: 200, json: ['store', 'store', 'store', 'store'] })
    expect(headers['set-cookie']).toBeUndefined()
  },
)

test('[S14] a new user’s page cannot regenerate its session while the store is known to be away', async () => {
  await downAndNoticed()
  expect(await ask('/regenerate')).toMatchObject({ status: 200, json: 'store' })
})

test('[O9, S14] a save that the store refuses at the end of an answer is told, and the answer is as it was', async () => {
  await ask('/put/a/1')
  try {
    await admin.config('SET', 'maxmemory', '1')
    const { status, json } = await ask('/put/b/2')
    expect({ status, json }).toEqual({ status: 200, json: { a: '1', b: '2' } })
  } finally {
    await admin.config('SET', 'maxmemory', '0')
  }
  expect(saves).toEqual([{ operation: 'save', outcome: 'not_saved', durationMs: 0, reason: 'store_unavailable' }])
  expect(errors).toEqual([])
  expect(lines.filter((line) => line.includes('could not be saved'))).toHaveLength(1)
  expect((await ask('/read')).json).toEqual({ a: '1' })
})

/** The key of the browser's data in Redis. */
const dataKey = () => `${site.prefix}sess:{${sessionKey(site.idOf(browser))}}`

test('what a page says of the life of its session is how long the store keeps it, and each use renews that', async () => {
  await ask('/short')
  const seconds = await admin.ttl(dataKey())
  expect(seconds).toBeLessThanOrEqual(90)
  expect(seconds).toBeGreaterThan(80) // it counts down while a busy machine asks
  await admin.expire(dataKey(), 30)
  await ask('/untouched')
  expect(await admin.ttl(dataKey())).toBeGreaterThan(80)
})

test('a login’s data live as long as a login may be unused, and as the page says where they are checked', async () => {
  site.app.get('/check', async (req, res) => {
    await check(site, req)
    res.end()
  })
  await ask('/put/a/1')
  await ask('/log-in')
  expect(Math.abs((await admin.ttl(dataKey())) - 1000)).toBeLessThan(10)
  await ask('/short')
  await admin.expire(dataKey(), 30)
  await ask('/check')
  expect(Math.abs((await admin.ttl(dataKey())) - 90)).toBeLessThan(10)
})

describe('[S14] a store that goes away, or comes back, in the middle of a request', () => {
  beforeAll(() => {
    site.app.get('/gone', async (req, res) => {
      const { session } = req
      await front.down()
      const told = await call((done) => session.regenerate(done))
      const isUntouched = res.writeHead === ServerResponse.prototype.writeHead
      bag(req)['late'] = 1
      await upAndNoticed()
      res.json({ told, saved: await call((done) => req.session.save(done)), isUntouched })
    })
    site.app.get('/back', async (req, res) => {
      const { session } = req
      site.commands.length = 0
      const life = site.sessions.dataLifeOf(req)
      const commands = [...site.commands]
      await upAndNoticed()
      res.json({ told: await call((done) => session.regenerate(done)), commands, life: life ?? 'none' })
    })
    site.app.get('/destroy', async (req, res) => res.json(await call((done) => req.session.destroy(done))))
  })

  test.each(['a visitor', 'a new user'])(
    'what %s’s page puts in after a regenerate() that failed is kept nowhere',
    async (who) => {
      if (who === 'a visitor') await ask('/put/a/1')
      const { json, headers } = await ask('/gone')
      expect(json).toEqual({ told: 'store', saved: 'store', isUntouched: who === 'a visitor' })
      expect(headers['set-cookie']).toBeUndefined()
      expect((await ask('/read')).json).toEqual(who === 'a visitor' ? { a: '1' } : {})
    },
  )

  test('a session that could not be read is not replaced, and is there again for the next page', async () => {
    await ask('/put/a/1')
    await front.down()
    expect((await ask('/back')).json).toEqual({ told: 'store', commands: [], life: 'none' })
    expect((await ask('/read')).json).toEqual({ a: '1' })
  })

  test('a session of the site’s own keeps its data when its user logs in again', async () => {
    const own = session({ secret: 'the secret of the site', resave: false, saveUninitialized: false })
    const other = await startSite({ kv, before: [own] })
    other.app.get('/late-log-in', async (req, res) => {
      const { state } = await other.stateOf(req)
      await upAndNoticed()
      res.json({ state, id: await establish(other, req, 'loggedin') })
    })
    const reader = other.browser()
    const visit = async (path: string) => (await reader.fetchJson(`${other.url}${path}`)).json
    await visit('/put/a/1')
    await visit('/log-in')
    await front.down()
    expect(await visit('/late-log-in')).toEqual({ state: 'unavailable', id: expect.any(String) })
    expect(await visit('/read')).toEqual({ a: '1', sso2: expect.any(String) })
    await other.close()
  })

  test('a session that could not be destroyed is not taken for one that was', async () => {
    await ask('/put/a/1')
    await ask('/log-in')
    meanwhile.next = { command: 'compareAndSet', act: () => front.down() }
    expect((await ask('/destroy')).json).toBe('store')
    await upAndNoticed()
    expect(site.destroyed).toEqual([])
    expect((await ask('/read')).json).toEqual({ a: '1' })
  })
})

test('a login whose data cannot be saved is known to the request that makes it', async () => {
  await ask('/put/a/1')
  const { json, headers } = await ask('/log-in-late')
  expect({ json, set: headers['set-cookie'] }).toEqual({ json: { id: 'unavailable' }, set: undefined })
  expect(browser.cookie(cookieName)).toBeDefined()
})

test('what a handler has at hand while the store is away can still be used', async () => {
  await ask('/put/a/1')
  await front.down()
  site.app.get('/use', (req, res) => {
    bag(req)['x'] = { y: 1 }
    res.json({ data: dataOf(req), id: typeof req.sessionID, store: typeof req.sessionStore.get })
  })
  expect((await ask('/use')).json).toEqual({ data: { x: { y: 1 } }, id: 'string', store: 'function' })
})
