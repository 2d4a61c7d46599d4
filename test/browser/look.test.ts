import type { Express } from 'express'
import type { Browser, Page } from 'playwright-core'
import type { Sso2Options } from '../../lib'
import { LANGUAGES, TEXTS } from '../../lib/config/texts'
import { violations } from '../support/axe'
import { makeNew, openBrowser, screenshots, untilPage, viewports } from '../support/browser'
import { type SiteOptions, type Sites, startSites } from '../support/sites'

/* Our own pages in a real browser: every language, and colours of each kind, light and dark, by axe-core and by their width. */

const LOGO = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 350 60" width="350" height="60">
<rect width="60" height="60" rx="8" fill="#c8102e"/><path d="M12 38q9-9 18 0t18 0M12 26q9-9 18 0t18 0" fill="none" stroke="#fff" stroke-width="4"/>
<text x="74" y="40" font-family="Georgia,serif" font-size="28" font-weight="700" fill="#1a1a1a">Harbour Gazette</text></svg>`
/** As drawing programs write it: proportions, and no size. */
const UNSIZED_LOGO = LOGO.replace(' width="350" height="60"', '')
const STYLESHEET = 'body{background:rgb(1,2,3)} main{background-image:url(/look/logo.svg)}'

let sites: Sites
let browser: Browser
let page: Page
/** What the browser's console has to complain of: a breach of the policy is an error there. */
let complaints: string[]

const addFiles = (app: Express) => {
  app.get('/look/logo.svg', (_req, res) => void res.type('svg').send(LOGO))
  app.get('/look/dark.svg', (_req, res) => void res.type('svg').send(LOGO.replace('#1a1a1a', '#ffffff')))
  app.get('/look/unsized.svg', (_req, res) => void res.type('svg').send(UNSIZED_LOGO))
  app.get('/look/site.css', (_req, res) => void res.type('css').send(STYLESHEET))
}
const site = (options: Partial<Sso2Options>): SiteOptions => ({ options: () => options, before: addFiles })
const links = { forgotPassword: '/forgot', createAccount: '/create', help: '/help' }
const brand = { name: 'Harbour Gazette', logoUrl: '/look/logo.svg', logoDarkUrl: '/look/dark.svg', color: '#c8102e' }
/** Every other colour is in test/unit/branding-options.test.ts. */
const grey = '#777777'

beforeAll(async () => {
  sites = await startSites({
    plain: site({}),
    ...Object.fromEntries(LANGUAGES.map((language) => [language, site({ language, links, brand })])),
    grey: site({ links, brand: { name: 'The Evening Star', color: grey } }),
    viewed: site({
      views: {
        login: ({ nonce }) => `<!doctype html><link rel="stylesheet" href="/look/site.css">
          <script nonce="${nonce}">document.title = 'it ran'</script>`,
      },
      contentSecurityPolicy: (nonce) => `default-src 'self'; script-src 'nonce-${nonce}'`,
    }),
    unsized: site({
      language: 'en',
      links,
      brand: { ...brand, logoUrl: '/look/unsized.svg', logoDarkUrl: '/look/unsized.svg' },
    }),
    named: site({ brand: { ...brand, logoDarkUrl: undefined } }),
    styled: site({ brand: { logoUrl: '/look/logo.svg', stylesheetUrl: '/look/site.css' } }),
  })
  browser = await openBrowser()
  page = await browser.newPage()
  page.on('console', (message) => {
    if (message.type() === 'error' && !/status of (?:4|5)\d\d/.test(message.text())) complaints.push(message.text())
  })
})
afterAll(async () => {
  await browser?.close()
  await sites?.close()
})
beforeEach(async () => {
  sites.emulator.reset()
  await makeNew(page, viewports.phone)
  complaints = []
})
afterEach(() => expect(complaints).toEqual([]))

/** Nothing that axe-core has to say, and nothing wider than the smallest phone, with text twice as large. @param name of its screenshots */
async function expectGood(name?: string, schemes: readonly ('light' | 'dark')[] = ['light', 'dark']): Promise<void> {
  for (const colorScheme of schemes) {
    await page.emulateMedia({ colorScheme })
    expect([colorScheme, await violations(page)]).toEqual([colorScheme, []])
    if (name) await screenshots(page, `own-${name}-${colorScheme}`)
  }
  await page.setViewportSize({ width: 320, height: 700 })
  await page.evaluate("document.documentElement.style.fontSize = '200%'")
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(320)
}

async function fail(name: string, username = 'ada'): Promise<void> {
  await page.goto(sites.at(name, '/login'))
  await page.locator('#username').fill(username)
  await page.locator('#password').fill('not this one')
  await page.locator('button').click()
  await page.getByRole('alert').waitFor()
  await page.waitForLoadState() // its logo too
}

test.each(LANGUAGES)('the login page in %s, with the brand, links and an error', async (language) => {
  await fail(language)
  expect(await page.getByRole('alert').textContent()).toBe(
    TEXTS[language].invalid_credentials_attempts.replace('{attempts}', '4'),
  )
  expect(await page.evaluate('[document.documentElement.lang, document.title]')).toEqual([
    language,
    `${TEXTS[language].error} ${TEXTS[language].login_title} – Harbour Gazette`,
  ])
  expect(await page.evaluate('[document.images[0].alt, document.images[0].naturalWidth]')).toEqual([brand.name, 350])
  await expectGood(`login-${language}`, language === 'en' ? undefined : ['light'])
})

test('a logo without a size of its own is as large as one that has it, light and dark', async () => {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    const boxes = []
    for (const name of ['en', 'unsized']) {
      await page.goto(sites.at(name, '/login'))
      boxes.push(await page.locator('.brand img').boundingBox())
    }
    expect(boxes[1]?.width).toBeGreaterThan(200)
    expect(boxes[1]).toEqual(boxes[0])
  }
})

test('dark pages have the dark logo, and without one the name', async () => {
  await page.emulateMedia({ colorScheme: 'dark' })
  await page.goto(sites.at('en', '/login'))
  expect(await page.evaluate('document.images[0].currentSrc')).toBe(sites.at('en', '/look/dark.svg'))
  await page.goto(sites.at('named', '/login'))
  const shown = async () => [await page.locator('.brand img').isVisible(), await page.getByText(brand.name).isVisible()]
  expect(await shown()).toEqual([false, true])
  await page.emulateMedia({ colorScheme: 'light' })
  expect(await shown()).toEqual([true, false])
  await expectGood()
})

test('the login page in a colour that is neither light nor dark', async () => {
  await page.goto(sites.at('grey', '/login'))
  const brandOf = "getComputedStyle(document.documentElement).getPropertyValue('--brand').trim()"
  expect(await page.evaluate(brandOf)).toBe(grey)
  await expectGood()
})

test.each([
  ['login', '/login'],
  ['logout-all', '/logout-all'],
  ['problem', '/sso2/landing'],
])('the %s page without a brand', async (name, path) => {
  await page.goto(sites.at('plain', path))
  await expectGood(`plain-${name}`)
})

test('who is logged in with another account is shown the way out', async () => {
  const code = 'session_already_logged_in_on_another_account'
  sites.emulator.faults.add({ operation: 'authenticate', kind: 'error', code })
  await fail('en')
  await expectGood()
  await page.getByRole('alert').getByRole('link', { name: 'Log out' }).click()
  await page.getByRole('heading', { level: 1, name: 'Log out' }).waitFor() // the form that is left has a heading as well
  expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Log out')
})

test("the site's style sheet comes after ours, and may use images of its own origin", async () => {
  await page.goto(sites.at('styled', '/login'))
  expect(await page.evaluate('getComputedStyle(document.body).backgroundColor')).toBe('rgb(1, 2, 3)')
  await untilPage(page, "performance.getEntriesByName(location.origin + '/look/logo.svg').length > 0")
})

test("a view of the site's own has its style sheet, and its script by the nonce", async () => {
  await page.goto(sites.at('viewed', '/login'))
  expect(await page.evaluate('[document.title, getComputedStyle(document.body).backgroundColor]')).toEqual([
    'it ran',
    'rgb(1, 2, 3)',
  ])
})

test('the first field has the focus; after an error it is the message, and the form goes on by keyboard', async () => {
  await page.goto(sites.at('plain', '/login'))
  await untilPage(page, "document.activeElement.id === 'username'") // given with the first frame, not with the page
  await fail('plain')
  await untilPage(page, "document.activeElement.id === 'message'")
  await page.keyboard.press('Tab')
  expect(await page.evaluate('document.activeElement.value')).toBe('ada')
})
