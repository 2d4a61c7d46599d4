import type { FaultOptions } from '../../lib/emulator/faults/rules'
import { type Front, startFront, startRedisFront } from '../support/front'
import { document } from '../support/landing'
import { hop } from '../support/pausable-setup'
import { startRedis, type TestRedis } from '../support/redis'
import { ada, eventually, loggedInBrowser, type Setup, startSetup, view, visitor } from '../support/setup'

/* What a site does while Redis, the SSO system or the platform behind it is away, and that all is well afterwards. */

let setup: Setup
let redis: TestRedis
let storeFront: Front
let ssoFront: Front

beforeEach(async () => {
  redis = await startRedis()
  storeFront = await startRedisFront(redis.port)
  ssoFront = await startFront(1)
  const ssoUrl = `http://127.0.0.1:${ssoFront.port}/sso`
  const site = { ssoUrl, redis: `redis://127.0.0.1:${storeFront.port}`, timeoutMs: 700 }
  setup = await startSetup({ site: (name) => (name === 'morning' ? site : {}) })
  ssoFront.lead(Number(new URL(setup.emulator.url).port))
  await eventually(async () => (await setup.morning.sso.health()).store === 'ok')
})
afterEach(async () => {
  await setup.close()
  await Promise.all([storeFront.down(), ssoFront.down()])
  await redis.stop()
})

const at = (path: string) => `${setup.morning.url}${path}`

test('[S14] Redis is away: pages without a user, login 503 and not sent, and all as before when Redis is back', async () => {
  const [user, anon] = [await loggedInBrowser(setup), await visitor(setup)]
  const cookie = user.cookie('sso2.sid')
  await storeFront.down()
  await eventually(async () => (await setup.morning.sso.health()).store === 'unavailable')
  for (const browser of [user, anon, setup.browser()]) {
    const { status, json } = await browser.fetchJson(at('/news'), { headers: document })
    expect([status, json]).toEqual([200, { status: 'none', degraded: 'store_unavailable', url: '/news' }])
  }
  const before = setup.countCalls('authenticate')
  const login = await anon.fetchJson(at('/login'), { json: ada })
  expect([login.status, login.json, setup.countCalls('authenticate')]).toEqual([503, { error: 'unavailable' }, before])
  expect(user.cookie('sso2.sid')).toBe(cookie)
  await storeFront.up()
  await eventually(async () => (await setup.morning.sso.health()).store === 'ok')
  expect(view(await user.visit(at('/')))).toMatchObject({ status: 'loggedin', username: 'ada' })
  expect((await anon.fetchJson(at('/login'), { json: ada })).status).toBe(200)
})

test('the SSO system is away: a browser on its way back from Identify is logged in, a login is 503 and costs no attempt', async () => {
  const [browser, anon] = [await loggedInBrowser(setup), await visitor(setup)]
  browser.dropCookies(({ name }) => name === 'sso2.sid')
  const landing = await hop(browser, await hop(browser, at('/news')))
  await ssoFront.down()
  expect(view(await browser.visit(landing))).toMatchObject({ status: 'loggedin', username: 'ada' })
  const login = await anon.fetchJson(at('/login'), { json: ada })
  expect([login.status, login.json]).toEqual([503, { error: 'unavailable' }])
  expect(Number(login.headers['retry-after'])).toBeGreaterThan(0)
  expect(setup.emulator.account('ada').view()).toMatchObject({ failedAttempts: 0, frozenUntil: null })
})

test.each<[what: string, fault: FaultOptions]>([
  ['the token endpoint fails', { operation: 'token', kind: 'status', code: 503 }],
  ['the REST API names no user', { operation: 'me', kind: 'garbage' }],
])('%s: a login is 503, and a check finds it later without a password', async (_what, fault) => {
  const browser = await visitor(setup)
  setup.emulator.faults.add(fault)
  const login = await browser.fetchJson(at('/login'), { json: ada })
  expect([login.status, login.json]).toEqual([503, { error: 'unavailable' }])
  expect(view(await browser.visit(at('/'))).status).not.toBe('loggedin')
  setup.emulator.faults.clear()
  setup.emulator.clock.advance(61)
  await eventually(async () => view(await browser.visit(at('/'))).username === 'ada')
  expect(setup.countCalls('authenticate')).toBe(1)
})
