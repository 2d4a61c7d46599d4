import type { ChildProcess } from 'node:child_process'
import type { Browser } from '../support/agent'
import { forkProcess, startSite } from '../support/fork-site'
import { ada, eventually, loggedInBrowser, type PageView, type Setup, startSetup, visitor } from '../support/setup'
import { failureOf } from '../support/wait'

/* Busy is not broken: nothing is degraded because the event loop stands still. Uses the built package. */

let setup: Setup
let child: ChildProcess
let url: string

beforeAll(async () => {
  setup = await startSetup({ site: { loginLimit: { attempts: 1000, perSeconds: 60 } } })
  child = forkProcess()
  const port = await startSite(child, setup, { recheckSeconds: 1, loginLimit: { attempts: 1000, perSeconds: 60 } })
  url = `http://morning.localhost:${port}`
})
afterAll(async () => {
  child.kill('SIGKILL')
  await setup.close()
})

const page = async (browser: Browser): Promise<PageView> => (await browser.fetchJson(`${url}/page`)).json
const users = (count: number) => Promise.all(Array.from({ length: count }, () => loggedInBrowser(setup)))
/** Tries again, twice at most, what fails while Redis or this process was late: it is the SSO system, and has to respond meanwhile. */
async function unlessLate(run: () => Promise<void>, tries = 3): Promise<void> {
  const failure = await failureOf(setup.redis, run)
  setup.emulator.faults.clear()
  if (failure?.isOfMachine && tries > 1) return unlessLate(run, tries - 1)
  if (failure) throw failure.cause
}

/** Stands still once the SSO system has all calls of the child, and responds meanwhile. */
async function standStill(operation: 'sessionstatus' | 'authenticate', requests: (() => Promise<unknown>)[]) {
  setup.emulator.faults.add({ operation, kind: 'slow', ms: 500, times: requests.length })
  const answers = Promise.all(requests.map((request) => request()))
  await eventually(async () => setup.emulator.faults.list().length === 0)
  child.send({ block: 2500 })
  const all = await answers
  setup.emulator.faults.clear()
  return all
}

test('a loop that stands still for 2.5 s while the SSO system answers degrades no page, and opens no breaker', async () => {
  const browsers = await users(8)
  await unlessLate(async () => {
    for (const browser of browsers) await eventually(async () => (await page(browser)).status === 'loggedin')
    await new Promise((resolve) => setTimeout(resolve, 1100)) // all are stale
    const before = setup.countCalls('sessionstatus')
    const seen = await standStill(
      'sessionstatus',
      browsers.map((browser) => () => page(browser)),
    )
    expect(seen).toEqual(browsers.map(() => ({ status: 'loggedin' })))
    expect(setup.countCalls('sessionstatus') - before).toBeGreaterThanOrEqual(browsers.length)
    for (const browser of browsers) expect(await page(browser)).toEqual({ status: 'loggedin' })
  })
}, 120_000)

test('nor does it refuse a login', async () => {
  const headers = { 'sec-fetch-site': 'same-origin', origin: setup.morning.url }
  const login = (browser: Browser) => async () =>
    (await browser.fetchJson(`${url}/login`, { json: ada, headers })).status
  await unlessLate(async () => {
    const browsers = await Promise.all(Array.from({ length: 3 }, () => visitor(setup)))
    expect(await standStill('authenticate', browsers.map(login))).toEqual(browsers.map(() => 200))
  })
}, 120_000)
