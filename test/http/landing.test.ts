import express, { type default as express5 } from 'express'
import type { Sso2 } from '../../lib'
import { ask, documentHeaders, express4, expresses } from '../support/addresses'
import { document } from '../support/landing'
import { ada, addPages, type Gates, present, view } from '../support/setup'
import { type RunningSite, startSite, withPages } from '../support/site'

const links = (app: express5.Express) =>
  app.get('/links', (req, res) => {
    res.json([req.sso2.identifyUrl('/page?a'), req.sso2.identifyUrl('/page?b'), req.sso2.identifyUrl('/x?q=a b')])
  })

let setup: RunningSite
/** Identifies where a page asks for it. */
let onDemand: RunningSite
const at = (path: string) => `${setup.url}${path}`

beforeAll(async () => {
  setup = await startSite()
  onDemand = await startSite({ options: { identify: 'on-demand' }, build: withPages(links) })
})
afterAll(() => Promise.all([setup.close(), onDemand.close()]))

/** An address of the site with exactly so many characters. */
const ofLength = (length: number) => `${at('/page')}?x=`.padEnd(length, 'a')
/** An address as a message can show it. */
const brief = (url: string | null) => url?.replace(/a{9,}/g, (run) => `(${run.length} times a)`)

test.each([
  [2048, 4],
  [2049, 1],
])('[R8] a page whose address has %i characters ends at itself', async (length, requests) => {
  const page = await setup.browser().visit(ofLength(length))
  expect([page.status, brief(page.url), page.trail.length]).toEqual([200, brief(ofLength(length)), requests])
  expect(view(page).status).toBe(requests === 1 ? 'none' : 'anon') // too long for a redirect
})

test('[L1] several identifyUrl() in one answer set one cookie, and all work, one after the other; a space is encoded', async () => {
  const browser = onDemand.browser()
  const { json, headers } = await browser.fetchJson(`${onDemand.url}/links`, { headers: document })
  expect(headers['set-cookie']?.filter((line) => line.startsWith('sso2.b='))).toHaveLength(1)
  for (const [index, url] of ['/page?a', '/page?b', '/x?q=a%20b'].entries()) {
    const page = await browser.visit(json[index])
    expect([view(page), page.trail.length]).toEqual([{ status: 'anon', url }, 3])
  }
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

test.each([
  ['mounted there, on Express 4', mountedAt(express4)],
  ['behind a proxy that takes the path off, on Express 5', strippedBy(express)],
])(
  'a site below /a, %s, returns to /a/admin where a guard in a router at /admin sent to the login page',
  async (...row) => {
    const below = await startSite({ mountPath: '/a', build: row[1] })
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
    await below.close()
  },
)

test.each(expresses)('a site at /news, on %s, visited at /NEWS/a shows that page', async (_version, make) => {
  const build = (sso: Sso2, gates: Gates) => addPages(make().use('/news', sso), sso, gates)
  const site = await startSite({ mountPath: '/news', build })
  const url = `${site.url}/NEWS/a?b`
  const page = await site.browser().visit(url)
  await site.close()
  expect([page.url, view(page)]).toEqual([url, { status: 'anon', url: '/NEWS/a?b' }])
})

/* Which requests are sent to Identify. All shapes of a request are in test/unit/navigation.test.ts. */

const googlebot = 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)'
const upgrade = { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-key': 'AAAA' }

const PREFETCH = 'refused'
test.each<[what: string, isSent: boolean | typeof PREFETCH, headers: Record<string, string>]>([
  ['a navigation', true, {}],
  ['a prefetch', PREFETCH, { 'sec-purpose': 'prefetch' }],
  ['a prefetch of a search engine', false, { 'sec-purpose': 'prefetch', 'user-agent': googlebot }],
  ['a WebSocket', false, { ...upgrade, 'sec-fetch-dest': 'websocket', 'sec-fetch-mode': 'websocket' }],
  ['a search engine', false, { 'user-agent': googlebot }],
])('[R9] %s: sent is %p', async (_what, isSent, headers) => {
  const answer = await ask(setup.url, { path: '/page', headers: { ...documentHeaders, ...headers } })
  const { status, location, setCookie, body } = answer
  const refused = [503, '{"error":"prefetch"}', 'no-store', undefined, []]
  if (isSent === PREFETCH) expect([status, body, answer.headers['cache-control'], location, setCookie]).toEqual(refused)
  else if (isSent) expect([status, new URL(present(location)).pathname]).toEqual([302, '/sso/identify'])
  else expect([status, location, setCookie]).toEqual([200, undefined, []])
})

test('whoever opens the login page is a person, and gets a session', async () => {
  for (const agent of ['curl/8.5.0', googlebot]) {
    const headers = { ...documentHeaders, 'user-agent': agent }
    const { status, location } = await ask(setup.url, { path: '/login', headers })
    expect([status, new URL(present(location)).pathname]).toEqual([302, '/sso/identify'])
  }
})
