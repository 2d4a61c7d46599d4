import express5, { type Express } from 'express'
import session from 'express-session'
import type { Sso2 } from '../../lib'
import { express4, expresses } from '../support/addresses'
import { ada, addPages, type Gates, grace, logIn, present, useSetup, view } from '../support/setup'
import { type RunningSite, startSite } from '../support/site'

const own = (express: typeof express5) => (sso: Sso2, gates: Gates) => addPages(express().use(sso), sso, gates)

/** A site with a session of its own mounts the router and the middleware alone. */
const foreign = (express: typeof express5) => (sso: Sso2, gates: Gates) => {
  const first = session({ secret: 'a-secret-of-the-site-itself', resave: false, saveUninitialized: false })
  return addPages(express().use(first, sso.router, sso.middleware), sso, gates)
}

describe.each([
  ['Express 4', own(express4), 'sso2.sid'],
  ['Express 4 with a session of its own', foreign(express4), 'connect.sid'],
  ['Express 5 with a session of its own', foreign(express5), 'connect.sid'],
])('a site on %s', (_name, build, cookieName) => {
  const setup = useSetup({ build })
  const at = (path: string) => `${setup.morning.url}${path}`

  test('logs in, with a new session ID and the data kept, and out again without it', async () => {
    const browser = setup.browser()
    await browser.visit(at('/keep'))
    const old = present(browser.cookie(cookieName))
    expect(view(await logIn(browser, setup.morning, ada, '/account?x=1'))).toEqual({
      status: 'loggedin',
      username: 'ada',
      saved: 'kept',
      url: '/account?x=1',
    })
    const known = present(browser.cookie(cookieName))
    expect(known).not.toBe(old)
    const page = await browser.submit(at('/logout'), { return_to: '/bye' })
    expect(view(page)).toEqual({ status: 'anon', url: '/bye' })
    for (const cookie of [old, known]) {
      const headers = { cookie: `${cookieName}=${cookie}` }
      expect((await setup.browser().fetchJson(at('/'), { headers })).json.status).toBe('none')
    }
    expect(view(await logIn(browser, setup.morning, grace))).toMatchObject({ status: 'loggedin', username: 'grace' })
  })
})

let site: RunningSite

/* Our routes are found as the application finds its own: `strict routing` and `case sensitive routing` decide. */

async function serve(app: Express, routes: object = {}): Promise<string> {
  site = await startSite({
    options: { routes },
    build: (sso) => app.use(sso).get(['/about', '/Shop/'], (_req, res) => void res.send('of the site')),
  })
  return `http://127.0.0.1:${new URL(site.url).port}` // not every system resolves the host of the site
}

const statuses = (url: string, paths: readonly string[]) =>
  Promise.all(paths.map(async (path) => (await fetch(url + path, { redirect: 'manual' })).status))

const settings = ['strict routing', 'case sensitive routing'] as const
const cases = [[], settings] as const

describe.each(expresses)('routes of ours on %s', (_name, framework) => {
  afterEach(() => site.close())

  test.each(cases)('with %p %p our pages answer where pages of the site do', async (...enabled) => {
    const app = framework()
    for (const setting of enabled) if (setting) app.enable(setting)
    const url = await serve(app, { logoutAll: '/Leave/' })
    const spellings = (path: string, other: string) => [path, `${path}/`, other, `${other}/`, `${path}//`, `${path}x`]
    const found = async (path: string, other: string) =>
      (await statuses(url, spellings(path, other))).map((status) => status !== 404)
    for (const path of ['/logout', '/sso2/landing'])
      expect(await found(path, path.toUpperCase())).toEqual(await found('/about', '/ABOUT'))
    expect(await found('/Leave', '/leave')).toEqual(await found('/Shop', '/shop'))
  })
})
