import type { Browser, Page } from 'playwright-core'
import { openBrowser } from '../support/browser'
import { freePort } from '../support/ports'
import { type Running, start } from '../support/process'
import { root } from '../support/sources'
import { type At, walks } from './walks'

/* Each example by its one command, against the real emulator that the command starts. */

/* the compiler, two servers and a browser, on a machine that may be busy */
jest.setTimeout(120_000)

const running: Running[] = []
const places = new Map<string, At>()
afterAll(() => Promise.all(running.map((one) => one.stop())))

/** Starts an example as examples/README.md says, on ports that are free. */
async function run(name: string): Promise<At> {
  const [port, emulator] = [await freePort(), await freePort()]
  const one = await start({
    command: process.execPath,
    args: ['examples/start.mjs', name],
    cwd: root,
    env: { PORT: String(port), EMULATOR_PORT: String(emulator) },
    isThere: (output) => output.includes('log in as ada with correct-horse'),
  })
  running.push(one)
  return (page, paper) => `http://${paper ? `${paper}.` : ''}localhost:${port}${page}`
}

test.each(Object.entries(walks))('%s', async (name, walk) => {
  const at = await run(name)
  places.set(name, at)
  await walk(at)
})

async function logIn(page: Page, password: string): Promise<void> {
  await page.getByLabel('Username').fill('ada')
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Log in' }).click()
}

describe('in a browser', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await openBrowser()
  })
  afterAll(() => browser.close())

  test('custom-form: its page says what is wrong, and a user logs in and out', async () => {
    const at = places.get('custom-form') ?? (await run('custom-form'))
    const page = await browser.newPage()
    const errors: string[] = []
    page.on('pageerror', (error) => errors.push(error.message))
    await page.goto(at('/'))
    await logIn(page, 'not-it')
    await page.getByText(/^Wrong username or password; \d attempts? left\.$/).waitFor()
    await logIn(page, 'correct-horse')
    await page.getByRole('heading', { name: /^Good morning, Ada/ }).waitFor()
    await page.getByText('The heron is back on the weir').waitFor()
    await page.getByRole('button', { name: 'Log out' }).click()
    await page.getByRole('heading', { name: 'Hello, stranger' }).waitFor()
    expect([page.url(), errors]).toEqual([at('/'), []])
  })

  test('on-demand-cdn: the page from the cache fetches the name', async () => {
    const at = places.get('on-demand-cdn') ?? (await run('on-demand-cdn'))
    const page = await browser.newPage()
    await page.goto(at('/'))
    await page.getByRole('link', { name: 'Log in' }).click()
    await logIn(page, 'correct-horse')
    await page.getByText('Ada Lindqvist').waitFor()
    expect(page.url()).toBe(at('/'))
  })
})
