import express, { type default as express5 } from 'express'
import type { Sso2 } from '../../lib'
import { withoutFlowParameter } from '../../lib/decide/return-to'
import { ask, cookieHeader, documentHeaders, expresses, headOf, returnAddressIn } from '../safety/address-support'
import { askRaw, parseSetCookie } from '../safety/cookies-raw'
import { beginFlow, document, land, landingToken } from '../safety/session-support'
import { ada, addPages, type Gates, view, visitor } from '../support/setup'
import { type RunningSite, startSite, withPages } from './support'

const links = (app: express5.Express) =>
  app.get('/links', (req, res) => {
    res.json([req.sso2.identifyUrl('/page?a'), req.sso2.identifyUrl('/page?b'), req.sso2.identifyUrl('/x?q=a b')])
  })

let setup: RunningSite
/** Identifies where a page asks for it. */
let onDemand: RunningSite
const at = (path: string) => `${setup.url}${path}`

beforeAll(async () => {
  setup = await startSite({ build: withPages(links) })
  onDemand = await startSite({ options: { identify: 'on-demand' }, build: withPages(links) })
})
afterAll(() => Promise.all([setup.close(), onDemand.close()]))

/** An address of the site with exactly so many characters. */
const ofLength = (length: number, path = '/page') => `${at(path)}?x=`.padEnd(length, 'a')
/** An address as a message can show it. */
const brief = (url: string | null) => url?.replace(/a{9,}/g, (run) => `(${run.length} times a)`)

describe('[R8] a page whose address is long', () => {
  test.each([
    [1990, 4],
    [2030, 4],
    [2048, 4],
    [2049, 1],
    [3000, 1],
  ])('(%i characters) ends at itself', async (length, requests) => {
    const page = await setup.browser().visit(ofLength(length))
    expect([page.status, brief(page.url), page.trail.length]).toEqual([200, brief(ofLength(length)), requests])
    expect(view(page).status).toBe(requests === 1 ? 'none' : 'anon') // too long for a redirect
  })

  test('(2048 characters) and guarded is where the login ends', async () => {
    const browser = setup.browser()
    const url = ofLength(2048, '/account')
    const form = await browser.visit(url)
    expect([form.status, new URL(form.url).pathname]).toEqual([200, '/login'])
    const return_to = String(new URL(form.url).searchParams.get('return_to'))
    expect(brief(at(return_to))).toBe(brief(url))
    const page = await browser.submit(at('/login'), { ...ada, return_to })
    expect([page.status, brief(page.url), view(page).status]).toEqual([200, brief(url), 'loggedin'])
  })
})

test('[L1] several identifyUrl() in one answer set one cookie, and all work, one after the other; a space is encoded', async () => {
  const browser = onDemand.browser()
  const { json, headers } = await browser.fetchJson(`${onDemand.url}/links`, { headers: document })
  const names = headers['set-cookie']?.map((line) => parseSetCookie(line).name)
  expect(names?.filter((name) => name === 'sso2.b')).toHaveLength(1)
  for (const [index, url] of ['/page?a', '/page?b', '/x?q=a%20b'].entries()) {
    const page = await browser.visit(json[index])
    expect([view(page), page.trail.length]).toEqual([{ status: 'anon', url }, 3])
  }
})

describe('a space that the user wrote', () => {
  const given: [string, string][] = [
    ['/search?q=a b', '/search?q=a%20b'],
    ['/a b', '/a%20b'],
    ['/a b?c d=e f#g h', '/a%20b?c%20d=e%20f'],
    ['/search?q=a%20b c', '/search?q=a%20b%20c'],
  ]
  test.each(given)('raw in a return address, %s, ends encoded, from link, form and logout', async (raw, path) => {
    for (const return_to of [raw, at(raw)]) {
      const browser = setup.browser()
      await browser.visit(at('/'))
      const page = await browser.submit(at('/login'), { ...ada, return_to })
      expect([view(page).status, view(page).url]).toEqual(['loggedin', path])
      const linked = await browser.visit(at(`/login?return_to=${encodeURIComponent(raw)}`))
      expect([linked.url.split('#')[0], view(linked).url]).toEqual([at(path), path])
      expect(view(await browser.submit(at('/logout'), { return_to })).url).toBe(path)
    }
  })

  test('decoded by the platform on its way through r ends encoded', async () => {
    const flow = await beginFlow({ morning: setup }, '/search?q=a%20b')
    const token = landingToken({ ...setup, morning: setup } as never, { sid: 'some-session' })
    const answer = await land({ morning: setup }, { ...flow, r: flow.r.replace('%20', ' ') }, token)
    expect([answer.status, answer.headers.location]).toEqual([303, at('/search?q=a%20b')])
  })
})

