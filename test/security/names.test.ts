import { behindProxy } from '../support/setup'
import { type RunningSite, startSite } from '../support/site'

describe('[F10] X-Forwarded-For', () => {
  let setup: RunningSite
  beforeAll(async () => {
    setup = await startSite({
      options: { loginLimit: { attempts: 2, perSeconds: 60 } },
      emulator: { limits: { attemptsBeforeFreeze: 1000 } },
      build: behindProxy,
    })
  })
  afterAll(() => setup.close())

  async function attempt(forwarded: string, username: string) {
    const browser = setup.browser()
    await browser.visit(`${setup.url}/`)
    const headers = { 'x-forwarded-for': forwarded }
    return browser.fetchJson(`${setup.url}/login`, { json: { username, password: 'wrong' }, headers })
  }

  test.each([
    ['203.0.113.9:5678', '203.0.113.9'],
    ['198.51.100.7, 203.0.113.9:80', '203.0.113.9'],
    ['10.0.0.1, 203.0.113.9', '203.0.113.9'],
    ['203.0.113.9, evil"<b>', '0.0.0.0'],
    ['2001:db8::1', '2001:db8::1'],
    ['[2001:db8::1]:443', '2001:db8::1'],
    ['::ffff:203.0.113.9', '203.0.113.9'],
    ['evil', '0.0.0.0'],
  ])('%s is the address %s', async (forwarded, address) => {
    const username = `user at ${forwarded}`
    await attempt(forwarded, username)
    const calls = setup.emulator.calls({ operation: 'authenticate' }).filter(({ claims }) => claims['usr'] === username)
    expect(calls.map(({ claims }) => claims['ipa'])).toEqual([address])
  })

  test('[F3] attempts from one address stop at the limit on all ports, and those from another address do not', async () => {
    const statuses: number[] = []
    for (const port of [1001, 1002, 1003, 1004]) statuses.push((await attempt(`203.0.113.20:${port}`, 'ada')).status)
    expect(statuses).toEqual([401, 401, 429, 429])
    expect((await attempt('203.0.113.21:1001', 'ada')).status).toBe(401)
  })
})
