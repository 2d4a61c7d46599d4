import diagnostics from 'node:diagnostics_channel'
import { inspect } from 'node:util'
import express from 'express'
import { NotLoggedInError, type Sso2, Sso2ConfigError, sso2, TokenError } from '../../lib'
import {
  ada,
  addPages,
  edsger,
  type Gates,
  grace,
  logIn,
  type Network,
  sessionSecret,
  startNetwork,
  view,
} from './network'

/** Everything that must not come out, as it comes by. */
const secrets = new Map<string, string>()
/** Everything that a person or a program may see of `req.sso2`, of errors and of events. */
const shown: string[] = []
const show = (value: unknown) => {
  for (const customInspect of [true, false]) shown.push(inspect(value, { depth: 20, showHidden: true, customInspect }))
  shown.push(JSON.stringify(value) ?? '')
  if (value instanceof Error) shown.push(String(value.stack), JSON.stringify(Object.getOwnPropertyDescriptors(value)))
}

let network: Network
let tokenUrl: string
const at = (path: string) => `${network.morning.url}${path}`
const events = ['identify', 'landing', 'check', 'login', 'logout', 'degraded'].map((name) => `express-sso2:${name}`)

function build(sso: Sso2, gates: Gates) {
  const app = express()
  app.use(sso)
  app.use((req, _res, next) => {
    show(req.sso2)
    shown.push(inspect(req.session, { depth: 20, showHidden: true }))
    next()
  })
  app.get('/me', sso.requireLogin(), (req, res, next) => {
    req.sso2.api.marketplaceGroups().then((groups) => res.json({ groups: groups.length }), next)
  })
  return addPages(app, sso, gates)
}

const exchangeFor =
  (site: string) =>
  async (ticket: string, { sid }: { sid: string }) => {
    secrets.set(ticket, 'ticket')
    secrets.set(sid, 'SSO session ID')
    const { clientId, clientSecret } = network.emulator.siteOptions(site)
    const body = new URLSearchParams({
      grant_type: 'authorization_code',
      code: ticket,
      client_id: clientId,
      client_secret: clientSecret,
    })
    const response = await fetch(tokenUrl, { method: 'POST', body })
    const grant = (await response.json()) as { access_token: string; expires_in: number }
    secrets.set(grant.access_token, 'access token')
    return grant
  }

let warn: jest.SpyInstance
beforeAll(async () => {
  warn = jest.spyOn(console, 'warn').mockImplementation((...args: unknown[]) => void shown.push(args.join(' ')))
  for (const name of events) diagnostics.subscribe(name, show)
  network = await startNetwork({ record: true, build, site: (name) => ({ exchangeTicket: exchangeFor(name) }) })
  tokenUrl = network.emulator.siteOptions('morning').tokenUrl
  secrets.set(network.emulator.siteOptions('morning').clientSecret, 'client secret')
  secrets.set(sessionSecret, 'session secret')
  secrets.set(network.emulator.siteOptions('evening').clientSecret, 'client secret')
  for (const { password } of [ada, grace, edsger]) secrets.set(password, 'password')
  secrets.set('a-wrong-password', 'wrong password')
  await walk()
  for (const { sid } of network.emulator.sessions()) secrets.set(sid, 'SSO session ID')
})
afterAll(async () => {
  for (const name of events) diagnostics.unsubscribe(name, show)
  await network.close()
  warn.mockRestore()
})

