import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync } from 'node:fs'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Browser, type BrowserServer, chromium, type Page } from 'playwright-core'

/** Screenshots of a test run, for people to look at. */
const screenshotFolder = path.join(__dirname, '..', 'screenshots')

/** The two widths that every page is looked at: a desk and a phone. */
export const viewports = {
  desktop: { width: 1280, height: 900 },
  phone: { width: 390, height: 844 },
} as const

const macPaths = [
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
]

const launchOptions = () => ({
  executablePath: findChromium(),
  args: [
    '--no-sandbox',
    '--disable-gpu',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
  ],
})

/** Where a suite learns the address of the Chromium of all suites, which the first of them starts. */
export async function shareBrowser() {
  let started: Promise<BrowserServer> | undefined
  const desk = http.createServer(async (_req, res) => {
    started ??= chromium.launchServer({ ...launchOptions(), host: '127.0.0.1' })
    res.end(await started.then((server) => server.wsEndpoint(), String))
  })
  await once(desk.listen(0, '127.0.0.1'), 'listening')
  return {
    url: `http://127.0.0.1:${(desk.address() as AddressInfo).port}`,
    close: async () => {
      desk.close()
      await (await started)?.close()
    },
  }
}

/**
 * Opens the Chromium of this machine, without a window and under the name that it has then. The caller closes it. In a test run there is
 * one, because its start costs as much as many tests; each suite has pages of its own.
 */
export async function openBrowser(): Promise<Browser> {
  const shared = process.env['TEST_BROWSER_URL']
  if (!shared) return chromium.launch(launchOptions())
  return chromium.connect(await (await fetch(shared)).text())
}

/** Makes a page as good as one that has just been opened, which costs a busy machine much less. */
export async function makeNew(page: Page, viewport: { width: number; height: number }): Promise<void> {
  await page.unrouteAll()
  await page.goto('about:blank')
  await page.context().clearCookies()
  await page.emulateMedia({ colorScheme: null })
  await page.setViewportSize(viewport)
}

/** Saves the page at both widths if `TEST_SCREENSHOTS` is set, and restores its first width. No test judges the pictures. */
export async function screenshots(page: Page, name: string): Promise<void> {
  if (!process.env['TEST_SCREENSHOTS']) return
  const before = page.viewportSize()
  mkdirSync(screenshotFolder, { recursive: true })
  for (const [label, size] of Object.entries(viewports)) {
    await page.setViewportSize(size)
    await page.screenshot({ path: path.join(screenshotFolder, `${name}-${label}.png`), fullPage: true })
  }
  if (before) await page.setViewportSize(before)
}

/**
 * Until an expression holds in the page. Playwright's own `waitForFunction` looks by `eval` from its second look on, which the policy of
 * our pages refuses.
 */
export async function untilPage(page: Page, expression: string, seconds = 15): Promise<void> {
  const end = performance.now() + seconds * 1000
  while ((await page.evaluate(expression)) !== true) {
    if (performance.now() > end) throw new Error(`not true in the page within ${seconds} s: ${expression}`)
    await sleep(50)
  }
}

/** The Chromium of this machine. @throws {Error} when there is none */
export function findChromium(): string {
  const named = process.env['CHROMIUM_PATH']
  if (named) return named
  const found = ['chromium', 'chromium-browser', 'google-chrome'].map(which).find((file) => file !== undefined)
  const file = found ?? macPaths.find((candidate) => existsSync(candidate))
  if (!file) throw new Error('No Chromium found. Run test/support/install-tools.sh, or set CHROMIUM_PATH.')
  return file
}

function which(name: string): string | undefined {
  try {
    return execFileSync('/bin/sh', ['-c', `command -v ${name}`], { encoding: 'utf8' }).trim()
  } catch {
    return undefined
  }
}
