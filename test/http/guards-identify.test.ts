import express, { type Express } from 'express'
import { type Sso2, Sso2SetupError } from '../../lib'
import { identifyRedirects } from '../support/pausable-setup'
import { addPages, type Gates, useSetup, view } from '../support/setup'

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
