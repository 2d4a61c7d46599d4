import { eventually, logInAtLast } from '../flows/setup'
import type { Browser } from '../support/agent'
import { loggedInBrowserAt, type RunningSite, startSite, withPages } from './support'

const LIFE_SECONDS = 3600

let setup: RunningSite
afterEach(() => setup.close())

/** How many sessions each index of the site holds. */
async function sizes(part: string): Promise<number[]> {
  const { redis, prefix } = setup
  const keys = await redis.keys(`${prefix}${part}*`)
  return Promise.all(keys.map((key) => redis.zcard(key)))
}

test('[S10] the list of an account holds no session that is over, once a user logs in again', async () => {
  setup = await startSite({ options: { session: { absoluteSeconds: LIFE_SECONDS, idleSeconds: 1800 } } })
  for (let logins = 0; logins < 12; logins += 1) await loggedInBrowserAt(setup)
  expect(await sizes('acct:')).toHaveLength(1)
  setup.emulator.clock.advance(LIFE_SECONDS + 60)
  await loggedInBrowserAt(setup)
  expect(await sizes('acct:')).toEqual([1])
})

const call = (name: 'regenerate' | 'destroy') => (browser: Browser) => browser.fetchJson(`${setup.url}/${name}`)
const logout = (browser: Browser) => browser.submit(`${setup.url}/logout`, { return_to: '/' })

test.each<[what: string, left: number, act: (browser: Browser) => Promise<{ status: number }>]>([
  ['the site renews', 1, call('regenerate')],
  ['the user logs out', 0, logout],
  ['the site destroys', 0, call('destroy')],
  [
    'the SSO system ends',
    0,
    async (browser) => {
      setup.emulator.account('ada')?.logoutAll()
      setup.emulator.clock.advance(LIFE_SECONDS)
      return browser.visit(`${setup.url}/`)
    },
  ],
])('[S10] no list keeps a session that %s', async (_what, left, act) => {
  const build = withPages((app) => {
    for (const name of ['regenerate', 'destroy'] as const)
      app.get(`/${name}`, (req, res, next) => req.session[name]((error) => (error ? next(error) : res.json({}))))
  })
  setup = await startSite({ build })
  const browser = setup.browser()
  for (let times = 0; times < 4; times += 1) {
    if (left === 0 || times === 0) await logInAtLast(browser, setup)
    expect((await act(browser)).status).toBe(200)
  }
  for (const part of ['acct:', 'sid:']) expect(await sizes(part)).toEqual(left ? [left] : [])
  await browser.submit(`${setup.url}/logout-all`, { return_to: '/' })
  expect((await browser.fetchJson(`${setup.url}/account`)).status).toBe(401)
})

describe('[S10] every key of a site has an expiry', () => {
  const kinds = new Set<string>()
  /** Keys without an end; notes what kinds of keys there are. The queue of logouts ends with its last entry. */
  async function endless(): Promise<string[]> {
    const all = await setup.redis.keys(`${setup.prefix}*`)
    const keys = all.filter((key) => !key.startsWith(`${setup.prefix}logouts:`))
    for (const key of keys) kinds.add(/^[a-z0-9]+/.exec(key.slice(setup.prefix.length))?.[0] ?? key)
    const seconds = await Promise.all(keys.map((key) => setup.redis.ttl(key)))
    return keys.filter((_key, index) => seconds[index] === -1)
  }
  const wrongly = async (username: string) => {
    const browser = setup.browser()
    await browser.visit(`${setup.url}/`)
    return browser.fetchJson(`${setup.url}/login`, { json: { username, password: 'wrong' } })
  }

  beforeEach(async () => {
    setup = await startSite({ options: { loginLimit: { attempts: 20, perSeconds: 60 } } })
    kinds.clear()
  })

  test('those of sessions and of a logout of them all', async () => {
    const browser = await loggedInBrowserAt(setup)
    await browser.visit(`${setup.url}/keep`)
    expect(await endless()).toEqual([])
    await browser.submit(`${setup.url}/logout-all`, { return_to: '/' })
    expect(await endless()).toEqual([])
    for (const kind of ['sso2', 'sess', 'sid', 'acct', 'out', 'all']) expect(kinds).toContain(kind)
  })

  test('those of a logout that waits, and of its retries', async () => {
    const browser = await loggedInBrowserAt(setup)
    setup.emulator.faults.add({ operation: 'logout', kind: 'down' })
    await browser.submit(`${setup.url}/logout`, { return_to: '/' })
    setup.emulator.clock.advance(2) // it is due when the site looks next
    await eventually(async () => setup.countCalls('logout') > 1)
    expect(await endless()).toEqual([])
    expect(kinds).toContain('pend')
  })

  test('those of logins that fail, while they are under way too', async () => {
    for (let tries = 1; tries < 4; tries += 1) expect((await wrongly('grace')).status).toBe(401)
    setup.emulator.faults.add({ operation: 'authenticate', kind: 'slow', ms: 300 })
    for (const username of ['ada', 'edsger', 'nobody']) {
      if (kinds.has('login')) break // a busy machine may have looked too late
      let isOver = false
      const login = wrongly(username).finally(() => {
        isOver = true
      })
      while (!isOver) expect(await endless()).toEqual([])
      await login
    }
    expect(await endless()).toEqual([])
    for (const kind of ['limit', 'login']) expect(kinds).toContain(kind)
  })
})
