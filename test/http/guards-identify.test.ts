import express, { type Express } from 'express'
import { type Sso2, Sso2SetupError } from '../../lib'
import { identifyRedirects } from '../support/pausable-setup'
import { ada, addPages, type Gates, useSetup, view } from '../support/setup'

/* A site that identifies where it asks for it, and nowhere else. */

const sites: Sso2[] = []

function build(sso: Sso2, gates: Gates): Express {
  const app = express()
  sites.push(sso)
  app.get('/too-early', sso.requireLogin())
  app.use(sso)
  app.use('/known', sso, sso.middleware, sso.identify(), sso.identify())
  app.use('/mine', sso.requireLogin())
  const other = () => sites.filter((one) => one !== sso)[0] ?? sso
  app.get('/other/guard', (...args) => other().requireLogin()(...args))
  app.get('/other/identify', (...args) => other().identify()(...args))
  app.get('/other/site', (...args) => other()(...args))
  app.get('/other/code', (req, res, next) => sso(Object.assign(req, { sso2: { user: {} } }), res, next))
  app.get('/body-not-read', (req, _res, next) => void req.sso2.login(req.body).catch(next))
  addPages(app, sso, gates)
  const failed: express.ErrorRequestHandler = (error, _req, res, _next) =>
    void res.status(500).json(error instanceof Sso2SetupError ? `${error.code} ${error.message}` : error.message)
  return app.use(failed)
}

const setup = useSetup({ build, site: { identify: 'on-demand' } })
const at = (path: string) => `${setup.morning.url}${path}`

test('a page behind the guard knows its user after one redirect, however many guards there are', async () => {
  const browser = setup.browser()
  expect(view(await browser.visit(at('/')))).toEqual({ status: 'none', url: '/' })
  const page = await browser.visit(at('/known'))
  expect(view(page)).toEqual({ status: 'anon', url: '/known' })
  expect(identifyRedirects(page)).toBe(1)
})

test('a script is served by the guard without a redirect, which it could not follow', async () => {
  const { status, json } = await setup.browser().fetchJson(at('/known'))
  expect([status, json]).toEqual([200, { status: 'none', url: '/known' }])
})

const FOREIGN = 'req.sso2 is of another sso2(), or of a second copy of the package: see npm ls express-sso2'

test.each([
  ['/too-early', 'Mount sso (or sso.middleware) before this route'],
  ['/other/guard', FOREIGN],
  ['/other/identify', FOREIGN],
  ['/other/site', FOREIGN],
  ['/other/code', FOREIGN],
  ['/body-not-read', 'req.sso2.login() got undefined. Mount express.urlencoded() or express.json() before this route'],
])('a part that cannot work at %s says why', async (path, message) => {
  const { status, json } = await setup.browser().fetchJson(at(path))
  const text = `ERR_SSO2_SETUP express-sso2: ${message}. See "Sso2SetupError" in node_modules/express-sso2/docs/troubleshooting.md.`
  expect([status, json]).toEqual([500, text])
})

test('a guard sends a visitor straight to the built-in login page, which identifies the visitor itself', async () => {
  const { trail } = await setup.browser().visit(at('/mine'))
  const paths = trail.map(({ url }) => new URL(url).pathname)
  expect(paths.slice(0, 3)).toEqual(['/mine', '/login', '/sso/identify'])
  expect(paths.at(-1)).toBe('/login')
})

/** Fits into a return address, and not into the address of a login page that has it as a parameter. */
const LONG = `/mine?q=${'%D0%B0'.repeat(200)}`

test.each([
  ['letters', LONG],
  ['apostrophes', `/mine/${'a'.repeat(1850)}${"'".repeat(60)}`],
])(
  'a guarded page whose %s make the address of the login page too long is lost, and the login works',
  async (_what, path) => {
    const browser = setup.browser()
    const form = await browser.visit(at(path))
    const page = await browser.submit(form.url, ada)
    expect([view(page).status, page.url]).toEqual(['loggedin', at('/')])
  },
)

test('a form at an address that Identify cannot lead back to is sent again, without its return address', async () => {
  const browser = setup.browser()
  const form = await browser.submit(at(`/login?return_to=${encodeURIComponent(LONG)}`), ada)
  expect(form.url).toBe(at('/login?notice=session_ended'))
  expect(view(await browser.submit(form.url, ada)).status).toBe('loggedin')
})
