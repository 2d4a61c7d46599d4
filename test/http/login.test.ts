import type { Browser } from '../support/agent'
import { keepBack, letPass } from '../support/patience'
import { breakSeals } from '../support/pausable-setup'
import { ada, eventually, logIn, present, startSetup, useSetup, view, visitor } from '../support/setup'

let browser: Browser
const at = (path: string) => `${setup.morning.url}${path}`
const newestSid = () => present(setup.emulator.sessions().at(-1)).sid

const setup = useSetup()
beforeEach(async () => {
  browser = await visitor(setup)
})
afterEach(() => setup.emulator.reset())

/** What a page's form would send along. */
function hidden(body: string, name: string): string {
  const value = new RegExp(`name="${name}"[^>]*value="([^"]*)"`).exec(body)?.[1] ?? ''
  return value.replaceAll('&amp;', '&')
}

/** Address of the link "Go back". */
const backOf = (body: string) => /<a href="([^"]*)">Go back</.exec(body)?.[1]?.replaceAll('&amp;', '&')

describe('the link "Go back" of the login page', () => {
  test.each<[what: string, page: string, referer: string | undefined, back: string]>([
    ['a link of an article to a guarded page', '/account', '/news?a=1&b=%20', '/news?a=1&b=%20'],
    ['the address of a guarded page, typed', '/account', undefined, '/'],
    ['a page of another site', '/account', 'https://evil.example/login', '/'],
    ['the link "Go back" to a guarded page', '/account', '/login?return_to=%2Faccount', '/'],
  ])('after %s leads to a page that the user has seen', async (_what, page, referer, back) => {
    const headers: Record<string, string> = referer === undefined ? {} : { referer: new URL(referer, at('/')).href }
    const { body, url } = await browser.visit(at(page), { from: at('/'), headers })
    expect(new URL(url).pathname).toBe('/login')
    expect(backOf(body)).toBe(at(back))
  })

  test('after a wrong password leads to the front page', async () => {
    await browser.visit(at('/account'), { headers: { referer: at('/news') } })
    const fields = { username: 'ada', password: 'no', return_to: '/account' }
    expect(backOf((await browser.submit(at('/login'), fields)).body)).toBe(at('/'))
  })
})

test('the address of the login page keeps its query when the form is sent, and with it return_to', async () => {
  const form = await browser.visit(at('/account'))
  expect(form.body).toContain('<form method="post">') // the browser sends such a form to the address of the page, with its fragment
  const wrong = await browser.submit(form.url, { username: 'ada', password: 'no' })
  expect([wrong.status, wrong.url]).toEqual([401, at('/login?return_to=%2Faccount')])
  expect(view(await browser.submit(wrong.url, ada))).toMatchObject({ status: 'loggedin', url: '/account' })
})

