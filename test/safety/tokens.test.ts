import diagnostics from 'node:diagnostics_channel'
import http from 'node:http'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { Sso2Event } from '../../lib/web/hooks'
import { ada, grace, loggedIn, type Network, present, startNetwork, type TestSite, view } from '../flows/network'
import type { Browser } from '../support/agent'
import { readJwt, signJwt } from '../support/oracle'
import { type BadToken, goodClaims, goodTokens, signClaims, type Target } from './bad-tokens'
import { badTokens } from './bad-tokens-corpus'

const documentHeaders = {
  accept: 'text/html',
  'sec-fetch-dest': 'document',
  'sec-fetch-mode': 'navigate',
  'sec-fetch-site': 'none',
}
const secrets = ['client-secret-of-the-morning-paper-0123456789', 'the-secret-of-last-year-0123456789-abcdef'] as const

/** Stands still while tokens are judged, so that a token at the very edge of its life stays there. */
let time = Date.now()
let network: Network
let site: TestSite
let warn: jest.SpyInstance
const events: Sso2Event[] = []
const note = (event: unknown) => void events.push(event as Sso2Event)
const agent = new http.Agent({ keepAlive: true })

beforeAll(async () => {
  warn = jest.spyOn(console, 'warn').mockImplementation(() => {})
  network = await startNetwork({
    site: (name) => (name === 'morning' ? { clock: { now: () => time }, clientSecret: secrets } : {}),
  })
  site = network.morning
  diagnostics.subscribe('express-sso2:landing', note)
})
beforeEach(() => {
  time = Date.now() // or a test that took ten seconds leaves the next one with requests to Identify that are too old
})
afterAll(async () => {
  diagnostics.unsubscribe('express-sso2:landing', note)
  agent.destroy()
  await network.close()
  warn.mockRestore()
})

interface Page {
  status: number
  location: string | undefined
  setCookie: string[]
  body: string
}

/** One request with cookies by hand: the browser's loop guard would stop the second bad token. */
function get(path: string, cookie: string): Promise<Page> {
  const { host, port } = new URL(site.url)
  return new Promise((resolve, reject) => {
    const headers = { ...documentHeaders, host, cookie, 'user-agent': 'Mozilla/5.0 Firefox/140.0' }
    const request = http.get({ host: '127.0.0.1', port, path, headers, agent }, (response) => {
      let body = ''
      response.setEncoding('utf8').on('data', (chunk: string) => {
        body += chunk
      })
      response.once('end', () => {
        const { location, 'set-cookie': setCookie = [] } = response.headers
        resolve({ status: response.statusCode ?? 0, location, setCookie, body })
      })
    })
    request.once('error', reject)
  })
}

/** A flow that has come back from Identify and has not landed yet. */
interface Flow {
  /** Both cookies of the browser: binding and, where it has one, session. */
  cookie: string
  /** The return address with its binding. */
  r: string
  /** The token that the SSO system sent. */
  t: string
}

async function beginFlow(browser: Browser): Promise<Flow> {
  time = Date.now()
  const own = (wanted: string) =>
    browser.cookies.find(({ name, host }) => name === wanted && host === 'morning.localhost')?.value
  const session = own('sso2.sid')
  browser.dropCookies(({ name, host }) => /^sso2\.(sid|l)/.test(name) && host === 'morning.localhost')
  const start = await browser.fetchJson(`${site.url}/page`, { headers: documentHeaders })
  const back = await browser.fetchJson(present(start.headers.location), { headers: documentHeaders })
  const query = new URL(present(back.headers.location)).searchParams
  // after ten seconds the site looks for who is out and not back, with a clock that stands still, and finds Identify broken
  await network.browser().visit(`${site.url}/page`)
  const cookies = [`sso2.b=${present(own('sso2.b'))}`, ...(session === undefined ? [] : [`sso2.sid=${session}`])]
  return { cookie: cookies.join('; '), r: present(query.get('r')), t: present(query.get('t')) }
}

const land = ({ cookie, r }: Flow, t: unknown) =>
  get(`/sso2/landing?t=${encodeURIComponent(String(t))}&r=${encodeURIComponent(r)}`, cookie)
const see = async ({ cookie }: Flow) => view(await get('/page', cookie))

/** What the landing is told about: Grace's session, with a ticket that would log her in. */
function targetOf({ t }: Flow): Target {
  const { sid, at } = readJwt(t).claims
  return {
    operation: 'identify',
    issuer: 'sso-service',
    clientId: 'morning',
    organisationId: 'demo-press',
    secrets,
    now: Math.floor(time / 1000),
    sid: String(sid),
    aid: 'account-grace',
    ticket: String(at),
  }
}

async function stored(): Promise<Record<string, string | null>> {
  const keys = await network.keys()
  const values = await Promise.all(keys.map((key) => network.redis.get(key).catch(() => 'no text')))
  return Object.fromEntries(keys.map((key, index) => [key, values[index] ?? null]))
}

/** What one bad token did that it must not do. */
async function judge(flow: Flow, { token, reasons }: BadToken): Promise<string | undefined> {
  events.length = 0
  const { status, location, setCookie } = await land(flow, token)
  if (status !== 303 || location !== `${site.url}/page`) return `answered ${status} to ${location}`
  if (setCookie.some((line) => !line.startsWith('sso2.l'))) return `set ${setCookie.join()}`
  const [event, ...more] = events
  if (!event || more.length > 0) return `${events.length} events`
  if (!/^(give_up|start_anew)$/.test(event.outcome)) return `the event says ${event.outcome}`
  return reasons.some((reason) => reason === event.reason) ? undefined : `refused for ${event.reason}`
}

