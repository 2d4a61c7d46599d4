import { randomUUID } from 'node:crypto'
import { cookieHeader } from '../support/addresses'
import type { Browser, ScriptAnswer } from '../support/agent'
import { browserCalls } from '../support/calls'
import { type HttpAnswer, send } from '../support/http'
import { beginFlow, document, hearEvents, land, landingToken } from '../support/landing'
import { loggerTo } from '../support/log-lines'
import { parseSetCookie } from '../support/raw'
import { ada, behindProxy, grace, logInAtLast, useSetup, view, visitor } from '../support/setup'

/* What the browsers of an attacker may try at the login form, and at the landing page. How logins are counted: test/http/limits.test.ts. */

const at = (path: string) => `${setup.morning.url}${path}`
const lines: string[] = []
const site = { loginLimit: { attempts: 5, perSeconds: 600 }, logger: loggerTo(lines) }
const setup = useSetup({ build: behindProxy, site })
const events = hearEvents()
afterAll(events.stop)
beforeEach(async () => {
  const left = await setup.keys()
  if (left.length > 0) await setup.redis.del(left)
})
afterEach(() => setup.emulator.reset())

const visitors = (count: number) => Promise.all(Array.from({ length: count }, () => visitor(setup)))
const logOut = (browser: Browser) => browser.submit(at('/logout'), { return_to: '/' })
/** A browser that was logged in here, and has an anonymous session again. */
async function known(browser: Browser): Promise<void> {
  await logInAtLast(browser, setup.morning, ada)
  expect(view(await logOut(browser)).status).toBe('anon')
}

const address = (index: number) => `198.51.100.${index % 200}`
const post = (browser: Browser, json: typeof ada, from = address(0)): Promise<ScriptAnswer> =>
  browser.fetchJson(at('/login'), { json, headers: { 'x-forwarded-for': from } })
const wrong = (index: number) => ({ username: 'ada', password: `guess-${index}` })

test('[F3] an unrecognised browser stops with two attempts left, and is told for how long; afterwards the name is open again', async () => {
  const [stranger] = (await visitors(1)) as [Browser]
  for (const remaining of [2, 1, 0]) {
    const answer = await post(stranger, wrong(remaining)) // the same guess within a millisecond is the same form
    expect([answer.status, answer.json.remainingAttempts]).toEqual([401, remaining])
  }
  const held = await post(stranger, ada)
  expect(events.messages.slice(-2)).toMatchObject([
    { operation: 'limit', outcome: 'limited', reason: 'username' },
    { operation: 'authenticate', outcome: 'refused', reason: 'too_many_attempts' },
  ])
  expect([held.status, held.json]).toEqual([429, { error: 'too_many_attempts' }])
  expect(Number(held.headers['retry-after'])).toBeGreaterThan(800)
  const page = await stranger.submit(at('/login'), { ...ada, return_to: '/' })
  expect([page.status, page.body]).toEqual([429, expect.stringContaining('please wait 15 minutes')])
  expect(setup.countCalls('authenticate')).toBe(3)

  const keys = (await setup.keys()).filter((key) => key.includes(':limit:'))
  const seconds = await Promise.all(keys.map((key) => setup.redis.ttl(key)))
  expect(Math.max(...seconds)).toBeLessThanOrEqual(900)
  await setup.redis.del(keys) // as after 15 minutes
  expect((await post(stranger, ada)).status).toBe(200)
})

test('[F3] the cookie of a recognised browser holds no name, works for its own name only, and cannot be made or moved to another', async () => {
  const [own, other] = (await visitors(2)) as [Browser, Browser]
  await known(own)
  const cookie = own.cookie('sso2.d') ?? ''
  expect(cookie).toMatch(/^\d+\.[\w-]{22}$/)
  for (let round = 0; round < 3; round += 1)
    await post(other, { username: 'grace', password: `no-${round}` }, address(round))
  own.dropCookies(({ name }) => name === 'sso2.d')
  for (const value of [cookie, `${cookie.slice(0, 12)}${'A'.repeat(21)}`, 'x', `${cookie}~${cookie}`]) {
    const headers = { cookie: `${cookieHeader(own, setup.morning.url)}; sso2.d=${value}` }
    // a browser that keeps cookies would send its own ones instead
    const answer = await setup.browser({ cookies: false }).fetchJson(at('/login'), { json: grace, headers })
    expect(answer.status).toBe(429)
  }
})

test('[F18] eight device cookies of one name are worth one attempt', async () => {
  const browsers = await visitors(8)
  for (const browser of browsers) await known(browser)
  const before = setup.countCalls('authenticate')
  for (const [index, browser] of browsers.entries())
    for (let round = 0; round < 3; round += 1) await post(browser, wrong(round), address(index))
  expect(setup.countCalls('authenticate') - before).toBe(4)
  expect(setup.emulator.account('ada').view()).toMatchObject({ failedAttempts: 4, frozenUntil: null })
})

