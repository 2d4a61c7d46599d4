/**
 * Takes the screenshots of the documents from the example, into docs/images.
 *
 *   node tools/screenshots
 *
 * Builds dist first. Needs Chromium, pngquant, and the ports 3001, 3002 and 4000. Takes half a minute.
 */
require('./start.js').build()
const { spawnSync } = require('node:child_process')
const { mkdirSync, writeFileSync } = require('node:fs')
const path = require('node:path')
const { chromium } = require('playwright-core')
const { startNetwork } = require('../example-app/network.js')
const { accounts } = require('../example-app/platform.js')

const folder = path.join(__dirname, '..', 'docs', 'images')
const ports = { morning: 3001, evening: 3002, emulator: 4000 }
const [reader] = accounts

async function logIn(page, url) {
  await page.goto(`${url}/login?return_to=/`)
  await page.getByLabel(/user ?name/i).fill(reader.username)
  await page.getByLabel(/password/i).fill(reader.password)
  await page.getByRole('button', { name: /log in/i }).click()
  await page.waitForURL(`${url}/`)
}

/** Both papers side by side, each under its address. */
function pairOf(papers) {
  const frames = papers.map(
    ({ url, picture }) => `<figure><figcaption>${url}</figcaption>
      <img src="data:image/png;base64,${picture.toString('base64')}" /></figure>`,
  )
  return `<!doctype html><style>
    body { margin: 0; padding: 16px; display: flex; gap: 16px; background: #fff; }
    figure { margin: 0; border: 1px solid #b9b4a8; border-radius: 8px; overflow: hidden; }
    figcaption { font: 15px/2 ui-monospace, monospace; color: #44403a; background: #efece4; padding: 0 12px; }
    img { display: block; width: 560px; }
  </style>${frames.join('')}`
}

/** Writes a screenshot with 192 colours, which is a third of the size. The screenshots are part of the package. */
function keep(name, picture) {
  const { status, stdout, error } = spawnSync('pngquant', ['192', '-'], { input: picture, maxBuffer: 16 * 1024 * 1024 })
  if (error) throw new Error('pngquant is needed: apt-get install pngquant, or brew install pngquant')
  if (status !== 0) throw new Error(`pngquant ended with ${status}`)
  writeFileSync(path.join(folder, name), stdout)
}

async function main() {
  mkdirSync(folder, { recursive: true })
  const network = await startNetwork({ ports })
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM_PATH ?? '/usr/bin/chromium',
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--user-agent=Mozilla/5.0 (X11; Linux x86_64) Chrome/150.0.0.0 Safari/537.36',
    ],
  })
  const page = await browser.newPage({ viewport: { width: 640, height: 500 }, locale: 'en-GB' })
  const papers = []
  await logIn(page, network.urls.morning)
  for (const url of [network.urls.morning, network.urls.evening]) {
    await page.goto(`${url}/`)
    papers.push({ url, picture: await page.screenshot() })
  }
  await page.setViewportSize({ width: 1280, height: 700 })
  await page.goto(network.urls.emulator)
  await page.locator('#live.good').waitFor()
  keep('portal.png', await page.screenshot())
  await page.getByRole('link', { name: /^Flow of session/ }).click()
  await page.locator('#live.good').waitFor()
  await page.setViewportSize({ width: 1280, height: 760 })
  keep('flow.png', await page.screenshot())
  const sheet = await browser.newPage({ viewport: { width: 1172, height: 300 } })
  await sheet.setContent(pairOf(papers))
  keep('papers.png', await sheet.screenshot({ fullPage: true }))
  await browser.close()
  await network.close()
}

main().catch((error) => {
  console.error(error)
  process.exitCode = 1
})
