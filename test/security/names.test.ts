import { demoOptions } from '../../lib/emulator'
import type { Browser } from '../support/agent'
import { ada, behindProxy, logIn } from '../support/setup'
import { type RunningSite, startSite } from '../support/site'

/** The name "ada" in full-width letters. */
const fullWidth = '\uff41\uff44\uff41'

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

test('[F13] a device cookie of a name in full-width letters is none of the usual name', async () => {
  const evil = { accountId: 'account-evil', username: fullWidth, password: ada.password }
  const loginLimit = { attempts: 10, perSeconds: 60 }
  const accounts = [...(demoOptions().accounts ?? []), evil]
  const setup = await startSite({ options: { loginLimit }, emulator: { accounts } })
  let guesses = 0
  const guess = async (browser: Browser) => {
    guesses += 1
    const json = { username: ada.username, password: `wrong ${guesses}` }
    return (await browser.fetchJson(`${setup.url}/login`, { json })).json.error
  }
  try {
    const [browser, other] = [setup.browser(), setup.browser()]
    await logIn(browser, setup, { ...ada, username: fullWidth })
    await browser.submit(`${setup.url}/logout`, { return_to: '/' })
    await other.visit(`${setup.url}/`)
    for (let tries = 0; tries < loginLimit.attempts; tries += 1) await guess(other)
    expect(await guess(browser)).toBe('too_many_attempts')
  } finally {
    await setup.close()
  }
})
