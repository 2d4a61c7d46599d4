import type { Browser } from '../support/agent'
import { document, hearEvents } from '../support/landing'
import { readJwt } from '../support/oracle'
import { hop } from '../support/pausable-setup'
import { ada, eventually, grace, loggedInBrowser, present, useSetup, view, visitor } from '../support/setup'

/* A login that ended elsewhere, a logout that the SSO system did not take, and answers of Session Status that are refused. */

const setup = useSetup()
const events = hearEvents()
const at = (path: string) => `${setup.morning.url}${path}`

afterEach(() => {
  setup.emulator.faults.clear()
  events.clear()
})
afterAll(events.stop)

/** Logged in, where a fault before may have opened the site's circuit. */
async function browserOf(account = ada): Promise<Browser> {
  await eventually(async () => (await setup.morning.sso.health()).sso === 'ok')
  return loggedInBrowser(setup, account)
}

test.each([60, -60])('[T12] a status answer whose times are %i s off changes nothing', async (seconds) => {
  const browser = await browserOf()
  setup.emulator.clock.advance(361)
  const { sid } = present(setup.emulator.sessions().findLast(({ status }) => status === 'loggedin'))
  setup.emulator.faults.add({ operation: 'sessionstatus', kind: 'skew', seconds, sid })
  const page = await browser.visit(at('/page'))
  expect(view(page)).toEqual({ status: 'loggedin', username: 'ada', degraded: 'sso_unavailable', url: '/page' })
  expect(page.trail).toHaveLength(1)
  expect(events.heard).toContain(`check no_answer ${seconds > 0 ? 'not_yet_valid' : 'expired'}`)
})

test('[L8] a login or logout that is answered about another session gives no browser its identity', async () => {
  const other = await browserOf(grace)
  const browser = await visitor(setup)
  for (const operation of ['authenticate', 'sessionstatus'] as const)
    setup.emulator.faults.add({ operation, kind: 'wrong_session' })
  const login = await browser.fetchJson(at('/login'), { json: ada })
  expect(login.status).toBe(503)
  expect(view(await browser.fetchJson(at('/'))).status).toBe('anon')
  setup.emulator.faults.clear()
  for (const operation of ['logout', 'logoutall'] as const)
    setup.emulator.faults.add({ operation, kind: 'wrong_session' })
  const logout = await other.fetchJson(at('/logout'), { json: {} })
  expect(logout.status).toBeLessThan(500)
  expect(view(await other.visit(at('/')))).toEqual({ status: 'none', degraded: 'logout_pending', url: '/' })
})

describe('[S12] a logout while the SSO system does not take it', () => {
  /** A browser whose logout is not confirmed, and the SSO session that still lives. */
  async function loggedOut(): Promise<{ browser: Browser; sid: string }> {
    const browser = await browserOf()
    // the newest of all may be the site's own look at Identify
    const { sid } = present(setup.emulator.sessions().findLast(({ status }) => status === 'loggedin'))
    setup.emulator.faults.add({ operation: 'logout', kind: 'down' })
    events.clear()
    expect(view(await browser.submit(at('/logout'), { return_to: '/' })).status).toBe('none')
    expect(events.heard).toContain('logout pending')
    return { browser, sid }
  }

  test('stays anonymous for 20 pages, and once it is confirmed Identify gives a new anonymous session', async () => {
    const { browser, sid } = await loggedOut()
    const statusOf = () => setup.emulator.sessions().find((session) => session.sid === sid)?.status
    expect(statusOf()).toBe('loggedin')
    const before = setup.countCalls('identify')
    for (let page = 1; page <= 20; page += 1) {
      const shown = view(await browser.visit(at(`/page/${page}`)))
      expect(shown).toEqual({ status: 'none', degraded: 'logout_pending', url: `/page/${page}` })
    }
    expect(setup.countCalls('identify')).toBe(before)
    expect(events.heard).toContain('degraded served logout_pending')
    setup.emulator.faults.clear()
    await eventually(async () => view(await browser.visit(at('/'))).status === 'anon')
    expect(statusOf()).toBe('terminated')
    const last = present(setup.emulator.sessions().at(-1))
    expect([last.status, last.sid === sid]).toEqual(['anon', false])
  })

  test('a landing with a ticket of the logged-out session logs nobody in, also if the browser lost the logout cookie', async () => {
    const browser = await browserOf()
    const { identify } = (await browser.fetchJson(at('/identify-me'))).json
    const landing = await hop(browser, identify)
    expect(readJwt(present(new URL(landing).searchParams.get('t'))).claims).toMatchObject({ sts: 'loggedin' })
    setup.emulator.faults.add({ operation: 'logout', kind: 'down' })
    await browser.submit(at('/logout'), { return_to: '/' })
    browser.dropCookies(({ name }) => name === 'sso2.o')
    events.clear()
    expect((await browser.fetchJson(landing, { headers: document })).status).toBe(303)
    expect(events.heard).toContain('landing log_out signed_out')
    expect(browser.cookie('sso2.sid')).toBeUndefined()
    expect(view(await browser.fetchJson(at('/'))).status).toBe('none')
  })
})
