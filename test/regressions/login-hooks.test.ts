import type { Request } from 'express'
import type { LogoutResult, Sso2Options, User } from '../../lib'
import type { Browser } from '../support/agent'
import { loggerTo } from '../support/log-lines'
import { startRedis } from '../support/redis'
import { ada, loggedInBrowser, logIn, logInAtLast, resumeStore, view, visitor } from '../support/setup'
import { timed } from '../support/wait'
import { basket, hop, type Keeping, type PausableSetup, startPausableSetup } from './pausable-setup'

/* `onLogin` and `onLogout` are called once for each login and logout of this site, may write the session, and change nothing if they fail. */

type Called = ['login', string] | ['logout', LogoutResult]
let setup: PausableSetup
let called: Called[]
let lines: string[]

afterEach(() => setup.close())

const listeners: Partial<Sso2Options> = {
  onLogin: async (req: Request, user: User) => {
    called.push(['login', String(user['username' as keyof User])])
    await new Promise((resolve) => setTimeout(resolve, 20))
    req.session.basket = [...(req.session.basket ?? []), 'merged at login']
  },
  onLogout: async (req: Request, result: LogoutResult) => {
    called.push(['logout', result])
    await new Promise((resolve) => setTimeout(resolve, 20))
    req.session.basket = ['kept at logout']
  },
}

async function start(keeping: Keeping, site: Partial<Sso2Options> = listeners): Promise<void> {
  called = []
  lines = []
  const logger = loggerTo(lines)
  setup = await startPausableSetup({ keeping, site: { ...site, logger } })
}

const ofAda: Called = ['login', 'ada']
const post = (browser: Browser, path = '/logout', json = {}) => browser.fetchJson(setup.at(path), { json })
const dropSession = (browser: Browser) => browser.dropCookies(({ name }) => /^(sso2|connect)\.sid$/.test(name))
const basketAt = async (browser: Browser) => basket(await browser.fetchJson(setup.at('/basket'))).basket

describe('a user whose name changes at the platform', () => {
  test('is shown with the new name after an Identify redirect by identifyUrl(), with the session and without onLogin', async () => {
    let name = 'Ada Lindqvist'
    await start('Redis', { ...listeners, loadUser: async () => ({ accountId: 'account-ada', username: name }) })
    const browser = await setup.loggedInBrowser()
    await browser.visit(setup.at('/put?item=apple'))
    name = 'Ada Byron'
    expect(view(await browser.visit(setup.at('/'))).username).toBe('Ada Lindqvist')
    const { identify } = JSON.parse((await browser.visit(setup.at('/identify-me'))).body) as { identify: string }
    expect(view(await browser.visit(identify)).username).toBe('Ada Byron')
    expect(await basketAt(browser)).toEqual(['merged at login', 'apple'])
    expect(called).toEqual([['login', 'Ada Lindqvist']])
  })
})

describe.each<Keeping>(['Redis', 'a session of its own'])('with %s', (keeping) => {
  beforeEach(() => start(keeping))

  test('the login form: once, and the session it wrote is there when the next page comes', async () => {
    const browser = await visitor(setup)
    await browser.visit(setup.at('/put?item=apple'))
    expect(basket(await logIn(browser, setup.morning, ada, '/basket')).basket).toEqual(['apple', 'merged at login'])
    expect(called).toEqual([ofAda])
    await browser.visit(setup.at('/'))
    expect(called).toEqual([ofAda])
  })

  test('the landing page: once, for a browser that has logged in on another site', async () => {
    const browser = await loggedInBrowser(setup, ada, setup.evening)
    expect(basket(await browser.visit(setup.at('/basket')))).toMatchObject({
      status: 'loggedin',
      basket: ['merged at login'],
    })
    expect(called).toEqual([ofAda])
  })

  test('a status check: once, for a user who has logged in on another site since', async () => {
    const browser = await visitor(setup)
    await logInAtLast(browser, setup.evening)
    setup.emulator.clock.advance(361)
    const pages = [await browser.fetchJson(setup.at('/basket')), await browser.fetchJson(setup.at('/basket'))]
    expect(pages.map(basket)).toMatchObject(Array(2).fill({ status: 'loggedin', basket: ['merged at login'] }))
    expect(called).toEqual([ofAda])
  })

  test('two submits of one form are one login', async () => {
    const browser = await visitor(setup)
    const submits = [1, 2].map(() => post(browser, '/login', ada))
    expect((await Promise.all(submits)).map(({ status }) => status)).toEqual([200, 200])
    expect(called).toEqual([ofAda])
  })

  test('two tabs that land with one login are one login', async () => {
    const browser = await setup.loggedInBrowser()
    dropSession(browser)
    const identify = [await hop(browser, setup.at('/?tab=1')), await hop(browser, setup.at('/?tab=2'))]
    const landings = []
    for (const address of identify) landings.push(await hop(browser, address))
    called.length = 0
    for (const address of landings) await hop(browser, address)
    expect(view(await browser.visit(setup.at('/'))).status).toBe('loggedin')
    expect(called).toEqual([ofAda])
  })

  test('a new access token of a known login is no login', async () => {
    const browser = await setup.loggedInBrowser()
    called.length = 0
    const before = setup.countCalls('token')
    setup.emulator.clock.advance(4000)
    expect((await browser.fetchJson(setup.at('/api'))).status).toBe(200)
    expect(setup.countCalls('token') - before).toBe(1)
    expect(called).toEqual([])
    dropSession(browser)
    await browser.visit(setup.at('/'))
    expect(called).toEqual([ofAda]) // a new session of this site
  })

  test('a login that lost against a logout is none', async () => {
    const browser = await visitor(setup)
    const held = setup.naming.close()
    const login = post(browser, '/login', ada)
    await held.arrived
    expect((await post(browser)).json).toMatchObject({ logout: 'confirmed' })
    held.open()
    expect((await login).json).toMatchObject({ error: 'session_ended' })
    expect(called).toEqual([['logout', 'confirmed']])
  })

  test.each(['/logout', '/logout-all'])('%s: once, and the session it wrote is there afterwards', async (path) => {
    const browser = await setup.loggedInBrowser()
    called.length = 0
    expect((await post(browser, path)).json).toMatchObject({ logout: 'confirmed' })
    expect(called).toEqual([['logout', 'confirmed']])
    expect(await basketAt(browser)).toEqual(['kept at logout'])
  })

  test.each<[what: string, result: LogoutResult, logOut: () => Promise<unknown>]>([
    [
      'that is retried until the SSO system confirms it',
      'pending',
      async () => {
        const browser = await setup.loggedInBrowser()
        setup.emulator.faults.add({ operation: 'logout', kind: 'down', times: 1 })
        called.length = 0
        await post(browser)
        for (let pages = 0; pages < 3; pages += 1) await browser.visit(setup.at('/'))
      },
    ],
    ['without a session', 'no_session', () => post(setup.browser())],
    [
      'by a page of the site',
      'confirmed',
      async () => {
        const browser = await setup.loggedInBrowser()
        called.length = 0
        expect((await post(browser, '/leave-all')).json).toEqual({ result: 'confirmed' })
      },
    ],
  ])('a logout %s: once, as %s', async (_what, result, logOut) => {
    await logOut()
    expect(called).toEqual([['logout', result]])
  })
})

