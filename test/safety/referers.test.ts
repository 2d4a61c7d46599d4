import { ada, addPages, type Network, present, startNetwork, view } from '../flows/network'
import { anonymousCookies, ask, expresses, severalApps } from './address-support'
import { hostileAddresses } from './hostile-addresses'

const trusted = 'https://shop.example:8443'
let network: Network
let site: string
beforeAll(async () => {
  network = await startNetwork({
    site: { trustedReturnOrigins: [trusted] },
    build: (sso, gates) =>
      severalApps(new Map(expresses.map(([name, make]) => [name, addPages(make().use(sso), sso, gates)]))),
  })
  site = network.morning.url
})
afterAll(() => network.close())

/** Where a script of the page that `referer` names is told to send the reader after his login. */
async function returnTo(referer: string | undefined, more: { app?: string; cookie?: string; headers?: object } = {}) {
  const headers = { accept: 'application/json', 'sec-fetch-dest': 'empty', ...more.headers }
  const all = { ...headers, cookie: more.cookie ?? '', ...(referer === undefined ? {} : { referer }) }
  const { status, body } = await ask(site, { path: '/account?a=1', headers: all, app: more.app })
  const { loginUrl, error } = JSON.parse(body)
  const url = new URL(loginUrl)
  expect([status, error, url.origin, url.pathname, [...url.searchParams.keys()]]).toEqual([
    401,
    'login_required',
    site,
    '/login',
    ['return_to'],
  ])
  return url.searchParams.get('return_to')
}

/** What Node.js sends at all as a header. */
const isHeader = (value: string) => /^[\t\x20-\x7e\x80-\xff]*$/.test(value)

test.each(expresses)('a script that is refused is sent back to the page that it runs in on %s', async (app) => {
  for (const cookie of ['', await anonymousCookies(network)])
    for (const page of ['/', '/article?page=2&x=%C3%A9', '/a?r=//evil.example', '/a/../b'])
      expect(await returnTo(site + page, { app, cookie })).toBe(site + page)
})

test('and to what it wanted where nothing says which page that is', async () => {
  expect(await returnTo(undefined)).toBe(`${site}/account?a=1`)
})

test.each(expresses)('[R1] a Referer that is not of our own origin leads nowhere on %s', async (app) => {
  const others = [
    `${trusted}/basket`,
    `${site}.evil.example/`,
    `${site}@evil.example/`,
    `${site}0/`,
    'null',
    '/x',
    site,
  ]
  const hostile = [...hostileAddresses(site), ...others].filter(isHeader)
  expect(hostile.length).toBeGreaterThan(500)
  const away: unknown[] = []
  for (const value of hostile) {
    const page = present(await returnTo(value, { app }))
    if (!page.startsWith(`${site}/`) || page.includes('\\') || new URL(page).origin !== site) away.push([value, page])
  }
  expect(away).toEqual([])
  for (const value of others) expect(await returnTo(value, { app })).toBe(`${site}/account?a=1`)
})

test('whoever follows it logs in and is back on his page', async () => {
  const browser = network.browser()
  await browser.visit(`${site}/article?page=2`)
  const headers = { referer: `${site}/article?page=2` }
  const { json } = await browser.fetchJson(`${site}/account`, { headers })
  const form = await browser.visit(json.loginUrl)
  const return_to = present(new URL(form.url).searchParams.get('return_to'))
  const page = await browser.submit(`${site}/login`, { ...ada, return_to })
  expect([page.url, view(page).username]).toEqual([`${site}/article?page=2`, 'ada'])
})
