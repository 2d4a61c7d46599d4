import { ada, present, useSetup } from '../support/setup'
import {
  type Answered,
  anonymousCookies,
  ask,
  cookiesAfter,
  documentHeaders,
  expresses,
  forAll,
  hiddenReturnTo,
  onBothExpresses,
  percentEncoded,
  postForm,
  returnAddressIn,
} from './address-support'
import { benignAddresses, hostileAddresses } from './hostile-addresses'
import { beginFlow, hearEvents, landingToken } from './session-support'

const trusted = 'https://shop.example:8443'
const setup = useSetup({
  build: onBothExpresses,
  site: {
    trustedReturnOrigins: [trusted],
    loadUser: () => ({ accountId: 'one-of-many' }), // two calls less a login
    exchangeTicket: async (ticket) => ({ accessToken: ticket }),
  },
})
let site: string
let hostile: string[]
let benign: ReturnType<typeof benignAddresses>
beforeAll(() => {
  site = setup.morning.url
  hostile = hostileAddresses(site)
  benign = benignAddresses(site, trusted)
})

/** Where a browser that was answered by the site would go. */
const target = (address: string) => new URL(address, `${site}/sso2/landing`)
const staysHere = (address: string) => [site, trusted].includes(target(address).origin)

const isSafe = (address: string) => URL.canParse(address, site) && staysHere(address)

/** What an answer leads to: the redirect, or what the form will send. */
type Way = (value: string, app: string) => Promise<{ answer: Answered; address: string | undefined }>