const failing: [how: string, run: () => void | Promise<void>, line: RegExp][] = [
  ['throws', () => JSON.parse('{'), /onLog(?:in|out) failed: SyntaxError/],
  ['rejects', () => Promise.reject(new TypeError('no luck')), /onLog(?:in|out) failed: TypeError: no luck/],
  ['rejects with nothing', () => Promise.reject(), /onLog(?:in|out) failed: nothing/],
  ['never settles', () => new Promise<void>(() => {}), /onLog(?:in|out) failed: .*did not settle in time/],
]

test.each(failing)('a listener that %s is logged, and changes nothing', async (how, run, line) => {
  await start('Redis', { onLogin: run, onLogout: run })
  const browser = await visitor(setup)
  const started = performance.now()
  const [login, ran] = await timed(() => post(browser, '/login', ada))
  const waited = performance.now() - started
  expect(login.status).toBe(200)
  expect([waited > (how === 'never settles' ? 1900 : 0), ran < 6000]).toEqual([true, true])
  expect(view(await browser.visit(setup.at('/')))).toMatchObject({ status: 'loggedin', username: 'ada' })
  expect((await post(browser)).json).toEqual({ status: 'none', logout: 'confirmed' })
  expect(view(await browser.visit(setup.at('/'))).status).toBe('anon')
  const told = lines.filter((text) => /onLog(in|out)/.test(text))
  expect(told).toEqual([
    expect.stringMatching(/^express-sso2: onLogin /),
    expect.stringMatching(/^express-sso2: onLogout /),
  ])
  for (const text of told) expect(text).toMatch(line)
})

describe.each<Keeping>(['Redis', 'a session of its own'])('with %s, a logout in onLogin', (keeping) => {
  let logout: Promise<LogoutResult>
  const startLogout = (req: Request) => {
    logout = req.sso2.logout()
    return logout
  }

  /** Logs in by a form of the site. @returns the result, and the status of the request after the logout */
  async function enter(browser: Browser): Promise<object> {
    const gate = setup.gates.add()
    const page = post(browser, `/enter?gate=${gate.name}`)
    await gate.arrived
    await logout
    gate.open()
    return (await page).json
  }

  test('ends the login, and the logout cookie stays until the logout is confirmed', async () => {
    await start(keeping, { onLogin: async (req) => void (await startLogout(req)) })
    const browser = await visitor(setup)
    setup.emulator.faults.add({ operation: 'logout', kind: 'down' })
    expect(await enter(browser)).toEqual({ result: { ok: false, error: 'session_ended' }, status: 'none' })
    expect(view(await browser.visit(setup.at('/')))).toEqual({ status: 'none', degraded: 'logout_pending', url: '/' })
  })

  test('ends the login also if the login does not wait for the logout', async () => {
    await start(keeping, { onLogin: (req) => void startLogout(req) })
    const browser = await visitor(setup)
    setup.emulator.faults.add({ operation: 'logout', kind: 'slow', ms: 300 })
    expect(await enter(browser)).toMatchObject({ status: 'none' })
    expect(view(await browser.visit(setup.at('/')))).toEqual({ status: 'anon', url: '/' })
  })
})

test('a logout in onLogout does not call onLogout again', async () => {
  let calls = 0
  const onLogout = async (req: Request) => {
    calls += 1
    if (calls < 5) await req.sso2.logoutAll()
  }
  await start('Redis', { onLogout })
  const browser = await setup.loggedInBrowser()
  for (const expected of [1, 2]) {
    expect((await post(browser, '/leave-all')).status).toBe(200)
    expect(calls).toBe(expected)
  }
})

test('a logout while Redis is away is told once, as pending', async () => {
  const redis = await startRedis()
  await start('Redis', { ...listeners, redis: redis.url })
  const browser = await setup.loggedInBrowser()
  called.length = 0
  redis.hang()
  expect((await post(browser)).json).toMatchObject({ logout: 'pending' })
  await resumeStore(redis, setup.morning.sso)
  for (let pages = 0; pages < 3; pages += 1) await browser.visit(setup.at('/'))
  expect(called).toEqual([['logout', 'pending']])
  await redis.stop()
})
