import { randomBytes, randomUUID } from 'node:crypto'
import { sessionKey, shortHash } from '../../lib/storage/site-store'
import type { Browser } from '../support/agent'
import { identifyRedirects } from '../support/pausable-setup'
import { rawGet } from '../support/raw'
import { useRedis } from '../support/redis'
import { eventually, grace, logInAtLast, present, sessionIdOf, useSetup, view, visitor } from '../support/setup'
import { loggedInBrowserAt, type RunningSite, startSite } from '../support/site'

/* Very many sessions of one account, all keys of a site, and how long a session lives. */

const MAX_SESSIONS = 1000
const FLOOD = 3000
const ADA = 'account-ada'

const redis = useRedis()
let setup: RunningSite
beforeEach(async () => {
  setup = await startSite({ options: { redis: redis.url(), loginLimit: { attempts: 20, perSeconds: 60 } } })
})
afterEach(async () => {
  await setup.close()
  const lives = (await redis.commands().keys('*')).map((key) => redis.commands().ttl(key))
  expect(await Promise.all(lives)).not.toContain(-1) // [S10] every key has an end
  await redis.commands().flushall()
})

const isIn = async (browser: Browser) => (await browser.fetchJson(`${setup.url}/account`)).status === 200
const keyOf = (browser: Browser) => sessionKey(sessionIdOf(browser))
const recordKey = (key: string) => `${setup.prefix}sso2:{${key}}`
const accountIndex = () => `${setup.prefix}acct:{${shortHash(ADA)}}`
const submit = (browser: Browser, path: string) => browser.submit(`${setup.url}${path}`, { return_to: '/' })

/** Writes copies of a session, as if the same browser had logged in again and again before. @returns their keys, the oldest login first */
async function copies(of: Browser, count: number): Promise<string[]> {
  const record = JSON.parse(String(await setup.redis.get(recordKey(keyOf(of)))))
  const keys = Array.from({ length: count }, () => randomBytes(32).toString('base64url'))
  const written = setup.redis.pipeline()
  for (const [index, key] of keys.entries()) {
    const startedAt = record.startedAt - 1000 * (count - index)
    written.set(recordKey(key), JSON.stringify({ ...record, startedAt }), 'EX', 3600)
    written.zadd(accountIndex(), startedAt, `${record.sidHash}:${key}`)
  }
  await written.exec()
  return keys
}
const isLive = async (key: string) => String(await setup.redis.get(recordKey(key))).startsWith('{')

test('[S21] an account has a thousand sessions at most: beyond that, the oldest login ends', async () => {
  const first = await loggedInBrowserAt(setup)
  const [oldest = '', next = '', ...others] = await copies(first, MAX_SESSIONS - 1)
  const last = await loggedInBrowserAt(setup)
  expect(await setup.redis.zcard(accountIndex())).toBe(MAX_SESSIONS)
  expect([await isLive(oldest), await isLive(next), await isLive(String(others.at(-1)))]).toEqual([false, true, true])
  expect([await isIn(first), await isIn(last)]).toEqual([true, true])
})

test(`[S21] with ${FLOOD} sessions of an account, a logout of all ends them, and other users are served meanwhile`, async () => {
  const [browser, other] = [await loggedInBrowserAt(setup), await loggedInBrowserAt(setup, grace)]
  const keys = await copies(browser, FLOOD)
  let [isOver, served] = [false, 0]
  const logout = submit(browser, '/logout-all').finally(() => {
    isOver = true
  })
  for (; !isOver; served += 1) expect(await isIn(other)).toBe(true)
  await logout
  expect(served).toBeGreaterThan(FLOOD / 1000)
  expect((await Promise.all(keys.map(isLive))).filter((isStillLive) => isStillLive)).toEqual([])
})

/* How long a session lives. */

const idleSeconds = 600
const absoluteSeconds = 3600
const endless = { pruneAfterSeconds: 1_000_000, accessTokenSeconds: 1_000_000 }

describe('[S10] a session', () => {
  let browser: Browser
  const prefix = `limits-${randomUUID()}:`
  const pair = useSetup({
    emulator: { limits: endless },
    site: (name) => ({ session: { prefix: `${prefix}${name}:`, idleSeconds, absoluteSeconds } }),
  })
  const cookie = () => browser.cookie('sso2.sid')
  const wait = (seconds: number) => pair.emulator.clock.advance(seconds)
  const page = (path = '/') => browser.visit(`${pair.morning.url}${path}`)

  async function start(status: string): Promise<void> {
    browser = await visitor(pair)
    if (status === 'loggedin') await logInAtLast(browser, pair.morning)
    expect(view(await page('/keep'))).toMatchObject({ status, saved: 'kept' })
  }

  test.each([
    ['anon', {}],
    ['loggedin', { username: 'ada' }],
  ])('(%s) ends at the absolute limit however it is used, with one trip and a new session ID', async (status, user) => {
    await start(status)
    const id = present(cookie())
    for (let age = 300; age < absoluteSeconds; age += 300) {
      wait(300)
      const visit = await page(`/at/${age}`)
      expect({ trips: identifyRedirects(visit), id: cookie() }).toEqual({ trips: 0, id })
      expect(view(visit).saved).toBe('kept')
    }
    wait(300)
    // a client that keeps the cookie beyond its end finds nothing by it
    for (const path of ['/script', '/account']) {
      const lines = ['Sec-Fetch-Dest: empty', 'Accept: application/json', `Cookie: sso2.sid=${id}`]
      const { body } = await rawGet(pair.morning.url, path, lines)
      expect(body).not.toContain('ada')
      expect(body).toMatch(/"status":"none"|"login_required"/)
    }
    const after = await page('/after')
    expect(identifyRedirects(after)).toBe(1)
    expect(view(after)).toEqual({ status, ...user, url: '/after' })
    expect(cookie()).not.toBe(id)
    const next = await page('/next')
    expect([identifyRedirects(next), view(next).status]).toEqual([0, status])
  })

  test('every key lives no longer than the idle time, and each use renews it', async () => {
    await start('loggedin')
    const keys = (await pair.redis.keys(`${prefix}*`)).filter((key) => /:(sess|sso2):/.test(key))
    expect(keys.length).toBeGreaterThanOrEqual(2)
    const times = async () => Promise.all(keys.map((key) => pair.redis.ttl(key)))
    for (const seconds of await times()) expect(seconds).toBeGreaterThan(0)
    await Promise.all(keys.map((key) => pair.redis.expire(key, 30)))
    wait(61)
    await page()
    const renewed = async () => (await times()).filter((seconds) => seconds > idleSeconds - 30)
    await eventually(async () => (await renewed()).length >= 2) // the page does not wait for it
    const mine = await renewed()
    for (const seconds of mine) expect(seconds).toBeLessThanOrEqual(idleSeconds)
  })
})
