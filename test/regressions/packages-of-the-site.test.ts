import diagnostics from 'node:diagnostics_channel'
import type { Request } from 'express'
import type { Sso2Event } from '../../lib'
import { ada, eventually, logIn, view } from '../flows/network'
import { isExpiry, parseSetCookie } from '../safety/cookies-raw'
import { send } from '../support/http'
import type { TestRedis } from '../support/redis'
import { reader, refuseWrites, type Stage, startStage, startStageAlone, withPages } from './support'

const operations = ['regenerate', 'save', 'reload', 'destroy'] as const

/** What a package does with the session a while after the request came, as passport does after an asynchronous verify. */
function later(req: Request, operation: string): Promise<object> {
  return new Promise((resolve) => {
    setImmediate(() => {
      const done = (error?: unknown) => resolve({ callback: error ? 'an error' : 'no error' })
      try {
        if (operation !== 'destroy') req.session.saved = 'later'
        if (operation === 'regenerate') req.session.regenerate(done)
        if (operation === 'save') req.session.save(done)
        if (operation === 'reload') req.session.reload(done)
        if (operation === 'destroy') req.session.destroy(done)
      } catch (error) {
        resolve({ thrown: String(error) })
      }
    })
  })
}

const laterPages = withPages((app, _sso, gates) => {
  app.get('/later/:operation', (req, res, next) => {
    const answer = async () => {
      const { gate } = req.query
      if (gate) await gates.wait(String(gate))
      res.json(await later(req, String(req.params['operation'])))
    }
    answer().catch(next)
  })
})

describe.each(['a reader', 'a stranger'])('[O17, S14] with Redis away, for %s,', (who) => {
  let stage: Stage
  let own: TestRedis
  beforeEach(async () => {
    ;({ stage, own } = await startStageAlone({ build: laterPages }))
  })
  afterEach(async () => {
    await stage.close()
    await own.stop()
  })

  /** Each operation hands its callback an error. */
  const refused = operations.map((operation) => [operation, { callback: 'an error' }])

  test('regenerate, save, reload and destroy hand their callbacks an error', async () => {
    const browser = who === 'a reader' ? await reader(stage) : stage.browser()
    await own.stop()
    const answers = operations.map(async (operation) => {
      const { json } = await browser.fetchJson(`${stage.url}/later/${operation}`)
      return [operation, json]
    })
    expect(await Promise.all(answers)).toEqual(refused)
    expect((await browser.fetchJson(`${stage.url}/`)).status).toBe(200)
  })

  test('they do so where it goes away while the page is being made', async () => {
    const browser = who === 'a reader' ? await reader(stage) : stage.browser()
    const waiting = operations.map(async (operation) => {
      const gate = stage.gates.add()
      const answer = browser.fetchJson(`${stage.url}/later/${operation}?gate=${gate.name}`)
      await gate.arrived
      return { operation, gate, answer }
    })
    const begun = await Promise.all(waiting)
    await own.stop()
    for (const { gate } of begun) gate.open()
    const answers = begun.map(async ({ operation, answer }) => [operation, (await answer).json])
    expect(await Promise.all(answers)).toEqual(refused)
    expect((await browser.fetchJson(`${stage.url}/`)).status).toBe(200)
  })
})

/** Pages that say of themselves that anybody may keep them, and change the session. */
const kept = withPages((app, _sso, gates) => {
  app.get('/kept', (req, res, next) => {
    const answer = async () => {
      const { gate, control, save, age } = req.query
      if (control) res.setHeader('cache-control', String(control))
      if (age) req.session.cookie.maxAge = Number(age) * 1000
      if (save) req.session.saved = String(save)
      if (gate) await gates.wait(String(gate))
      res.json({ saved: req.session.saved })
    }
    answer().catch(next)
  })
})

