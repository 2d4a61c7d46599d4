import type { Browser, BrowserContext, Page } from 'playwright-core'
import type { createEmulator } from '../../lib/emulator'
import { violations } from '../support/axe'
import { openBrowser, screenshots, viewports } from '../support/browser'

/** The example's two newspapers and their platform, as `example-app/network.js` starts them. */
interface Network {
  urls: { morning: string; evening: string; emulator: string }
  emulator: ReturnType<typeof createEmulator>
  close(): Promise<void>
}

interface Account {
  username: string
  password: string
  name: string
}

const example = require('../../example-app/network.js') as {
  startNetwork(options: { redis?: string | undefined; prefix?: string }): Promise<Network>
}
const platform = require('../../example-app/platform.js') as { accounts: [Account, Account] }

/** The first account that the example names on its start page. */
export const [reader] = platform.accounts

/**
 * Starts the network on free ports and a Chromium. Both end after the suite.
 * @param store over the Redis of the test run, whose keys then begin with the prefix, or in memory, which is never late
 */
export function useNetwork(store: { prefix: string } | 'memory'): {
  network(): Network
  newContext(): Promise<BrowserContext>
} {
  let network: Network | undefined
  let browser: Browser | undefined
  beforeAll(async () => {
    network = await example.startNetwork(store === 'memory' ? {} : { redis: process.env['TEST_REDIS_URL'], ...store })
    browser = await openBrowser()
  })
  afterAll(async () => {
    await browser?.close()
    await network?.close()
  })
  return {
    network: () => present(network),
    newContext: () => present(browser).newContext({ viewport: viewports.desktop, locale: 'en-GB' }),
  }
}

/** Opens an address and gives every address on the way, the page itself last. */
export async function open(page: Page, url: string): Promise<string[]> {
  const response = await page.goto(url)
  const trail: string[] = []
  for (let request = response?.request(); request; request = request.redirectedFrom() ?? undefined) {
    trail.unshift(request.url())
  }
  return trail
}

/** Fills in the login form that the page shows, and sends it. */
export async function fillIn(page: Page, { username, password }: Account): Promise<void> {
  await page.getByLabel(/user ?name/i).fill(username)
  await page.getByLabel(/password/i).fill(password)
  await press(page, 'button', /log in/i)
}

/** Clicks on what leads to another page, and waits until that is there. */
export async function press(page: Page, role: 'button' | 'link', name: string | RegExp): Promise<void> {
  const loaded = page.waitForEvent('load')
  await page.getByRole(role, { name }).click()
  await loaded
}

/** Expects that axe-core finds nothing on the page. @param name of its screenshots */
export async function expectGood(page: Page, name: string): Promise<void> {
  expect(await violations(page)).toEqual([])
  await screenshots(page, name)
}

/** What the bar at the top says about the session. */
export async function state(page: Page): Promise<string> {
  return ((await page.locator('.state strong').textContent()) ?? '').trim()
}

/** How much wider than the window the page is, at a small phone's width. */
export async function overflow(page: Page): Promise<number> {
  const before = page.viewportSize()
  await page.setViewportSize({ width: 360, height: 700 })
  const pixels = await page.evaluate('document.documentElement.scrollWidth - window.innerWidth')
  if (before) await page.setViewportSize(before)
  return Number(pixels)
}

function present<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('not started yet')
  return value
}
