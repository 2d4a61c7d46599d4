import path from 'node:path'
import type * as express from 'express'
import type { Express } from 'express'
import type { Browser, Page } from 'playwright-core'
import type { Sso2 } from '../../lib'
import { makeNew, openBrowser, untilPage, viewports } from '../support/browser'
import { blocksBelow } from '../support/markdown'
import { ada } from '../support/setup'
import { type Sites, startSites } from '../support/sites'
import { readText, root } from '../support/sources'

/* docs/scripts.md with the real htmx, Turbo and Chromium: what a guard answers leads to the login page and back. */

const text = readText('docs/scripts.md')
const example = (heading: string, language: string, index = 0): string => {
  const code = blocksBelow(text, heading).filter((block) => block.language === language)[index]?.code
  if (code === undefined) throw new Error(`docs/scripts.md has no block of ${language} below ${heading}`)
  return code
}
const { compile } = require('../support/compile.js') as { compile(source: string): string }

const pageOf = (head: string, body: string) => `<!doctype html><title>Site</title>${head}<body>${body}`
const packageFile = (...parts: string[]) => path.join(root, 'node_modules', ...parts)

function addFiles(app: Express): void {
  app.get('/htmx.js', (_req, res) => res.sendFile(packageFile('htmx.org', 'dist', 'htmx.js')))
  app.get('/turbo.js', (_req, res) => res.sendFile(packageFile('@hotwired', 'turbo', 'dist', 'turbo.es2017-umd.js')))
  app.get('/sw.js', (_req, res) => res.type('js').send(example('## Service workers', 'js')))
}

function addPages(app: Express, sso: Sso2): void {
  const guard = sso.requireLogin()
  const who = (req: express.Request) => `<p id="user">${req.sso2.user?.accountId ?? 'nobody'}</p>`
  app.get('/htmx', (req, res) => {
    const body = `<p id="message"></p>${example('## htmx', 'html')}<form hx-post="/saved"><button>Save</button></form>`
    res.send(pageOf('<script src="/htmx.js"></script>', who(req) + body))
  })
  app.get('/comments', guard, (_req, res) => res.send('Three comments'))
  app.post('/saved', guard, (_req, res) => res.send('Saved'))
  new Function('app', 'sso', 'exports', compile(example('### Show a message instead', 'ts')))(app, sso, {})
  app.get('/turbo', (req, res) => {
    const frame = '<turbo-frame id="box"><a href="/box">Open the box</a></turbo-frame>'
    const form = '<form method="post" action="/saved"><button>Save</button></form>'
    const links = `<a href="/archive">Archive</a>${example('## Turbo', 'html', 1)}`
    res.send(pageOf(`<script src="/turbo.js"></script>${example('## Turbo', 'html')}`, who(req) + frame + form + links))
  })
  app.get('/box', guard, (_req, res) => res.send('<turbo-frame id="box">A full box</turbo-frame>'))
  app.get('/archive', guard, (req, res) => res.send(pageOf('', who(req))))
  app.get('/worker', (req, res) => {
    const script = "<script>navigator.serviceWorker.register('/sw.js')</script>"
    res.send(pageOf(script, `${who(req)}<a href="/archive">Archive</a>`))
  })
}

let sites: Sites
let browser: Browser
let page: Page

beforeAll(async () => {
  sites = await startSites({ paper: { options: () => ({}), before: addFiles, after: addPages } })
  browser = await openBrowser()
  page = await browser.newPage()
  page.setDefaultTimeout(20_000)
})
afterAll(async () => {
  await browser?.close()
  await sites?.close()
})
beforeEach(async () => {
  sites.emulator.reset()
  await makeNew(page, viewports.desktop)
})

const at = (place: string) => sites.at('paper', place)
const user = () => page.locator('#user').textContent()

/** The login page is there. Logs in, and expects to be back at a page as a user. */
async function logInAndReturnTo(place: string): Promise<void> {
  await page.waitForURL(/\/login\?/)
  await page.locator('#username').fill(ada.username)
  await page.locator('#password').fill(ada.password)
  await page.getByRole('button', { name: 'Log in' }).click()
  await page.waitForURL(at(place))
  expect(await user()).toBe('account-ada')
}

