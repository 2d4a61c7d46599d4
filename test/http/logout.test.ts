import type { Browser } from '../support/agent'
import { hearEvents } from '../support/landing'
import { eventually, present, loggedInBrowser as userOf, useSetup, view } from '../support/setup'

const setup = useSetup()
const at = (path: string) => `${setup.morning.url}${path}`

const events = hearEvents()
afterAll(events.stop)
afterEach(() => setup.emulator.faults.clear())

const loggedInBrowser = () => userOf(setup)
// the newest session of all may be the site's own look at Identify
const newestLogin = () => present(setup.emulator.sessions().findLast(({ status }) => status === 'loggedin')).sid

const refuseLogout = (sid: string) =>
  setup.emulator.faults.add({ operation: 'logout', kind: 'error', code: 'account_not_active', sid })

describe('logout', () => {
  test('POST logs out here and there, and a new anonymous session follows', async () => {
    const browser = await loggedInBrowser()
    const old = present(browser.cookie('sso2.sid'))
    const sessions = setup.emulator.account('ada').view().sessionCount
    const page = await browser.submit(at('/logout'), { return_to: '/news?a=1' })
    expect(page.url).toBe(at('/news?a=1'))
    expect(view(page)).toEqual({ status: 'anon', url: '/news?a=1' })
    expect(page.trail.map(({ status }) => status)).toEqual([303, 302, 303, 200])
    expect(browser.cookie('sso2.sid')).not.toBe(old)
    const withOldCookie = await setup.browser().fetchJson(at('/'), { headers: { cookie: `sso2.sid=${old}` } })
    expect(withOldCookie.json).toEqual({ status: 'none', url: '/' })
    expect(setup.emulator.account('ada').view().sessionCount).toBe(sessions - 1)
  })

  test('drops what the site has kept since a logout that is not confirmed, too', async () => {
    const browser = await loggedInBrowser()
    setup.emulator.faults.add({ operation: 'logout', kind: 'down' })
    await browser.fetchJson(at('/logout'), { method: 'POST' })
    expect((await browser.fetchJson(at('/keep'))).json).toMatchObject({ status: 'none', degraded: 'logout_pending' })
    const cookie = `sso2.sid=${present(browser.cookie('sso2.sid'))}`
    expect((await browser.fetchJson(at('/logout'), { method: 'POST' })).json).toMatchObject({ logout: 'pending' })
    expect(browser.cookie('sso2.sid')).toBeUndefined()
    expect((await setup.browser().fetchJson(at('/'), { headers: { cookie } })).json).not.toHaveProperty('saved')
  })

  test.each(['/logout', '/logout-all'])('by GET of %s is a form that leads back to return_to', async (path) => {
    const { body } = await setup
      .browser()
      .fetchJson(at(`${path}?return_to=/news`), { headers: { accept: 'text/html' } })
    expect(body).toContain(`action="${at(path)}"`)
    expect(body).toMatch(new RegExp(`name="return_to"[^>]*value="${at('/news')}"`))
  })

  test.each<[answer: string, down: boolean, pages: string[], sent: string[]]>([
    ['is as before', false, [], ['sessionstatus', 'logout']],
    ['does not come', true, [], ['sessionstatus', 'logout']],
    ['did not come to a page just before', true, ['/'], ['logout']],
  ])('after six minutes asks for the status, and logs out if the answer %s', async (_, down, pages, sent) => {
    const browser = await loggedInBrowser()
    const sid = newestLogin()
    setup.emulator.clock.advance(361)
    if (down) setup.emulator.faults.add({ operation: 'sessionstatus', kind: 'down' })
    for (const page of pages) await browser.fetchJson(at(page))
    const before = setup.emulator.calls({ sid }).length
    expect((await browser.fetchJson(at('/logout'), { method: 'POST' })).json).toMatchObject({ logout: 'confirmed' })
    const calls = setup.emulator.calls({ sid }).slice(before)
    const asked = calls.map(({ operation, claims }) => [operation, claims['lks']])
    expect(asked).toEqual(sent.map((operation) => [operation, operation === 'logout' ? undefined : 'loggedin']))
  })

  test.each<[answer: string, result: string, after: string, happens: (sid: string) => unknown]>([
    ['session_not_found', 'confirmed', 'anon', (sid) => setup.emulator.prune(sid)],
    ['another error', 'pending', 'none', refuseLogout],
  ])('answered by %s is %s, and a pending one is sent again', async (_answer, result, after, happens) => {
    const browser = await loggedInBrowser()
    const sid = newestLogin()
    happens(sid)
    const sent = () =>
      setup.emulator.calls({ operation: 'logout' }).filter(({ claims }) => claims['sid'] === sid).length
    expect((await browser.fetchJson(at('/logout'), { json: {} })).json).toEqual({ status: 'none', logout: result })
    expect([sent(), view(await browser.visit(at('/'))).status]).toEqual([1, after])
    setup.emulator.clock.advance(10)
    if (result === 'pending') await eventually(async () => sent() > 1)
  })
})

describe('[S12] a logout while the SSO system does not take it', () => {
  /** A browser whose logout is not confirmed, and the SSO session that still lives. */
  async function loggedOut(): Promise<{ browser: Browser; sid: string }> {
    const browser = await loggedInBrowser()
    const sid = newestLogin()
    setup.emulator.faults.add({ operation: 'logout', kind: 'down' })
    events.clear()
    expect(view(await browser.submit(at('/logout'), { return_to: '/' })).status).toBe('none')
    expect(events.heard).toContain('logout pending')
    return { browser, sid }
  }

  test('stays anonymous for 10 pages, and once it is confirmed Identify gives a new anonymous session', async () => {
    const { browser, sid } = await loggedOut()
    const statusOf = () => setup.emulator.sessions().find((session) => session.sid === sid)?.status
    expect(statusOf()).toBe('loggedin')
    const before = setup.countCalls('identify')
    for (let page = 1; page <= 10; page += 1) {
      const shown = view(await browser.visit(at(`/page/${page}`)))
      expect(shown).toEqual({ status: 'none', degraded: 'logout_pending', url: `/page/${page}` })
    }
    expect(setup.countCalls('identify')).toBe(before)
    expect(events.heard).toContain('degraded served logout_pending')
    setup.emulator.faults.clear()
    setup.emulator.clock.advance(8)
    await eventually(async () => view(await browser.visit(at('/'))).status === 'anon')
    expect(statusOf()).toBe('terminated')
    const last = present(setup.emulator.sessions().at(-1))
    expect([last.status, last.sid === sid]).toEqual(['anon', false])
  })
})
