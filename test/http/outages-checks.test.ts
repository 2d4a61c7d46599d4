import { loggedInBrowserAt, type RunningSite, startSite } from '../support/site'

let setup: RunningSite

beforeEach(async () => {
  setup = await startSite()
})
afterEach(() => setup.close())

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
