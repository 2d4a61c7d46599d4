import type { Browser } from '../support/agent'
import { identifyRedirects, keepings, type PausableSetup, startPausableSetup } from '../support/pausable-setup'
import { view } from '../support/setup'

/*
 * A page is shown after five redirects to Identify in ten seconds. The browser of these tests gives up after 20 redirects,
 * so that an endless redirect fails.
 */

const MAX_REDIRECTS = 5
const ACCESS_SECONDS = 600
let setup: PausableSetup

/** Opens a page, which must be served, and counts the redirects to Identify. */
async function open(browser: Browser, path = '/') {
  const visit = await browser.visit(setup.at(path))
  expect([visit.status, visit.url]).toEqual([200, setup.at(path)])
  return { redirects: identifyRedirects(visit), ...view(visit) }
}

async function accessRunsOut(browser: Browser): Promise<void> {
  expect((await browser.fetchJson(setup.at('/api'))).status).toBe(503)
}

type Fault = Parameters<PausableSetup['emulator']['faults']['add']>[0]

const faults: Fault[] = [
  { operation: 'token', kind: 'down' },
  { operation: 'me', kind: 'status', code: 401 },
]

describe.each(keepings)('with %s, an access token that ran out', (keeping) => {
  beforeEach(async () => {
    const emulator = { limits: { accessTokenSeconds: ACCESS_SECONDS } }
    setup = await startPausableSetup({ keeping, usesDefaultHooks: true, emulator })
  })
  afterEach(() => setup.close())

  test.each(faults)('[O20] and is not renewed (%o): logged in, after five redirects at most', async (fault) => {
    const browser = await setup.loggedInBrowser()
    setup.emulator.clock.advance(ACCESS_SECONDS + 100)
    setup.emulator.faults.add(fault)
    await accessRunsOut(browser)
    const first = await open(browser, fault.operation === 'token' ? '/account' : '/')
    expect(first).toMatchObject({ status: 'loggedin', username: 'ada' })
    expect(first.redirects).toBeLessThanOrEqual(MAX_REDIRECTS)
    for (const path of ['/', '/news?a=1', '/account']) {
      expect(await open(browser, path)).toMatchObject({ status: 'loggedin', username: 'ada', redirects: 0 })
    }
    setup.emulator.clock.advance(30)
    expect(await open(browser, '/later')).toMatchObject({ status: 'loggedin', username: 'ada', redirects: 0 })
  })

  test('[O20] a fresh page whose session is unknown at the SSO system ends after five redirects at most', async () => {
    const browser = await setup.loggedInBrowser()
    setup.emulator.faults.add({ operation: 'sessionstatus', kind: 'error', code: 'session_not_found' })
    const visit = await browser.visit(setup.at('/sensitive'))
    expect([200, 503]).toContain(visit.status)
    expect(identifyRedirects(visit)).toBeLessThanOrEqual(MAX_REDIRECTS)
    expect(visit.body).not.toContain('"loggedin"')
    expect((await open(browser, '/news')).redirects).toBeLessThanOrEqual(MAX_REDIRECTS)
  })
})