/** All flows, good ones and bad ones. */
async function walk(): Promise<void> {
  const browser = network.browser()
  const landed = await browser.visit(at('/first?a=1'))
  takeTokens(landed.trail.map(({ url }) => url))
  const wrong = { username: 'ada', password: 'a-wrong-password' }
  await logIn(browser, network.morning, wrong)
  await browser.fetchJson(at('/login'), { json: wrong })
  await browser.fetchJson(at('/login'), { json: edsger })
  await browser.fetchJson(at('/login'), { method: 'POST', headers: { 'content-type': 'text/plain' } })
  const otp = network.emulator.issueOtp('ada')
  secrets.set(otp, 'one-time password')
  network.emulator.faults.add({ operation: 'authenticate', kind: 'wrong_signature', times: 1 })
  network.emulator.faults.add({ operation: 'sessionstatus', kind: 'garbage', times: 1 })
  await logIn(browser, network.morning, grace)
  network.emulator.faults.clear()
  const second = network.browser()
  await second.visit(at('/'))
  await second.submit(at('/login'), { ...ada, return_to: '/account' })
  for (const path of ['/account', '/me', '/keep', '/sensitive', '/login', '/logout', '/logout-all']) {
    await second.visit(at(path))
  }
  const other = await second.visit(`${network.evening.url}/`)
  takeTokens(other.trail.map(({ url }) => url))
  network.emulator.clock.advance(361)
  await second.visit(at('/'))
  network.emulator.faults.add({ operation: 'logout', kind: 'down', times: 1 })
  await second.submit(at('/logout'), { return_to: '/' })
  await second.visit(at('/'))
  await second.visit(at('/login'))
  const third = network.browser()
  await third.visit(at('/'))
  await third.fetchJson(at('/login'), { json: { username: 'ada', password: otp } })
  await third.submit(at('/logout-all'), { return_to: '/' })
  await network.browser({ cookies: false }).visit(at('/'))
  for (const kind of ['wrong_signature', 'expired', 'wrong_audience'] as const) {
    network.emulator.faults.add({ operation: 'identify', kind, times: 3 })
    takeTokens((await network.browser().visit(at(`/fault/${kind}`))).trail.map(({ url }) => url))
    network.emulator.faults.clear()
  }
  const fourth = network.browser()
  await fourth.visit(at('/'))
  await logIn(fourth, network.morning, grace)
}

/** Session Tokens on their way through the browser: the landing's `t`, with what is in them. */
function takeTokens(urls: string[]): void {
  for (const url of urls.filter((address) => address.includes('/sso2/landing?'))) {
    const token = new URL(url).searchParams.get('t') ?? ''
    secrets.set(token, 'Session Token')
    secrets.set(token.split('.')[1] ?? '', 'claims of a Session Token')
    const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as Record<string, unknown>
    for (const name of ['at', 'sid']) {
      if (typeof claims[name] === 'string') secrets.set(claims[name], name === 'at' ? 'ticket' : 'SSO session ID')
    }
  }
}

