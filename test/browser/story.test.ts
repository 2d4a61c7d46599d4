import type { BrowserContext, Page } from 'playwright-core'
import { expectGood, fillIn, open, overflow, reader, state, useNetwork } from './network'

// No form of it is sent twice: a store that a busy machine keeps back for once would end it. The pages are shown over Redis.
const { network, newContext } = useNetwork('memory')

/** One reader's browser through the whole story: each test goes on where the one before ended. */
let context: BrowserContext
let page: Page

beforeAll(async () => {
  context = await newContext()
  page = await context.newPage()
})

test('the browser says that it is headless: it walks the whole story under that name', async () => {
  expect(await page.evaluate('navigator.userAgent')).toContain('HeadlessChrome/')
})

test('a first visit ends on exactly the address asked for, anonymously, after at most three redirects', async () => {
  const { morning } = network().urls
  const asked = `${morning}/?from=letter&text=a%20b+c%2Fd&empty=&%C3%A9=1`
  const trail = await open(page, asked)
  expect(trail.map((url) => new URL(url).pathname)).toEqual(['/', '/sso/identify', '/sso2/landing', '/'])
  expect(page.url()).toBe(asked)
  expect(await state(page)).toBe('Reading anonymously.')
  expect(await overflow(page)).toBe(0)
  await expectGood(page, 'morning-front-anonymous')
})

test('the sister paper is visited in the same way, and then each page without a redirect', async () => {
  const { evening } = network().urls
  expect(await open(page, `${evening}/`)).toHaveLength(4)
  expect(await state(page)).toBe('Reading anonymously.')
  expect(await open(page, `${evening}/marketplace?from=front`)).toEqual([`${evening}/marketplace?from=front`])
  await open(page, `${evening}/`)
  expect(await overflow(page)).toBe(0)
  await expectGood(page, 'evening-front-anonymous')
})

test('an article for subscribers shows its beginning and the way to log in', async () => {
  const { morning } = network().urls
  await open(page, `${morning}/articles/night-in-the-reading-room`)
  expect(await page.getByText('At sunrise the caretaker').count()).toBe(0)
  await expectGood(page, 'morning-article-teaser')
  await page.getByRole('link', { name: 'Log in to read on' }).click()
  await page.waitForURL((url) => url.pathname === '/login')
  await expectGood(page, 'morning-login')
})

test('after logging in the reader is back at the article, and can read all of it', async () => {
  await fillIn(page, reader)
  await page.waitForURL(`${network().urls.morning}/articles/night-in-the-reading-room`)
  expect(await state(page)).toBe(`Logged in as ${reader.name}.`)
  expect(await page.getByText('At sunrise the caretaker').count()).toBe(1)
  await expectGood(page, 'morning-article')
})

test('the sister paper knows the login once its record is stale, and the user types nothing', async () => {
  network().emulator.clock.advance(361)
  await page.getByRole('link', { name: 'Read the Evening Star' }).click()
  await page.waitForURL(`${network().urls.evening}/`)
  expect(await state(page)).toBe(`Logged in as ${reader.name}.`)
  expect(page.url()).toBe(`${network().urls.evening}/`)
  await page.getByRole('link', { name: 'Account', exact: true }).click()
  await page.waitForURL(`${network().urls.evening}/account`)
  expect(await page.getByRole('heading', { level: 1 }).textContent()).toContain(reader.name)
  expect(await overflow(page)).toBe(0)
  await expectGood(page, 'evening-account')
})

test('logging out at one paper ends on its front page, anonymous', async () => {
  // The other paper looks now, so that its record is young when the logout happens.
  await open(page, `${network().urls.morning}/`)
  await open(page, `${network().urls.evening}/account`)
  await page.getByRole('button', { name: 'Log out', exact: true }).click()
  await page.waitForURL(`${network().urls.evening}/`)
  expect(await state(page)).toBe('Reading anonymously.')
})

test('the other paper still shows the login, until its record is stale', async () => {
  const { morning } = network().urls
  await open(page, `${morning}/`)
  expect(await state(page)).toBe(`Logged in as ${reader.name}.`)
  network().emulator.clock.advance(361)
  await open(page, `${morning}/`)
  expect(page.url()).toBe(`${morning}/`)
  expect(await state(page)).toBe('Reading anonymously.')
  await expectGood(page, 'morning-front-logged-out')
})
