import type { Browser, Page } from 'playwright-core'
import { createEmulator, type Emulator } from '../../lib/emulator'
import { configuration } from '../emulator/configuration'
import { evening, Platform } from '../emulator/platform'
import { violations } from '../support/axe'
import { makeNew, openBrowser, screenshots, viewports } from '../support/browser'

/* The admin portal in a real browser: every button, live updates, keyboard, and a phone's width. */

let emulator: Emulator
let platform: Platform
let browser: Browser
let page: Page
let faults: string[]

beforeAll(async () => {
  emulator = createEmulator(configuration)
  platform = new Platform((await emulator.listen()).url)
  browser = await openBrowser()
  page = await browser.newPage({ locale: 'en-GB' })
  page.on('pageerror', (error) => faults.push(error.message))
  page.on('console', (message) => {
    const isRefusal = message.text().includes('the server responded with a status of 400')
    if (message.type() === 'error' && !isRefusal) faults.push(message.text())
  })
})
afterAll(async () => {
  await browser?.close()
  await emulator?.close()
})
beforeEach(async () => {
  emulator.reset()
  await makeNew(page, viewports.desktop)
  faults = []
  await page.goto(emulator.url)
  await page.locator('#live.good').waitFor()
})
// The policy forbids everything that is not the portal's own; a breach is an error in the console.
afterEach(() => expect(faults).toEqual([]))

const press = (name: string | RegExp) => page.getByRole('button', { name }).click()
const says = (text: string | RegExp) => page.locator('#notice').filter({ hasText: text }).waitFor()
const shows = (section: string, text: string | RegExp) =>
  page.locator(`#${section}`).filter({ hasText: text }).waitFor()

test('it says that it is an emulator, and shows clients, accounts and the clock', async () => {
  expect(await page.locator('.banner').first().textContent()).toContain('This is an emulator')
  for (const text of ['Morning', 'http://localhost:3002/landing?edition=late', 'not SSO2']) await shows('clients', text)
  for (const text of ['Ada Lindqvist', 'Grace Hill', 'not active']) await shows('accounts', text)
  await shows('clock', "the system's time")
})

test('a session appears when a browser comes, and its state follows', async () => {
  const { sid } = await platform.browser().identify()
  await shows('sessions', 'anon')
  await platform.authenticate(sid)
  await shows('sessions', /loggedin\s*Ada Lindqvist/)
  await shows('accounts', '1 session')
  await press(/^Log out: session/)
  await shows('sessions', 'terminated')
  expect(emulator.sessions()).toMatchObject([{ sid, status: 'terminated' }])
  await press(/^Prune: session/)
  await shows('sessions', 'No browser has been here yet.')
  expect(emulator.sessions()).toEqual([])
})

test('calls appear as they happen, with claims and without the password', async () => {
  const { sid } = await platform.login()
  await platform.status(sid, 'nonsense')
  await shows('calls', 'authenticate')
  await page.locator('#calls summary').filter({ hasText: 'authenticate' }).click()
  await shows('calls', '"pwd": "***"')
  await shows('calls', 'invalid_token')
  await platform.logout(sid)
  await shows('calls', 'logout')
  // What was opened stays open when the list moves on.
  expect(await page.locator('#calls details[open]').textContent()).toContain('"usr": "ada"')
  expect(await page.locator('#calls').textContent()).not.toContain('correct-horse')
})

test('an account can be logged out everywhere, frozen, unfrozen, deactivated and activated', async () => {
  const { sid } = await platform.login()
  await press('Log out everywhere: Ada Lindqvist')
  await says('Ada Lindqvist is logged out everywhere.')
  expect(await platform.status(sid)).toMatchObject({ sts: 'terminated' })
  const next = await platform.browser().identify()
  await press('Freeze: Ada Lindqvist')
  await shows('accounts', /frozen 1[12] h/)
  expect(await platform.authenticate(next.sid)).toMatchObject({ err: 'account_frozen' })
  await press('Unfreeze: Ada Lindqvist')
  await press('Deactivate: Ada Lindqvist')
  await says('Ada Lindqvist is not active any more.')
  expect(await platform.authenticate(next.sid)).toMatchObject({ err: 'account_not_active' })
  await press('Activate: Ada Lindqvist')
  await says('Ada Lindqvist is active.')
  expect(await platform.authenticate(next.sid)).toMatchObject({ sts: 'loggedin' })
})

test('a button that is held down while the page is renewed does what it says', async () => {
  await page.getByRole('button', { name: 'Freeze: Ada Lindqvist' }).hover()
  await page.mouse.down()
  const renewed = page.waitForResponse(`${emulator.url}/`).then((answer) => answer.finished())
  await platform.login()
  await renewed
  await page.evaluate('new Promise(requestAnimationFrame)')
  await page.mouse.up()
  await says('Ada Lindqvist is frozen.')
  await shows('accounts', /frozen 1[12] h/)
})

test('a one-time password is shown once, and works', async () => {
  await press('One-time password: Grace Hill')
  await says(/For Grace Hill: \d{6}/)
  const [pwd = ''] = /\d{6}/.exec((await page.locator('#notice').textContent()) ?? '') ?? []
  await platform.login({ usr: 'grace', pwd })
  await page.reload()
  expect(await page.locator('body').textContent()).not.toContain(pwd)
})

