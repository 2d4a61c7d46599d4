import type { Browser } from '../support/agent'
import { document, hearEvents } from '../support/landing'
import { readJwt } from '../support/oracle'
import { hop } from '../support/pausable-setup'
import { ada, eventually, grace, present, loggedInBrowser as userOf, useSetup, view } from '../support/setup'

const setup = useSetup()
const at = (path: string) => `${setup.morning.url}${path}`

const events = hearEvents()
afterAll(events.stop)
afterEach(() => setup.emulator.faults.clear())

const loggedInBrowser = (account = ada) => userOf(setup, account)

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
    setup.emulator.clock.advance(361)
    if (down) setup.emulator.faults.add({ operation: 'sessionstatus', kind: 'down' })
    for (const page of pages) await browser.fetchJson(at(page))
    const before = setup.emulator.calls().length
    expect((await browser.fetchJson(at('/logout'), { method: 'POST' })).json).toMatchObject({ logout: 'confirmed' })
    const operations = setup.emulator.calls().slice(before)
    expect(operations.map(({ operation }) => operation).filter((name) => name !== 'identify')).toEqual(sent)
  })
})

test('logout-all ends the other sessions of the account on this site at once, and those of no other account', async () => {
  const [one, two, other] = [await loggedInBrowser(), await loggedInBrowser(), await loggedInBrowser(grace)]
  expect(view(await one.submit(at('/logout-all'), { return_to: '/' })).status).toBe('anon')
  const calls = setup.countCalls('sessionstatus')
  expect((await two.fetchJson(at('/'))).json.status).toBe('none')
  expect(view(await two.visit(at('/'))).status).toBe('anon')
  expect(view(await other.visit(at('/'))).status).toBe('loggedin')
  expect(setup.countCalls('sessionstatus')).toBe(calls)
  expect(setup.emulator.account('ada').view().sessionCount).toBe(0)
})

test('a logout that the SSO system missed is told to it a few seconds later, though the browser has not returned', async () => {
  const browser = await loggedInBrowser()
  const before = setup.emulator.account('ada').view().sessionCount
  setup.emulator.faults.add({ operation: 'logout', kind: 'down' })
  expect((await browser.fetchJson(at('/logout'), { json: {} })).json).toMatchObject({ logout: 'pending' })
  setup.emulator.faults.clear()
  setup.emulator.clock.advance(8)
  await eventually(async () => setup.emulator.account('ada').view().sessionCount === before - 1, 20)
})

describe('[S12] a logout while the SSO system does not take it', () => {
  /** A browser whose logout is not confirmed, and the SSO session that still lives. */
  async function loggedOut(): Promise<{ browser: Browser; sid: string }> {
    const browser = await loggedInBrowser()
    // the newest of all may be the site's own look at Identify
    const { sid } = present(setup.emulator.sessions().findLast(({ status }) => status === 'loggedin'))
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

  test('a landing with a ticket of the logged-out session logs nobody in, also if the browser lost the logout cookie', async () => {
    const browser = await loggedInBrowser()
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
