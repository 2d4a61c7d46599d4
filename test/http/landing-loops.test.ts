import type { FaultKind } from '../../lib/emulator'
import { documentHeaders } from '../support/addresses'
import type { Browser } from '../support/agent'
import { hearEvents } from '../support/landing'
import { identifyRedirects, type PausableSetup, startPausableSetup } from '../support/pausable-setup'
import { useSetup, view } from '../support/setup'

let warn: jest.SpyInstance
/** The system's clock, where a test stops it. */
let now: jest.SpyInstance | undefined
beforeAll(() => {
  warn = jest.spyOn(console, 'warn').mockImplementation(() => {})
})
const setup = useSetup()
const events = hearEvents()
const at = (path: string) => `${setup.morning.url}${path}`

beforeEach(() => {
  events.clear()
  setup.emulator.faults.clear()
})
afterEach(() => now?.mockRestore())
afterAll(() => {
  events.stop()
  warn.mockRestore()
})

const isIdentify = ({ url }: { url: string }) => url.startsWith(`${setup.emulator.url}/sso/identify`)

/** Follows by hand, with a chance to meddle after every hop. A browser gives up at 20 redirects. */
async function follow(browser: Browser, start: string, meddle: () => void): Promise<{ trips: number; page: string }> {
  let url = start
  for (let trips = 0, hops = 0; hops < 20; hops += 1) {
    const hop = await browser.fetchJson(url, { headers: documentHeaders })
    if (isIdentify({ url })) trips += 1
    meddle()
    if (hop.headers.location === undefined) return { trips, page: hop.body }
    url = new URL(hop.headers.location, url).href
  }
  throw new Error('it goes round in circles')
}

describe('a loop', () => {
  test('[R8] of a browser that keeps no cookies ends after one trip with the page', async () => {
    const page = await setup.browser({ cookies: false }).visit(at('/page?a=1'))
    expect([page.status, identifyRedirects(page)]).toEqual([200, 1])
    expect(view(page)).toMatchObject({ status: 'none', degraded: 'cookies_blocked' })
    expect(events.heard).toContain('landing unchanged no_cookies')
    expect(events.heard).toContain('degraded served cookies_blocked')
  })

  test.each([
    ['the session cookie', /^sso2\.sid$/, 'identify_loop'],
    ['the cookie that counts', /^sso2\.l/, undefined],
  ])(
    '[R8] of a browser that drops %s after every hop ends within 20 redirects and eight trips, and the page says why, as the login page does',
    async (_name, names, degraded) => {
      const browser = setup.browser()
      const way = await follow(browser, at('/page?a=1'), () => {
        browser.dropCookies(({ name }) => names.test(name))
        setup.emulator.clock.advance(0.5)
      })
      expect(view({ body: way.page }).degraded).toBe(degraded)
      expect((await browser.visit(at('/login'))).status).toBe(degraded ? 503 : 200)
      expect(way.trips).toBeGreaterThan(0)
      expect(way.trips).toBeLessThanOrEqual(8)
      const channel = degraded === undefined ? 'landing stay_anonymous' : `degraded served ${degraded}`
      expect(events.heard).toContain(channel)
    },
  )

  const refusals: [string, FaultKind, string, RegExp][] = [
    ['signed with another secret', { kind: 'wrong_signature' }, 'signature', /clientSecret/],
    ['from a clock behind', { kind: 'skew', seconds: -90 }, 'expired', /clock is [89]\d s ahead/],
  ]
  test.each(refusals)(
    '[R8, T12] of landing tokens %s ends with the page and one line, and one more trip is tried after a pause',
    async (_name, fault, reason, cause) => {
      setup.emulator.clock.advance(120)
      now = jest.spyOn(Date, 'now').mockReturnValue(Date.now()) // a busy machine takes seconds that count for the pauses
      setup.emulator.faults.add({ operation: 'identify', ...fault })
      const browser = setup.browser()
      const page = await browser.visit(at('/page?a=1'))
      expect([page.status, page.url]).toEqual([200, at('/page?a=1')])
      expect(identifyRedirects(page)).toBe(1)
      expect(view(page)).toMatchObject({ status: 'none', degraded: 'token_refused' })
      expect(events.heard).toContain('degraded served token_refused')
      expect(events.heard.filter((event) => event === `landing unchanged ${reason}`)).toHaveLength(1)
      const again = async (seconds: number) => {
        setup.emulator.clock.advance(seconds)
        const visit = await browser.visit(at('/page?a=1'))
        return [identifyRedirects(visit), view(visit).degraded]
      }
      expect(await again(0)).toEqual([0, 'token_refused'])
      expect(await again(5)).toEqual([1, 'token_refused'])
      expect(await again(2)).toEqual([0, 'token_refused'])
      setup.emulator.faults.clear()
      expect(await again(3)).toEqual([1, undefined])
      const lines = warn.mock.calls.flat().filter((line) => line.includes('Landing tokens are refused'))
      expect(lines.filter((line) => cause.test(line))).toHaveLength(1)
      expect(view(await browser.visit(at('/page?a=1'))).status).toBe('anon')
    },
  )
})

