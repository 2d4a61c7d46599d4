import diagnostics from 'node:diagnostics_channel'
import { Sso2Client } from '../../lib'
import type { Sso2Event } from '../../lib/web/hooks'
import type { Network } from '../flows/network'
import { readJwt } from '../support/oracle'

let warn: jest.SpyInstance
beforeEach(() => {
  warn = jest.spyOn(console, 'warn').mockImplementation(() => {})
})
afterEach(() => warn.mockRestore())

/** A network with modules of its own: each cause is told to the operator once a minute in one process. */
async function withNetwork(
  options: Parameters<typeof import('../flows/network')['startNetwork']>[0],
  run: (network: Network, flows: typeof import('../flows/network')) => Promise<void>,
): Promise<void> {
  await jest.isolateModulesAsync(async () => {
    const flows: typeof import('../flows/network') = require('../flows/network')
    const network = await flows.startNetwork(options)
    try {
      await run(network, flows)
    } finally {
      await network.close()
    }
  })
}
const lines = () => warn.mock.calls.map(([line]) => String(line))

test.each([
  [60, 'behind'],
  [-60, 'ahead of'],
])(
  '[T12] an SSO system whose clock is %i s off is refused, said so once, and no loop follows',
  async (seconds, word) => {
    await withNetwork({}, async (network, { view, ada, logIn }) => {
      const events: Sso2Event[] = []
      const note = (event: unknown) => void events.push(event as Sso2Event)
      diagnostics.subscribe('express-sso2:landing', note)
      const browser = network.browser()
      await logIn(browser, network.evening, ada)
      events.length = 0
      network.emulator.faults.add({ operation: 'identify', kind: 'skew', seconds })
      const page = await browser.visit(`${network.morning.url}/page`)
      diagnostics.unsubscribe('express-sso2:landing', note)
      expect(view(page)).toEqual({ status: 'none', degraded: 'token_refused', url: '/page' })
      const trips = page.trail.filter(({ url }) => url.startsWith(network.emulator.url)).length
      expect(trips).toBeLessThanOrEqual(3)
      expect(new Set(events.map(({ reason }) => reason))).toEqual(new Set([seconds > 0 ? 'not_yet_valid' : 'expired']))
      expect(await network.keys()).toEqual([])
      expect(lines().filter((line) => line.includes('clock'))).toEqual([
        expect.stringMatching(new RegExp(`clock is (59|60|61) s ${word} the SSO system\\.`)),
      ])
    })
  },
)

test('[T12] an old landing address says nothing about the clocks', async () => {
  await withNetwork({}, async (network, { ada, logIn, present }) => {
    const browser = network.browser()
    const headers = { accept: 'text/html', 'sec-fetch-dest': 'document', 'sec-fetch-mode': 'navigate' }
    // who is not back within a second is a reason to ask in the background, and an answer would tell
    network.emulator.faults.add({ operation: 'sessionstatus', kind: 'hang' })
    const start = await browser.fetchJson(`${network.morning.url}/page`, { headers })
    const back = await browser.fetchJson(present(start.headers.location), { headers })
    network.emulator.clock.advance(86_400)
    await network.browser().visit(present(back.headers.location))
    expect((await network.morning.sso.health()).clockOffsetSeconds).toBeUndefined()
    network.emulator.faults.clear()
    await logIn(network.browser(), network.morning, ada)
    expect(Math.abs((await network.morning.sso.health()).clockOffsetSeconds ?? 9)).toBeLessThanOrEqual(1)
  })
})

test.each([60, -60])('[T12] a status answer whose times are %i s off changes nothing', async (seconds) => {
  await withNetwork({}, async (network, { view, ada, logIn }) => {
    const browser = network.browser()
    await logIn(browser, network.morning, ada)
    network.emulator.clock.advance(361)
    network.emulator.faults.add({ operation: 'sessionstatus', kind: 'skew', seconds })
    const page = await browser.visit(`${network.morning.url}/page`)
    expect(view(page)).toEqual({ status: 'loggedin', username: 'ada', degraded: 'sso_unavailable', url: '/page' })
    expect(page.trail).toHaveLength(1)
    const reason = seconds > 0 ? 'not_yet_valid' : 'expired'
    expect(lines().filter((line) => line.includes(reason))).toHaveLength(1)
  })
})

