import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import express, { type Express, type NextFunction, type Request, type Response } from 'express'
import { WebSocket } from 'ws'
import { type Sso2, Sso2SetupError, Sso2UnavailableError } from '../../lib'
import { LANGUAGES, TEXTS } from '../../lib/config/texts'
import { addPages, type Gates, grace, logIn } from '../flows/network'
import type { Browser } from '../support/agent'
import { loggedInUser, type RunningSite, startSite } from './support'

/* What a guard lets pass: users that `allow` lets in, and sockets of express-ws. */

type Allow = NonNullable<Parameters<Sso2['requireLogin']>[0]>['allow']

let stage: RunningSite
afterEach(() => stage.close())

const allowed: Record<string, Allow> = {
  yes: () => true,
  later: async (user, req) => user.accountId === 'account-ada' && req.path === '/later',
  no: () => false,
  'no-later': async () => false,
  'not-there': (user) => (user as { groups?: string[] }).groups?.includes('editors') as boolean,
  throws: () => JSON.parse('{'),
  rejects: () => Promise.reject(new Sso2UnavailableError('roles', true, 'the table is away')),
  'no-answer': (() => 'false') as never,
  absent: undefined,
}

function guardedPages(sso: Sso2, gates: Gates): Express {
  const app = express().use(sso)
  const page = (req: Request, res: Response) => void res.json({ seen: req.sso2.user?.accountId })
  for (const [name, allow] of Object.entries(allowed)) app.get(`/${name}`, sso.requireLogin({ allow }), page)
  app.get('/fresh', sso.requireLogin({ fresh: true, allow: allowed['no'] }), page)
  addPages(app, sso, gates)
  app.use((error: Error, _req: Request, res: Response, _next: NextFunction) => void res.status(500).json(error.message))
  return app
}

const json = async (browser: Browser, path: string) => {
  const { status, json } = await browser.fetchJson(`${stage.url}${path}`)
  return [status, json]
}

describe('requireLogin({ allow })', () => {
  let browser: Browser
  beforeEach(async () => {
    stage = await startSite({ build: guardedPages })
    browser = await loggedInUser(stage)
  })

  test('lets in the users that it allows, and is told user and request', async () => {
    for (const path of ['/yes', '/later', '/absent'])
      expect(await json(browser, path)).toEqual([200, { seen: 'account-ada' }])
    const other = stage.browser()
    await logIn(other, stage, grace)
    expect(await json(other, '/yes')).toEqual([200, { seen: 'account-grace' }])
    expect(await json(other, '/later')).toEqual([403, { error: 'not_allowed' }])
  })

  test.each(['/no', '/no-later', '/not-there', '/fresh'])('%s: 403, as page or JSON, with no-store', async (path) => {
    expect(await json(browser, path)).toEqual([403, { error: 'not_allowed' }])
    const { status, body, headers } = await browser.visit(`${stage.url}${path}`)
    expect([status, headers['cache-control']]).toEqual([403, 'no-store'])
    expect(body).toContain(TEXTS.en.not_allowed)
  })

  test.each([
    ['/throws', /JSON/],
    ['/rejects', /^roles: the table is away$/],
    ['/no-answer', /^express-sso2: Option allow of requireLogin\(\) must return true or false\. See /],
  ])('%s: its error goes to the error handler', async (path, message) => {
    expect(await json(browser, path)).toEqual([500, expect.stringMatching(message)])
  })

  test('is not called for a user who is not logged in', async () => {
    expect(await json(stage.browser(), '/throws')).toEqual([401, expect.objectContaining({ error: 'login_required' })])
  })
})

test('every language has words of its own for both pages of a guard', () => {
  for (const code of ['not_allowed', 'login_required'] as const)
    expect(new Set(LANGUAGES.map((language) => TEXTS[language][code])).size).toBe(LANGUAGES.length)
})

test('a guard with an option that is unknown or wrong is refused where it is made', async () => {
  stage = await startSite()
  for (const options of [{ alow: () => false }, { allow: ['editors'] }, { fresh: 'no' }])
    expect(() => stage.sso.requireLogin(options as object)).toThrow(Sso2SetupError)
  for (const notOptions of [() => false, [], null, 'editors'])
    expect(() => stage.sso.requireLogin(notOptions as object)).toThrow(
      'The options of requireLogin() must be an object',
    )
  expect(() => stage.sso.requireLogin({ alow: undefined } as object)).not.toThrow()
})

/** express-ws has no types of its own. */
type WithSockets = Express & { ws(path: string, ...handlers: readonly unknown[]): void }
const expressWs: (app: Express, server: Server) => unknown = require('express-ws')

describe('express-ws', () => {
  let server: Server
  afterEach(() => server.close())

  async function serve(): Promise<void> {
    stage = await startSite()
    const app = express()
    server = app.listen(0, '127.0.0.1')
    expressWs(app, server)
    app.use(stage.sso)
    const routes = app as Express as WithSockets
    const greet = (socket: WebSocket, req: Request) =>
      socket.send(`Hello, ${req.sso2.user?.accountId ?? req.sso2.status}`)
    routes.ws('/guarded', stage.sso.requireLogin(), greet)
    routes.ws('/editors', stage.sso.requireLogin({ allow: () => false }), greet)
    routes.ws('/known', stage.sso.identify(), greet)
    await once(server, 'listening')
  }

  /** @returns the first message, or how the socket was closed */
  async function hear(browser: Browser, path: string): Promise<string> {
    const cookie = browser.cookies.map(({ name, value }) => `${name}=${value}`).join('; ')
    const { port } = server.address() as AddressInfo
    const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`, { headers: { cookie, origin: stage.url } })
    const said = once(socket, 'message').then(([text]) => String(text))
    const closed = once(socket, 'close').then(() => 'closed')
    const first = await Promise.race([said, closed])
    socket.terminate()
    return first
  }

  test('a guard in front of a socket lets users in, and closes the sockets of all others', async () => {
    await serve()
    const browser = await loggedInUser(stage)
    expect(await hear(browser, '/guarded')).toBe('Hello, account-ada')
    expect(await hear(browser, '/editors')).toBe('closed')
    expect(await hear(browser, '/known')).toBe('Hello, account-ada')
    expect(await hear(stage.browser(), '/guarded')).toBe('closed')
    expect(await hear(stage.browser(), '/known')).toBe('Hello, none')
  })
})
