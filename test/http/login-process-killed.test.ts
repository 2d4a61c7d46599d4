import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import type { Browser } from '../support/agent'
import { forkProcess, startSite } from '../support/fork-site'
import { ada, eventually, type Setup, startSetup, visitor } from '../support/setup'

/* A process is killed during a login. Uses the built package. */

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

test('a login that went through before its process was killed is found by a page 20 s later', async () => {
  const browser = await killedDuringLogin('token')
  await eventually(async () => setup.emulator.sessions().some(({ status }) => status === 'loggedin'))
  setup.emulator.clock.advance(21)
  expect((await browser.fetchJson(`${setup.morning.url}/`)).json).toMatchObject({ status: 'loggedin' })
  expect(setup.countCalls('authenticate')).toBe(1)
})

test('the next submit waits for the lock of the process that was killed, 20 s at most, and then logs in by itself', async () => {
  const browser = await killedDuringLogin('authenticate')
  const [lock = ''] = await setup.keys().then((keys) => keys.filter((key) => key.includes('login:')))
  expect(await setup.redis.pttl(lock)).toBeLessThanOrEqual(20_000)
  await setup.redis.pexpire(lock, 1500) // or the test would wait for all of it
  const { status, json } = await browser.fetchJson(`${setup.morning.url}/login`, { json: ada })
  expect([status, json.user?.username]).toEqual([200, 'ada'])
  expect(await setup.redis.exists(lock.replace('login:', 'result:'))).toBe(1)
})
