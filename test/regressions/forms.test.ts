import type { RequestHandler } from 'express'
import type { Browser as Chromium, Page } from 'playwright-core'
import { document } from '../safety/session-support'
import { openBrowser } from '../support/browser'
import { send } from '../support/http'
import { ada, type PageView, type Setup } from '../support/setup'
import { basket, type PausableSetup, startPausableSetup } from './pausable-setup'

/*
 * A browser without Fetch Metadata says with `Origin` alone where a form comes from, and says `null` where the page asks for
 * `no-referrer`. What such a browser sends stands here by a site that never sees the other headers.
 */
const withoutFetchMetadata: RequestHandler = (req, _res, next) => {
  for (const name of Object.keys(req.headers)) if (name.startsWith('sec-fetch-')) delete req.headers[name]
  next()
}

let setup: PausableSetup
const form = { 'content-type': 'application/x-www-form-urlencoded' }
const fields = String(new URLSearchParams({ ...ada, return_to: '/' }))

describe('without Fetch Metadata', () => {
  let chromium: Chromium
  let page: Page

  beforeAll(async () => {
    chromium = await openBrowser()
    setup = await startPausableSetup({ before: withoutFetchMetadata })
  })
  afterAll(async () => {
    await chromium?.close()
    await setup?.close()
  })
  beforeEach(async () => {
    page = await (await chromium.newContext()).newPage()
  })
  afterEach(() => page.context().close())

  const shown = async () => JSON.parse((await page.textContent('body')) ?? '') as PageView
  const press = () => Promise.all([page.waitForNavigation(), page.click('button[type=submit], form button')])

  async function logIn(): Promise<void> {
    await page.goto(setup.at('/login?return_to=%2Fnews'))
    await page.fill('[name=username]', ada.username)
    await page.fill('[name=password]', ada.password)
    await press()
    expect(page.url()).toBe(setup.at('/news'))
    expect(await shown()).toMatchObject({ status: 'loggedin', username: 'ada' })
  }

  test('[F14] the login form of a real browser logs in', logIn)

  test.each(['/logout', '/logout-all'])('[F14] the form on %s of a real browser logs out', async (path) => {
    await logIn()
    await page.goto(setup.at(`${path}?return_to=%2Fnews`))
    await press()
    expect(page.url()).toBe(setup.at('/news'))
    expect((await shown()).status).toBe('anon')
  })

  test('[F1, F14] a form on another site does nothing, whatever its page says about the referrer', async () => {
    await logIn()
    for (const policy of ['no-referrer', 'same-origin', 'unsafe-url']) {
      for (const path of ['/logout', '/login', '/logout-all']) {
        await page.goto(`${setup.evening.url}/`)
        await page.setContent(
          `<meta name="referrer" content="${policy}"><form method="post" action="${setup.at(path)}"><button>Win</button></form>`,
        )
        const [answer] = await press()
        expect([policy, path, answer?.status()]).toEqual([policy, path, 403])
      }
    }
    await page.goto(setup.at('/basket'))
    expect(basket({ body: (await page.textContent('body')) ?? '' })).toMatchObject({ status: 'loggedin' })
  })
})

describe('a form that is sent while the SSO system is down', () => {
  beforeEach(async () => {
    setup = await startPausableSetup()
  })
  afterEach(() => setup.close())

  /** Five failed calls in a row, and the site knows it. */
  async function goesDown({ morning: { sso } }: Pick<Setup, 'morning'>): Promise<void> {
    for (const operation of ['sessionstatus', 'authenticate', 'logout', 'logoutall', 'identify'] as const)
      setup.emulator.faults.add({ operation, kind: 'down' })
    const ask = () => sso.client.sessionStatus({ sid: 'none', ipa: '127.0.0.1', uas: 'test', lks: 'anon' })
    for (let times = 0; times < 5; times += 1) await ask().catch(() => {})
    expect(await sso.health()).toMatchObject({ sso: 'unavailable' })
  }

  describe.each([
    ['/login', 'Logging in does not work'],
    ['/logout', 'Logging out does not work'],
  ])('to %s', (path, words) => {
    test('without a session gets a page of ours, or JSON, and is not sent to the SSO system', async () => {
      await goesDown(setup)
      const headers = { ...document, ...form, origin: setup.morning.url, 'sec-fetch-site': 'same-origin' }
      const answer = await send({ method: 'POST', url: new URL(setup.at(path)), headers, body: fields })
      expect([answer.status, answer.headers.location]).toEqual([503, undefined])
      expect(answer.headers['content-type']).toMatch(/^text\/html/)
      expect(answer.headers['retry-after']).toBe('5')
      expect(answer.body).toContain(words)
      expect(answer.body).not.toContain(ada.password)
      const script = await setup.browser().fetchJson(setup.at(path), { json: ada })
      expect([script.status, script.json]).toEqual([503, { error: 'unavailable' }])
    })
  })

  test('to /login with a session that is gone gets a page of ours, and stays there', async () => {
    const browser = await setup.loggedInBrowser()
    setup.serveFrom(setup.addProcess({ session: { prefix: 'another:' } }))
    await goesDown({ morning: { ...setup.morning, sso: setup.newest().sso } })
    const page = await browser.submit(setup.at('/login'), { ...ada, return_to: '/' })
    expect([page.status, page.trail.length]).toEqual([503, 1])
  })
})
