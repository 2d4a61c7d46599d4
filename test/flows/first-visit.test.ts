import http, { type IncomingMessage } from 'node:http'
import { callsAbout } from '../support/calls'
import { ada, logIn, type Network, startNetwork, view } from './network'

let network: Network
beforeAll(async () => {
  network = await startNetwork()
})
afterAll(() => network.close())

const queries = [
  '',
  '?page=2',
  '?a=1&a=2&b',
  '?q=caf%C3%A9+cr%c3%a8me%20x',
  '?empty=&=nameless&&double',
  '?next=https%3A%2F%2Fother.example%2F%3Fa%3Db%26c%3Dd',
  '?next=https://other.example/?a=b',
  '?filter[tag][]=one&filter[tag][]=two',
  '?percent=100%',
  '?bad=%E9%zz',
  '?t=token&r=return',
  '?semi;colon=1;2',
  '?quote=\'"<script>',
  '?json={"a":[1,2]}|^`',
  '?utm_source=a.b~c_d-e!f*g(h)',
  '?plus=1+1%2B2',
  '?sso2x=mine&xsso2=too',
  '?__proto__=1&constructor=2',
  `?long=${'x'.repeat(1000)}`,
]

/** All calls but those with which the package asks how the SSO system is: a trip that took long has it do so. */
const callCount = () => callsAbout(network.emulator).length

describe('a first visit', () => {
  test.each(queries)('of /a/page%s takes three redirects and ends on exactly that address', async (query) => {
    const target = `${network.morning.url}/a/page`
    const page = await network.browser().visit(`${target}${query}`)
    expect(page.trail.map(({ status }) => status)).toEqual([302, 302, 303, 200])
    const asked = new URL(`${target}${query}`)
    expect(page.url).toBe(asked.href)
    const sent = asked.pathname + asked.search
    expect(view(page)).toEqual({ status: 'anon', url: sent })
  })

  test('of a path that an address can only just hold ends there', async () => {
    const target = `${network.morning.url}//double//slash/%2e%2e/%2F/é`
    const page = await network.browser().visit(target)
    expect(page.url).toBe(new URL(target).href)
    expect(page.trail.length).toBeLessThanOrEqual(4)
  })

  test("drops a visitor's own sso2 parameter and keeps the rest", async () => {
    const page = await network.browser().visit(`${network.morning.url}/a?x=1&sso2=mine&y=%20`)
    expect(page.url).toBe(`${network.morning.url}/a?x=1&y=%20`)
    expect(view(page).status).toBe('anon')
  })

  test('is the only one with redirects: the next page is served at once, with no call', async () => {
    const browser = network.browser()
    await browser.visit(`${network.morning.url}/one`)
    const calls = callCount()
    const next = await browser.visit(`${network.morning.url}/two`)
    expect(next.trail).toHaveLength(1)
    expect(view(next).status).toBe('anon')
    expect(callCount()).toBe(calls)
  })

  test('sets cookies that hold a signed ID and nothing else, HttpOnly and SameSite=Lax', async () => {
    const browser = network.browser()
    const page = await browser.visit(`${network.morning.url}/`)
    const lines = page.trail.filter(({ url }) => url.startsWith(network.morning.url)).flatMap((hop) => hop.setCookie)
    expect(lines.length).toBeGreaterThan(0)
    for (const line of lines) expect(line).toMatch(/^sso2\.\w+=.*; *Path=\/;.*HttpOnly;.*SameSite=Lax/)
    expect(decodeURIComponent(browser.cookie('sso2.sid') ?? '')).toMatch(/^s:[\w-]{43}\.[A-Za-z0-9+/]{43}$/)
  })

  test('of a browser that is logged in at another site picks the login up', async () => {
    const browser = network.browser()
    await logIn(browser, network.evening, ada)
    const page = await browser.visit(`${network.morning.url}/news?id=7`)
    expect(page.trail.map(({ status }) => status)).toEqual([302, 302, 303, 200])
    expect(view(page)).toEqual({ status: 'loggedin', username: 'ada', url: '/news?id=7' })
  })

  test('ends every tab of a browser at its own address', async () => {
    const browser = network.browser()
    await browser.visit(`${network.evening.url}/`)
    const tabs = [1, 2, 3, 4, 5].map((tab) => `${network.morning.url}/tab/${tab}?n=${tab}`)
    const pages = await Promise.all(tabs.map((tab) => browser.visit(tab)))
    expect(pages.map(({ url }) => url)).toEqual(tabs)
    expect(pages.map((page) => view(page).degraded)).toEqual(tabs.map(() => undefined))
  })
})