const MAX_REDIRECTS = 5
const ACCESS_SECONDS = 600
let site: PausableSetup

/** Opens a page, which must be served, and counts the redirects to Identify. */
async function open(browser: Browser, path = '/') {
  const visit = await browser.visit(site.at(path))
  expect([visit.status, visit.url]).toEqual([200, site.at(path)])
  return { redirects: identifyRedirects(visit), ...view(visit) }
}

async function accessRunsOut(browser: Browser): Promise<void> {
  expect((await browser.fetchJson(site.at('/api'))).status).toBe(503)
}

type Fault = Parameters<PausableSetup['emulator']['faults']['add']>[0]

const faults: Fault[] = [
  { operation: 'token', kind: 'down' },
  { operation: 'me', kind: 'status', code: 401 },
]

describe('an access token that ran out', () => {
  beforeEach(async () => {
    const emulator = { limits: { accessTokenSeconds: ACCESS_SECONDS } }
    site = await startPausableSetup({ usesDefaultHooks: true, emulator })
  })
  afterEach(() => site.close())

  test.each(faults)('[O20] and is not renewed (%o): logged in, after five redirects at most', async (fault) => {
    const browser = await site.loggedInBrowser()
    site.emulator.clock.advance(ACCESS_SECONDS + 100)
    site.emulator.faults.add(fault)
    await accessRunsOut(browser)
    const first = await open(browser, fault.operation === 'token' ? '/account' : '/')
    expect(first).toMatchObject({ status: 'loggedin', username: 'ada' })
    expect(first.redirects).toBeLessThanOrEqual(MAX_REDIRECTS)
    for (const path of ['/', '/news?a=1', '/account']) {
      expect(await open(browser, path)).toMatchObject({ status: 'loggedin', username: 'ada', redirects: 0 })
    }
    site.emulator.clock.advance(30)
    expect(await open(browser, '/later')).toMatchObject({ status: 'loggedin', username: 'ada', redirects: 0 })
  })

  test('[O20] a fresh page whose session is unknown at the SSO system ends after five redirects at most', async () => {
    const browser = await site.loggedInBrowser()
    site.emulator.faults.add({ operation: 'sessionstatus', kind: 'error', code: 'session_not_found' })
    const visit = await browser.visit(site.at('/sensitive'))
    expect([200, 503]).toContain(visit.status)
    expect(identifyRedirects(visit)).toBeLessThanOrEqual(MAX_REDIRECTS)
    expect(visit.body).not.toContain('"loggedin"')
    expect((await open(browser, '/news')).redirects).toBeLessThanOrEqual(MAX_REDIRECTS)
  })
})
