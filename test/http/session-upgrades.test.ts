import { once } from 'node:events'
import http, { type IncomingMessage, type RequestListener } from 'node:http'
import type { Request, Response } from 'express'
import type { Sso2 } from '../../lib'
import { send } from '../support/http'
import { loggedInBrowserAt, type Process, type RunningSite, startSite } from '../support/site'
import { UpgradeAnswer } from '../support/upgrade-answer'

type Heads = Record<string, string>

let setup: RunningSite
/** Cookie of a logged-in user whose `req.session` has data. */
let cookie: string
/** Errors that were thrown instead of passed on. */
let thrown: unknown[]

beforeAll(async () => {
  setup = await startSite()
  const browser = await loggedInBrowserAt(setup)
  await browser.visit(`${setup.url}/keep`)
  cookie = `sso2.sid=${browser.cookie('sso2.sid')}`
})
beforeEach(() => {
  thrown = []
})
afterAll(() => setup.close())

/** What a request without Express is known as after the handlers. */
function viewOf(req: IncomingMessage, error: unknown): string {
  const { session, sso2 } = req as Partial<Request>
  const view = { status: sso2?.status ?? 'no word', user: sso2?.user?.accountId, saved: session?.saved }
  return JSON.stringify({ error: error ? String(error) : undefined, ...view })
}

/** A process whose upgrades and plain requests go through handlers as packages call them. */
const through = (handle: (sso: Sso2, req: Request, res: Response, done: (error?: unknown) => void) => void) =>
  setup.another(
    {},
    (sso): RequestListener =>
      (req, res) => {
        handle(sso, req as Request, res as Response, (error) => {
          if (!res.headersSent && !res.writableEnded)
            res.setHeader('content-type', 'application/json').end(viewOf(req, error))
        })
      },
  )

/** Answers every upgrade by what was found, and hangs up. */
function onUpgrade({ server, sso }: Process, handle: Parameters<typeof through>[0]) {
  server.on('upgrade', (req, socket) => {
    const answer = (error?: unknown) => {
      const body = viewOf(req, error)
      socket.end(`HTTP/1.1 200 OK\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`)
    }
    try {
      handle(sso, req as Request, new UpgradeAnswer(req, socket) as object as Response, answer)
    } catch (error) {
      thrown.push(error)
      socket.destroy()
    }
  })
}

/** An upgrade as a browser's WebSocket begins it. */
async function upgrade(url: string, headers: Heads): Promise<object> {
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

const handle: Parameters<typeof through>[0] = (sso, req, res, done) => sso(req, res, done)

test.each<[who: string, headers: () => Heads, expected: { status: string; user?: string; saved?: string }]>([
  ['with a doubled cookie, which is dropped', () => ({ cookie: `${cookie}; ${cookie}` }), { status: 'none' }],
  ['of a logged-in user', () => ({ cookie }), { status: 'loggedin', user: 'account-ada', saved: 'kept' }],
])('[O17] an upgrade %s through sso, as engine.io does it, and a request without Express', async (...row) => {
  const [, headers, expected] = row
  const other = await setup.another({})
  onUpgrade(other, handle)
  const answer = await upgrade(other.url, headers()).catch(() => 'the connection broke')
  expect({ answer, thrown: thrown.map(String) }).toEqual({ answer: expected, thrown: [] })
  const plain = await through(handle)
  const poll = { accept: '*/*', 'sec-fetch-dest': 'empty', 'sec-fetch-mode': 'cors', ...headers() }
  const { status, body } = await send({ method: 'GET', url: new URL('/socket.io/', plain.url), headers: poll })
  expect([status, JSON.parse(body)]).toEqual([200, expected])
})