async function failuresOf(flow: Flow, tokens: readonly BadToken[]): Promise<string[]> {
  const failures: string[] = []
  for (const bad of tokens) {
    const failure = await judge(flow, bad)
    if (failure !== undefined) failures.push(`${bad.group}: ${bad.name}: ${failure}`)
  }
  return failures
}

// A rejection that nobody handles fails the test that it happens in: jest sees to that by itself.
describe('[T1, T2, T3, T4, T5, T6, T7, T8, T9, T10, T11, T14, T16, L5, L6, L7, L11] at the landing page, within a flow that is bound to its browser,', () => {
  const visitors: [string, () => Promise<Browser>, object][] = [
    ['an anonymous visitor', async () => network.browser(), { status: 'anon', url: '/page' }],
    [
      'a logged-in visitor',
      () => loggedIn(network, ada, network.evening),
      { status: 'loggedin', username: 'ada', url: '/page' },
    ],
  ]

  test.each(visitors)('every bad token is refused, and %s stays who it was', async (_name, open, before) => {
    const [browser, other] = [await open(), await loggedIn(network, grace, network.evening)]
    await browser.visit(`${site.url}/page`)
    const [source, flow] = [await beginFlow(other), await beginFlow(browser)]
    const target = targetOf(source)
    expect(await see(flow)).toEqual(before)
    const [records, exchanges] = [await stored(), network.count('token')]

    const bad = badTokens(target)
    expect(bad.length).toBeGreaterThanOrEqual(300)
    expect(await failuresOf(flow, bad)).toEqual([])

    expect(await see(flow)).toEqual(before)
    expect(tokensTaken(await stored(), records).changed).toEqual({})
    expect(network.count('token')).toBe(exchanges)
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false)
    // The very claims that the bad tokens spoil log in where nothing is spoilt.
    const landed = await land(flow, signClaims(target, goodClaims(target)))
    expect(landed.setCookie.some((line) => line.startsWith('sso2.sid='))).toBe(true)
    expect(network.count('token')).toBe(exchanges + 1)
  })

  /** A good token that means nothing at a landing counts as used; nothing else may be written. */
  function tokensTaken(after: Record<string, string | null>, before: Record<string, string | null>) {
    const entries = Object.entries(after).filter(([key, value]) => before[key] !== value)
    const isSignature = (key: string) => !(key in before) && !/:sess:|:sso2:\{/.test(key)
    const lost = Object.keys(before).filter((key) => !(key in after))
    return {
      changed: Object.fromEntries([...entries.filter(([key]) => !isSignature(key)), ...lost.map((key) => [key, null])]),
    }
  }

  test('[T16] the corpus again and again uses no more memory', async () => {
    setFlagsFromString('--expose-gc')
    const collect: () => void = runInNewContext('gc')
    const browser = network.browser()
    await browser.visit(`${site.url}/page`)
    const [source, flow] = [await beginFlow(await loggedIn(network, grace, network.evening)), await beginFlow(browser)]
    const bad = badTokens(targetOf(source))
    const heap: number[] = []
    for (let pass = 0; pass < 3; pass += 1) {
      for (const { token } of bad) expect((await land(flow, token)).status).toBe(303)
      events.length = 0
      collect()
      heap.push(process.memoryUsage().heapUsed)
    }
    const growth = (heap.at(-1) ?? 0) - (heap[0] ?? 0)
    expect(growth).toBeLessThan(5 * 1024 * 1024)
  })

  test('[T17] every good variant logs its user in', async () => {
    const browser = await loggedIn(network, grace, network.evening)
    const names = goodTokens(targetOf(await beginFlow(browser))).map(({ name }) => name)
    for (const [index, name] of names.entries()) {
      const flow = await beginFlow(browser)
      const token = present(goodTokens(targetOf(flow))[index]).token
      const { status, setCookie } = await land(flow, token)
      const session = setCookie.find((line) => line.startsWith('sso2.sid='))?.split(';')[0] ?? 'no session'
      const seen = view(await get('/page', `${flow.cookie}; ${session}`))
      expect([name, status, seen]).toEqual([name, 303, { status: 'loggedin', username: 'grace', url: '/page' }])
    }
  })

  test('[L5] the token of our own Identify address is refused', async () => {
    const browser = network.browser()
    const flow = await beginFlow(browser)
    const own = new URL(site.sso.client.identifyUrl(flow.r)).searchParams.get('t')
    expect(
      await judge(flow, { group: 'reflection', name: 'Identify', token: own, reasons: ['issuer'] }),
    ).toBeUndefined()
    expect((await land(flow, flow.t)).setCookie.join()).toContain('sso2.sid=')
  })

  test("[L6] a sister site's token is refused, with its own secret and even with ours", async () => {
    const flow = await beginFlow(await loggedIn(network, grace, network.evening))
    const claims = readJwt(flow.t).claims
    const evening = 'client-secret-of-the-evening-paper-0123456789'
    const sister = { ...claims, aud: 'evening' }
    const exchanges = network.count('token')
    for (const [token, reason] of [
      [signJwt(claims, evening), 'signature'],
      [signJwt(sister, evening), 'signature'],
      [signJwt(sister, secrets[0]), 'audience'],
    ] as const)
      expect(await judge(flow, { group: 'aud', name: 'sister', token, reasons: [reason] })).toBeUndefined()
    expect(network.count('token')).toBe(exchanges)
  })
})