test('[F6] an Authenticate whose answer is lost is counted once and resolved by Session Status', async () => {
  const [one] = (await visitors(1)) as [Browser]
  setup.emulator.faults.add({ operation: 'authenticate', kind: 'drop_after_commit' })
  const answer = await post(one, ada)
  expect([answer.status, answer.json.user?.accountId, one.cookie('sso2.d')]).toEqual([200, 'account-ada', undefined])
  expect(setup.countCalls('authenticate')).toBe(1)
  const asked = browserCalls(setup.emulator, 'sessionstatus')
  const ofVisitors = asked.filter(({ outcome }) => outcome !== 'session_not_found') // and not a probe
  expect(ofVisitors.map(({ claims }) => claims?.['lks'])).toEqual(['anon'])

  await logOut(one)
  const refused = await post(one, { ...grace, password: 'not-it' })
  expect([refused.status, refused.json]).toEqual([503, { error: 'unavailable' }])
  expect(setup.countCalls('authenticate')).toBe(2)
  expect(setup.emulator.account('grace').view().failedAttempts).toBe(1)
})

test.each([
  ['203.0.113.9:5678', '203.0.113.9'],
  ['198.51.100.7, 203.0.113.9:80', '203.0.113.9'],
  ['203.0.113.9, evil"<b>', '0.0.0.0'],
  ['[2001:db8::1]:443', '2001:db8::1'],
  ['::ffff:203.0.113.9', '203.0.113.9'],
  ['evil', '0.0.0.0'],
])('[F10] X-Forwarded-For %s is the address %s', async (forwarded, address) => {
  const username = `user at ${forwarded}`
  const [browser] = (await visitors(1)) as [Browser]
  await post(browser, { username, password: 'wrong' }, forwarded)
  const calls = setup.emulator.calls({ operation: 'authenticate' }).filter(({ claims }) => claims['usr'] === username)
  expect(calls.map(({ claims }) => claims['ipa'])).toEqual([address])
})

test('[S8] new visitors of an address leave small keys with an end; beyond 600 in a minute → the page, but no session, no key and no redirect', async () => {
  const flow = await beginFlow(setup)
  events.clear()
  const visitor = (claims = {}) => landingToken(setup, { sid: randomUUID(), jti: randomUUID(), ...claims })
  const landFrom = (address: string, token = visitor(), cookies: string[] = []) =>
    land(setup, flow, token, cookies, { 'x-forwarded-for': address })
  const cookiesOf = ({ setCookie }: HttpAnswer) =>
    setCookie.map(parseSetCookie).map(({ name, value }) => `${name}=${value}`)
  const sessionOf = (answer: HttpAnswer) => cookiesOf(answer).filter((cookie) => cookie.startsWith('sso2.sid='))

  lines.length = 0
  const replayed = visitor() // counts once
  const answers = await Promise.all(Array.from({ length: 50 }, () => landFrom('203.0.113.7', replayed)))
  while (answers.length < 650)
    answers.push(...(await Promise.all(Array.from({ length: 50 }, () => landFrom('203.0.113.7')))))
  const sessions = answers.flatMap(sessionOf)
  expect(sessions).toHaveLength(600)

  const keys = (await setup.keys()).sort()
  expect(keys).toHaveLength(2 * 600 + 1) // and the count
  for (const key of keys) {
    expect(await setup.redis.memory('USAGE', key)).toBeLessThan(512)
    const seconds = await setup.redis.ttl(key)
    expect(seconds).toBeGreaterThan(0)
    expect(seconds).toBeLessThanOrEqual(key.includes(':used:') ? 150 : 86_400)
  }
  const refused = await landFrom('203.0.113.7')
  expect([refused.status, refused.headers.location, sessionOf(refused)]).toEqual([303, `${setup.morning.url}/`, []])
  expect((await setup.keys()).sort()).toEqual(keys)
  expect(events.heard.filter((event) => event === 'landing unchanged too_many_landings')).toHaveLength(2)
  const headers = { ...document, cookie: [flow.cookie, ...cookiesOf(refused)].join('; ') }
  const page = await send({ method: 'GET', url: new URL(setup.morning.url), headers })
  expect([page.status, JSON.parse(page.body)]).toEqual([200, { status: 'none', degraded: 'identify_loop', url: '/' }])
  expect(lines).toHaveLength(1)
  await send({ method: 'GET', url: new URL(setup.morning.url), headers: { ...document, cookie: 'sso2.l=5.' } })
  const headings = lines.map((line) => /: (.*?)\./.exec(line)?.[1])
  expect(headings).toEqual(['Too many new visitors from one address', 'Redirect loop'])

  events.clear()
  await landFrom('203.0.113.7', visitor(), sessions.slice(0, 1))
  await landFrom('203.0.113.7', visitor({ sts: 'loggedin', at: 'a-ticket' }))
  for (const address of ['203.0.113.8', '10.0.0.1']) expect(sessionOf(await landFrom(address))).toHaveLength(1)
  expect(events.heard.filter((event) => !event.startsWith('degraded'))).toEqual([
    'landing unchanged newer_session',
    'landing stay_anonymous user_unknown',
    'landing stay_anonymous',
    'landing stay_anonymous',
  ])
})
