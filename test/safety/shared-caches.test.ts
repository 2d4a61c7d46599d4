import express from 'express'
import { document } from '../regressions/pausable-setup'
import type { Browser } from '../support/agent'
import { addPages, logInAtLast, useSetup } from '../support/setup'

/* A site that lets shared caches keep everything, by a handler in front of `sso`: no private response is kept. Threat R10. */

const SAID: Readonly<Record<string, string>> = {
  'X-Accel-Expires': '600',
  'Edge-Control': '!no-store, max-age=600',
  'Surrogate-Control': 'max-age=600',
  'CDN-Cache-Control': 'max-age=600',
  'Cloudflare-CDN-Cache-Control': 'public, max-age=600',
  'Vercel-CDN-Cache-Control': 'max-age=600',
  'Netlify-CDN-Cache-Control': 'public, max-age=600',
  'X-LiteSpeed-Cache-Control': 'public,max-age=600',
  Expires: 'Fri, 01 Jan 2038 00:00:00 GMT',
}
const NAMES = Object.keys(SAID).map((name) => name.toLowerCase())

const setup = useSetup({
  record: true,
  build: (sso, gates) => {
    const app = express()
    app.use((_req, res, next) => {
      res.set(SAID).set('cache-control', 'public, max-age=600')
      next()
    })
    app.use(sso)
    app.get('/late', sso.requireLogin(), (_req, res) => void res.set(SAID).json('of one user'))
    app.get('/refused', sso.requireLogin({ allow: () => false }))
    app.get('/strict', sso.requireLogin(), (_req, res) => {
      res.set({ 'X-Accel-Expires': '0', 'CDN-Cache-Control': 'no-store' }).json('of one user')
    })
    app.get('/qualified', sso.requireLogin(), (_req, res) => {
      res.set({ 'CDN-Cache-Control': 'private="x", max-age=600' })
      res.set('cache-control', 'public, max-age=600, private="set-cookie"').json('of one user')
    })
    app.get('/public', (_req, res) => void res.send('of all visitors'))
    return addPages(app, sso, gates)
  },
})
let user: Browser
beforeAll(async () => {
  user = setup.browser()
  await logInAtLast(user, setup.morning)
})

const at = (path: string) => `${setup.morning.url}${path}`
const kept = (headers: object) => NAMES.filter((name) => name in headers)
const navigation = { headers: document }

test.each<[what: string, status: number, ask: () => ReturnType<Browser['fetchJson']>]>([
  ['a redirect to Identify', 302, () => setup.browser().fetchJson(at('/'), navigation)],
  ['a guarded page', 200, () => user.fetchJson(at('/account'))],
  ['a guarded page that says so itself', 200, () => user.fetchJson(at('/late'))],
  ['a guarded page that names private fields only', 200, () => user.fetchJson(at('/qualified'))],
  ['a 401', 401, () => setup.browser().fetchJson(at('/account'))],
  ['a 403', 403, () => user.fetchJson(at('/refused'))],
  ['the login form of a script', 200, () => setup.browser().fetchJson(at('/login'))],
])('[R10, O22] %s is kept by no shared cache', async (_what, status, ask) => {
  const response = await ask()
  expect([response.status, kept(response.headers)]).toEqual([status, []])
  expect(response.headers['cache-control']).toMatch(/private|no-store/)
})

test('[R10, O22] the way of a login and a logout sets cookies that no shared cache keeps', async () => {
  const browser = setup.browser()
  const { sent } = setup.morning
  sent.length = 0
  await logInAtLast(browser, setup.morning)
  await browser.submit(at('/logout'), { return_to: '/' })
  const ours = sent.map(({ url, headers }) => ({ url, headers: JSON.parse(headers) as object }))
  const own = ours.filter(({ headers }) => 'set-cookie' in headers || 'location' in headers)
  expect(own.length).toBeGreaterThan(4)
  for (const { url, headers } of own) expect([url, kept(headers)]).toEqual([url, []])
})

test('[R10, O22] what forbids a shared cache stays, and a public page stays as the site made it', async () => {
  const strict = await user.fetchJson(at('/strict'))
  expect(kept(strict.headers)).toEqual(['x-accel-expires', 'cdn-cache-control'])
  const open = await user.fetchJson(at('/public'))
  expect([open.headers['cache-control'], kept(open.headers)]).toEqual(['public, max-age=600', NAMES])
})