describe('a login', () => {
  let status: string
  /** Sends the right password, whose answer is lost, and Session Status does not answer either. */
  async function loseLogin(): Promise<void> {
    const { faults } = setup.emulator
    faults.add({ operation: 'authenticate', kind: 'drop_after_commit' })
    status = faults.add({ operation: 'sessionstatus', kind: 'down' }).id
    expect((await browser.fetchJson(at('/login'), { json: ada })).status).toBe(503)
  }

  test('by the form ends at return_to, logged in', async () => {
    const page = await logIn(browser, setup.morning, ada, '/news?a=1&b=%20#orders')
    expect(page.trail.map(({ method, status }) => [method, status])).toEqual([
      ['POST', 303],
      ['GET', 200],
    ])
    expect(page.url).toBe(at('/news?a=1&b=%20#orders'))
    expect(view(page)).toEqual({ status: 'loggedin', username: 'ada', url: '/news?a=1&b=%20' })
    expect(setup.countCalls('authenticate')).toBe(1)
  })

  test('by JSON answers the user, and a one-time password works once', async () => {
    const json = { username: 'ada', password: setup.emulator.issueOtp('ada') }
    const answer = await browser.fetchJson(at('/login'), { json })
    const user = expect.objectContaining({ accountId: 'account-ada', username: 'ada' })
    expect([answer.status, answer.json]).toEqual([200, { user }])
    expect(view(await browser.visit(at('/'))).status).toBe('loggedin')
    const second = await (await visitor(setup)).fetchJson(at('/login'), { json })
    expect([second.status, second.json]).toEqual([401, { error: 'otp_consumed_or_expired' }])
  })

  test('whose form is sent twice at once asks once, and both answers have the cookie of one session, until a logout', async () => {
    const cookie = `sso2.sid=${browser.cookie('sso2.sid')}`
    const send = () => setup.browser().fetchJson(at('/login'), { json: ada, headers: { cookie } })
    const answers = await Promise.all([send(), send()])
    const cookies = answers.map(({ headers }) => /sso2\.sid=[^;]+/.exec(String(headers['set-cookie']))?.[0])
    expect([cookies[0], answers.map(({ status }) => status)]).toEqual([cookies[1], [200, 200]])
    expect(setup.countCalls('authenticate')).toBe(1)
    await setup.browser().fetchJson(at('/logout'), { json: {}, headers: { cookie: String(cookies[0]) } })
    expect((await send()).json.error).toBe('session_ended')
  })

  test('that the SSO system turns away unread is 503, and no status check follows', async () => {
    setup.emulator.faults.add({ operation: 'authenticate', kind: 'status', code: 503 })
    expect((await browser.fetchJson(at('/login'), { json: ada })).json).toEqual({ error: 'unavailable' })
    expect(setup.countCalls('sessionstatus')).toBe(0)
  })

  test('after a status check that took too long for the lock of the form is to be sent again: 503, no Authenticate', async () => {
    setup.emulator.clock.advance(361)
    setup.emulator.faults.add({ operation: 'sessionstatus', kind: 'slow', ms: 1700, times: 1 })
    expect((await browser.fetchJson(at('/login'), { json: ada })).status).toBe(503)
    expect(setup.countCalls('authenticate')).toBe(0)
    expect((await browser.fetchJson(at('/login'), { json: ada })).status).toBe(200)
  })

  test('of a user who is in already is 503 without a new token, and says nothing of the password where its answer was lost', async () => {
    await logIn(browser, setup.morning, ada)
    setup.emulator.faults.add({ operation: 'token', kind: 'down', times: 1 })
    expect((await browser.fetchJson(at('/login'), { json: ada })).json).toEqual({ error: 'unavailable' })
    setup.emulator.faults.add({ operation: 'authenticate', kind: 'drop_after_commit' })
    const wrong = await browser.fetchJson(at('/login'), { json: { ...ada, password: 'not-the-password' } })
    expect([wrong.status, wrong.json]).toMatchObject([503, { error: 'unavailable' }])
    expect(view(await browser.visit(at('/'))).status).toBe('loggedin')
  })

  test.each([
    ['is sent again', ada.password, () => setup.emulator.faults.clear(), 200, undefined],
    ['has another password', 'not-it', () => setup.emulator.faults.clear(), 401, 'invalid_credentials'],
    [
      'has another password, and is lost as well',
      'not-it',
      () => setup.emulator.faults.clear(status),
      503,
      'unavailable',
    ],
  ])('[F6] the answer to a form is lost, and then it %s', async (_what, password, mend, ...told) => {
    await loseLogin()
    mend()
    const next = await browser.fetchJson(at('/login'), { json: { ...ada, password } })
    expect([next.status, next.json.error]).toEqual(told)
    expect(view(await browser.visit(at('/')))).toMatchObject({ status: 'loggedin', username: 'ada' })
  })

  test('whose answer is lost waits 2 s for Session Status, so that its lock outlives it with any timeoutMs', async () => {
    const patient = await startSetup({ site: { timeoutMs: 10_000 } })
    const user = await visitor(patient)
    patient.emulator.faults.add({ operation: 'authenticate', kind: 'drop_after_commit' })
    patient.emulator.faults.add({ operation: 'sessionstatus', kind: 'hang' })
    keepBack('Session Status')
    const start = performance.now()
    expect((await user.fetchJson(`${patient.morning.url}/login`, { json: ada })).status).toBe(503)
    letPass('Session Status')
    expect(performance.now() - start).toBeLessThan(8000)
    await patient.close()
  })

  test('with a wrong password, which has waited for the right one, lets nobody in if both answers are lost', async () => {
    const { faults } = setup.emulator
    faults.add({ operation: 'authenticate', kind: 'drop_after_commit', times: 2 })
    faults.add({ operation: 'sessionstatus', kind: 'hang', times: 1 })
    const right = browser.fetchJson(at('/login'), { json: ada })
    await eventually(async () => setup.countCalls('authenticate') === 1)
    const wrong = await browser.fetchJson(at('/login'), { json: { ...ada, password: 'not-it' } })
    expect([(await right).status, wrong.status, wrong.json.error]).toEqual([503, 503, 'unavailable'])
  })

  test('page says that logging in does not work, where the user of the SSO session cannot be loaded', async () => {
    await logIn(browser, setup.evening, ada)
    setup.emulator.clock.advance(361)
    setup.emulator.faults.add({ operation: 'token', kind: 'down' })
    const page = await browser.visit(at('/login'))
    expect([page.status, page.body]).toEqual([200, expect.stringContaining('Logging in does not work at the moment')])
  })

  test('is not needed by a user who is logged in already: the login page leads on', async () => {
    await logIn(browser, setup.morning, ada)
    expect((await browser.visit(at('/login?return_to=/news'))).url).toBe(at('/news'))
  })
})

