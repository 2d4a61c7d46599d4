import { healthWithStore } from '../support/setup'
import { loggedInBrowserAt, type Process, type RunningSite, startSite } from '../support/site'

const HOUR = 3600

let setup: RunningSite
const at = (path: string) => `${setup.url}${path}`
const asked = () => setup.countCalls('sessionstatus')

beforeEach(async () => {
  setup = await startSite()
})
afterEach(() => setup.close())

/** One more process of the site, whose clock is wrong. */
const wrongBy = (seconds: number, options = {}): Promise<Process> =>
  setup.another({ ...options, clock: { now: () => setup.emulator.clock.now() + seconds * 1000 } })

/** Ends the locks of status checks, whose time goes by the clock of Redis. */
async function endLocks(): Promise<void> {
  for (const lock of await setup.redis.keys('*check:*')) await setup.redis.del(lock)
}

test('[O18] beside a process whose clock is an hour ahead, the good one asks Session Status after its 6 minutes: no user is logged out, and an end of the session is seen', async () => {
  const browser = await loggedInBrowserAt(setup)
  const wrong = await wrongBy(HOUR)
  await browser.fetchJson(`${wrong.url}/`)
  expect((await browser.fetchJson(at('/'))).json).toMatchObject({ status: 'loggedin', username: 'ada' })
  await endLocks()
  for (const minutes of [7, 15, 15, 30]) {
    setup.emulator.clock.advance(minutes * 60)
    const before = asked()
    const { json } = await browser.fetchJson(at('/'))
    expect(json).toEqual({ status: 'loggedin', username: 'ada', url: '/' })
    expect(asked() - before).toBe(1)
  }
  await browser.fetchJson(`${wrong.url}/`)
  await endLocks()
  for (const { sid } of setup.emulator.sessions()) setup.emulator.terminate(sid)
  setup.emulator.clock.advance(361)
  expect((await browser.fetchJson(at('/'))).json).toEqual({ status: 'none', url: '/' })
})

test('[O18] a process whose clock is an hour behind hides no session from a logout of all sessions', async () => {
  await setup.close()
  setup = await startSite({ options: { session: { idleSeconds: HOUR / 2 } } })
  const [browser, other] = [await loggedInBrowserAt(setup), await loggedInBrowserAt(setup)]
  const wrong = await wrongBy(-HOUR)
  // the second visit returns after the renewal by the first, on the same connection to Redis
  for (const _visit of [1, 2]) await browser.fetchJson(`${wrong.url}/`)
  await other.submit(at('/logout-all'), { return_to: '/' })
  expect((await browser.fetchJson(at('/'))).json).toEqual({ status: 'none', url: '/' })
})

test.each([
  [3, true],
  [HOUR, false],
  [-HOUR, false],
])('a process whose clock is %i s off asks Session Status → health() says by how much, and ok: %s', async (...row) => {
  const [seconds, ok] = row
  const [browser, wrong] = [await loggedInBrowserAt(setup), await wrongBy(seconds)]
  setup.emulator.clock.advance(2 * HOUR)
  await browser.fetchJson(`${wrong.url}/`)
  const { clockOffsetSeconds, ...health } = await healthWithStore(wrong.sso)
  expect(health).toEqual({ ok, sso: 'ok', store: 'ok', login: 'ok' })
  expect(Math.abs(Number(clockOffsetSeconds) - seconds)).toBeLessThan(2)
})