describe('the session cookie and caches', () => {
  let stage: Stage
  beforeAll(async () => {
    stage = await startStage({ build: kept })
  })
  afterAll(() => stage.close())

  const directives = (header: unknown) =>
    String(header)
      .split(',')
      .map((word) => word.trim().toLowerCase())

  test.each([
    ['the data and the life of the session', 'save=more&age=3600'],
    ['the life of the session', 'age=3600'],
    ['the data', 'save=again'],
  ])(
    '[S19, R10] a live session ID is on no answer that may be kept, where a reader changes %s',
    async (_what, query) => {
      const browser = await reader(stage)
      const url = new URL(`/kept?control=public,%20max-age=60&${query}`, stage.url)
      const headers = { accept: '*/*', cookie: `sso2.sid=${browser.cookie('sso2.sid')}` }
      const answer = await send({ method: 'GET', url, headers })
      const hasSession = answer.setCookie
        .map(parseSetCookie)
        .some((line) => line.name === 'sso2.sid' && !isExpiry(line))
      const words = directives(answer.headers['cache-control'])
      if (hasSession) expect(words).toContain('private')
      expect({ hasSession, isPublic: words.includes('public') }).toEqual({ hasSession, isPublic: !hasSession })
    },
  )

  test.each(['age=3600', 'age=3600&save=late', 'save=late'])(
    '[S19] an answer that ends after a login brings no old ID back (%s)',
    async (query) => {
      const browser = stage.browser()
      await browser.visit(`${stage.url}/keep`)
      const gate = stage.gates.add()
      const slow = browser.fetchJson(`${stage.url}/kept?gate=${gate.name}&${query}`)
      await gate.arrived
      await logIn(browser, stage, ada)
      const id = browser.cookie('sso2.sid')
      gate.open()
      const answer = await slow
      const set = [answer.headers['set-cookie'] ?? []].flat().map((line) => parseSetCookie(line).name)
      expect({ status: answer.status, set }).toEqual({ status: 200, set: [] })
      expect(browser.cookie('sso2.sid')).toBe(id)
      expect(view(await browser.visit(`${stage.url}/`))).toMatchObject({ status: 'loggedin', username: 'ada' })
    },
  )

  test.each([
    ['no-transform', ['private', 'no-store', 'no-transform']],
    ['public, max-age=60, no-transform', ['private', 'no-store', 'no-transform']],
    ['max-age=60, NO-TRANSFORM', ['private', 'no-store', 'no-transform']],
    ['public, max-age=60', ['private', 'no-store']],
  ])(
    '[R10, S19] a page with "%s" that sets our cookie, and no other, keeps its no-transform',
    async (control, expected) => {
      const browser = stage.browser()
      const url = `${stage.url}/kept?save=yes&control=${encodeURIComponent(control)}`
      const { headers } = await browser.fetchJson(url)
      expect([headers['set-cookie'] ?? []].flat().map((line) => parseSetCookie(line).name)).toEqual(['sso2.sid'])
      expect(directives(headers['cache-control']).sort()).toEqual([...expected].sort())
    },
  )

  test.each(['private, no-transform', 'no-store, no-transform', 'private, max-age=0'])(
    '[R10] a page with "%s" that sets our cookie has it as it is',
    async (control) => {
      const url = `${stage.url}/kept?save=yes&control=${encodeURIComponent(control)}`
      const { headers } = await stage.browser().fetchJson(url)
      expect([headers['cache-control'], String(headers['set-cookie'])]).toEqual([
        control,
        expect.stringMatching(/sid=/),
      ])
    },
  )
})

/** Ways in which packages carry a session over `regenerate()`. */
const carriers: Record<string, (session: Request['session'], old: object) => void> = {
  'Object.assign of the whole old one': (session, old) => void Object.assign(session, old),
  "passport's merge, name by name": (session, old) => {
    for (const name in old) Object.assign(session, { [name]: old[name as keyof object] })
  },
  'Object.assign of a copy': (session, old) => void Object.assign(session, { ...old }),
  'a copy by way of JSON': (session, old) => void Object.assign(session, JSON.parse(JSON.stringify(old))),
  'all but the cookie': (session, old) => {
    const { cookie: _cookie, ...data } = old as Request['session']
    Object.assign(session, data)
  },
}

describe.each(Object.keys(carriers))('[S20] %s over regenerate()', (how) => {
  let stage: Stage
  beforeAll(async () => {
    const rotate = withPages((app) => {
      app.get('/rotate', (req, res, next) => {
        const old = req.session
        req.session.regenerate((error) => {
          if (error) return next(error)
          carriers[how]?.(req.session, old)
          req.session.save((failure) => (failure ? next(failure) : res.json({ saved: req.session.saved })))
        })
      })
    })
    stage = await startStage({ build: rotate })
  })
  afterAll(() => stage.close())

  test.each(['a reader', 'a visitor'])('keeps the data of %s', async (who) => {
    const browser = who === 'a reader' ? await reader(stage) : stage.browser()
    await browser.visit(`${stage.url}/keep`)
    expect((await browser.fetchJson(`${stage.url}/rotate`)).json).toEqual({ saved: 'kept' })
    expect((await browser.fetchJson(`${stage.url}/`)).json.saved).toBe('kept')
    expect(view(await browser.visit(`${stage.url}/`)).saved).toBe('kept')
  })

  test('brings back no old ID', async () => {
    const browser = await reader(stage)
    await browser.visit(`${stage.url}/keep`)
    const cookie = `sso2.sid=${browser.cookie('sso2.sid')}`
    await browser.fetchJson(`${stage.url}/rotate`)
    const old = await send({ method: 'GET', url: new URL('/', stage.url), headers: { accept: '*/*', cookie } })
    expect(JSON.parse(old.body)).toMatchObject({ status: 'none' })
  })
})

describe('[O9, S14] a save that Redis refuses', () => {
  let stage: Stage
  let own: TestRedis
  const events: Sso2Event[] = []
  const hear = (event: unknown) => void events.push(event as Sso2Event)
  let warn: jest.SpyInstance
  beforeAll(async () => {
    warn = jest.spyOn(console, 'warn').mockImplementation(() => {})
    ;({ stage, own } = await startStageAlone({ build: kept }))
    diagnostics.subscribe('express-sso2:degraded', hear)
  })
  afterAll(async () => {
    diagnostics.unsubscribe('express-sso2:degraded', hear)
    await stage.close()
    await own.stop()
    warn.mockRestore()
  })

  test('is told by an event each time and by one line, and the page is served', async () => {
    const [browser, stranger] = [await reader(stage), stage.browser()]
    await stranger.visit(`${stage.url}/`)
    await refuseWrites(stage.redis)
    warn.mockClear()
    for (const who of [browser, stranger]) {
      events.length = 0
      expect((await who.fetchJson(`${stage.url}/kept?save=lost`)).status).toBe(200)
      await eventually(async () => events.some(({ operation }) => operation === 'save'))
      expect(events).toContainEqual(expect.objectContaining({ operation: 'save', reason: 'store_unavailable' }))
    }
    const lines = warn.mock.calls.map((args) => args.join(' ')).filter((line) => /could not be saved/.test(line))
    expect(lines).toHaveLength(1)
    expect(lines[0]).not.toContain('lost')
  })
})
