import { anonymousCookies, ask, documentHeaders } from '../support/addresses'
import { present, useSetup } from '../support/setup'

/* Which requests are sent to Identify. All shapes of a request are in test/unit/navigation.test.ts. */

const setup = useSetup()
const site = () => setup.morning.url

const googlebot = 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)'
const app =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 16_2 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148'
const noMetadata = { 'sec-fetch-dest': '', 'sec-fetch-mode': '', 'sec-fetch-site': '' }
const script = { 'sec-fetch-dest': 'empty', 'sec-fetch-mode': 'cors' }
const upgrade = { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-key': 'AAAA' }

const PREFETCH = 'refused'
test.each<[what: string, isSent: boolean | typeof PREFETCH, headers: Record<string, string>, method?: string]>([
  ['a navigation', true, {}],
  ['a navigation of an old browser', true, noMetadata],
  ['a navigation that a service worker passes on', true, { 'sec-fetch-dest': 'empty' }],
  ['a newspaper’s app', true, { ...noMetadata, 'user-agent': `${app} DailyNews/3.1` }],
  ['a script', false, script],
  ['a frame', false, { 'sec-fetch-dest': 'iframe' }],
  ['a prefetch', PREFETCH, { 'sec-purpose': 'prefetch' }],
  ['a prerender', PREFETCH, { 'sec-purpose': 'prefetch;prerender' }],
  ['a prefetch of a search engine', false, { 'sec-purpose': 'prefetch', 'user-agent': googlebot }],
  ['a HEAD', false, {}, 'HEAD'],
  ['a POST', false, {}, 'POST'],
  ['a WebSocket', false, { ...upgrade, 'sec-fetch-dest': 'websocket', 'sec-fetch-mode': 'websocket' }],
  ['a search engine', false, { 'user-agent': googlebot }],
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

test('[R9] a session that has ended does not send a script there: it gets the page', async () => {
  const cookie = await anonymousCookies(setup)
  for (const { sid } of setup.emulator.sessions()) setup.emulator.terminate(sid) // the newest may be the site's own look at Identify
  setup.emulator.clock.advance(361)
  const answer = await ask(site(), { path: '/page', headers: { accept: '*/*', cookie } })
  expect([answer.status, JSON.parse(answer.body).status]).toEqual([200, 'none'])
})
