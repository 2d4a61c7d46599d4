import { send } from '../support/http'
import { document } from '../support/landing'
import { loggerTo } from '../support/log-lines'
import { present, view } from '../support/setup'
import { loggedInBrowserAt, type Process, type RunningSite, startSite } from '../support/site'

const HOUR = 3600
const YEARS = 20 * 365 * 24 * HOUR

let setup: RunningSite
let lines: string[]
const at = (path: string) => `${setup.url}${path}`
const asked = () => setup.countCalls('sessionstatus')

beforeEach(async () => {
  lines = []
  setup = await startSite({ options: { logger: loggerTo(lines) } })
})
afterEach(() => setup.close())

/** One more process of the site, whose clock is wrong. */
const wrongBy = (seconds: number, options = {}): Promise<Process> =>
  setup.another({ ...options, clock: { now: () => setup.emulator.clock.now() + seconds * 1000 } })

test('[O18] landings refused for their time leave one line, which says how far the clock is off', async () => {
  setup.emulator.faults.add({ operation: 'identify', kind: 'skew', seconds: -34 })
  const page = await setup.browser().visit(at('/'))
  expect(view(page)).toMatchObject({ status: 'none', degraded: 'token_refused' })
  await setup.browser().visit(at('/another'))
  // on a slow machine the probe of Identify meets the fault too, and logs a line of its own
  const told = lines.filter((line) => line.includes('Landing tokens are refused'))
  expect(told).toEqual([expect.stringMatching(/\b3[4-9] s\b/)]) // whole seconds, which may begin between the token and its landing
})

describe('[O18] beside a process whose clock is an hour ahead,', () => {
  test('the good one asks Session Status after its 6 minutes: no user is logged out, and an end of the session is seen', async () => {
    const browser = await loggedInBrowserAt(setup)
    const wrong = await wrongBy(HOUR)
    await browser.fetchJson(`${wrong.url}/`)
    expect((await browser.fetchJson(at('/'))).json).toMatchObject({ status: 'loggedin', username: 'ada' })
    for (const minutes of [7, 15, 15, 30]) {
      setup.emulator.clock.advance(minutes * 60)
      const before = asked()
      const { json } = await browser.fetchJson(at('/'))
      expect(json).toEqual({ status: 'loggedin', username: 'ada', url: '/' })
      expect(asked() - before).toBe(1)
    }
    await browser.fetchJson(`${wrong.url}/`)
    for (const { sid } of setup.emulator.sessions()) setup.emulator.terminate(sid)
    setup.emulator.clock.advance(361)
    expect((await browser.fetchJson(at('/'))).json).toEqual({ status: 'none', url: '/' })
  })
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

describe('[O18] a browser without cookies beside a process whose clock is wrong', () => {
  /** Follows all redirects. The processes serve the site in turn. */
  async function follow(start: string, processes: readonly Pick<Process, 'url'>[]) {
    const trail: string[] = []
    let url = new URL(start)
    for (let turn = 0; trail.length < 20; ) {
      const isSite = url.origin === setup.url
      const origin = isSite ? present(processes[turn % processes.length]).url : url.origin
      turn += isSite ? 1 : 0
      trail.push(url.pathname)
      const headers = { ...document, host: url.host }
      const answer = await send({ method: 'GET', url: new URL(url.pathname + url.search, origin), headers })
      if (answer.headers.location === undefined) return { ...answer, trail }
      url = new URL(answer.headers.location, url)
    }
    throw new Error(`the browser is redirected without end: ${trail.join(' ')}`)
  }

  /** Who serves the page, the landing page, and the page again, in turn: the process with the right clock, or the one with the wrong clock. */
  const orders = ['r', 'rw', 'rrw', 'rww', 'rrrw', 'rrww', 'rwrr', 'rwwr', 'rwww', 'rrwrw']

  test.each([HOUR, -HOUR, YEARS])('by %i s gets the page after one Identify redirect', async (seconds) => {
    const wrong = await wrongBy(seconds)
    for (const order of orders) {
      const processes = order.split('').map((letter) => (letter === 'r' ? setup : wrong))
      const { status, body, trail } = await follow(at('/'), processes)
      const identifies = trail.filter((path) => path.endsWith('/identify')).length
      expect({ order, status, identifies, body }).toMatchObject({ order, status: 200, identifies: 1 })
      expect(view({ body })).toMatchObject({ status: 'none', degraded: 'cookies_blocked' })
    }
  })
})

/** That a good landing does not set it either is in test/remote/sso2.test.ts. */
describe('[O18] the clock offset of health()', () => {
  const offset = async () => (await setup.sso.health()).clockOffsetSeconds
  /** Whole seconds: some may begin between the answer and its reading, if the machine is busy. */
  const about = (seconds: number) => [0, 1, 2, 3, 4].map((late) => seconds + late)
  /** The landing address of a visit that stopped before it. */
  const landingOf = async () => {
    const headers = document
    const identify = await send({ method: 'GET', url: new URL(at('/')), headers })
    const answer = await send({ method: 'GET', url: new URL(String(identify.headers.location)), headers })
    return String(answer.headers.location)
  }

  test('is left as it is by the landing address of a day ago, shown without any cookie', async () => {
    // a slow redirect to Identify makes the site call Session Status, which must not respond here
    setup.emulator.faults.add({ operation: 'sessionstatus', kind: 'down' })
    const landing = await landingOf()
    setup.emulator.clock.advance(86_400)
    await setup.browser().fetchJson(landing)
    expect(await offset()).toBeUndefined()
    setup.emulator.faults.clear()
    await loggedInBrowserAt(setup)
    const other = await landingOf()
    setup.emulator.clock.advance(86_400)
    await setup.browser().fetchJson(other)
    expect(about(0)).toContain(await offset())
  })
})
