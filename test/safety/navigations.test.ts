import { present, useSetup } from '../support/setup'
import { anonymousCookies, ask, documentHeaders } from './address-support'

/* Which requests are sent to Identify. All shapes of a request are in test/unit/navigation.test.ts. */

const setup = useSetup()
const site = () => setup.morning.url

const googlebot = 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)'
const driven = 'AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/150.0.0.0 Safari/537.36'
const cypress = 'AppleWebKit/537.36 (KHTML, like Gecko) Cypress/15.4.0 Chrome/138.0.0.0 Electron/37.6.0 Safari/537.36'
const app =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 16_2 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148'
const noMetadata = { 'sec-fetch-dest': '', 'sec-fetch-mode': '', 'sec-fetch-site': '' }
const script = { 'sec-fetch-dest': 'empty', 'sec-fetch-mode': 'cors' }
const upgrade = { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-key': 'AAAA' }

const PREFETCH = 'refused'
test.each<[what: string, isSent: boolean | typeof PREFETCH, headers: Record<string, string>, method?: string]>([
  ['a navigation', true, {}],
  ['a navigation of an old browser', true, noMetadata],
  ['a navigation of an e-reader', true, { ...noMetadata, accept: 'application/xml,text/html;q=0.9,*/*;q=0.5' }],
  ['a navigation that a service worker passes on', true, { 'sec-fetch-dest': 'empty' }],
  ['a newspaper’s app', true, { ...noMetadata, 'user-agent': `${app} DailyNews/3.1` }],
  ['a newspaper’s app that says nothing else', true, { 'user-agent': 'DailyNews/3.1' }],
  ['a navigation of a browser that a test drives', true, { 'user-agent': `Mozilla/5.0 (X11; Linux x86_64) ${driven}` }],
  ['a navigation of Cypress', true, { 'user-agent': `Mozilla/5.0 (X11; Linux x86_64) ${cypress}` }],
  ['a script', false, script],
  ['a frame', false, { 'sec-fetch-dest': 'iframe' }],
  ['a program that says nothing of a destination', false, { ...noMetadata, accept: '*/*' }],
  ['a prefetch', PREFETCH, { 'sec-purpose': 'prefetch' }],
  ['a prerender', PREFETCH, { 'sec-purpose': 'prefetch;prerender' }],
  ['a preview', PREFETCH, { purpose: 'preview' }],
  ['a prefetch of an old Firefox', PREFETCH, { ...noMetadata, 'x-moz': 'prefetch' }],
  ['a prefetch of a search engine', false, { 'sec-purpose': 'prefetch', 'user-agent': googlebot }],
  ['a prefetch of data', false, { ...script, 'sec-purpose': 'prefetch' }],
  ['a HEAD', false, {}, 'HEAD'],
  ['a POST', false, {}, 'POST'],
  ['a WebSocket', false, { ...upgrade, 'sec-fetch-dest': 'websocket', 'sec-fetch-mode': 'websocket' }],
  ['an event stream', false, { ...script, accept: 'text/event-stream' }],
  ['a search engine', false, { 'user-agent': googlebot }],
  ['a search engine with a headless browser', false, { 'user-agent': `${googlebot} ${driven}` }],
  ['a preview of a link', false, { 'user-agent': 'facebookexternalhit/1.1' }],
  ['curl', false, { 'user-agent': 'curl/8.5.0' }],
])('[R9] %s: sent is %p', async (_what, isSent, headers, method = 'GET') => {
  const all = Object.entries({ ...documentHeaders, ...headers }).filter(([, value]) => value !== '')
  const keys = new Set(await setup.keys())
  const answer = await ask(site(), { method, path: '/page', headers: Object.fromEntries(all) })
  const { status, location, setCookie } = answer
  if (isSent === PREFETCH)
    expect([status, answer.headers['cache-control'], location, setCookie]).toEqual([503, 'no-store', undefined, []])
  else if (isSent) expect([status, new URL(present(location)).pathname]).toEqual([302, '/sso/identify'])
  else expect([status, location, setCookie]).toEqual([200, undefined, []])
  expect((await setup.keys()).filter((key) => !keys.has(key))).toEqual([])
})

test.each(['/login', '/login?return_to=/page'])('whoever opens %s is a person, and gets a session', async (path) => {
  for (const agent of ['curl/8.5.0', googlebot]) {
    const { status, location } = await ask(site(), { path, headers: { ...documentHeaders, 'user-agent': agent } })
    expect([status, new URL(present(location)).pathname]).toEqual([302, '/sso/identify'])
  }
})

test('a prefetch of the login page is refused for a visitor without a session', async () => {
  const { status, headers } = await ask(site(), {
    path: '/login',
    headers: { ...documentHeaders, 'sec-purpose': 'prefetch' },
  })
  expect([status, headers['cache-control']]).toEqual([503, 'no-store'])
})

test('[R9] a session that has ended does not send a script there: it gets the page', async () => {
  const cookie = await anonymousCookies(setup)
  for (const { sid } of setup.emulator.sessions()) setup.emulator.terminate(sid) // the newest may be the site's own look at Identify
  setup.emulator.clock.advance(361)
  const answer = await ask(site(), { path: '/page', headers: { accept: '*/*', cookie } })
  expect([answer.status, JSON.parse(answer.body).status]).toEqual([200, 'none'])
})
