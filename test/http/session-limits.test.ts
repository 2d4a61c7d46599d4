import { randomUUID } from 'node:crypto'
import type { Browser } from '../support/agent'
import { identifyRedirects } from '../support/pausable-setup'
import { rawGet } from '../support/raw'
import { eventually, logInAtLast, present, useSetup, view, visitor } from '../support/setup'

const idleSeconds = 600
const absoluteSeconds = 3600
const limits = { pruneAfterSeconds: 1_000_000, accessTokenSeconds: 1_000_000 }

describe('[S10] a session', () => {
  let browser: Browser
  const prefix = `limits-${randomUUID()}:`
  const setup = useSetup({
    emulator: { limits },
    site: (name) => ({ session: { prefix: `${prefix}${name}:`, idleSeconds, absoluteSeconds } }),
  })
  const cookie = () => browser.cookie('sso2.sid')
  const wait = (seconds: number) => setup.emulator.clock.advance(seconds)
  const page = (path = '/') => browser.visit(`${setup.morning.url}${path}`)

  async function start(status: string): Promise<void> {
    browser = await visitor(setup)
    if (status === 'loggedin') await logInAtLast(browser, setup.morning)
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
      const { body } = await rawGet(setup.morning.url, path, lines)
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
