import { present, useSetup } from '../flows/setup'
import { anonymousCookies, ask, documentHeaders } from './address-support'

/* Which requests are sent to Identify. All shapes of a request are in test/decide/navigation.test.ts. */

const setup = useSetup()
const site = () => setup.morning.url

const googlebot = 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)'
const driven = 'AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/150.0.0.0 Safari/537.36'
const cypress = 'AppleWebKit/537.36 (KHTML, like Gecko) Cypress/15.4.0 Chrome/138.0.0.0 Electron/37.6.0 Safari/537.36'
const upgrade = { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-key': 'AAAA' }

test.each<[what: string, isSent: boolean, headers: Record<string, string>, method?: string]>([
  ['a navigation', true, {}],
  ['a navigation of an old browser', true, { 'sec-fetch-dest': '' }],
  ['a navigation of a browser that a test drives', true, { 'user-agent': `Mozilla/5.0 (X11; Linux x86_64) ${driven}` }],
  ['a navigation of Cypress', true, { 'user-agent': `Mozilla/5.0 (X11; Linux x86_64) ${cypress}` }],
  ['a script', false, { 'sec-fetch-dest': 'empty' }],
  ['a frame', false, { 'sec-fetch-dest': 'iframe' }],
  ['a program that says nothing of a destination', false, { 'sec-fetch-dest': '', accept: '*/*' }],
  ['a prefetch', false, { 'sec-purpose': 'prefetch;prerender' }],
  ['a preview', false, { purpose: 'preview' }],
  ['a prefetch of an old Firefox', false, { 'x-moz': 'prefetch' }],
  ['a HEAD', false, {}, 'HEAD'],
  ['a POST', false, {}, 'POST'],
  ['a WebSocket', false, { ...upgrade, 'sec-fetch-dest': 'websocket' }],
  ['an event stream', false, { accept: 'text/event-stream', 'sec-fetch-dest': 'empty' }],
  ['a search engine', false, { 'user-agent': googlebot }],
  ['a search engine with a headless browser', false, { 'user-agent': `${googlebot} ${driven}` }],
  ['a preview of a link', false, { 'user-agent': 'facebookexternalhit/1.1' }],
  ['curl', false, { 'user-agent': 'curl/8.5.0' }],
])('[R9] %s: sent is %p', async (_what, isSent, headers, method = 'GET') => {
  const all = Object.entries({ ...documentHeaders, ...headers }).filter(([, value]) => value !== '')
  const keys = new Set(await setup.keys())
  const { status, location, setCookie } = await ask(site(), { method, path: '/page', headers: Object.fromEntries(all) })
  if (isSent) expect([status, new URL(present(location)).pathname]).toEqual([302, '/sso/identify'])
  else expect([status, location, setCookie]).toEqual([200, undefined, []])
  expect((await setup.keys()).filter((key) => !keys.has(key))).toEqual([])
})

test('[R9] a session that has ended does not send a script there: it gets the page', async () => {
  const cookie = await anonymousCookies(setup)
  for (const { sid } of setup.emulator.sessions()) setup.emulator.terminate(sid) // the newest may be the site's own look at Identify
  setup.emulator.clock.advance(361)
  const answer = await ask(site(), { path: '/page', headers: { accept: '*/*', cookie } })
  expect([answer.status, JSON.parse(answer.body).status]).toEqual([200, 'none'])
})
