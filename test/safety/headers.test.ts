import express from 'express'
import { ada, addPages, eventually, loggedInBrowser, logInAtLast, present, useSetup, visitor } from '../support/setup'
import {
  type Answered,
  anonymousCookies,
  ask,
  cookieHeader,
  cookiesAfter,
  documentHeaders,
  postForm,
} from './address-support'
import { isExpiry, parseSetCookie } from './cookies-raw'
import { beginFlow, landingToken } from './session-support'

const setup = useSetup({
  site: (name) => (name === 'evening' ? { loginLimit: { attempts: 1, perSeconds: 600 } } : {}),
  build: (sso, gates) => {
    const app = express().use(sso)
    app.get('/public', (req, res) => {
      res.set('cache-control', 'public, max-age=60')
      res.json({ status: req.sso2.status })
    })
    app.get('/guarded', sso.requireLogin(), (req, res) => {
      res.set('cache-control', String(req.query['say']))
      res.set({ 'cdn-cache-control': 'public, max-age=60', 'surrogate-control': 'max-age=60' })
      res.json({ status: req.sso2.status })
    })
    app.get('/backend', sso.requireLogin(), (_req, res) => {
      // as a proxy passes on what a backend said of an article
      res.writeHead(200, { 'Cache-Control': 'public, s-maxage=600, max-age=60', 'content-type': 'text/plain' })
      res.end('for users alone')
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
const wrongForm = 'username=ada&password=wrong&return_to=/a'
const page = (path: string, cookie = '', headers: Record<string, string> = {}) =>
  ask(site(), { path, headers: { ...documentHeaders, cookie, ...headers } })
const fetched = (path: string, cookie = '', method = 'GET') =>
  ask(site(), { method, path, headers: { ...script, cookie } })
const post = (path: string, body: string, cookie = '', headers: Record<string, string> = {}) =>
  postForm(site(), path, body, { headers: { cookie, ...headers } })
const json = (path: string, body: object, cookie = '') =>
  post(path, JSON.stringify(body), cookie, { ...script, 'content-type': 'application/json' })
const whileAway = async (path: string, body: string, cookiesOf: () => Promise<string>) => {
  const cookie = await cookiesOf()
  for (const operation of ['authenticate', 'logout'] as const) setup.emulator.faults.add({ operation, kind: 'down' })
  return post(path, body, cookie)
}
const land = async (
  query = '',
  token = landingToken(setup, { sid: 's-header' }),
  headers: Record<string, string> = {},
) => {
  const { cookie, r } = await beginFlow(setup)
  return page(`/sso2/landing?t=${token}&r=${encodeURIComponent(r)}${query}`, cookie, headers)
}

type Kind = 'redirect' | 'page' | 'json'
/** Name of the answer, its status, what kind it is, the cookies that it sets (`-` before those it drops), and how to get it. */
type Row = [string, number, Kind, string, () => Promise<Answered>]

const rows: Row[] = [
  ['a first visit', 302, 'redirect', 'b', () => page('/a')],
  ['a landing that is good', 303, 'redirect', 'l sid', () => land()],
  ['a landing with a bad token', 303, 'redirect', 'l', () => land('', 'bad')],
  ['a landing without a token', 400, 'page', '', () => page('/sso2/landing')],
  ['a landing with two tokens, as JSON', 400, 'json', '', () => fetched('/sso2/landing?t=a&t=b')],
  ['a landing by prefetch', 503, 'page', '', () => land('', undefined, { 'sec-purpose': 'prefetch' })],
  ['the login form of a new visitor', 302, 'redirect', 'b', () => page('/login')],
  ['the login form', 200, 'page', '', async () => page('/login?return_to=/a', await anonymous())],
  ['the login form for a script', 200, 'page', '', () => fetched('/login')],
  ['the login form of a known user', 302, 'redirect', '', async () => page('/login?return_to=/a', await loggedIn())],
  ['a login', 303, 'redirect', 'd sid', async () => post('/login', form, await anonymous())],
  ['a login as JSON', 200, 'json', 'd sid', async () => json('/login', ada, await anonymous())],
  ['a login with a wrong password', 401, 'page', '', async () => post('/login', wrongForm, await anonymous())],
  ['a login without a session', 303, 'redirect', 'b', () => post('/login', form)],
  ['a login without a session, as JSON', 401, 'json', '', () => json('/login', ada)],
  ['a login without a password', 400, 'page', '', async () => post('/login', 'username=ada', await anonymous())],
  ['a login beyond the limit', 429, 'page', '', () => limited()],
  ['a login from another site', 403, 'page', '', () => post('/login', form, '', { 'sec-fetch-site': 'cross-site' })],
  ['a login while the platform is away', 503, 'page', '', () => whileAway('/login', form, anonymous)],
  ['a login with a body too large', 413, 'page', '', () => post('/login', `a=${'b'.repeat(9000)}`)],
  ['the logout form', 200, 'page', '', async () => page('/logout?return_to=/a', await loggedIn())],
  ['a logout', 303, 'redirect', '-sid o', async () => post('/logout', leave, await loggedIn())],
  ['a logout of everything', 303, 'redirect', '-sid o', async () => post('/logout-all', leave, await loggedIn())],
  ['a logout as JSON', 200, 'json', '-sid o', async () => json('/logout', {}, await loggedIn())],
  ['a logout that the platform does not hear', 303, 'redirect', '-sid o', () => whileAway('/logout', leave, loggedIn)],
  ['a logout from another site', 403, 'page', '', () => post('/logout', '', '', { 'sec-fetch-site': 'same-site' })],
  ['a guarded page for a script', 401, 'json', '', () => fetched('/account')],
  ['a guarded page for a new visitor', 302, 'redirect', 'b', () => page('/account')],
]

/** The evening site takes one login in ten minutes. */
async function limited() {
  const { evening } = setup
  const cookie = cookieHeader(await visitor(setup, evening), evening.url)
  const send = () => postForm(evening.url, '/login', 'username=unknown&password=wrong', { headers: { cookie } })
  // while Redis is slow, a process counts alone: test/safety/login-limits.test.ts has the exact limit
  await eventually(async () => (await send()).status === 429)
  return send()
}

const directives = (answer: Answered): Record<string, string> =>
  Object.fromEntries(
    String(answer.headers['content-security-policy'])
      .split(/; */)
      .map((part) => [part.split(' ')[0], part.split(' ').slice(1).join(' ')]),
  )

describe('the answer to', () => {
  test.each(rows)(
    '[R7, R10, R11, R13, S13] %s is %i, a %s, is kept by no cache and tells no other site',
    async (name, status, kind, cookies, get) => {
      const answer = await get()
      const { headers } = answer
      expect([answer.status, headers['cache-control'], headers['referrer-policy']]).toEqual([
        status,
        'no-store',
        // a form tells this site alone where it comes from; a page about a token tells no site
        kind === 'page' && !name.startsWith('a landing') ? 'same-origin' : 'no-referrer',
      ])
      const set = answer.setCookie.map(parseSetCookie)
      expect(
        set
          .map((line) => (isExpiry(line) ? '-' : '') + line.name.replace('sso2.', ''))
          .sort()
          .join(' '),
      ).toBe(cookies)
      for (const { attributes } of set) {
        expect(attributes).toMatchObject({ path: '/', httponly: '' })
        expect(attributes['samesite']?.toLowerCase()).toBe('lax')
        expect(attributes).not.toHaveProperty('domain')
      }
      expect(headers).not.toHaveProperty('expires')
      expect(headers).not.toHaveProperty('access-control-allow-origin')
      if (kind === 'redirect') expect([answer.body, typeof answer.location]).toEqual(['', 'string'])
      else expect(answer.location).toBeUndefined()
      expect(answer.location ?? '').not.toContain(ada.password)
      if (kind === 'json') expect(headers['content-type']).toMatch(/^application\/json/)
      if (kind !== 'page') return
      expect(headers).toMatchObject({ 'x-frame-options': 'DENY', 'x-content-type-options': 'nosniff' })
      expect(headers['content-type']).toMatch(/^text\/html; *charset=utf-8/i)
      expect(directives(answer)).toMatchObject({
        'default-src': "'none'",
        'frame-ancestors': "'none'",
        'base-uri': "'none'",
      })
      expect(headers['content-security-policy']).not.toMatch(/unsafe|\*|data:/)
      expect(answer.body).not.toMatch(/<script|javascript:| on\w+=|https?:\/\/(?!morning\.|evening\.)/i)
      expect(answer.body).not.toContain(ada.password)
    },
  )

  test('[R13] a login form lets its form go to the site and the SSO system alone', async () => {
    const answer = await page('/login', await anonymous())
    const targets = present(directives(answer)['form-action']).split(' ')
    expect(targets.filter((target) => target !== "'self'").sort()).toEqual(
      [site(), new URL(setup.emulator.url).origin].sort(),
    )
  })
})

/** How a page of the site's own comes to set a cookie of ours. Each returns the cookies to ask the page with. */
const occasions: [string, string, () => Promise<string>][] = [
  ['the session had ended at the SSO system', '/public', ended],
  ['the user had logged in at another site', '/public', loggedInElsewhere],
  ['the session cookie came twice', '/public', async () => 'sso2.sid=a; sso2.sid=b'],
  ['a logout was confirmed at last', '/public', confirmedLate],
  ['a logout was confirmed at last, and the page says nothing', '/page', confirmedLate],
  ['the page asked for an Identify address', '/link', async () => ''],
  ['the page began a session', '/keep', async () => ''],
]

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

async function confirmedLate() {
  const answer = await whileAway('/logout', leave, loggedIn)
  setup.emulator.faults.clear()
  await eventually(async () => setup.morning.sso.client.isAvailable)
  return cookiesAfter('', answer.setCookie)
}

describe('a page of the site that sets a cookie of ours is kept by no shared cache', () => {
  test.each(occasions)('[R10] when %s', async (_name, path, cookiesOf) => {
    const cookies = await cookiesOf()
    let answer = await fetched(path, cookies)
    // a page sets none while the background is telling of the same logout, or where a busy machine kept Redis back
    await eventually(async () => {
      if (answer.setCookie.length === 0) answer = await fetched(path, cookies)
      return answer.setCookie.length > 0
    })
    expect(answer.status).toBe(200)
    expect(answer.setCookie.join()).toContain('sso2.')
    expect(answer.headers['cache-control']).toMatch(/private|no-store/)
    expect(answer.headers['cache-control']).not.toMatch(/public/)
  })

  test('[R10] and one that sets none keeps what the site says', async () => {
    for (const cookie of ['', await anonymous(), await loggedIn()]) {
      const answer = await fetched('/public', cookie)
      expect([answer.setCookie, answer.headers['cache-control']]).toEqual([[], 'public, max-age=60'])
    }
  })

  const all = 'max-age=60, Public, S-MaxAge=600, proxy-revalidate, immutable'
  test.each([
    ['/guarded?say=public', 'private'],
    [`/guarded?say=${encodeURIComponent(all)}`, 'private, max-age=60, immutable'],
    ['/guarded?say=no-cache', 'private, no-cache'],
    ['/guarded?say=no-store', 'no-store'],
    ['/backend', 'private, max-age=60'],
    ['/account', 'private, no-store'],
  ])('[R10] and a guarded one, %s, is kept by no shared cache: %j', async (path, said) => {
    const { status, headers } = await fetched(path, await loggedIn())
    expect([status, headers['cache-control']]).toEqual([200, said])
    expect([headers['cdn-cache-control'], headers['surrogate-control']]).toEqual([undefined, undefined])
  })
})