/** Logs out with the button of a page, and expects to be nobody there. */
async function logOutAt(place: string): Promise<void> {
  await page.goto(at(place))
  await page.getByRole('button', { name: 'Log out' }).click()
  await page.waitForURL(at('/'))
  await page.goto(at(place))
  expect(await user()).toBe('nobody')
}

describe('htmx', () => {
  beforeEach(async () => {
    await page.goto(at('/htmx'))
    expect(await user()).toBe('nobody')
  })

  test('a guarded fragment → login page → back to the page with the button, where the fragment is shown', async () => {
    await page.getByText('Show comments').click()
    await logInAndReturnTo('/htmx')
    await page.getByText('Show comments').click()
    await page.getByText('Three comments').waitFor()
  })

  test('a guarded form → login page → back to the page with the form', async () => {
    await page.getByRole('button', { name: 'Save' }).click()
    await logInAndReturnTo('/htmx')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Saved').waitFor()
  })

  test('onDenied answers in place of the guard: the page stays, with what was typed and a link to the login', async () => {
    await page.locator('input[name=text]').fill('My comment')
    await page.getByRole('button', { name: 'Send' }).click()
    await page.getByText('send your comment again').waitFor()
    expect(await page.locator('input[name=text]').inputValue()).toBe('My comment')
    expect(await page.locator('#message a').getAttribute('href')).toBe('/login')
  })

  test('a boosted link to a guarded page → login page → the guarded page', async () => {
    await page.getByRole('link', { name: 'Archive' }).click()
    await logInAndReturnTo('/archive')
  })

  test('the links to the login and the button of the logout work', async () => {
    await page.getByRole('link', { name: 'Log in', exact: true }).click()
    await logInAndReturnTo('/archive')
    await logOutAt('/htmx')
  })
})

describe('Turbo', () => {
  beforeEach(async () => {
    await page.goto(at('/turbo'))
    expect(await user()).toBe('nobody')
  })

  test('a guarded frame → login page → back to the page with the frame, where it is filled', async () => {
    await page.getByRole('link', { name: 'Open the box' }).click()
    await logInAndReturnTo('/turbo')
    await page.getByRole('link', { name: 'Open the box' }).click()
    await page.getByText('A full box').waitFor()
  })

  test('a link to a guarded page, over which the mouse has waited → login page → the guarded page', async () => {
    const prefetched = page.waitForResponse(at('/archive'))
    await page.getByRole('link', { name: 'Archive' }).hover()
    expect((await prefetched).status()).toBe(401)
    await page.waitForTimeout(200)
    expect(page.url()).toBe(at('/turbo'))
    await page.getByRole('link', { name: 'Archive' }).click()
    await logInAndReturnTo('/archive')
  })

  test('a guarded form → a page with a link to the login in a new tab', async () => {
    await page.getByRole('button', { name: 'Save' }).click()
    const link = page.getByRole('link', { name: 'Log in', exact: true })
    await page.getByRole('heading', { name: 'You are logged out' }).waitFor()
    expect(await link.getAttribute('target')).toBe('_blank')
  })

  test('the links to the login and the button of the logout work', async () => {
    await page.getByRole('link', { name: 'Log in', exact: true }).click()
    await page.waitForURL(/\/login/)
    await page.goto(at('/archive'))
    await logInAndReturnTo('/archive')
    await logOutAt('/turbo')
  })
})

describe('a service worker that passes page loads on', () => {
  beforeEach(async () => {
    await page.goto(at('/worker'))
    await untilPage(page, 'navigator.serviceWorker.ready.then(() => true)')
  })

  test('a guarded page → login page → back, and the user is logged in', async () => {
    await page.getByRole('link', { name: 'Archive' }).click()
    await logInAndReturnTo('/archive')
    await page.goto(at('/worker'))
    expect(await user()).toBe('account-ada')
  })

  test('a page load without a session goes through Identify', async () => {
    await page.context().clearCookies()
    await page.goto(at('/anything'))
    expect(await page.textContent('body')).toBe('anon at /anything')
  })
})
