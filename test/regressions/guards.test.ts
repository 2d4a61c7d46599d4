import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import express, { type Express, type NextFunction, type Request, type Response } from 'express'
import { type Sso2, Sso2SetupError, Sso2UnavailableError, sso2 } from '../../lib'
import { LANGUAGES, TEXTS } from '../../lib/config/texts'
import { addPages, type Gates, grace } from '../flows/setup'
import type { Browser } from '../support/agent'
import { loggedInBrowserAt, type RunningSite, startSite } from './support'

/* Which users a guard with `allow` lets in, and which options a guard takes. */

type Allow = NonNullable<Parameters<Sso2['requireLogin']>[0]>['allow']

let setup: RunningSite
afterEach(() => setup.close())

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
  const { status, json } = await browser.fetchJson(`${setup.url}${path}`)
  return [status, json]
}

describe('requireLogin({ allow })', () => {
  let browser: Browser
  beforeEach(async () => {
    setup = await startSite({ build: guardedPages })
    browser = await loggedInBrowserAt(setup)
  })

  test('lets in the users that it allows, and is told user and request', async () => {
    for (const path of ['/yes', '/later', '/absent'])
      expect(await json(browser, path)).toEqual([200, { seen: 'account-ada' }])
    const other = await loggedInBrowserAt(setup, grace)
    expect(await json(other, '/yes')).toEqual([200, { seen: 'account-grace' }])
    expect(await json(other, '/later')).toEqual([403, { error: 'not_allowed' }])
  })

  test.each(['/no', '/no-later', '/not-there', '/fresh'])('%s: 403, as page or JSON, with no-store', async (path) => {
    expect(await json(browser, path)).toEqual([403, { error: 'not_allowed' }])
    const { status, body, headers } = await browser.visit(`${setup.url}${path}`)
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
    expect(await json(setup.browser(), '/throws')).toEqual([401, expect.objectContaining({ error: 'login_required' })])
  })
})

test('every language has words of its own for both pages of a guard', () => {
  for (const code of ['not_allowed', 'login_required'] as const)
    expect(new Set(LANGUAGES.map((language) => TEXTS[language][code])).size).toBe(LANGUAGES.length)
})

test('a guard with an option that is unknown or wrong is refused where it is made', async () => {
  setup = await startSite()
  for (const options of [{ alow: () => false }, { allow: ['editors'] }, { fresh: 'no' }])
    expect(() => setup.sso.requireLogin(options as object)).toThrow(Sso2SetupError)
  for (const notOptions of [() => false, [], null, 'editors'])
    expect(() => setup.sso.requireLogin(notOptions as object)).toThrow(
      'The options of requireLogin() must be an object',
    )
  const request = new IncomingMessage(new Socket()) as object
  expect(() => setup.sso.requireLogin(request)).toThrow('Write sso.requireLogin(), with brackets')
  expect(() => sso2(request)).toThrow('Write const sso = sso2(), then app.use(sso)')
  for (const notOptions of [null, 'http://localhost', []] as unknown[])
    expect(() => sso2(notOptions as object)).toThrow('The options of sso2() must be an object')
  expect(() => setup.sso.requireLogin({ alow: undefined } as object)).not.toThrow()
})

/** The compiler checks the point of this test: the type of `id`. */
test('a handler behind guards keeps the types of the parameters of its route', async () => {
  const build = (sso: Sso2) =>
    express()
      .use(sso)
      .get('/articles/:id', sso.identify(), sso.requireLogin(), (req, res) => {
        const { id }: { id: string } = req.params
        res.json({ id })
      })
  setup = await startSite({ build: (sso, gates) => addPages(build(sso), sso, gates) })
  expect(await json(await loggedInBrowserAt(setup), '/articles/7')).toEqual([200, { id: '7' }])
})
