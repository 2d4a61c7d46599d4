import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Browser, chromium, type Page } from 'playwright-core'

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

/** Opens the Chromium of this machine, without a window and under the name that it has then. The caller closes it. */
export function openBrowser(): Promise<Browser> {
  return chromium.launch({
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