test('a fault is switched on and off', async () => {
  await page.getByLabel('Operation').selectOption('sessionstatus')
  await page.getByLabel('Kind').selectOption('status')
  await page.getByRole('combobox', { name: 'Code' }).fill('502')
  await page.getByLabel('Times').fill('3')
  await press('Switch on')
  await shows('faults', 'the next 3')
  expect(emulator.faults.list()).toMatchObject([{ operation: 'sessionstatus', kind: 'status', code: 502, times: 3 }])
  await press('Switch off: status at sessionstatus')
  await shows('faults', 'Everything works as it should.')
  expect(emulator.faults.list()).toEqual([])
})

test('everything can be reset, after a question', async () => {
  await platform.login()
  page.once('dialog', (dialog) => dialog.accept())
  await press('Reset everything')
  await says('Everything is as it was configured.')
  await shows('sessions', 'No browser has been here yet.')
})

test('it works by keyboard, and the focus stays where it was', async () => {
  await page.keyboard.press('Tab')
  expect(await page.evaluate('document.activeElement.textContent')).toBe('To the content')
  await page.getByRole('button', { name: '+ 10 s' }).focus()
  await page.keyboard.press('Enter')
  await says('The clock went forward by 10 s.')
  await page.keyboard.press('Enter')
  await shows('clock', '20 s ahead')
  expect(await page.evaluate('document.activeElement.textContent.trim()')).toBe('+ 10 s')
})

test.each(['light', 'dark'] as const)(
  'axe-core finds nothing, whatever it shows, and it fits a small phone, %s',
  async (colorScheme) => {
    await page.emulateMedia({ colorScheme })
    await platform.login()
    emulator.account('otto').freeze()
    emulator.faults.add({ operation: 'sessionstatus', kind: 'slow', ms: 3000, times: 3 })
    await shows('faults', 'slow')
    await page.locator('#calls summary').first().click()
    await press('One-time password: Grace Hill')
    await says(/For Grace Hill/)
    expect(await violations(page)).toEqual([])
    await page.setViewportSize({ width: 320, height: 800 })
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(320)
    await page.goto(`${emulator.url}/sso/identify`)
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('The SSO system refuses this request')
    expect(await violations(page)).toEqual([])
  },
)

/** A login on one site, a visit on another, a wrong password and a fault. */
async function eventful(): Promise<string> {
  const { sid, visitor } = await platform.login()
  await visitor.identify(evening)
  await platform.status(sid, 'nonsense')
  emulator.faults.add({ operation: 'sessionstatus', kind: 'wrong_signature', times: 1 })
  await platform.status(sid, 'loggedin')
  return sid
}

test('a session leads to its flow, which grows as it happens and opens claims from its arrows', async () => {
  const sid = await eventful()
  await page.getByRole('link', { name: 'Flow of session' }).click()
  await page.locator('#live.good').waitFor()
  await shows('flow', '13 steps')
  await page.locator('#flow summary').filter({ hasText: 'Authenticate' }).focus()
  await page.keyboard.press('Enter')
  await page.locator('#step-5').filter({ hasText: '"pwd": "***"' }).waitFor()
  await platform.logout(sid)
  await shows('flow', '15 steps')
  expect(await page.locator('#flow details[open]').textContent()).toContain('"usr": "ada"')
  await page.getByRole('link', { name: 'All of this browser' }).click()
  await shows('flow', '15 steps')
})

/** Texts that are cut off, and elements that reach over the edge of their card; read in the page. */
const overflowing = `[...document.querySelectorAll('main *')].filter((one) => {
  const card = one.closest('section, .card')?.getBoundingClientRect()
  const { right } = one.getBoundingClientRect()
  return !one.closest('.sr, .between, thead') && ((card && right > card.right + 1) || (one.childElementCount === 0 && one.scrollWidth > one.clientWidth + 1 && getComputedStyle(one).display !== 'inline'))
}).map((one) => one.outerHTML.slice(0, 80))`

test.each([
  ['light', 1280],
  ['dark', 390],
] as const)(
  'a flow and the portal, %s and %i wide: axe-core has nothing to say, and nothing is cut off',
  async (colorScheme, width) => {
    await page.emulateMedia({ colorScheme })
    await page.setViewportSize({ width, height: 900 })
    emulator.account('otto').freeze()
    const sid = await eventful()
    await shows('calls', 'authenticate')
    expect(await page.evaluate(overflowing)).toEqual([])
    await page.goto(`${emulator.url}/flows/sessions/${sid}`)
    await page.locator('#live.good').waitFor()
    await page.locator('#flow summary').nth(4).click()
    expect(await violations(page)).toEqual([])
    expect(await page.evaluate(overflowing)).toEqual([])
    await screenshots(page, `flow-${colorScheme}`)
  },
)

test('before the first call three steps say how to begin, and go with it; passwords stay in the list of accounts', async () => {
  const start = page.locator('#start')
  expect(await start.getByRole('listitem').count()).toBe(3)
  expect(await start.getByRole('link', { name: 'Morning' }).getAttribute('href')).toBe('http://localhost:3001/')
  for (const text of ['ada', 'correct-horse']) await shows('start', text)
  expect(await violations(page)).toEqual([])
  await platform.browser().identify()
  await shows('sessions', 'anon')
  expect(await start.textContent()).toBe('')
  await shows('accounts', 'correct-horse')
})
