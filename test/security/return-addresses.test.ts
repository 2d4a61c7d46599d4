import {
  type Answered,
  anonymousCookies,
  ask,
  documentHeaders,
  forAll,
  hiddenReturnTo,
  percentEncoded,
  postForm,
  returnAddressIn,
} from '../support/addresses'
import { beginFlow, landingToken } from '../support/landing'
import { ada, present, useSetup } from '../support/setup'

/* An address from outside, in `r` of the landing page and in `return_to` of login and logout. */

const trusted = 'https://shop.example:8443'
const setup = useSetup({
  site: {
    trustedReturnOrigins: [trusted],
    loadUser: () => ({ accountId: 'one-of-many' }), // two calls less a login
    exchangeTicket: async (ticket) => ({ accessToken: ticket }),
  },
})
let site: string
beforeAll(() => {
  site = setup.morning.url
})

/** One value of each kind: all are in test/unit/return-to.test.ts. */
const hostileAddresses = (origin: string) => [
  ...[
    '//evil.example/',
    '/\\evil.example',
    '/\t/evil.example',
    ' //evil.example',
    '/.//evil.example',
    '/@evil.example',
  ],
  ...['https:/evil.example', 'ht\ttps://evil.example', 'javascript:alert(1)', 'data:text/html,hello', 'evil.example'],
  ...[`${origin}.evil.example/`, `${origin}@evil.example/`, `${origin}\\@evil.example/`, `/a\r\nSet-Cookie: hostile=1`],
  ...[`${origin}/?sso2=1.AAAAAAAAAAAAAAAAAAAAAA&r=//evil.example/`, `/${'a'.repeat(2500)}`, '__proto__'],
]
const staysHere = (address: string) => [site, trusted].includes(new URL(address, `${site}/sso2/landing`).origin)

/** What an answer leads to: the redirect, or what the form will send. */
type Way = (value: string) => Promise<{ answer: Answered; address: string | undefined }>

/** The address without what the site put on it. */
const withoutParameter = (address: string | undefined) => address?.replace(/[?&]sso2=\d+\.[\w-]{22}(?=#|$)/, '')

async function landWith(query: string, cookie = '') {
  const answer = await ask(site, { path: `/sso2/landing?${query}`, headers: { ...documentHeaders, cookie } })
  return { answer, address: withoutParameter(answer.location) }
}

/** `r` with the flow parameter, as a site would have made it. */
function withParameter(value: string, parameter: string): string {
  const mark = value.search(/#|$/)
  const head = value.slice(0, mark)
  return `${head}${head.includes('?') ? '&' : '?'}sso2=${parameter}${value.slice(mark)}`
}

let tokens = 0

const ways: [string, Way][] = [
  ['the landing with a bad token', (value) => landWith(`t=bad&r=${percentEncoded(value)}`)],
  [
    'the landing with a bound flow and a good token',
    async (value) => {
      const { cookie, r } = await beginFlow(setup)
      const parameter = present(new URL(r).searchParams.get('sso2'))
      tokens += 1
      const t = landingToken(setup, { sid: `s${tokens}` })
      return landWith(`t=${t}&r=${percentEncoded(withParameter(value, parameter))}`, cookie)
    },
  ],
  [
    'the login form',
    async (value) => {
      const headers = { accept: 'text/html', 'sec-fetch-dest': 'empty' }
      const answer = await ask(site, { path: `/login?return_to=${percentEncoded(value)}`, headers })
      return { answer, address: hiddenReturnTo(answer.body) }
    },
  ],
  [
    'a login',
    async (value) => {
      const fields = `username=${ada.username}&password=${ada.password}&return_to=${percentEncoded(value)}`
      const answer = await postForm(site, '/login', fields, { headers: { cookie: await anonymousCookies(setup) } })
      return { answer, address: answer.location }
    },
  ],
  [
    'a logout',
    async (value) => {
      const answer = await postForm(site, '/logout', `return_to=${percentEncoded(value)}`)
      return { answer, address: withoutParameter(returnAddressIn(setup, answer.location)) }
    },
  ],
]
const isAnswered = ({ status, body }: Answered) => status === 200 || (status === 303 && body === '')

test.each(ways)('[R1, F11] through %s a hostile address leads nowhere', async (_name, way) => {
  const results = await forAll(hostileAddresses(site), async (value) => ({ value, ...(await way(value)) }))
  const bad = results.filter(
    ({ answer, address }) => !isAnswered(answer) || address === undefined || !staysHere(address),
  )
  expect(bad.map(({ value, answer, address }) => [value, answer.status, address])).toEqual([])
})
/** Ways to give several addresses, or one in a form that a query parser would make something of. */
const several = (name: string) => [
  `${name}=/a&${name}=//evil.example/`,
  `${name}=//evil.example/&${name}=/a`,
  `${name}[]=/a&${name}[]=//evil.example/`,
  `${name}[href]=//evil.example/`,
  `%${name.charCodeAt(0).toString(16)}${name.slice(1)}=//evil.example/`,
  `__proto__[${name}]=//evil.example/`,
  name,
]

test('[R1, R6] an address that is given several times, or in an odd form, leads nowhere', async () => {
  const landings = await forAll(several('r'), (query) => ask(site, { path: `/sso2/landing?t=bad&${query}` }))
  expect(landings.map(({ status }) => status).filter((status) => status !== 303 && status !== 400)).toEqual([])
  const forms = await forAll(several('return_to'), (query) => ask(site, { path: `/login?${query}` }))
  const logouts = await forAll(several('return_to'), (fields) => postForm(site, '/logout', fields))
  const addresses = [
    ...landings.flatMap(({ location }) => location ?? []),
    ...forms.map(({ body }) => hiddenReturnTo(body)),
    ...logouts.map(({ location }) => present(returnAddressIn(setup, location))),
  ]
  expect(addresses.length).toBeGreaterThan(14)
  expect(addresses.filter((address) => !staysHere(address))).toEqual([])
})
