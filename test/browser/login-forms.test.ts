import type { RequestHandler } from 'express'
import type { Browser as Chromium, Page } from 'playwright-core'
import { openBrowser } from '../support/browser'
import { basket, type PausableSetup, startPausableSetup } from '../support/pausable-setup'
import { ada, type PageView } from '../support/setup'

/*
 * A browser without Fetch Metadata says with `Origin` alone where a form comes from, and says `null` where the page asks for
 * `no-referrer`. What such a browser sends stands here by a site that never sees the other headers.
 */
const withoutFetchMetadata: RequestHandler = (req, _res, next) => {
  for (const name of Object.keys(req.headers)) if (name.startsWith('sec-fetch-')) delete req.headers[name]
  next()
}

let setup: PausableSetup

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

  test.each(['/logout', '/logout-all'])(
    '[F14] the login form of a real browser logs in, and the form on %s logs out',
    async (path) => {
      await logIn()
      await page.goto(setup.at(`${path}?return_to=%2Fnews`))
      await press()
      expect(page.url()).toBe(setup.at('/news'))
      expect((await shown()).status).toBe('anon')
    },
  )

  test('[F1, F14] a form on another site does nothing, whatever its page says about the referrer', async () => {
    await logIn()
    for (const [policy, path] of [
      ['no-referrer', '/logout'],
      ['no-referrer', '/login'],
      ['same-origin', '/logout-all'],
      ['unsafe-url', '/logout'],
    ] as const) {
      await page.goto(`${setup.evening.url}/`)
      await page.setContent(
        `<meta name="referrer" content="${policy}"><form method="post" action="${setup.at(path)}"><button>Win</button></form>`,
      )
      const [answer] = await press()
      expect([policy, path, answer?.status()]).toEqual([policy, path, 403])
    }
    await page.goto(setup.at('/basket'))
    expect(basket({ body: (await page.textContent('body')) ?? '' })).toMatchObject({ status: 'loggedin' })
  })
})
