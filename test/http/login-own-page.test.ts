import express, { type Express } from 'express'
import type { Sso2 } from '../../lib'
import { Browser } from '../support/agent'
import { browserCalls } from '../support/calls'
import { ada } from '../support/setup'
import { type Sites, startSites } from '../support/sites'

/* A login page that is not ours: of the site itself, or of another site of the publisher that all its papers share. */

let sites: Sites
let browser: Browser
/** What Express was handed. */
const errors: unknown[] = []
const keepError: express.ErrorRequestHandler = (error, _req, res, _next) => {
  errors.push(error)
  res.status(500).send('error')
}

function addAccount(app: Express, sso: Sso2): void {
  app.get('/account', sso.requireLogin(), (req, res) => void res.send(`account of ${req.sso2.user?.accountId}`))
}

/** A form of the site's own, with the two things that it must see to: who sends it, and where it leads. */
function addOwnPage(app: Express, sso: Sso2): void {
  addAccount(app, sso)
  app.get('/sign-in', (req, res) => void res.send(`own page for ${String(req.query['return_to'])}`))
  app.post('/sign-in', express.urlencoded(), (req, res, next) => {
    if (req.get('sec-fetch-site') !== 'same-origin') return void res.sendStatus(403)
    req.sso2.login(req.body).then((result) => {
      if (result.ok) res.redirect(303, sso.returnTo(req.body.return_to))
      else res.status(401).send(result.error)
    }, next)
  })
}

beforeAll(async () => {
  sites = await startSites({
    own: { options: (at) => ({ routes: { login: `${at('own')}/sign-in` } }), after: addOwnPage },
    demand: {
      options: (at) => ({ routes: { login: `${at('demand')}/sign-in?look=dark#form` }, identify: 'on-demand' }),
      after: addOwnPage,
    },
    off: {
      options: () => ({ routes: { login: false } }),
      after: (app, sso) => {
        addAccount(app, sso)
        app.get('/link', (req, res) => void res.send(req.sso2.loginUrl()))
        app.use(keepError)
      },
    },
    guarded: {
      options: (at) => ({ routes: { login: `${at('guarded')}/sign-in` } }),
      after: (app, sso) => {
        app.use(sso.requireLogin())
        app.use(keepError)
      },
    },
    paper: {
      options: (at) => ({ routes: { login: `${at('id')}/login` }, trustedReturnOrigins: [at('id')] }),
      after: addAccount,
    },
    id: { options: (at) => ({ trustedReturnOrigins: [at('paper')] }) },
  })
})
beforeEach(() => {
  sites.emulator.reset()
  browser = new Browser({ now: () => sites.emulator.clock.now() })
})
afterAll(() => sites.close())

const at = (name: string, path: string) => sites.at(name, path)
const paths = (trail: readonly { url: string }[]) =>
  trail.map(({ url }) =>
    url
      .replace(/^http:\/\/([a-z]+)\.localhost:\d+/, '$1 ')
      .replace(/^http:.*\/sso/, 'sso ')
      .replace(/\?.*/, ''),
  )
const calls = (operation: string) => browserCalls(sites.emulator, operation).length

describe("a page of the site's own", () => {
  test('is where guards lead, with the page to come back to; its login comes back', async () => {
    const page = at('own', '/account?tab=orders')
    const form = await browser.visit(page)
    expect([form.status, form.url]).toEqual([
      200,
      at('own', `/sign-in?return_to=${encodeURIComponent('/account?tab=orders')}`),
    ])
    expect(form.body).toBe('own page for /account?tab=orders')
    const { url, body } = await browser.submit(at('own', '/sign-in'), { ...ada, return_to: page })
    expect([url, body]).toEqual([page, expect.stringContaining('account of')])
  })

  test('its address may have a query and a fragment, and a new user is identified before the redirect to it', async () => {
    const page = at('demand', '/account')
    const { trail } = await browser.visit(page)
    expect(paths(trail)).toEqual([
      'demand /account',
      'sso /identify',
      'demand /sso2/landing',
      'demand /account',
      'demand /sign-in',
    ])
    const script = await browser.fetchJson(page)
    expect([script.status, script.json]).toEqual([
      401,
      {
        error: 'login_required',
        loginUrl: at('demand', '/sign-in?look=dark&return_to=%2F#form'),
      },
    ])
    expect((await browser.submit(at('demand', '/sign-in'), { ...ada, return_to: page })).url).toBe(page)
  })

  test.each(['https://evil.example/', undefined])(
    '[F11] a login there with return_to %j ends on the front page',
    async (returnTo) => {
      await browser.visit(at('own', '/'))
      const fields = { ...ada, ...(returnTo === undefined ? {} : { return_to: returnTo }) }
      const { trail } = await browser.submit(at('own', '/sign-in'), fields)
      expect(paths(trail)).toEqual(['own /sign-in', 'own /'])
    },
  )

  test('that a guard stands before is an error that says so, and no endless redirect', async () => {
    const { status, trail } = await browser.visit(at('guarded', '/account'))
    expect([status, trail.length]).toEqual([500, 5])
    expect(String(errors)).toContain('A requireLogin() guards the login page')
  })

  test('switched off, a guard responds 401: with a page, or with JSON that names no login page', async () => {
    const { status, url, body, headers } = await browser.visit(at('off', '/account'))
    expect([status, url]).toEqual([401, at('off', '/account')])
    expect(body).toContain('You need to log in to see this page.')
    expect(headers['cache-control']).toBe('no-store')
    expect(await browser.fetchJson(at('off', '/account'))).toMatchObject({
      status: 401,
      json: { error: 'login_required' },
    })
    expect((await browser.visit(at('off', '/login'))).body).toBe('anon at /login')
    expect((await browser.visit(at('off', '/link'))).status).toBe(500)
    expect(String(errors.at(-1))).toContain('There is no login page: option routes.login is false')
  })

  test('switched off, a guard tells a browser without cookies that it needs them', async () => {
    const page = await new Browser({ cookies: false }).visit(at('off', '/account'))
    expect([page.status, page.body]).toEqual([503, expect.stringContaining('cookies')])
  })
})

describe("another site's page", () => {
  const account = () => browser.visit(at('paper', '/account'))
  const logIn = (returnTo = at('paper', '/account')) =>
    browser.submit(at('id', '/login'), { ...ada, return_to: returnTo })

  test('is where guards lead; its login comes back to the page, which knows of it at once', async () => {
    const form = await account()
    expect([form.status, new URL(form.url).origin]).toEqual([200, at('id', '')])
    expect(new URL(form.url).searchParams.get('return_to')).toBe(at('paper', '/account'))
    const { trail, body } = await logIn()
    expect(paths(trail)).toEqual(['id /login', 'paper /account'])
    expect(body).toContain('account of')
    expect(calls('authenticate')).toBe(1)
  })

  test('a site that shows a login which has ended leads no user in a circle: 503, and when to try again', async () => {
    await browser.visit(at('paper', '/'))
    await browser.visit(at('id', '/'))
    await logIn(at('id', '/'))
    for (const { sid } of sites.emulator.sessions()) sites.emulator.terminate(sid)
    const { status, headers, trail, body } = await account()
    expect([status, headers['retry-after']]).toEqual([503, '5'])
    expect(body).toContain('Logging in does not work at the moment. Please try again in a few seconds.')
    expect(trail.length).toBeLessThan(12)
    sites.emulator.clock.advance(361) // the other site looks again
    expect(paths((await account()).trail).at(-1)).toBe('id /login')
  })
})
