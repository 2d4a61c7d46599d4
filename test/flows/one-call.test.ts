import { once } from 'node:events'
import { createServer, type IncomingMessage, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Request } from 'express'
import type { Browser } from '../support/agent'
import { ada, logIn, type Setup, startSetup, visitor } from '../support/setup'

/* What one request, or one form, costs the platform and Redis at most. */

let setup: Setup
beforeEach(async () => {
  setup = await startSetup()
})
afterEach(() => setup.close())

/** Sends an upgrade with the browser's cookies to a server that knows the user of a socket. @returns the status that it found */
async function upgrade(browser: Browser): Promise<string> {
  const { sso } = setup.morning
  const server = createServer()
  server.on('upgrade', (incoming: IncomingMessage, socket: Duplex) => {
    const req = incoming as Request
    const end = () => socket.end(`HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n${req.sso2.status}`)
    sso.session(req, {}, () => sso.middleware(req, {}, end))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const cookie = browser.cookies
    .filter(({ host }) => host === 'morning.localhost')
    .map(({ name, value }) => `${name}=${value}`)
    .join('; ')
  const { port } = server.address() as AddressInfo
  const headers = { cookie, connection: 'Upgrade', upgrade: 'websocket' }
  const asked = request({ port, host: '127.0.0.1', headers }).end()
  const [answer] = (await once(asked, 'response')) as [IncomingMessage]
  const text = (await answer.toArray()).join('')
  server.close()
  return text
}

test('an upgrade that finds a login which it cannot store makes one status check', async () => {
  const browser = await visitor(setup)
  await logIn(browser, setup.evening, ada)
  setup.emulator.clock.advance(361)
  const before = setup.countCalls('sessionstatus')
  expect(await upgrade(browser)).toBe('anon')
  expect(setup.countCalls('sessionstatus') - before).toBe(1)
})

test('a form that is sent 20 times at once costs one Authenticate, and each waiter a few commands of Redis', async () => {
  const { url, prefix } = setup.morning
  const browser = await visitor(setup)
  const form = await browser.visit(`${url}/login`)
  expect(form.status).toBe(200)
  setup.emulator.faults.add({ operation: 'authenticate', kind: 'slow', ms: 1800 })
  const monitor = await setup.redis.monitor()
  let commands = 0
  monitor.on('monitor', (_time: string, args: string[]) => {
    if (args[0]?.toLowerCase() === 'evalsha' && args.some((arg) => arg.startsWith(`${prefix}login:`))) commands += 1
  })
  const before = setup.countCalls('authenticate')
  await Promise.all(Array.from({ length: 20 }, () => browser.submit(`${url}/login`, { ...ada, return_to: '/' })))
  monitor.disconnect()
  expect(setup.countCalls('authenticate') - before).toBe(1)
  expect(commands).toBeLessThan(20 * 8)
})
