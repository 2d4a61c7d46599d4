import { randomUUID } from 'node:crypto'
import { eventually, logInAtLast, present, type Setup, startSetup, view, visitor } from '../flows/setup'
import type { Browser, VisitedPage } from '../support/agent'
import { rawGet } from './cookies-raw'

const idleSeconds = 600
const absoluteSeconds = 3600
const limits = { pruneAfterSeconds: 1_000_000, accessTokenSeconds: 1_000_000 }
const identifies = ({ trail }: VisitedPage) => trail.filter(({ url }) => url.includes('/sso/identify?')).length

describe('[S10] a session', () => {
  let setup: Setup
  let browser: Browser
  const prefix = `limits-${randomUUID()}:`
  const cookie = () => browser.cookie('sso2.sid')
  const wait = (seconds: number) => setup.emulator.clock.advance(seconds)
  const page = (path = '/') => browser.visit(`${setup.morning.url}${path}`)

  beforeAll(async () => {
    setup = await startSetup({
      emulator: { limits },
      site: (name) => ({ session: { prefix: `${prefix}${name}:`, idleSeconds, absoluteSeconds } }),
    })
  })
  afterAll(() => setup.close())
  beforeEach(() => {
    browser = setup.browser()
  })

  async function start(isLoggedIn: boolean): Promise<void> {
    browser = await visitor(setup)
    if (isLoggedIn) await logInAtLast(browser, setup.morning)
    expect(view(await page('/keep'))).toMatchObject({ status: isLoggedIn ? 'loggedin' : 'anon', saved: 'kept' })
  }

  describe.each([
    ['an anonymous session', false],
    ['a login', true],
  ])('%s', (_what, isLoggedIn) => {
    test('ends at the absolute limit however much it is used, with one trip and a new session ID', async () => {
      await start(isLoggedIn)
      const id = cookie()
      for (let age = 300; age < absoluteSeconds; age += 300) {
        wait(300)
        const visit = await page(`/at/${age}`)
        expect({ trips: identifies(visit), id: cookie() }).toEqual({ trips: 0, id })
        expect(view(visit).saved).toBe('kept')
      }
      wait(300)
      const after = await page('/after')
      expect(identifies(after)).toBe(1)
      expect(view(after)).toEqual({
        status: isLoggedIn ? 'loggedin' : 'anon',
        url: '/after',
        ...(isLoggedIn ? { username: 'ada' } : {}),
      })
      expect(cookie()).not.toBe(id)
      const next = await page('/next')
      expect({ trips: identifies(next), status: view(next).status }).toEqual({
        trips: 0,
        status: isLoggedIn ? 'loggedin' : 'anon',
      })
    })

    test('is not found by its old cookie after the absolute limit, sent by a client beyond its end', async () => {
      await start(isLoggedIn)
      const old = present(cookie())
      for (let age = 300; age <= absoluteSeconds; age += 300) {
        wait(300)
        if (age < absoluteSeconds) await page()
      }
      for (const path of ['/script', '/account']) {
        const lines = ['Sec-Fetch-Dest: empty', 'Accept: application/json', `Cookie: sso2.sid=${old}`]
        const { body } = await rawGet(setup.morning.url, path, lines, 'utf8')
        expect(body).not.toContain('ada')
        expect(body).toMatch(/"status":"none"|"login_required"/)
      }
    })
  })

  test('a login that came long after the session began ends without a loop', async () => {
    await page()
    for (let age = 300; age <= absoluteSeconds / 2; age += 300) {
      wait(300)
      await page()
    }
    await logInAtLast(browser, setup.morning)
    const id = cookie()
    let trips = 0
    for (let age = 0; age <= absoluteSeconds; age += 300) {
      wait(300)
      const visit = await page()
      expect(identifies(visit)).toBeLessThanOrEqual(1)
      expect(view(visit)).toEqual({ status: 'loggedin', username: 'ada', url: '/' })
      trips += identifies(visit)
    }
    expect(trips).toBe(1)
    expect(cookie()).not.toBe(id)
  })

  test('every key lives no longer than the idle time, and each use renews it', async () => {
    await start(true)
    const keys = (await setup.redis.keys(`${prefix}*`)).filter((key) => /:(sess|sso2):/.test(key))
    expect(keys.length).toBeGreaterThanOrEqual(2)
    const times = async () => Promise.all(keys.map((key) => setup.redis.ttl(key)))
    for (const seconds of await times()) expect(seconds).toBeGreaterThan(0)
    await Promise.all(keys.map((key) => setup.redis.expire(key, 30)))
    wait(61)
    await page()
    const renewed = async () => (await times()).filter((seconds) => seconds > idleSeconds - 30)
    await eventually(async () => (await renewed()).length >= 2) // the page does not wait for it
    const mine = await renewed()
    for (const seconds of mine) expect(seconds).toBeLessThanOrEqual(idleSeconds)
  })
})
