import diagnostics from 'node:diagnostics_channel'
import type { ClientRequest } from 'node:http'
import { ada, eventually, loggedInBrowser, present, type Setup, startSetup, visitor } from '../support/setup'

/* A site is closed while something is under way: it comes to its end. */

type Slow = 'authenticate' | 'token' | 'logout' | 'sessionstatus'

describe('sso.close() before the server has ended', () => {
  let setup: Setup
  /** Paths of the platform that have been asked. */
  const asked: string[] = []
  const onStart = (message: unknown) => void asked.push((message as { request: ClientRequest }).request.path)
  beforeEach(async () => {
    setup = await startSetup()
    diagnostics.subscribe('http.client.request.start', onStart)
  })
  afterEach(async () => {
    diagnostics.unsubscribe('http.client.request.start', onStart)
    await setup.close()
  })

  /** Closes the site when all of the requests wait for the platform, which takes its time. */
  async function closeDuring<T>(operation: Slow, count: number, send: (index: number) => Promise<T>, ms = 700) {
    setup.emulator.faults.add({ operation, kind: 'slow', ms })
    asked.length = 0
    const answers = Promise.all(Array.from({ length: count }, (_, index) => send(index)))
    await eventually(
      async () =>
        asked.filter((path) => path.endsWith(`/sso/${operation}`) || path.endsWith(`/oauth/${operation}`)).length >=
        count,
    )
    await setup.morning.sso.close()
    return answers
  }

  test('lets logins under way come to their end', async () => {
    const browsers = await Promise.all(Array.from({ length: 3 }, () => visitor(setup))) // as many as the limits let try at once
    const login = (index: number) => present(browsers[index]).fetchJson(`${setup.morning.url}/login`, { json: ada })
    const answers = await closeDuring('authenticate', browsers.length, login)
    expect(answers.map(({ status, json }) => [status, json.user?.username])).toEqual(browsers.map(() => [200, 'ada']))
    expect(setup.countCalls('authenticate')).toBe(browsers.length)
  })

  test('lets a logout that is not confirmed be kept', async () => {
    const browser = await loggedInBrowser(setup)
    const logout = () => browser.fetchJson(`${setup.morning.url}/logout`, { json: {} })
    const [answer] = await closeDuring('logout', 1, logout, 60_000) // the site gives up after 3 s, however busy the machine is
    expect(answer?.json).toEqual({ status: 'none', logout: 'pending' })
    expect((await setup.keys()).filter((key) => /:logouts?(:\{|$)/.test(key))).toHaveLength(2)
  })

  test('has two callers wait for the same end, and does not wait if nothing is under way', async () => {
    await loggedInBrowser(setup)
    const start = performance.now()
    const end = setup.morning.sso.close()
    expect(setup.morning.sso.close()).toBe(end)
    await end
    expect(performance.now() - start).toBeLessThan(8000) // a wait would take ten seconds
  })
})