describe('a request target in absolute form, as a proxy sends it,', () => {
  const headers = Object.entries(documentHeaders).map(([name, value]) => `${name}: ${value}`)
  const targets = (path: string) => [at(path), `HTTP://any.example:99${path}`, `https://user@any.example${path}`]

  test.each([
    ['/articles/42?a=http://b', '/articles/42?a=http://b'],
    ['?a', '/?a'],
    ['', '/'],
  ])('http://site%s leads back to %s through Identify', async (path, page) => {
    for (const target of targets(path)) {
      const { location } = headOf(await askRaw(setup.url, [`GET ${target} HTTP/1.1`, 'Host: a', ...headers]))
      expect(withoutFlowParameter(returnAddressIn(setup as never, location) ?? '')).toBe(at(page))
    }
  })

  test('names the page in the login address of a guard', async () => {
    const cookie = `Cookie: ${cookieHeader(await visitor({ ...setup, morning: setup }), setup.url)}`
    for (const target of targets('/account?a=1')) {
      const lines = [`GET ${target} HTTP/1.1`, 'Host: a', cookie, ...headers]
      const { location } = headOf(await askRaw(setup.url, lines))
      expect(location).toBe(at(`/login?return_to=${encodeURIComponent('/account?a=1')}`))
    }
  })
})

/** A guard in a router at /admin. */
function withRouter(express: typeof express5, sso: Sso2, gates: Gates): express5.Express {
  const app = express()
  const admin = express.Router()
  admin.get('/users', sso.requireLogin(), (req, res) => void res.json({ url: req.originalUrl }))
  app.use(sso)
  app.use('/admin', admin)
  return addPages(app, sso, gates)
}

const mountedAt = (express: typeof express5) => (sso: Sso2, gates: Gates) =>
  express().use('/a', withRouter(express, sso, gates))

/** What a proxy does that takes the site's own path off before it passes a request on. */
const strippedBy = (express: typeof express5) => (sso: Sso2, gates: Gates) => {
  const app = withRouter(express, sso, gates)
  return express().use('/a', (req, res, next) => {
    Object.assign(req, { originalUrl: undefined, baseUrl: '' })
    app(req, res, next)
  })
}

describe.each(expresses)('a site below /a, on %s,', (_version, express) => {
  describe.each([
    ['mounted there', mountedAt(express)],
    ['behind a proxy that takes the path off', strippedBy(express)],
  ])('%s', (_how, build) => {
    let below: RunningSite
    beforeAll(async () => {
      below = await startSite({ mountPath: '/a', build })
    })
    afterAll(() => below.close())

    test('returns to /a/admin where a guard in a router at /admin sent to the login page', async () => {
      const url = `${below.url}/a/admin/users?b=1`
      const script = await below.browser().fetchJson(url)
      const { searchParams, pathname } = new URL(script.json.loginUrl)
      expect([script.status, pathname, searchParams.get('return_to')]).toEqual([401, '/a/login', '/a/'])
      const browser = below.browser()
      const form = await browser.visit(url)
      expect(new URL(form.url).pathname).toBe('/a/login')
      const return_to = String(new URL(form.url).searchParams.get('return_to'))
      const page = await browser.submit(`${below.url}/a/login`, { ...ada, return_to })
      expect([page.status, page.url]).toEqual([200, url])
    })
  })
})

describe.each(expresses)('a site at /news, on %s,', (_version, express) => {
  const mounted = (settings: readonly string[]) => (sso: Sso2, gates: Gates) => {
    const app = express()
    for (const setting of settings) app.enable(setting)
    return addPages(app.use('/news', sso), sso, gates)
  }

  test('visited at /NEWS/a shows that page: the mount path follows the case setting, as routes do', async () => {
    const site = await startSite({ mountPath: '/news', build: mounted([]) })
    const url = `${site.url}/NEWS/a?b`
    const page = await site.browser().visit(url)
    await site.close()
    expect([page.url, view(page)]).toEqual([url, { status: 'anon', url: '/NEWS/a?b' }])
  })

  test('under "case sensitive routing" /NEWS is another path', async () => {
    const site = await startSite({
      mountPath: '/news',
      build: (sso, gates) => addPages(express().enable('case sensitive routing').use('/NEWS', sso), sso, gates),
    })
    const { location } = await ask(site.url, { path: '/NEWS/a', headers: documentHeaders })
    const page = returnAddressIn(site as never, location)
    await site.close()
    expect(page).toMatch(`${site.url}/news/NEWS/a?`)
  })
})

test('a site whose address has capitals and letters beyond ASCII takes a visit, a login and a logout', async () => {
  const site = await startSite({
    host: 'ZAŻÓŁĆ.localhost',
    mountPath: '/münchen',
    build: (sso, gates) => express().use(encodeURI('/münchen'), addPages(express().use(sso), sso, gates)),
  })
  const browser = site.browser()
  const url = `${new URL(site.url).origin}/m%C3%BCnchen`
  const first = await browser.visit(`${url}/account`)
  const inside = await browser.submit(`${url}/login`, { ...ada, return_to: `${site.url}/münchen/account` })
  const outside = await browser.submit(`${url}/logout`, { return_to: '/münchen/bye' })
  await site.close()
  expect([first.status, new URL(first.url).pathname]).toEqual([200, '/m%C3%BCnchen/login'])
  expect([inside.status, inside.url, view(inside).status]).toEqual([200, `${url}/account`, 'loggedin'])
  expect([outside.status, outside.url]).toEqual([200, `${url}/bye`])
})
