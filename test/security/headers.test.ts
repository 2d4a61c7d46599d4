import express from 'express'
import { type Answered, anonymousCookies, ask, cookieHeader, documentHeaders, postForm } from '../support/addresses'
import { beginFlow, landingToken } from '../support/landing'
import { isExpiry, parseSetCookie } from '../support/raw'
import { ada, addPages, loggedInBrowser, logInAtLast, present, useSetup, visitor } from '../support/setup'

/* The headers of every answer of the package, and what becomes of the site's own on pages for one user. */

/** What a site may say to the caches of others, by a handler in front of `sso` and in its pages. */
const SAID: Readonly<Record<string, string>> = {
  'X-Accel-Expires': '600',
  'Edge-Control': '!no-store, max-age=600',
  'Surrogate-Control': 'max-age=600',
  'CDN-Cache-Control': 'max-age=600',
  'Cloudflare-CDN-Cache-Control': 'public, max-age=600',
  Expires: 'Fri, 01 Jan 2038 00:00:00 GMT',
}
const kept = (headers: object) => Object.keys(SAID).filter((name) => name.toLowerCase() in headers)

const setup = useSetup({
  build: (sso, gates) => {
    const app = express()
    app.use((_req, res, next) => {
      res.set(SAID).set('cache-control', 'public, max-age=60')
      next()
    })
    app.use(sso)
    app.get('/public', (req, res) => void res.json({ status: req.sso2.status }))
    app.get('/guarded', sso.requireLogin(), (req, res) => {
      res.set(SAID).set('cache-control', String(req.query['say'])).json({ status: req.sso2.status })
    })
    app.get('/backend', sso.requireLogin(), (_req, res) => {
      // as a proxy passes on what a backend said of an article
      res.writeHead(200, { 'Cache-Control': 'public, s-maxage=600, max-age=60', 'content-type': 'text/plain' })
      res.end('for users alone')
    })
    app.get('/strict', sso.requireLogin(), (_req, res) => {
      res.set({ 'X-Accel-Expires': '0', 'CDN-Cache-Control': 'no-store' }).json('of one user')
    })
    app.get('/link', (req, res) => void res.json({ url: req.sso2.identifyUrl('/b') }))
    return addPages(app, sso, gates)
  },
})
const site = () => setup.morning.url
beforeEach(() => setup.emulator.faults.clear())

const script = { accept: 'application/json', 'sec-fetch-dest': 'empty', 'sec-fetch-site': 'same-origin' }
const loggedIn = async () => cookieHeader(await loggedInBrowser(setup), site())
const anonymous = () => anonymousCookies(setup)
const form = new URLSearchParams({ ...ada, return_to: '/a' }).toString()
const leave = 'return_to=/a'
const page = (path: string, cookie = '', headers: Record<string, string> = {}) =>
  ask(site(), { path, headers: { ...documentHeaders, cookie, ...headers } })
const fetched = (path: string, cookie = '') => ask(site(), { path, headers: { ...script, cookie } })
const post = (path: string, body: string, cookie = '', headers: Record<string, string> = {}) =>
  postForm(site(), path, body, { headers: { cookie, ...headers } })
const json = (path: string, body: object, cookie = '') =>
  post(path, JSON.stringify(body), cookie, { ...script, 'content-type': 'application/json' })
const whileAway = async (path: string, body: string, cookiesOf: () => Promise<string>) => {
  const cookie = await cookiesOf()
  for (const operation of ['authenticate', 'logout'] as const) setup.emulator.faults.add({ operation, kind: 'down' })
  return post(path, body, cookie)
}
async function land(token = landingToken(setup, { sid: 's-header' }), headers: Record<string, string> = {}) {
  const { cookie, r } = await beginFlow(setup)
  return page(`/sso2/landing?t=${token}&r=${encodeURIComponent(r)}`, cookie, headers)
}

/** Name of the answer, its status, what kind it is, the cookies that it sets (`-` before those it drops), and how to get it. */
type Row = [string, number, 'redirect' | 'page' | 'json', string, () => Promise<Answered>]

const rows: Row[] = [
  ['a first visit', 302, 'redirect', 'b', () => page('/a')],
  ['a landing that is good', 303, 'redirect', 'l sid', () => land()],
  ['a landing with a bad token', 303, 'redirect', 'l', () => land('bad')],
  ['a landing without a token', 400, 'page', '', () => page('/sso2/landing')],
  ['a landing by prefetch', 503, 'json', '', () => land(undefined, { 'sec-purpose': 'prefetch' })],
  ['the login form', 200, 'page', '', async () => page('/login?return_to=/a', await anonymous())],
  ['a login', 303, 'redirect', 'd sid', async () => post('/login', form, await anonymous())],
  ['a login as JSON', 200, 'json', 'd sid', async () => json('/login', ada, await anonymous())],
  ['a wrong password', 401, 'page', '', async () => post('/login', 'username=ada&password=no', await anonymous())],
  ['a login without a session', 303, 'redirect', 'b', () => post('/login', form)],
  ['a login from another site', 403, 'page', '', () => post('/login', form, '', { 'sec-fetch-site': 'cross-site' })],
  ['a login while the platform is away', 503, 'page', '', () => whileAway('/login', form, anonymous)],
  ['the logout form', 200, 'page', '', async () => page('/logout?return_to=/a', await loggedIn())],
  ['a logout', 303, 'redirect', '-sid o', async () => post('/logout', leave, await loggedIn())],
  ['a logout as JSON', 200, 'json', '-sid o', async () => json('/logout', {}, await loggedIn())],
  ['a logout that the platform does not hear', 303, 'redirect', '-sid o', () => whileAway('/logout', leave, loggedIn)],
  ['a guarded page for a script', 401, 'json', '', () => fetched('/account')],
]