/** Names of the secrets that a text holds, plainly or encoded in one of the usual ways. */
function found(text: string): string[] {
  const spellings = [text, decode(text), Buffer.from(text.replace(/[^\w+/=-]/g, ''), 'base64').toString('latin1')]
  const names = [...secrets].filter(([secret]) => {
    const forms = [secret, encodeURIComponent(secret), Buffer.from(secret).toString('base64').replace(/=+$/, '')]
    return spellings.some((spelling) => forms.some((form) => spelling.includes(form)))
  })
  return names.map(([, name]) => `${name} in ${text.slice(0, 200)}`)
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

const kinds = [
  'password',
  'wrong password',
  'one-time password',
  'client secret',
  'session secret',
  'ticket',
  'access token',
  'Session Token',
  'SSO session ID',
]

test.each(kinds)('the walk has come by a %s', (kind) => {
  expect([...secrets.values()]).toContain(kind)
})

test('the search finds what is there, plainly and encoded', () => {
  const encoded = Buffer.from(`{"password":"${ada.password}"}`).toString('base64')
  for (const text of [`a ${ada.password} b`, encodeURIComponent(sessionSecret), encoded]) {
    expect(found(text)).toHaveLength(1)
  }
})

test('the walk has come by every kind of answer', () => {
  const statuses = new Set(network.morning.sent.map(({ status }) => status))
  expect([...statuses].sort()).toEqual(expect.arrayContaining([200, 302, 303, 401]))
  expect(network.morning.sent.length).toBeGreaterThan(40)
  expect(shown.length).toBeGreaterThan(60)
})

test('no answer of a site holds any of them', () => {
  for (const { headers, body } of [...network.morning.sent, ...network.evening.sent]) {
    expect(found(headers)).toEqual([])
    expect(found(body)).toEqual([])
  }
})

test('a JWT leaves a site only with the redirect to Identify', () => {
  for (const { headers, body } of [...network.morning.sent, ...network.evening.sent]) {
    expect(body).not.toMatch(/eyJ[\w-]+\.[\w-]+\.[\w-]+/)
    const { location, ...others } = JSON.parse(headers) as Record<string, string>
    expect(JSON.stringify(others)).not.toMatch(/eyJ[\w-]+\./)
    if (location?.includes('eyJ')) expect(location.startsWith(`${network.emulator.url}/sso/`)).toBe(true)
  }
})

test('no key and no value in Redis holds any of them', async () => {
  const keys = [...(await network.keys(network.morning)), ...(await network.keys(network.evening))]
  expect(keys.length).toBeGreaterThan(5)
  for (const key of keys) {
    expect(found(key)).toEqual([])
    for (const value of await valuesOf(key)) expect(found(value)).toEqual([])
  }
})

async function valuesOf(key: string): Promise<string[]> {
  const { redis } = network
  switch (await redis.type(key)) {
    case 'string':
      return [(await redis.get(key)) ?? '']
    case 'set':
      return redis.smembers(key)
    case 'zset':
      return redis.zrange(key, 0, -1)
    case 'hash':
      return Object.entries(await redis.hgetall(key)).flat()
    case 'none':
      return []
    default:
      throw new Error('a type of value that this test does not know')
  }
}

test('req.sso2, the session, log lines and events show none of them, however they are printed', () => {
  expect(shown.flatMap(found)).toEqual([])
})

test('req.sso2 as JSON and as text is status and user alone', async () => {
  const printed = shown.filter((text) => text.startsWith('{"status":'))
  expect(printed.length).toBeGreaterThan(10)
  for (const text of printed) expect(Object.keys(JSON.parse(text) as object).sort()).not.toContain('visit')
})

test('no error shows any of them', async () => {
  const options = network.emulator.siteOptions('morning')
  const { client } = network.morning.sso
  const errors: unknown[] = []
  const take = async (run: () => unknown) => {
    try {
      await run()
    } catch (error) {
      errors.push(error)
    }
  }
  const sid = [...secrets].find(([, name]) => name === 'SSO session ID')?.[0] ?? ''
  const device = { ipa: '127.0.0.1', uas: 'test' }
  await take(() => client.readLanding([...secrets].find(([, name]) => name === 'Session Token')?.[0] ?? ''))
  for (const kind of ['down', 'garbage', 'wrong_signature'] as const) {
    network.emulator.faults.add({ operation: 'sessionstatus', kind, times: 2 })
    network.emulator.faults.add({ operation: 'authenticate', kind, times: 2 })
    await take(() => client.sessionStatus({ sid, lks: 'anon', ...device }))
    await take(() => client.authenticate({ sid, usr: 'ada', pwd: ada.password, ...device }))
    network.emulator.faults.clear()
  }
  await take(() =>
    sso2({ ...options, clientSecret: 'a-short-secret', siteUrl: 'nonsense', sessionSecret: 'short-one' }),
  )
  secrets.set('a-short-secret', 'client secret')
  secrets.set('short-one', 'session secret')
  errors.push(new NotLoggedInError())
  expect(errors.length).toBeGreaterThanOrEqual(8)
  expect(errors.some((error) => error instanceof Sso2ConfigError)).toBe(true)
  expect(errors.some((error) => error instanceof TokenError)).toBe(true)
  const before = shown.length
  for (const error of errors) show(error)
  expect(shown.slice(before).flatMap(found)).toEqual([])
})

test('sso and its parts show none of them', () => {
  const before = shown.length
  show(network.morning.sso)
  show(network.morning.sso.client)
  show(network.morning.sso.api)
  expect(shown.slice(before).flatMap(found)).toEqual([])
})

test('the pages after the walk still work', async () => {
  expect(view(await network.browser().visit(at('/'))).status).toBe('anon')
})
