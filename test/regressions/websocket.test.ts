import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { transformSync } from '@swc/core'
import type { Express } from 'express'
import { WebSocket } from 'ws'
import type { Sso2 } from '../../lib'
import type { Browser } from '../support/agent'
import { loggedInUser, pages, type RunningSite, startSite } from './support'

/* The example of docs/websockets.md, as it stands there, with real sockets. */

const page = readFileSync(path.join(__dirname, '..', '..', 'docs', 'websockets.md'), 'utf8')
const [, example = ''] = /^```ts\n([\s\S]*?upgrade[\s\S]*?)^```/m.exec(page) ?? []

function runExample(app: Express, sso: Sso2, siteOrigin: string): Server {
  const { code } = transformSync(example, { jsc: { parser: { syntax: 'typescript' } }, module: { type: 'commonjs' } })
  const run = new Function('require', 'exports', 'app', 'sso', 'siteOrigin', `${code}\nreturn server`)
  return run(require, {}, app, sso, siteOrigin) as Server
}

let stage: RunningSite
let server: Server
beforeAll(async () => {
  stage = await startSite()
  server = runExample(pages(stage.sso, stage.gates) as Express, stage.sso, stage.url)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
})
afterAll(async () => {
  server.close()
  server.closeAllConnections()
  await stage.close()
})

/** What the socket of a page says first. */
async function hear(browser: Browser, origin = stage.url): Promise<string> {
  const cookie = browser.cookies.map(({ name, value }) => `${name}=${value}`).join('; ')
  const { port } = server.address() as AddressInfo
  const socket = new WebSocket(`ws://127.0.0.1:${port}/`, { headers: { cookie, origin } })
  try {
    const [said] = (await once(socket, 'message')) as [Buffer]
    return said.toString()
  } catch {
    return 'hung up'
  } finally {
    socket.terminate()
  }
}

test('a user is greeted by the socket, and a new user is not', async () => {
  expect(await hear(await loggedInUser(stage))).toBe('Hello, account-ada')
  expect(await hear(stage.browser())).toBe('hung up')
})

test('[F1] a page of another origin opens none', async () => {
  const browser = await loggedInUser(stage)
  for (const origin of ['http://evil.localhost', `${stage.url}.evil.example`, 'null'])
    expect(await hear(browser, origin)).toBe('hung up')
})

test('a login that is stale is checked before the socket opens, and one that has ended opens none', async () => {
  const browser = await loggedInUser(stage)
  stage.emulator.clock.advance(361)
  const before = stage.count('sessionstatus')
  expect(await hear(browser)).toBe('Hello, account-ada')
  expect(stage.count('sessionstatus') - before).toBe(1)
  for (const { sid } of stage.emulator.sessions()) stage.emulator.terminate(sid)
  stage.emulator.clock.advance(361)
  expect(await hear(browser)).toBe('hung up')
})
