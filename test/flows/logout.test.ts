import { shortHash } from '../../lib/storage/site-store'
import { beginFlow, document, land, landingToken } from '../safety/session-support'
import { send } from '../support/http'
import { ada, eventually, grace, present, startSetup, loggedInBrowser as userOf, useSetup, view } from './setup'

const setup = useSetup()
const at = (path: string) => `${setup.morning.url}${path}`

afterEach(() => setup.emulator.faults.clear())

const loggedInBrowser = (account = ada) => userOf(setup, account)

describe('logout', () => {
  test('POST logs out here and there, and a new anonymous session follows', async () => {
    const browser = await loggedInBrowser()
    const old = present(browser.cookie('sso2.sid'))
    const sessions = setup.emulator.account('ada').view().sessions
    const page = await browser.submit(at('/logout'), { return_to: '/news?a=1' })
    expect(page.url).toBe(at('/news?a=1'))
    expect(view(page)).toEqual({ status: 'anon', url: '/news?a=1' })
    expect(page.trail.map(({ status }) => status)).toEqual([303, 302, 303, 200])
    expect(browser.cookie('sso2.sid')).not.toBe(old)
    const withOldCookie = await setup.browser().fetchJson(at('/'), { headers: { cookie: `sso2.sid=${old}` } })
    expect(withOldCookie.json).toEqual({ status: 'none', url: '/' })
    expect(setup.emulator.account('ada').view().sessions).toBe(sessions - 1)
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

  test('that is not confirmed leads to the page at once', async () => {
    const browser = await loggedInBrowser()
    setup.emulator.faults.add({ operation: 'logout', kind: 'down' })
    const { trail } = await browser.submit(at('/logout'), { return_to: '/news' })
    expect(new URL(present(trail[1]).url).pathname).toBe('/news')
  })
})

describe('logout-all', () => {
  test('ends the other sessions of the account on this site at once, and those of no other account', async () => {
    const [one, two, other] = [await loggedInBrowser(), await loggedInBrowser(), await loggedInBrowser(grace)]
    expect(view(await one.submit(at('/logout-all'), { return_to: '/' })).status).toBe('anon')
    const calls = setup.countCalls('sessionstatus')
    expect((await two.fetchJson(at('/'))).json.status).toBe('none')
    expect(view(await two.visit(at('/'))).status).toBe('anon')
    expect(view(await other.visit(at('/'))).status).toBe('loggedin')
    expect(setup.countCalls('sessionstatus')).toBe(calls)
    expect(setup.emulator.account('ada').view().sessions).toBe(0)
  })
})

test('a logout is confirmed later whatever the hash of its SSO session begins with', async () => {
  const sids = ['-', '_', 'A'].map((sign) =>
    present(
      Array.from({ length: 10_000 }, (_, index) => `sid-${index}`).find((sid) => shortHash(sid).startsWith(sign)),
    ),
  )
  const known = { status: 'loggedin' as const, accountId: 'account-ada', ageSeconds: 0, idleSeconds: 0 }
  const own = await startSetup({
    emulator: { sessions: sids.map((sid) => ({ ...known, sid, browser: sid })) },
    site: { exchangeTicket: () => 'an-access-token', loadUser: () => ({ accountId: 'account-ada' }) },
  })
  try {
    const cookieOf = (lines: string[], name: string) => lines.find((line) => line.startsWith(name))?.split(';')[0] ?? ''
    for (const sid of sids) {
      const flow = await beginFlow(own)
      const landed = await land(own, flow, landingToken(own, { sid, sts: 'loggedin', at: 'a-ticket' }))
      const headers = { origin: own.morning.url, cookie: cookieOf(landed.setCookie, 'sso2.sid') }
      own.emulator.faults.add({ operation: 'logout', kind: 'down' })
      const answer = await send({ method: 'POST', url: new URL('/logout', own.morning.url), headers })
      const signedOut = cookieOf(answer.setCookie, 'sso2.o')
      expect([answer.status, signedOut]).toEqual([303, expect.stringContaining(shortHash(sid))])
      own.emulator.faults.clear()
      await eventually(async () => {
        const visit = { ...document, cookie: signedOut }
        return (await send({ method: 'GET', url: new URL('/news', own.morning.url), headers: visit })).status === 302
      })
    }
  } finally {
    await own.close()
  }
})

test('a logout that the SSO system missed is told to it within moments, in whichever part of a second it came', async () => {
  let stoodAt: number | undefined // a clock that stands still: whatever is due a second later never is
  const own = await startSetup({
    emulator: { limits: { leewaySeconds: 30 } }, // or, after ten seconds, the SSO system refuses the tokens of this clock
    site: () => ({ clock: { now: () => stoodAt ?? Date.now() }, clockToleranceSeconds: 30 }),
  })
  const browser = await userOf(own)
  own.emulator.faults.add({ operation: 'logout', kind: 'down' })
  stoodAt = Date.now()
  const { json } = await browser.fetchJson(`${own.morning.url}/logout`, { json: {} })
  expect(json.logout).toBe('pending')
  own.emulator.faults.clear()
  await eventually(async () => own.emulator.sessions().every(({ status }) => status !== 'loggedin'))
  await own.close()
})