describe('an address that only a raw request can spell', () => {
  /** One hop: where it leads, and the cookies it sets. */
  const hop = (base: string, path: string, cookie = ''): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      const { host, port } = new URL(base)
      const headers = { ...documentHeaders, 'user-agent': 'Mozilla/5.0 Firefox/140.0', host, cookie }
      const request = http.get({ host: '127.0.0.1', port, path, headers, agent: false }, (response) => {
        response.resume()
        resolve(response)
      })
      request.once('error', reject)
    })
  const raw = ['/a?', '/a??', '/a?&', '/a?&&b', '/a?b&', '/a?=', '/a?"<>`{}|\\^[]', "/a'b?c", '//a//b?c', '/./a/../b?c']

  test.each(raw)('%s comes back byte for byte', async (path) => {
    const start = await hop(network.morning.url, path)
    expect(start.statusCode).toBe(302)
    const cookie = (start.headers['set-cookie'] ?? []).map((line) => line.split(';')[0]).join('; ')
    const identify = new URL(start.headers.location ?? '')
    const back = await hop(network.emulator.url, identify.pathname + identify.search)
    const { origin, pathname, search } = new URL(back.headers.location ?? '')
    expect(origin).toBe(network.morning.url)
    const landed = await hop(network.morning.url, pathname + search, cookie)
    expect([landed.statusCode, landed.headers.location]).toEqual([303, network.morning.url + path])
  })
})

describe('a browser without cookies', () => {
  const trips = (trail: { url: string }[]) => trail.filter(({ url }) => url.startsWith(network.emulator.url)).length

  test('gets the page after at most three trips', async () => {
    const page = await network.browser({ cookies: false }).visit(`${network.morning.url}/page?a=1`)
    expect(page.status).toBe(200)
    expect(trips(page.trail)).toBeLessThanOrEqual(3)
    expect(view(page)).toMatchObject({ status: 'none', degraded: 'cookies_blocked' })
  })

  test('that drops only the cookies of our site gets it too', async () => {
    const browser = network.browser()
    let url = `${network.morning.url}/page?a=1`
    let seen = 0
    for (let hops = 0; hops < 20; hops += 1) {
      const hop = await browser.fetchJson(url, { headers: documentHeaders })
      if (url.startsWith(network.emulator.url)) seen += 1
      browser.dropCookies(({ host }) => host === 'morning.localhost')
      if (hop.headers.location === undefined) {
        expect(view(hop)).toMatchObject({ status: 'none', degraded: 'cookies_blocked' })
        expect(seen).toBeLessThanOrEqual(3)
        return
      }
      url = new URL(hop.headers.location, url).href
    }
    throw new Error('it goes round in circles')
  })

  test('leaves no session in Redis', async () => {
    const before = await network.keys()
    await network.browser({ cookies: false }).visit(`${network.morning.url}/page`)
    expect(await network.keys()).toEqual(before)
  })
})

const documentHeaders = {
  accept: 'text/html',
  'sec-fetch-dest': 'document',
  'sec-fetch-mode': 'navigate',
  'sec-fetch-site': 'none',
}
const googlebot = 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)'
const strangers: [string, { method?: string; json?: unknown; headers?: Record<string, string> }][] = [
  ['a bot', { headers: { ...documentHeaders, 'user-agent': googlebot } }],
  ['a script', {}],
  ['a script that accepts HTML', { headers: { accept: 'text/html' } }],
  ['an old XMLHttpRequest', { headers: { accept: '*/*', 'x-requested-with': 'XMLHttpRequest' } }],
  ['a prefetch', { headers: { ...documentHeaders, 'sec-purpose': 'prefetch' } }],
  ['a prerender', { headers: { ...documentHeaders, 'sec-purpose': 'prefetch;prerender' } }],
  ['an old prefetch', { headers: { ...documentHeaders, purpose: 'prefetch' } }],
  ['a Mozilla prefetch', { headers: { ...documentHeaders, 'x-moz': 'prefetch' } }],
  ['a frame', { headers: { ...documentHeaders, 'sec-fetch-dest': 'iframe' } }],
  ['an image', { headers: { ...documentHeaders, 'sec-fetch-dest': 'image' } }],
  ['HEAD', { method: 'HEAD', headers: documentHeaders }],
  ['POST', { method: 'POST', headers: documentHeaders }],
  ['POST of JSON', { json: { a: 1 } }],
  ['PUT', { method: 'PUT', headers: documentHeaders }],
  ['DELETE', { method: 'DELETE', headers: documentHeaders }],
]

describe('never redirected, and nothing written to Redis:', () => {
  test.each(strangers)('%s', async (_name, request) => {
    const [keys, calls] = [await network.keys(), callCount()]
    const answer = await network.browser().fetchJson(`${network.morning.url}/page`, request)
    expect(answer.status).toBe(200)
    expect(answer.headers['set-cookie']).toBeUndefined()
    expect(answer.headers.location).toBeUndefined()
    if (request.method !== 'HEAD') expect(answer.json).toEqual({ status: 'none', url: '/page' })
    expect(await network.keys()).toEqual(keys)
    expect(callCount()).toBe(calls)
  })

  test('a first navigation, until it has landed', async () => {
    const keys = await network.keys()
    const hop = await network.browser().fetchJson(`${network.morning.url}/page`, { headers: documentHeaders })
    expect(hop.status).toBe(302)
    expect(await network.keys()).toEqual(keys)
  })

  test('a cookie of ours that was made up', async () => {
    const keys = await network.keys()
    const headers = { cookie: `sso2.sid=s%3A${'a'.repeat(43)}.${'b'.repeat(43)}` }
    const answer = await network.browser().fetchJson(`${network.morning.url}/page`, { headers })
    expect(answer.json).toEqual({ status: 'none', url: '/page' })
    expect(answer.headers['set-cookie']).toBeUndefined()
    expect(await network.keys()).toEqual(keys)
  })
})
