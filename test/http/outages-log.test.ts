import express, { type Express } from 'express'
import type { FaultOptions } from '../../lib/emulator/faults/rules'
import { loggerTo } from '../support/log-lines'
import { identifyRedirects } from '../support/pausable-setup'
import { ada, addPages, view } from '../support/setup'
import { loggedInBrowserAt, type RunningSite, type SiteOptions, startSite } from '../support/site'

/* What stops a login is logged once, with what to check. */

/** Log lines of one test. A probe that is under way when its site closes writes its line during the next test. */
let lines: string[]

let setup: RunningSite | undefined
async function start({ options, ...rest }: SiteOptions = {}): Promise<RunningSite> {
  setup = await startSite({ ...rest, options: { logger: loggerTo(lines), ...options } })
  return setup
}
beforeEach(() => {
  lines = []
})
afterEach(async () => {
  await setup?.close()
  setup = undefined
})

/** The three requests that redeem a ticket. */
const doors = ['a landing', 'a login', 'a check'] as const
async function openDoor(door: (typeof doors)[number], at: RunningSite): Promise<() => Promise<unknown>> {
  if (door === 'a login') {
    const browser = at.browser()
    await browser.visit(`${at.url}/`)
    return async () => expect((await browser.fetchJson(`${at.url}/login`, { json: ada })).status).toBe(503)
  }
  const browser = await loggedInBrowserAt(at)
  if (door === 'a landing') {
    browser.dropCookies(({ name }) => name === 'sso2.sid')
    return () => browser.visit(`${at.url}/`)
  }
  at.emulator.clock.advance(361) // the access token is over too, so the answer brings a ticket
  return () => browser.fetchJson(`${at.url}/`)
}

/** Each line is in test/unit/failure-advice.test.ts. */
const ticketFaults: [operation: 'token' | 'me', fault: object, line: RegExp][] = [
  ['token', { kind: 'status', code: 401 }, /exchangeTicket: .*\(HTTP 401\).*clientSecret \(SSO2_CLIENT_SECRET\)/],
  ['token', { kind: 'down' }, /exchangeTicket: no answer.*tokenUrl/],
  ['me', { kind: 'garbage' }, /loaded: loadUser: .*userPath/],
]

test.each(doors)('%s that fails at token endpoint or user path is one line, with what to look at', async (door) => {
  const at = await start({ emulator: { limits: { accessTokenSeconds: 300 } } })
  for (const [operation, fault, line] of ticketFaults) {
    await loggedInBrowserAt(at) // a ticket that is redeemed: none of the faults is an outage yet
    const step = await openDoor(door, at)
    at.emulator.faults.add({ operation, ...fault } as FaultOptions)
    lines.length = 0
    await step()
    expect([fault, lines]).toEqual([fault, [expect.stringMatching(line)]])
    at.emulator.faults.clear()
  }
})

describe('a landing that is lost', () => {
  test.each<[string, SiteOptions]>([
    ['on another page of the site', { landingPath: '/sso/old-landing' }],
    [
      'where no router is mounted',
      { build: (sso, gates) => addPages(express().use(sso.session, sso.middleware), sso, gates) },
    ],
  ])('%s is a page of the site, before the browser gives up', async (_what, options) => {
    const at = await start(options)
    const page = await at.browser().visit(`${at.url}/page`)
    expect([page.status, view(page).status]).toEqual([200, 'none'])
    expect(identifyRedirects(page)).toBeLessThan(8)
  })

  test('again and again, as processes do not share their secrets, is told once', async () => {
    const at = await start()
    const other = await at.another({ sessionSecret: 'another-session-secret-of-more-than-32-bytes' })
    const [own] = at.server.listeners('request') as [Express]
    const [foreign] = other.server.listeners('request') as [Express]
    at.server.removeAllListeners('request')
    at.server.on('request', (req, res) => (req.url?.startsWith('/sso2/landing') ? foreign(req, res) : own(req, res)))
    const page = await at.browser().visit(`${at.url}/page`)
    expect([identifyRedirects(page), view(page).degraded]).toEqual([5, 'identify_loop'])
    expect(lines).toEqual([
      expect.stringMatching(/Redirect loop\. .*redis \(REDIS_URL\) and sessionSecret.*session\.cookieName/),
    ])
  })
})
