import type { ChildProcess } from 'node:child_process'
import type { ScriptAnswer } from '../support/agent'
import { forkProcess, startSite } from '../support/fork-site'
import { document, hop } from '../support/pausable-setup'
import { ada, eventually, logInAtLast, present, type Setup, startSetup, visitor } from '../support/setup'

/*
 * Two processes of one site over one Redis, behind nothing: a browser's requests go to the one or the other.
 * They run the built package; the setup's own morning site is a third process of the same site.
 */

let setup: Setup
let processes: ChildProcess[]
let ports: number[]

beforeAll(async () => {
  setup = await startSetup({
    emulator: { tokenTime: 'real' },
    site: { clock: { now: () => Date.now() } },
  })
  processes = [forkProcess(), forkProcess()]
  ports = await Promise.all(processes.map((child) => startSite(child, setup)))
  // a busy machine connects slowly: each of them has to find a session first
  const browser = await anybody()
  for (const which of [0, 1])
    await eventually(async () => (await browser.fetchJson(at(which, '/'))).json.status === 'anon')
})
afterAll(async () => {
  for (const child of processes) child.kill()
  await setup.close()
})

/** The address of a page at one of the processes. */
const at = (which: number, page: string) => `http://morning.localhost:${ports[which % 2]}${page}`

/** The processes go by the machine's own clock. */
const anybody = () => visitor({ ...setup, browser: () => setup.browser({ now: Date.now }) })

const many = (count: number, send: (index: number) => Promise<ScriptAnswer>) =>
  Promise.all(Array.from({ length: count }, (_, index) => send(index)))

const statuses = (answers: ScriptAnswer[]) => answers.map(({ status }) => status)
/** As a page of the site's own address sends a form. */
const own = () => ({ origin: setup.morning.url, 'sec-fetch-site': 'same-origin' })

test('[L3] one landing, 50 times at once at both processes: one exchange, and the browser is logged in', async () => {
  const browser = await anybody()
  await logInAtLast(browser, setup.morning)
  browser.dropCookies(({ name }) => name === 'sso2.sid')
  const landing = new URL(await hop(browser, await hop(browser, `${setup.morning.url}/page`)))
  const tickets = setup.countCalls('token')
  const answers = await many(50, (index) =>
    browser.fetchJson(at(index, landing.pathname + landing.search), { headers: document }),
  )
  expect(statuses(answers)).toEqual(Array(50).fill(303))
  expect(setup.countCalls('token') - tickets).toBe(1)
  expect((await browser.fetchJson(at(0, '/'))).json).toEqual({ status: 'loggedin' })
  expect((await browser.fetchJson(at(1, '/'))).json).toEqual({ status: 'loggedin' })
})

test('[F5] one form, 20 times at once at both processes: one Authenticate, and all share its result', async () => {
  const browser = await anybody()
  setup.emulator.faults.add({ operation: 'authenticate', kind: 'slow', ms: 1000, times: 1 }) // all forms have arrived by then, also on a busy machine
  const [calls, tickets] = [setup.countCalls('authenticate'), setup.countCalls('token')]
  const answers = await many(20, (index) => browser.fetchJson(at(index, '/login'), { json: ada, headers: own() }))
  expect(statuses(answers)).toEqual(Array(20).fill(200))
  expect([setup.countCalls('authenticate') - calls, setup.countCalls('token') - tickets]).toEqual([1, 1])
  for (const which of [0, 1]) expect((await browser.fetchJson(at(which, '/'))).json).toEqual({ status: 'loggedin' })
})

test('[S11] a logout at one process is seen by the other at its next request', async () => {
  const browser = await anybody()
  await logInAtLast(browser, setup.morning)
  const old = { cookie: `sso2.sid=${present(browser.cookie('sso2.sid'))}` }
  const thief = setup.browser()
  expect((await thief.fetchJson(at(1, '/'), { headers: old })).json).toEqual({ status: 'loggedin' })
  await browser.fetchJson(at(0, '/logout'), { json: {}, headers: own() })
  expect((await thief.fetchJson(at(1, '/'), { headers: old })).json).toEqual({ status: 'none' })
})
