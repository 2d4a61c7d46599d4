import { setTimeout as sleep } from 'node:timers/promises'
import type { Browser } from '../support/agent'
import { loggedInBrowserAt, type Process, type RunningSite, startSite } from '../support/site'

/*
 * A session whose check got no response is checked again four seconds after that check began, whichever process its browser comes to, and
 * whether that process has seen anything of the trouble.
 */

let setup: RunningSite
let other: Process

beforeEach(async () => {
  setup = await startSite()
  other = await setup.another({})
})
afterEach(() => setup.close())

const look = async (browser: Browser, process: Process) => (await browser.fetchJson(`${process.url}/`)).json
const BUSY = { operation: 'sessionstatus', kind: 'status', code: 429 } as const

/** Three checks in a row get no response, each of another process, so that none of them sees a row of failures. */
async function loseThree(browser: Browser): Promise<void> {
  setup.emulator.clock.advance(361)
  for (const process of [setup, other, await setup.another({})]) {
    setup.emulator.faults.add(BUSY)
    expect(await look(browser, process)).toMatchObject({ status: 'loggedin', degraded: 'sso_unavailable' })
    setup.emulator.faults.clear()
    if (process === setup || process === other) setup.emulator.clock.advance(4)
  }
}

test.each(['one that saw the trouble', 'one that did not'])(
  '[I9] when the SSO system responds again, no page is degraded for longer than 5 s, at %s',
  async (which) => {
    const browser = await loggedInBrowserAt(setup)
    await loseThree(browser)
    const process = which === 'one that did not' ? await setup.another({}) : other
    const { clock } = setup.emulator
    const end = clock.now()
    for (let asked = end; (await look(browser, process)).degraded !== undefined; asked = clock.now()) {
      expect(asked - end).toBeLessThan(5000) // when the page was asked for: its response may be late on a busy machine
      await sleep(100) // in which a probe may be sent
      clock.advance(0.1)
    }
    expect(await look(browser, process)).toMatchObject({ status: 'loggedin', username: 'ada' })
  },
)

test('[O19] one session that gets no response is checked once in four seconds, though others get responses all the time', async () => {
  const [browser, other] = [await loggedInBrowserAt(setup), await loggedInBrowserAt(setup)]
  const [{ sid } = { sid: '' }] = setup.emulator.sessions().filter(({ status }) => status === 'loggedin')
  setup.emulator.clock.advance(361)
  setup.emulator.faults.add({ ...BUSY, sid })
  const checks = () => setup.emulator.calls({ operation: 'sessionstatus', sid }).length
  let [looks, checked] = [0, 0]
  const { clock } = setup.emulator
  const begin = clock.now()
  for (let before = checks(); clock.now() < begin + 100_000; clock.advance(1)) {
    expect(await look(browser, setup)).toMatchObject({ status: 'loggedin', degraded: 'sso_unavailable' })
    expect((await other.fetchJson(`${setup.url}/sensitive`)).status).toBe(200)
    looks += 1
    if (checks() > before) checked += 1
    before = checks()
  }
  expect(checked).toBeGreaterThan(looks / 5) // at least a second lies between two looks
  expect(checked).toBeLessThanOrEqual(26) // 100 s hold 25 pauses, and the first check: the record counts whole seconds
})

/* An SSO system in trouble is asked less, not more. */

const SECONDS = 200
const MOST_CHECKS = 6

const troubles = [
  ['429', { kind: 'status', code: 429 }],
  ['a wrong signature', { kind: 'wrong_signature' }],
] as const

test.each(troubles)(
  `[O19] the SSO system that says %s is asked about one session ${MOST_CHECKS} times in ${SECONDS} s at most`,
  async (_what, fault) => {
    const browser = await loggedInBrowserAt(setup)
    setup.emulator.clock.advance(361)
    setup.emulator.faults.add({ operation: 'sessionstatus', ...fault })
    const before = setup.countCalls('sessionstatus')
    const { clock } = setup.emulator
    for (const end = clock.now() + SECONDS * 1000; clock.now() < end; clock.advance(2)) {
      const { json } = await browser.fetchJson(`${setup.url}/`)
      expect(json).toMatchObject({ status: 'loggedin', username: 'ada', degraded: 'sso_unavailable' })
    }
    const checks = setup.countCalls('sessionstatus') - before
    expect(checks).toBeGreaterThan(0)
    expect(checks).toBeLessThanOrEqual(MOST_CHECKS)
  },
)
