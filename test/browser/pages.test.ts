import { setTimeout as sleep } from 'node:timers/promises'
import type { Page } from 'playwright-core'
import { makeNew, untilPage, viewports } from '../support/browser'
import { eventually } from '../support/setup'
import { expectGood, fillIn, open, overflow, press, reader, useNetwork } from './network'

const { network, newContext } = useNetwork({ prefix: 'pages:' })

let page: Page

beforeAll(async () => {
  page = await (await newContext()).newPage()
})
beforeEach(() => makeNew(page, viewports.desktop))

/** Sessions are ended as well, because an account can hold only a few at once. */
afterEach(() => {
  const { emulator } = network()
  for (const { sid } of emulator.sessions()) emulator.terminate(sid)
})

async function logIn(account: typeof reader, path: string): Promise<void> {
  const { morning } = network().urls
  const isIn = async () => {
    await open(page, `${morning}/login?return_to=${encodeURIComponent(path)}`)
    if (page.url().includes('/login')) await fillIn(page, account)
    return page.url() === morning + path
  }
  await eventually(isIn, 30) // a form that a late Redis refuses is filled in again
}

test('the marketplace needs no login', async () => {
  await page.route(/./, async (route) => {
    if (route.request().resourceType() === 'image') await sleep(300) // so that they are not there at the first look
    await route.continue()
  })
  await open(page, `${network().urls.morning}/marketplace`)
  expect(await page.locator('.group h2').allTextContents()).toHaveLength(3)
  const images = page.locator('.group img')
  for (const image of await images.all()) await image.scrollIntoViewIfNeeded()
  await untilPage(page, '[...document.images].every((image) => image.complete && image.naturalWidth > 0)')
  const markets = await page.locator('.group').first().getByRole('listitem').allTextContents()
  expect(markets).toEqual(['To let', 'For sale', 'House boats'])
  expect(await overflow(page)).toBe(0)
  await expectGood(page, 'morning-marketplace')
})

test('a reader without the scope is told which one is missing', async () => {
  await logIn(reader, '/administrators')
  expect(await page.getByRole('alert').textContent()).toContain('/external/admin/r')
  await expectGood(page, 'morning-administrators-refused')
})

test('a user who came from the front page to a guarded page returns to the front page by "Go back"', async () => {
  const { morning } = network().urls
  await open(page, `${morning}/`)
  await page.evaluate("location.assign('/account')")
  await page.waitForURL(/\/login\?/)
  await press(page, 'link', 'Go back')
  await page.waitForURL(`${morning}/`)
})

test('the fragment of a guarded page survives the login, and after a wrong password the address bar keeps return_to', async () => {
  const { morning } = network().urls
  const isThrough = async () => {
    await makeNew(page, viewports.desktop)
    await open(page, `${morning}/account#orders`)
    await fillIn(page, { ...reader, password: 'not-it' })
    const alert = page.getByRole('alert')
    const [address, told] = [page.url(), await alert.textContent()]
    if (!told?.includes('wrong')) return false // a late Redis
    expect(address).toBe(`${morning}/login?return_to=%2Faccount#orders`)
    expect(await page.getByLabel(/password/i).inputValue()).toBe('')
    await fillIn(page, reader)
    return page.url() === `${morning}/account#orders`
  }
  await eventually(isThrough, 30)
})

test.each([
  ['morning', 'light'],
  ['evening', 'dark'],
] as const)(
  'the login page of the %s paper has its logo, and its help and front page are good too, %s',
  async (paper, colorScheme) => {
    const url = network().urls[paper]
    await page.emulateMedia({ colorScheme })
    await open(page, `${url}/login?return_to=/`)
    await untilPage(page, '[...document.images].every((image) => image.complete && image.naturalWidth > 0)')
    expect(await page.locator('img').getAttribute('src')).toBe(`/assets/logo-${paper}.svg`)
    expect(await overflow(page)).toBe(0)
    await expectGood(page, `${paper}-login`)
    await open(page, `${url}/help`)
    await expectGood(page, `${paper}-help`)
    await open(page, `${url}/`)
    await expectGood(page, `${paper}-front`)
  },
)
