import diagnostics from 'node:diagnostics_channel'
import { EventEmitter } from 'node:events'
import type { ClientRequest } from 'node:http'
import type { Response } from 'express'
import { RunningOperations } from '../../lib/web/site'
import { Browser } from '../support/agent'
import { freePort } from '../support/ports'
import { type Program, start } from '../support/process'
import { eventually, loggedInBrowser, redisUrl, type Setup, startSetup } from '../support/setup'
import { root } from '../support/sources'

/* A site is closed while something is under way: it comes to its end. */

describe('sso.close() before the server has ended', () => {
  let setup: Setup
  /** Paths of the platform that have been asked. */
  const asked: string[] = []
  const onStart = (message: unknown) => void asked.push((message as { request: ClientRequest }).request.path)
  beforeEach(async () => {
    setup = await startSetup()
    diagnostics.subscribe('http.client.request.start', onStart)
  })
  afterEach(async () => {
    diagnostics.unsubscribe('http.client.request.start', onStart)
    await setup.close()
  })

  test('lets a logout that is not confirmed be kept', async () => {
    const browser = await loggedInBrowser(setup)
    setup.emulator.faults.add({ operation: 'logout', kind: 'hang' })
    asked.length = 0
    const logout = browser.fetchJson(`${setup.morning.url}/logout`, { json: {} })
    await eventually(async () => asked.some((path) => path.endsWith('/sso/logout')))
    await setup.morning.sso.close()
    expect((await logout).json).toEqual({ status: 'none', logout: 'pending' })
    expect((await setup.keys()).filter((key) => /:logouts?(:\{|$)/.test(key))).toHaveLength(2)
  })

  test('has two callers wait for the same end, and does not wait if nothing is under way', async () => {
    await loggedInBrowser(setup)
    const start = performance.now()
    const end = setup.morning.sso.close()
    expect(setup.morning.sso.close()).toBe(end)
    await end
    expect(performance.now() - start).toBeLessThan(8000) // a wait would take ten seconds
  })
})

test('waits no longer than it is told for a response that never ends', async () => {
  const underWay = new RunningOperations()
  await underWay.run(async () => {}, new EventEmitter() as Response)
  const start = performance.now()
  await underWay.idle(50)
  expect(performance.now() - start).toBeLessThan(20_000) // and not for 50 s
})

describe('SIGTERM to the example', () => {
  async function startExample(environment: Program['env']) {
    const [morning, evening, emulator] = [await freePort(), await freePort(), await freePort()]
    const ports = { MORNING_PORT: `${morning}`, EVENING_PORT: `${evening}`, EMULATOR_PORT: `${emulator}` }
    const program = { command: process.execPath, args: ['example-app/main.js'], cwd: root }
    const isThere = (output: string) => output.includes('Ctrl+C')
    const { stop } = await start({ ...program, env: { ...ports, ...environment }, isThere })
    return { stop, url: `http://localhost:${morning}`, platform: `http://localhost:${emulator}` }
  }

  async function endDuringLogins({ stop, url, platform }: Awaited<ReturnType<typeof startExample>>) {
    const slow = { operation: 'authenticate', kind: 'slow', ms: 1500 }
    const post = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(slow) }
    expect((await fetch(`${platform}/_emulator/faults`, post)).status).toBeLessThan(300)
    const browsers = Array.from({ length: 3 }, () => new Browser())
    for (const browser of browsers) {
      await eventually(async () => {
        await browser.visit(`${url}/`)
        return browser.cookies.some(({ name }) => name.endsWith('.sid'))
      })
    }
    const json = { username: 'maja', password: 'lighthouse' }
    const logins = browsers.map((browser) => browser.fetchJson(`${url}/login`, { json }))
    await eventually(async () => {
      const asked = await fetch(`${platform}/_emulator/calls?operation=authenticate`)
      const { calls } = (await asked.json()) as { calls: unknown[] }
      return calls.length > 0
    })
    await new Browser().fetchJson(`${url}/`) // came after the logins, so the site has all of them
    const gone = stop('SIGTERM')
    expect((await Promise.all(logins)).map(({ status }) => status)).toEqual(browsers.map(() => 200))
    const start = performance.now()
    expect(await gone).toBe(0)
    expect(performance.now() - start).toBeLessThan(8000) // a wait for nothing would take ten seconds
  }

  test('lets logins and pages under way come to their end, and then ends by itself', async () => {
    const example = await startExample({ REDIS_URL: redisUrl() })
    await endDuringLogins(example).finally(() => example.stop('SIGKILL'))
  })
})
