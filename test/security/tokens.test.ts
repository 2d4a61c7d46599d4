import { ask, documentHeaders } from '../support/addresses'
import type { Browser } from '../support/agent'
import { hearEvents } from '../support/landing'
import { readJwt } from '../support/oracle'
import { ada, grace, loggedInBrowser, present, useSetup, view } from '../support/setup'
import { type BadToken, goodClaims, signClaims, type Target, targetOf } from './bad-tokens'
import { badTokens } from './bad-tokens-claims'

const secrets = ['client-secret-of-the-morning-paper-0123456789', 'the-secret-of-last-year-0123456789-abcdef'] as const

/** Stands still while tokens are judged, so that a token at the very edge of its life stays there. */
let time = Date.now()
const events = hearEvents()

const setup = useSetup({
  site: (name) => (name === 'morning' ? { clock: { now: () => time }, clientSecret: secrets } : {}),
})
const at = (path: string) => `${setup.morning.url}${path}`
beforeEach(() => {
  time = Date.now() // or a test that took ten seconds leaves the next one with requests to Identify that are too old
})
afterAll(events.stop)

/** One request with cookies by hand: the browser's loop guard would stop the second bad token. */
const get = (path: string, cookie: string) => ask(setup.morning.url, { path, headers: { ...documentHeaders, cookie } })

type Flow = Awaited<ReturnType<typeof beginFlow>>
/** A flow that has come back from Identify and has not landed yet: cookies for binding and session, return address, and token. */
async function beginFlow(browser: Browser) {
  time = Date.now()
  const own = (wanted: string) =>
    browser.cookies.find(({ name, host }) => name === wanted && host === 'morning.localhost')?.value
  const session = own('sso2.sid')
  browser.dropCookies(({ name, host }) => /^sso2\.(sid|l)/.test(name) && host === 'morning.localhost')
  const start = await browser.fetchJson(at('/page'), { headers: documentHeaders })
  const back = await browser.fetchJson(present(start.headers.location), { headers: documentHeaders })
  const query = new URL(present(back.headers.location)).searchParams
  // after ten seconds the site looks for who is out and not back, with a clock that stands still, and finds Identify broken
  await setup.browser().visit(at('/page'))
  const cookies = [`sso2.b=${present(own('sso2.b'))}`, ...(session === undefined ? [] : [`sso2.sid=${session}`])]
  return { cookie: cookies.join('; '), r: present(query.get('r')), t: present(query.get('t')) }
}

const land = ({ cookie, r }: Flow, t: unknown) =>
  get(`/sso2/landing?t=${encodeURIComponent(String(t))}&r=${encodeURIComponent(r)}`, cookie)
const see = async ({ cookie }: Flow) => view(await get('/page', cookie))

/** What the landing is told about: Grace's session, with a ticket that would log her in. */
function targetIn({ t }: Flow): Target {
  const { sid, at } = readJwt(t).claims
  const session = { sid: String(sid), aid: 'account-grace', ticket: String(at) }
  return { ...targetOf('identify'), secrets, now: Math.floor(time / 1000), ...session }
}

async function stored(): Promise<Record<string, string | null>> {
  const keys = await setup.keys()
  const values = await Promise.all(keys.map((key) => setup.redis.get(key).catch(() => 'no text')))
  return Object.fromEntries(keys.map((key, index) => [key, values[index] ?? null]))
}

/** What one bad token did that it must not do. */
async function judge(flow: Flow, { token, reasons }: BadToken): Promise<string | undefined> {
  events.clear()
  const { status, location, setCookie } = await land(flow, token)
  if (status !== 303 || location !== at('/page')) return `answered ${status} to ${location}`
  if (setCookie.some((line) => !line.startsWith('sso2.l'))) return `set ${setCookie.join()}`
  const told = events.heard.filter((event) => event.startsWith('landing ')).join()
  return reasons.some((reason) => [`landing give_up ${reason}`, `landing start_anew ${reason}`].includes(told))
    ? undefined
    : `told: ${told}`
}

async function failuresOf(flow: Flow, tokens: readonly BadToken[]): Promise<string[]> {
  const failures: string[] = []
  for (const bad of tokens) {
    const failure = await judge(flow, bad)
    if (failure !== undefined) failures.push(`${bad.group}: ${bad.name}: ${failure}`)
  }
  return failures
}

/** A good token that means nothing at a landing counts as used. Nothing else may be written. */
function changesOf(after: Record<string, string | null>, before: Record<string, string | null>) {
  const entries = Object.entries(after).filter(([key, value]) => before[key] !== value)
  const isSignature = (key: string) => !(key in before) && !/:sess:|:sso2:\{/.test(key)
  const lost = Object.keys(before).filter((key) => !(key in after))
  return [...entries.filter(([key]) => !isSignature(key)).map(([key]) => key), ...lost]
}

// A rejection that no handler takes fails the test that it happens in: jest sees to that by itself.
test('[T1, T2, T3, T4, T5, T6, T7, T8, T9, T10, T11, T14, T16, L5, L6, L7, L11] at the landing page, within a bound flow, every bad token is refused, and a logged-in visitor stays logged in', async () => {
  const before = { status: 'loggedin', username: 'ada', url: '/page' }
  const browser = await loggedInBrowser(setup, ada, setup.evening)
  const other = await loggedInBrowser(setup, grace, setup.evening)
  await browser.visit(at('/page'))
  const [source, flow] = [await beginFlow(other), await beginFlow(browser)]
  const target = targetIn(source)
  expect(await see(flow)).toEqual(before)
  const [records, exchanges] = [await stored(), setup.countCalls('token')]

  const bad = badTokens(target)
  expect(bad.length).toBeGreaterThanOrEqual(130)
  expect(await failuresOf(flow, bad)).toEqual([])

  expect(await see(flow)).toEqual(before)
  expect(changesOf(await stored(), records)).toEqual([])
  expect(setup.countCalls('token')).toBe(exchanges)
  expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false)
  // The very claims that the bad tokens spoil log in where nothing is spoilt.
  const landed = await land(flow, signClaims(target, goodClaims(target)))
  expect(landed.setCookie.some((line) => line.startsWith('sso2.sid='))).toBe(true)
  expect(setup.countCalls('token')).toBe(exchanges + 1)
})