describe('a login that is refused', () => {
  test('for a wrong password is a 401 with the message and the attempts that are left', async () => {
    const page = await logIn(browser, setup.morning, { username: 'ada', password: 'not-it' }, '/news')
    expect(page.status).toBe(401)
    expect(page.body).toContain('The username or password is wrong. You have 4 attempts left')
    expect(page.body).not.toContain('not-it')
    expect(hidden(page.body, 'return_to')).toBe(at('/news'))
    const answer = await browser.fetchJson(at('/login'), { json: { username: 'ada', password: 'nor-this' } })
    expect([answer.status, answer.json]).toEqual([401, { error: 'invalid_credentials', remainingAttempts: 3 }])
    expect(view(await browser.visit(at('/'))).status).toBe('anon')
  })

  test('for a frozen account says how long', async () => {
    setup.emulator.account('ada').freeze()
    const answer = await browser.fetchJson(at('/login'), { json: ada })
    expect([answer.status, answer.json.error]).toEqual([401, 'account_frozen'])
    expect(answer.json.frozenForSeconds).toBeGreaterThan(43_000)
    const page = await logIn(browser, setup.morning, ada)
    expect(page.body).toContain('Please try again in 12 hours.')
  })

  test.each(['terminate', 'prune'] as const)('because the session has ended (%s) shows the form', async (end) => {
    setup.emulator[end](newestSid())
    expect((await browser.fetchJson(at('/login'), { json: ada })).json.error).toBe('session_ended')
    expect((await browser.fetchJson(at('/'))).json.status).toBe('none')
    const page = await browser.submit(at('/login'), { ...ada, return_to: '/news' })
    expect(page.status).toBe(200)
    expect(new URL(page.url).pathname).toBe('/login')
    expect(page.body).toContain('Your session has ended. Please log in again.')
    expect(page.body).not.toContain(ada.password)
    expect(page.trail.some(({ url }) => url.includes(ada.password))).toBe(false)
    const again = await browser.submit(at('/login'), { ...ada, return_to: hidden(page.body, 'return_to') })
    expect(view(again)).toEqual({ status: 'loggedin', username: 'ada', url: '/news' })
  })

  test('because no secret of the site opens the session is session_ended', async () => {
    await breakSeals(setup)
    expect((await browser.fetchJson(at('/login'), { json: ada })).json.error).toBe('session_ended')
    expect(setup.countCalls('authenticate')).toBe(0)
  })

  test('because the browser has no session leads to the form, and no address has what was typed', async () => {
    const fields = { ...ada, return_to: '/news' }
    const page = await setup.browser().submit(at('/login'), fields, { from: at('/') })
    expect([page.status, new URL(page.url).pathname]).toEqual([200, '/login'])
    expect(page.body).toContain('Please log in again.')
    expect(hidden(page.body, 'return_to')).toBe(at('/news'))
    expect(page.trail.filter(({ url }) => /ada|kite/.test(decodeURIComponent(url)))).toEqual([])
  })

  test('because the browser takes no cookies names the cookies', async () => {
    const cookieless = setup.browser({ cookies: false })
    const form = await cookieless.submit(at('/login'), { ...ada, return_to: '/' })
    const page = await cookieless.submit(form.url, { ...ada, return_to: '/' })
    expect([page.status, page.body]).toEqual([503, expect.stringContaining('Logging in needs cookies.')])
  })
})
