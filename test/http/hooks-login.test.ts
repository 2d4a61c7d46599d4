import type { Request } from 'express'
import type { LogoutResult, Sso2Options, User } from '../../lib'
import type { Browser } from '../support/agent'
import { loggerTo } from '../support/log-lines'
import { basket, type Keeping, type PausableSetup, startPausableSetup } from '../support/pausable-setup'
import { ada, logIn, logInAtLast, view, visitor } from '../support/setup'
import { timed } from '../support/wait'

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
const basketAt = async (browser: Browser) => basket(await browser.fetchJson(setup.at('/basket'))).basket

describe.each<Keeping>(['Redis', 'a session of its own'])('with %s', (keeping) => {
  beforeEach(() => start(keeping))

  test('the login form: once, also if it is sent again, and the session it wrote is there when the next page comes', async () => {
    const browser = await visitor(setup)
    await browser.visit(setup.at('/put?item=apple'))
    expect(basket(await logIn(browser, setup.morning, ada, '/basket')).basket).toEqual(['apple', 'merged at login'])
    expect((await post(browser, '/login', ada)).status).toBe(200)
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

  test.each(['/logout', '/logout-all'])('%s: once, and the session it wrote is there afterwards', async (path) => {
    const browser = await setup.loggedInBrowser()
    called.length = 0
    expect((await post(browser, path)).json).toMatchObject({ logout: 'confirmed' })
    expect(called).toEqual([['logout', 'confirmed']])
    expect(await basketAt(browser)).toEqual(['kept at logout'])
  })

  test('a logout that is retried until the SSO system confirms it: once, as pending', async () => {
    const browser = await setup.loggedInBrowser()
    setup.emulator.faults.add({ operation: 'logout', kind: 'down', times: 1 })
    called.length = 0
    await post(browser)
    for (let pages = 0; pages < 3; pages += 1) await browser.visit(setup.at('/'))
    expect(called).toEqual([['logout', 'pending']])
  })
})

const failing: [how: string, run: () => void | Promise<void>, line: RegExp][] = [
  ['throws', () => JSON.parse('{'), /onLog(?:in|out): SyntaxError/],
  ['never settles', () => new Promise<void>(() => {}), /onLog(?:in|out): .*did not settle in time/],
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
  expect(told).toEqual([expect.stringMatching(/failed: onLogin: /), expect.stringMatching(/failed: onLogout: /)])
  for (const text of told) expect(text).toMatch(line)
})

test('two logouts in onLogin end the login, call onLogout twice, and not again for the logout in it; the logout cookie stays until one is confirmed', async () => {
  let logout: Promise<LogoutResult> | undefined
  const onLogin = async (req: Request) => {
    logout = req.sso2.logout().then(() => req.sso2.logout())
    await logout
  }
  const onLogout = async (req: Request, result: LogoutResult) => {
    called.push(['logout', result])
    if (called.length < 9) await req.sso2.logout()
  }
  await start('Redis', { onLogin, onLogout })
  const browser = await visitor(setup)
  setup.emulator.faults.add({ operation: 'logout', kind: 'down' })
  const gate = setup.gates.add()
  const page = post(browser, `/enter?gate=${gate.name}`)
  await gate.arrived
  await logout
  gate.open()
  expect((await page).json).toEqual({ result: { ok: false, error: 'session_ended' }, status: 'none' })
  expect(called).toEqual(Array(2).fill(['logout', 'pending']))
  expect(view(await browser.visit(setup.at('/')))).toEqual({ status: 'none', degraded: 'logout_pending', url: '/' })
})