test('[L6] of two clients that share a secret by mistake, neither takes the token of the other', async () => {
  const shared = ['morning', 'evening'].map((name) => `client-secret-of-the-${name}-paper-0123456789`)
  await withNetwork({ site: { clientSecret: shared } }, async (network, { ada, present, view }) => {
    const events: Sso2Event[] = []
    const note = (event: unknown) => void events.push(event as Sso2Event)
    diagnostics.subscribe('express-sso2:landing', note)
    // Only the morning paper is asked: it knows the evening paper's secret, and signs with its own.
    const browser = network.browser()
    await browser.visit(`${network.morning.url}/page`)
    const form = { username: ada.username, password: ada.password }
    expect((await browser.fetchJson(`${network.morning.url}/login`, { json: form })).status).toBe(200)
    const evening = clientFor(network, present(shared[1]))
    const headers = { accept: 'text/html', 'sec-fetch-dest': 'document', 'sec-fetch-mode': 'navigate' }
    const back = await browser.fetchJson(evening.identifyUrl(`${network.evening.url}/`), { headers })
    const t = present(new URL(present(back.headers.location)).searchParams.get('t'))
    expect(readJwt(t).claims).toMatchObject({ aud: 'evening', sts: 'loggedin', at: expect.any(String) })
    const victim = network.browser()
    const start = await victim.fetchJson(`${network.morning.url}/page`, {
      headers: { ...headers, 'sec-fetch-site': 'none' },
    })
    const r = present(new URL(present(start.headers.location)).searchParams.get('r'))
    events.length = 0
    const exchanges = network.count('token')
    const address = `${network.morning.url}/sso2/landing?${new URLSearchParams({ t, r })}`
    const page = await victim.visit(address)
    diagnostics.unsubscribe('express-sso2:landing', note)
    expect(view(page).status).toBe('none')
    expect(events.map(({ outcome, reason }) => [outcome, reason])).toEqual([['give_up', 'audience']])
    expect(network.count('token')).toBe(exchanges)
    evening.close()
  })
})

function clientFor(network: Network, clientSecret: string): Sso2Client {
  const { ssoUrl, organisationId } = network.emulator.siteOptions('evening')
  return new Sso2Client({ ssoUrl, clientId: 'evening', clientSecret, organisationId, clock: network.emulator.clock })
}

test('[L8] an answer about another session changes nothing and is told', async () => {
  await withNetwork({}, async (network, { ada, logIn, present, view }) => {
    const events: Sso2Event[] = []
    const note = (event: unknown) => void events.push(event as Sso2Event)
    const browser = network.browser()
    await logIn(browser, network.morning, ada)
    network.emulator.clock.advance(361)
    // of this session alone: the background asks too
    const { sid } = present(network.emulator.sessions().at(-1))
    network.emulator.faults.add({ operation: 'sessionstatus', kind: 'wrong_session', sid })
    diagnostics.subscribe('express-sso2:check', note)
    const page = await browser.visit(`${network.morning.url}/page`)
    diagnostics.unsubscribe('express-sso2:check', note)
    expect(view(page)).toEqual({ status: 'loggedin', username: 'ada', degraded: 'sso_unavailable', url: '/page' })
    expect(lines().filter((line) => line.includes('session_mismatch'))).toHaveLength(1)
    expect(events).toEqual([expect.objectContaining({ operation: 'sessionstatus', outcome: 'keep_for_now' })])
    expect(events[0]?.reason).toMatch(/^(session_mismatch|refused)$/)
  })
})

test('[L8] a login or logout that is answered about another session never gives anybody its identity', async () => {
  await withNetwork({}, async (network, { ada, grace, logIn, view }) => {
    const other = network.browser()
    await logIn(other, network.morning, grace)
    const browser = network.browser()
    await browser.visit(`${network.morning.url}/`)
    for (const operation of ['authenticate', 'sessionstatus'] as const)
      network.emulator.faults.add({ operation, kind: 'wrong_session' })
    const login = await browser.fetchJson(`${network.morning.url}/login`, { json: ada })
    expect(login.status).toBe(503)
    expect(view(await browser.fetchJson(`${network.morning.url}/`)).status).toBe('anon')
    network.emulator.faults.clear()
    for (const operation of ['logout', 'logoutall'] as const)
      network.emulator.faults.add({ operation, kind: 'wrong_session' })
    const logout = await other.fetchJson(`${network.morning.url}/logout`, { json: {} })
    expect(logout.status).toBeLessThan(500)
    const after = view(await other.visit(`${network.morning.url}/`))
    expect(after).toEqual({ status: 'none', degraded: 'logout_pending', url: '/' })
  })
})