/** The address without what the site put on it. */
const withoutParameter = (address: string | undefined) => address?.replace(/[?&]sso2=\d+\.[\w-]{22}(?=#|$)/, '')

const landWith = async (query: string, app: string, cookie = '') => {
  const answer = await ask(site, { path: `/sso2/landing?${query}`, headers: { ...documentHeaders, cookie }, app })
  return { answer, address: withoutParameter(answer.location) }
}

/** `r` with the flow parameter, as a site would have made it. */
function withParameter(value: string, parameter: string): string {
  const mark = value.search(/#|$/)
  const head = value.slice(0, mark)
  return `${head}${head.includes('?') ? '&' : '?'}sso2=${parameter}${value.slice(mark)}`
}

let flow: { cookie: string; parameter: string } | undefined
async function goodFlow() {
  if (!flow) {
    const { cookie, r } = await beginFlow(setup)
    flow = { cookie, parameter: present(new URL(r).searchParams.get('sso2')) }
  }
  return flow
}
let tokens = 0
/** Cookies of users who may log in again. */
let users: string[] = []

const ways: [string, Way][] = [
  ['the landing with a bad token', (value, app) => landWith(`t=bad&r=${percentEncoded(value)}`, app)],
  [
    'the landing with a bound flow and a bad token',
    async (value, app) => {
      const { cookie, parameter } = await goodFlow()
      return landWith(`t=bad&r=${percentEncoded(withParameter(value, parameter))}`, app, cookie)
    },
  ],
  [
    'the landing with a bound flow and a good token',
    async (value, app) => {
      const { cookie, parameter } = await goodFlow()
      tokens += 1
      const t = landingToken(setup, { sid: `s${tokens}` })
      return landWith(`t=${t}&r=${percentEncoded(withParameter(value, parameter))}`, app, cookie)
    },
  ],
  [
    'the login form',
    async (value, app) => {
      const headers = { accept: 'text/html', 'sec-fetch-dest': 'empty' }
      const answer = await ask(site, { path: `/login?return_to=${percentEncoded(value)}`, headers, app })
      return { answer, address: hiddenReturnTo(answer.body) }
    },
  ],
  [
    'a login',
    async (value, app) => {
      const fields = `username=${ada.username}&password=${ada.password}&return_to=${percentEncoded(value)}`
      for (let tries = 1; ; tries += 1) {
        const cookie = users.pop() ?? (await anonymousCookies(setup))
        const answer = await postForm(site, '/login', fields, { app, headers: { cookie } })
        // "not now", of a Redis that a busy machine keeps back, leads nowhere: the next user is asked
        if (answer.status === 503 && tries < 20) continue
        users.push(cookiesAfter(cookie, answer.setCookie))
        return { answer, address: answer.location }
      }
    },
  ],
  [
    'a logout',
    async (value, app) => {
      const answer = await postForm(site, '/logout', `return_to=${percentEncoded(value)}`, { app })
      return { answer, address: withoutParameter(returnAddressIn(setup, answer.location)) }
    },
  ],
]
const shown = (bad: { value: string; answer: Answered; address: string | undefined }[]) =>
  bad.slice(0, 9).map(({ value, answer, address }) => [value, answer.status, address?.slice(0, 200)])
const isAnswered = ({ status, body }: Answered) => status === 200 || (status === 303 && body === '')

const table = expresses.flatMap(([app]) => ways.map(([name, way]) => ({ app, name, way })))

describe('an address from outside', () => {
  test('[R1] comes in more than 100 hostile and 50 benign forms, which the usual checks would let through', () => {
    expect(new Set(hostile).size).toBe(hostile.length)
    expect(hostile.length).toBeGreaterThanOrEqual(100)
    expect(new Set(benign.map(({ value }) => value)).size).toBe(benign.length)
    expect(benign.length).toBeGreaterThanOrEqual(50)
    const leaves = (naive: RegExp) => hostile.filter((value) => naive.test(value) && !isSafe(value)).length
    expect(leaves(/^\//)).toBeGreaterThan(20)
    expect(leaves(/^\/(?!\/)/)).toBeGreaterThan(10)
    expect(leaves(new RegExp(`^${site}`))).toBeGreaterThan(20)
  })

  test.each(table)('[R1] [F11] that is hostile leads nowhere through $name on $app', async ({ way, app }) => {
    users = []
    const results = await forAll(hostile, async (value) => ({ value, ...(await way(value, app)) }))
    const bad = results.filter(
      ({ answer, address }) => !isAnswered(answer) || address === undefined || !staysHere(address),
    )
    expect(shown(bad)).toEqual([])
  })

  test.each(table)(
    '[R1] [F11] [R5] that is benign comes out byte for byte through $name on $app',
    async ({ way, app }) => {
      users = []
      const results = await forAll(benign, async (given) => ({ ...given, ...(await way(given.value, app)) }))
      const bad = results.filter(({ answer, leadsTo, address }) => !isAnswered(answer) || address !== leadsTo)
      expect(shown(bad)).toEqual([])
    },
  )

  test.each(expresses)(
    '[R1] written into the query without any encoding leads nowhere and leaves nothing behind on %s',
    async (app) => {
      const writable = (value: string) => /^[\x21-\x7e]+$/.test(value) && !value.includes('#')
      const events = hearEvents()
      const keys = new Set(await setup.keys())
      const land = (value: string) => landWith(`t=bad&r=${value}`, app)
      const results = await forAll(hostile.filter(writable), async (value) => ({ value, ...(await land(value)) }))
      const split = (value: string) => /&(?:r|t)=/.test(value)
      const bad = results.filter(
        ({ value, answer, address }) => !split(value) && (!isAnswered(answer) || !isSafe(address ?? '')),
      )
      expect(shown(bad)).toEqual([])
      expect(results.length).toBeGreaterThan(50)
      expect(new Set(events.heard)).toEqual(new Set(['landing mark_cookieless malformed']))
      expect((await setup.keys()).filter((key) => !keys.has(key))).toEqual([])
      events.stop()
      const plain = benign.filter(({ value }) => writable(value) && !/[&%+]/.test(value))
      const back = await forAll(plain, async ({ value }) => (await land(value)).address)
      expect(back).toEqual(plain.map(({ leadsTo }) => leadsTo))
      expect(plain.length).toBeGreaterThan(20)
    },
  )
})

/** Ways to give several addresses, or one in a form that a query parser would make something of. */
const several = (name: string) => [
  `${name}=/a&${name}=//evil.example/`,
  `${name}=//evil.example/&${name}=/a`,
  `${name}[]=/a&${name}[]=//evil.example/`,
  `${name}[href]=//evil.example/`,
  `${name}%5B%5D=//evil.example/`,
  `${name.toUpperCase()}=//evil.example/`,
  `%${name.charCodeAt(0).toString(16)}${name.slice(1)}=//evil.example/`,
  `${name}=/a;${name}=//evil.example/`,
  `${name}=/a,//evil.example/`,
  `__proto__[${name}]=//evil.example/`,
  name,
]

describe('an address given several times or in an odd form', () => {
  test.each(expresses)('[R1] [R6] leads nowhere on %s', async (app) => {
    const landings = await forAll(several('r'), (query) => ask(site, { path: `/sso2/landing?t=bad&${query}`, app }))
    expect(landings.map(({ status }) => status).filter((status) => status !== 303 && status !== 400)).toEqual([])
    const forms = await forAll(several('return_to'), (query) => ask(site, { path: `/login?${query}`, app }))
    const logouts = await forAll(several('return_to'), (fields) => postForm(site, '/logout', fields, { app }))
    const addresses = [
      ...landings.flatMap(({ location }) => location ?? []),
      ...forms.map(({ body }) => hiddenReturnTo(body)),
      ...logouts.map(({ location }) => present(returnAddressIn(setup, location))),
    ]
    expect(addresses.length).toBeGreaterThan(20)
    expect(addresses.filter((address) => !staysHere(address))).toEqual([])
  })
})

describe('a Referer', () => {
  /** Where a script of the page that `referer` names is told to send the user after the login. */
  async function returnTo(referer: string | undefined, app?: string, cookie = '') {
    const headers = { accept: 'application/json', 'sec-fetch-dest': 'empty', cookie }
    const all = referer === undefined ? headers : { ...headers, referer }
    const { status, body } = await ask(site, { path: '/account?a=1', headers: all, app })
    const { loginUrl, error } = JSON.parse(body)
    const { origin, pathname, searchParams } = new URL(loginUrl)
    expect([status, error, origin, pathname]).toEqual([401, 'login_required', site, '/login'])
    expect([...searchParams.keys()]).toEqual(['return_to'])
    return present(searchParams.get('return_to'))
  }

  test.each(expresses)('of a script that is refused says where the login leads on %s', async (app) => {
    for (const cookie of ['', await anonymousCookies(setup)])
      for (const page of ['/', '/article?page=2&x=%C3%A9', '/a?r=//evil.example', '/a/../b'])
        expect(await returnTo(site + page, app, cookie)).toBe(page)
    expect(await returnTo(undefined, app)).toBe('/')
  })

  test.each(expresses)('[R1] that is not of our own origin leads nowhere on %s', async (app) => {
    const others = [
      `${trusted}/basket`,
      `${site}.evil.example/`,
      `${site}@evil.example/`,
      `${site}0/`,
      'null',
      '/x',
      site,
    ]
    const isHeader = (value: string) => /^[\t\x20-\x7e\x80-\xff]*$/.test(value)
    for (const value of [...hostile, ...others].filter(isHeader)) {
      const page = await returnTo(value, app)
      const isOurs = !page.startsWith('//') && !page.includes('\\') && new URL(page, site).origin === site
      expect([value, page, isOurs]).toEqual([value, page, true])
    }
    for (const value of others) expect(await returnTo(value, app)).toBe('/')
  })
})
