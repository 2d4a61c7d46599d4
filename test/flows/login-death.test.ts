import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import type { Browser } from '../support/agent'
import { timed } from '../support/wait'
import { forkProcess, startSite } from './fork-site'
import { ada, eventually, grace, type Setup, startSetup, visitor } from './setup'

/*
 * A process that is killed during a login leaves it to the next submit, on another process. Uses the built package.
 * What the next submit does in each case is in test/web/lost-login.test.ts.
 */

let setup: Setup
let child: ChildProcess
let port: number

beforeEach(async () => {
  setup = await startSetup({ site: { loginLimit: { attempts: 10, perSeconds: 60 } } })
  child = forkProcess()
  port = await startSite(child, setup)
})
afterEach(async () => {
  child.kill('SIGKILL')
  await setup.close()
})

const atChild = (browser: Browser) => {
  const headers = { 'sec-fetch-site': 'same-origin', origin: setup.morning.url }
  return browser.fetchJson(`http://morning.localhost:${port}/login`, { json: ada, headers })
}

/** A browser whose login the other process has sent on, and then was killed. @param operation whose answer is never given */
async function killedDuringLogin(operation: 'authenticate' | 'token') {
  const browser = await visitor(setup)
  const before = setup.countCalls(operation)
  setup.emulator.faults.add({ operation, kind: 'hang', times: 1 })
  const hasAsked = () => setup.countCalls(operation) > before
  /** A busy machine may keep Redis back: then the process responds, and has not asked. */
  const untilLost = async () => {
    while (!hasAsked()) await atChild(browser)
  }
  const lost = untilLost().catch(() => 'lost')
  await eventually(async () => hasAsked())
  const gone = once(child, 'exit')
  child.kill('SIGKILL')
  await gone
  await lost
  return browser
}

const submit = async (browser: Browser, json = ada) => {
  const [answer, ms] = await timed(() => browser.fetchJson(`${setup.morning.url}/login`, { json }))
  return { ...answer, ms }
}

/** The longest that one of the two processes or Redis stood still until then, in milliseconds, or a little more. */
async function longestStill(end: Promise<unknown>): Promise<number> {
  let [isOver, longest, last] = [false, 0, performance.now()]
  const over = () => {
    isOver = true
  }
  end.then(over, over)
  while (!isOver) {
    await Promise.all([setup.browser().fetchJson(`http://morning.localhost:${port}/page`), setup.redis.ping()])
    const now = performance.now()
    longest = Math.max(longest, now - last)
    last = now
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  return longest
}

test('a login that takes longer than it is held for at a time is one Authenticate all the same', async () => {
  setup.emulator.faults.add({ operation: 'authenticate', kind: 'slow', ms: 2800 })
  const inBoth = async () => {
    const browser = await visitor(setup)
    const before = setup.countCalls('authenticate')
    const answers = Promise.all([atChild(browser), submit(browser)])
    const stood = await longestStill(answers)
    const statuses = (await answers).map(({ status }) => status)
    return { statuses, asked: setup.countCalls('authenticate') - before, stood }
  }
  let seen = await inBoth()
  // the other process has 300 ms for a command of Redis, and logs in where the first one has lost the lock
  for (let tries = 1; tries < 3 && seen.stood > 250; tries += 1) seen = await inBoth()
  expect(seen).toMatchObject({ statuses: [200, 200], asked: 1 })
})

test('a process that stands still for 2.5 s in the middle of a login shares what another one made of it', async () => {
  const browser = await visitor(setup)
  setup.emulator.faults.add({ operation: 'authenticate', kind: 'slow', ms: 700, times: 1 })
  const isToCome = () => setup.emulator.faults.list().length > 0
  const askUntilMet = async () => {
    let answer = await atChild(browser)
    while (answer.status === 503 && isToCome()) answer = await atChild(browser) // a busy machine may keep Redis back
    return answer
  }
  const first = askUntilMet()
  // one that stands still between its last look and its Authenticate cannot be kept from sending it
  await eventually(async () => !isToCome())
  child.send({ block: 2500 })
  const answers = await Promise.all([first, submit(browser)])
  expect(answers.map(({ status, json }) => [status, json.user?.username])).toEqual(Array(2).fill([200, 'ada']))
  expect(setup.countCalls('authenticate')).toBe(1)
  expect((await browser.fetchJson(`${setup.morning.url}/`)).json).toMatchObject({ status: 'loggedin' })
})

test('the next submit is served within some 2 s, after one Session Status', async () => {
  const browser = await killedDuringLogin('authenticate')
  const { status, json, ms } = await submit(browser)
  expect([status, json.user?.username]).toEqual([200, 'ada'])
  expect([setup.countCalls('sessionstatus'), setup.countCalls('authenticate')]).toEqual([1, 2])
  expect((await browser.fetchJson(`${setup.morning.url}/`)).json).toMatchObject({ status: 'loggedin' })
  const usual = await submit(await visitor(setup)) // what the machine takes for a login as it is
  expect(ms).toBeLessThan(5000 + usual.ms)
})

test('a login that went through before the process was killed is found, and nothing is authenticated twice', async () => {
  const browser = await killedDuringLogin('token')
  await eventually(async () => setup.emulator.sessions().some(({ status }) => status === 'loggedin'))
  const { status, json } = await submit(browser)
  expect([status, json.user?.username]).toEqual([200, 'ada'])
  expect([setup.countCalls('sessionstatus'), setup.countCalls('authenticate')]).toEqual([1, 1])
})

test('another password than the one that was lost is judged by itself, as soon as no process holds the form', async () => {
  const browser = await killedDuringLogin('authenticate')
  const other = () => submit(browser, { ...ada, password: 'wrong' })
  await eventually(async () => (await other()).json.error === 'invalid_credentials')
  expect(setup.countCalls('authenticate')).toBe(2)
})

test('a user who then logs in with another account is not taken for the first one', async () => {
  const browser = await killedDuringLogin('token')
  await eventually(async () => setup.emulator.sessions().some(({ status }) => status === 'loggedin'))
  const other = () => submit(browser, grace)
  await eventually(async () => (await other()).json.error === 'session_already_logged_in_on_another_account')
  expect((await browser.fetchJson(`${setup.morning.url}/`)).json).toMatchObject({ status: 'anon' })
})
