import { once } from 'node:events'
import http, { type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { transformSync } from '@swc/core'
import express, { type Express, type Request, type Response } from 'express'
import { WebSocket } from 'ws'
import type { Sso2 } from '../../lib'
import type { Browser } from '../support/agent'
import { blocksBelow } from '../support/markdown'
import { pages } from '../support/setup'
import { loggedInBrowserAt, type Process, type RunningSite, startSite } from '../support/site'
import { readText } from '../support/sources'
import { UpgradeAnswer } from '../support/upgrade-answer'

/* Real sockets: of the example of docs/scripts.md, as it stands there, and of express-ws. */

const example = blocksBelow(readText('docs', 'scripts.md'), '## WebSockets')[0]?.code ?? ''

function runExample(app: Express, sso: Sso2, siteOrigin: string): Server {
  const { code } = transformSync(example, { jsc: { parser: { syntax: 'typescript' } }, module: { type: 'commonjs' } })
  const run = new Function('require', 'exports', 'app', 'sso', 'siteOrigin', `${code}\nreturn server`)
  return run(require, {}, app, sso, siteOrigin) as Server
}

let setup: RunningSite
let server: Server
beforeEach(async () => {
  setup = await startSite()
})
afterEach(async () => {
  server.close()
  server.closeAllConnections()
  await setup.close()
})

async function startExample(): Promise<void> {
  server = runExample(pages(setup.sso, setup.gates), setup.sso, setup.url)
  await once(server.listen(0, '127.0.0.1'), 'listening')
}

/** @returns the first message of a socket, or how the socket ended without one */
async function hear(browser: Browser, { path = '/', origin = setup.url } = {}): Promise<string> {
  const cookie = browser.cookies.map(({ name, value }) => `${name}=${value}`).join('; ')
  const { port } = server.address() as AddressInfo
  const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`, { headers: { cookie, origin } })
  const message = once(socket, 'message').then(([text]) => String(text))
  const closed = once(socket, 'close').then(() => 'closed')
  const first = await Promise.race([message, closed]).catch(() => 'hung up')
  socket.terminate()
  return first
}

test('[F1] a user is greeted by the socket, after a check if it is due; no new user, page of another origin or ended login opens one', async () => {
  await startExample()
  const browser = await loggedInBrowserAt(setup)
  expect(await hear(browser)).toBe('Hello, account-ada')
  expect(await hear(setup.browser())).toBe('hung up')
  for (const origin of ['http://evil.localhost', `${setup.url}.evil.example`, 'null'])
    expect(await hear(browser, { origin })).toBe('hung up')
  setup.emulator.clock.advance(361)
  expect(await hear(browser)).toBe('Hello, account-ada')
  for (const { sid } of setup.emulator.sessions()) setup.emulator.terminate(sid)
  setup.emulator.clock.advance(361)
  expect(await hear(browser)).toBe('hung up')
})

/** express-ws has no types of its own. */
type WithSockets = Express & { ws(path: string, ...handlers: readonly unknown[]): void }
const expressWs: (app: Express, server: Server) => unknown = require('express-ws')

test('the handler of a socket of express-ws reads the login', async () => {
  const app = express()
  server = app.listen(0, '127.0.0.1')
  expressWs(app, server)
  app.use(setup.sso)
  const routes = app as Express as WithSockets
  routes.ws('/', (socket: WebSocket, req: Request) => socket.send(`Hello, ${req.sso2.status}`))
  await once(server, 'listening')
  expect(await hear(await loggedInBrowserAt(setup))).toBe('Hello, loggedin')
  expect(await hear(setup.browser())).toBe('Hello, none')
})

/** What a request without Express is known as after the handlers. */
function viewOf(req: IncomingMessage, error: unknown): string {
  const { session, sso2 } = req as Partial<Request>
  const view = { status: sso2?.status ?? 'no word', user: sso2?.user?.accountId, saved: session?.saved }
  return JSON.stringify({ error: error ? String(error) : undefined, ...view })
}

/** Answers every upgrade by what was found, and hangs up. */
function answerUpgrades({ server: port, sso }: Process) {
  port.on('upgrade', (req, socket) => {
    const answer = (error?: unknown) => {
      const body = viewOf(req, error)
      socket.end(`HTTP/1.1 200 OK\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`)
    }
    try {
      sso(req as Request, new UpgradeAnswer(req, socket) as object as Response, answer)
    } catch (error) {
      answer(error)
    }
  })
}

/** An upgrade as a browser's WebSocket begins it. */
async function upgrade(url: string, headers: Record<string, string>): Promise<object> {
  const { port, host } = new URL(url)
  const handshake = {
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==',
    'sec-fetch-dest': 'websocket',
    'sec-fetch-mode': 'websocket',
  }
  const request = http.get({ host: '127.0.0.1', port, path: '/ws?x=1', headers: { host, ...handshake, ...headers } })
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  let body = ''
  for await (const chunk of response) body += String(chunk)
  return JSON.parse(body) as object
}

test('[O17] an upgrade through sso, as engine.io does it: the user and the session are known, and a doubled cookie is dropped', async () => {
  const browser = await loggedInBrowserAt(setup)
  await browser.visit(`${setup.url}/keep`)
  const other = await setup.another({})
  server = other.server
  answerUpgrades(other)
  const cookie = `sso2.sid=${browser.cookie('sso2.sid')}`
  expect(await upgrade(other.url, { cookie })).toEqual({ status: 'loggedin', user: 'account-ada', saved: 'kept' })
  expect(await upgrade(other.url, { cookie: `${cookie}; ${cookie}` })).toEqual({ status: 'none' })
})