const directives = (answer: Answered): Record<string, string> =>
  Object.fromEntries(
    String(answer.headers['content-security-policy'])
      .split(/; */)
      .map((part) => [part.split(' ')[0], part.split(' ').slice(1).join(' ')]),
  )

test.each(rows)(
  '[R7, R10, R11, R13, S13, O22] %s is %i, a %s, is kept by no cache and tells no other site',
  async (name, status, kind, cookies, get) => {
    const answer = await get()
    const { headers } = answer
    expect([answer.status, headers['cache-control'], kept(headers)]).toEqual([status, 'no-store', []])
    // a form tells this site alone where it comes from; a page about a token tells no site
    const isForm = kind === 'page' && !name.startsWith('a landing')
    expect(headers['referrer-policy']).toBe(isForm ? 'same-origin' : 'no-referrer')
    const set = answer.setCookie.map(parseSetCookie)
    const names = set.map((line) => (isExpiry(line) ? '-' : '') + line.name.replace('sso2.', ''))
    expect(names.sort().join(' ')).toBe(cookies)
    expect(headers).not.toHaveProperty('access-control-allow-origin')
    expect((answer.location ?? '') + answer.body).not.toContain(ada.password)
    if (kind === 'redirect') expect([answer.body, typeof answer.location]).toEqual(['', 'string'])
    else expect(answer.location).toBeUndefined()
    if (kind === 'json') expect(headers['content-type']).toMatch(/^application\/json/)
    if (kind !== 'page') return
    expect(headers).toMatchObject({ 'x-frame-options': 'DENY', 'x-content-type-options': 'nosniff' })
    expect(headers['content-type']).toMatch(/^text\/html; *charset=utf-8/i)
    const none = "'none'"
    expect(directives(answer)).toMatchObject({ 'default-src': none, 'frame-ancestors': none, 'base-uri': none })
    expect(headers['content-security-policy']).not.toMatch(/unsafe|\*|data:/)
    expect(answer.body).not.toMatch(/<script|javascript:| on\w+=|https?:\/\/(?!morning\.|evening\.)/i)
  },
)

async function ended() {
  const cookie = await loggedIn()
  // the last of those who are logged in: a look at Identify, in the background, makes anonymous ones
  const sessions = setup.emulator.sessions().filter(({ status }) => status === 'loggedin')
  setup.emulator.terminate(present(sessions.at(-1)).sid)
  setup.emulator.clock.advance(361)
  return cookie
}

async function loggedInElsewhere() {
  const browser = await visitor(setup)
  await logInAtLast(browser, setup.evening, ada)
  setup.emulator.clock.advance(361)
  return cookieHeader(browser, site())
}

/** How a page of the site's own comes to set a cookie of ours. Each returns the cookies to ask the page with. */
test.each<[string, string, () => Promise<string>]>([
  ['the session had ended at the SSO system', '/public', ended],
  ['the user had logged in at another site', '/public', loggedInElsewhere],
  ['the page asked for an Identify address', '/link', async () => ''],
  ['the page began a session', '/keep', async () => ''],
])(
  '[R10, O22] a page that sets a cookie of ours, because %s, is kept by no shared cache',
  async (_why, path, cookies) => {
    const { status, setCookie, headers } = await fetched(path, await cookies())
    expect([status, setCookie.join(), kept(headers)]).toEqual([200, expect.stringContaining('sso2.'), []])
    expect(headers['cache-control']).toMatch(/private|no-store/)
    expect(headers['cache-control']).not.toMatch(/public/)
  },
)

test('[R10, O22] a page that sets no cookie keeps what the site says', async () => {
  for (const cookie of ['', await anonymous(), await loggedIn()]) {
    const { setCookie, headers } = await fetched('/public', cookie)
    expect([setCookie, headers['cache-control'], kept(headers)]).toEqual([[], 'public, max-age=60', Object.keys(SAID)])
  }
})

const all = encodeURIComponent('max-age=60, Public, S-MaxAge=600, proxy-revalidate, immutable')
test.each([
  ['/guarded?say=public', 'private, no-store', []],
  [`/guarded?say=${all}`, 'private, no-store', []],
  ['/guarded?say=public,no-transform', 'no-transform, private, no-store', []],
  ['/guarded?say=private,max-age=60', 'private,max-age=60', []],
  ['/backend', 'private, no-store', []],
  ['/strict', 'private, no-store', ['X-Accel-Expires', 'CDN-Cache-Control']],
])('[R10, O22] a guarded page, %s, is kept by no shared cache: %j', async (path, said, strict) => {
  const { status, headers } = await fetched(path, await loggedIn())
  expect([status, headers['cache-control'], kept(headers)]).toEqual([200, said, strict])
})
