import express from 'express'
import request from 'supertest'
import { deviceOf } from '../../lib/web/http/request-facts'
import { cookieHeader } from '../support/addresses'
import type { Browser } from '../support/agent'
import { type HttpAnswer, send } from '../support/http'
import { ada, edsger, grace, logInAtLast, startSetup, useSetup, view, visitor } from '../support/setup'

const setup = useSetup()
let browser: Browser
const at = (path: string) => `${setup.morning.url}${path}`

beforeEach(async () => {
  browser = await visitor(setup)
})
afterEach(() => setup.emulator.reset())

/** One request as it is, with the browser's cookies. */
function raw(method: string, path: string, headers: Record<string, string> = {}, body?: string): Promise<HttpAnswer> {
  const cookie = cookieHeader(browser, setup.morning.url)
  const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }
  return send({ method, url: new URL(at(path)), headers: { cookie, ...length, ...headers }, body })
}

const json = { 'content-type': 'application/json', accept: 'application/json' }
const form = { 'content-type': 'application/x-www-form-urlencoded' }

const own = () => setup.morning.url
const evil = () => 'https://evil.example'
/** Each combination is in test/unit/navigation.test.ts. */
test.each<[site: string | undefined, what: string, isTaken: boolean, origin: () => string]>([
  ['same-origin', 'another Origin', true, evil],
  ['cross-site', 'its own Origin', false, own],
  [undefined, 'its own Origin', true, own],
  [undefined, 'another Origin', false, evil],
])('[F1] only same-origin POSTs are taken: Sec-Fetch-Site %j and %s: %p', async (site, _what, isTaken, origin) => {
  const said = { origin: origin(), ...(site !== undefined && { 'sec-fetch-site': site }) }
  const login = await raw('POST', '/login', { ...json, ...said }, JSON.stringify({ username: 'ada', password: 'no' }))
  expect(login.status).toBe(isTaken ? 401 : 403)
  if (isTaken) return
  expect(setup.countCalls('authenticate')).toBe(0)
  for (const path of ['/logout', '/logout-all']) {
    const answer = await raw('POST', path, { ...form, ...said }, 'return_to=/')
    expect([answer.status, answer.setCookie]).toEqual([403, []])
  }
  expect(setup.countCalls('logout') + setup.countCalls('logoutall')).toBe(0)
})

test.each([
  ['GET', '/logout'],
  ['GET', '/logout?_method=POST'],
  ['GET', `/login?username=${grace.username}&password=${grace.password}`],
  ['PUT', '/logout'],
])('[F2] nothing but a POST logs in or out: %s %s', async (method, path) => {
  await logInAtLast(browser, setup.morning, ada)
  const calls = setup.countCalls('authenticate')
  const headers = { ...form, origin: setup.morning.url, 'x-http-method-override': 'POST' }
  const answer = await raw(method, path, headers)
  expect([200, 302, 403, 405]).toContain(answer.status)
  expect(answer.setCookie).toEqual([])
  expect(setup.countCalls('logout') + setup.countCalls('logoutall')).toBe(0)
  expect(setup.countCalls('authenticate')).toBe(calls)
  expect(view(await browser.visit(at('/')))).toMatchObject({ status: 'loggedin', username: 'ada' })
})

test("[F7] with 'neutral' messages a wrong password or one-time password, an unknown name, an inactive and a frozen account look alike to the byte", async () => {
  const neutral = await startSetup({ site: { loginMessages: 'neutral', loginLimit: false } })
  try {
    const url = `${neutral.morning.url}/login`
    const stranger = await visitor(neutral)
    for (let tries = 1; tries <= 5; tries += 1)
      await stranger.fetchJson(url, { json: { username: 'grace', password: `x${tries}` } })
    expect(neutral.emulator.account('grace').view().frozenUntil).not.toBeNull()
    const code = neutral.emulator.issueOtp('ada') === '000000' ? '000001' : '000000'
    const otps = [
      { username: 'ada', password: code },
      { username: 'nobody', password: code },
    ]
    const cases = [{ username: 'ada', password: 'no' }, { username: 'nobody', password: 'no' }, ...otps, edsger, grace]
    const seen = new Set<string>()
    for (const account of cases) {
      const script = await stranger.fetchJson(url, { json: account })
      const page = await stranger.submit(url, { ...account, return_to: '/' })
      const body = page.body.replace(`value="${account.username}"`, 'value=""')
      seen.add(JSON.stringify([script.status, script.body, page.status, body, script.headers['retry-after']]))
    }
    expect([...seen]).toHaveLength(1)
    expect([...seen][0]).toContain('login_failed')
  } finally {
    await neutral.close()
  }
})

/** Behind a proxy: limits.test.ts. */
describe('[F10] the address and browser that the platform is told', () => {
  const seen = () => setup.emulator.calls({ operation: 'authenticate' }).at(-1)?.claims
  const spoofed = { 'x-forwarded-for': '203.0.113.9', forwarded: 'for=203.0.113.9', 'x-real-ip': '203.0.113.9' }

  test('are those of the connection without trust proxy', async () => {
    await browser.fetchJson(at('/login'), { json: ada, headers: spoofed })
    expect(seen()).toMatchObject({ ipa: '127.0.0.1' })
  })

  test('are cut and cleaned', async () => {
    const headers = { 'user-agent': 'Mozilla/5.0\t(X11)' }
    await browser.fetchJson(at('/login'), { json: ada, headers })
    expect(seen()).toMatchObject({ uas: 'Mozilla/5.0(X11)' })
    const app = express().get('/', (req, res) => void res.json(deviceOf(req)))
    const { body } = await request(app).get('/').set('user-agent', 'Mozilla/5.0 '.repeat(100))
    expect(body.uas).toHaveLength(512)
  })
})

describe('[F12] log out everywhere', () => {
  test('takes the account of the session, whatever the form says', async () => {
    await logInAtLast(browser, setup.morning, ada)
    const victim = setup.browser()
    await logInAtLast(victim, setup.morning, grace)
    const fields = { return_to: '/', aid: 'account-grace', accountId: 'account-grace', account_id: 'account-grace' }
    await browser.submit(at('/logout-all?aid=account-grace'), fields)
    expect(setup.emulator.calls({ operation: 'logoutall' }).map(({ claims }) => claims?.['aid'])).toEqual([
      'account-ada',
    ])
    expect(view(await victim.visit(at('/')))).toMatchObject({ status: 'loggedin', username: 'grace' })
  })

  test('does nothing for an anonymous visitor', async () => {
    await browser.submit(at('/logout-all'), { return_to: '/', aid: 'account-grace' })
    expect(setup.countCalls('logoutall')).toBe(0)
  })
})

const controls = (count: number) => '\u0001'.repeat(count) // each is six bytes of JSON
test.each([
  ['a name of 256 and a password of 1,024 characters', 'n'.repeat(256), 'p'.repeat(1024), 401],
  ['a name of 257 characters', 'n'.repeat(257), 'p', 400],
  ['a password of 1,025 characters', 'n', 'p'.repeat(1025), 400],
  ['an empty password', 'n', '', 400],
  ['4,096 bytes of both as JSON', 'ada', controls(681), 401],
  ['4,102 bytes of both as JSON', 'ada', controls(682), 400],
])(
  '[F9] a login with %s reaches the SSO system (401), or is refused before (400)',
  async (_what, username, password, status) => {
    const answer = await browser.fetchJson(at('/login'), { json: { username, password } })
    expect([answer.status, setup.countCalls('authenticate')]).toEqual([status, status === 401 ? 1 : 0])
  },
)

const bad: [string, string, string, Record<string, string>, string | undefined, number][] = [
  ['landing with two tokens', 'GET', '/sso2/landing?t=a&t=b&r=/', {}, undefined, 400],
  ['landing with a huge token', 'GET', `/sso2/landing?t=${'a'.repeat(20_000)}`, {}, undefined, 431],
  ['logout-all by DELETE', 'DELETE', '/logout-all', {}, undefined, 405],
  ['login without a password', 'POST', '/login', form, 'username=ada', 400],
  ['login with two names', 'POST', '/login', form, 'username=ada&username=b&password=c', 400],
  ['login with a NUL', 'POST', '/login', form, 'username=ada%00&password=c', 400],
  ['login with bad JSON', 'POST', '/login', json, '{"username":', 400],
  ['login as plain text', 'POST', '/login', { 'content-type': 'text/plain' }, 'username=ada&password=b', 415],
  ['login with a broken gzip', 'POST', '/login', { ...json, 'content-encoding': 'gzip' }, 'no gzip', 400],
  ['login with a body too large', 'POST', '/login', json, JSON.stringify({ username: 'a'.repeat(9000) }), 413],
]
test.each(bad)(
  '[F9] bad input gets a clear 4xx, and nothing is lost: %s',
  async (_name, method, path, headers, body, status) => {
    await logInAtLast(browser, setup.morning, ada)
    const calls = setup.countCalls('authenticate')
    const answer = await raw(method, path, { origin: own(), ...headers }, body)
    expect(answer.status).toBe(status)
    if (status === 405) expect(answer.headers.allow).toMatch(/^GET/)
    expect(answer.setCookie).toEqual([])
    expect(setup.countCalls('authenticate')).toBe(calls)
    expect(view(await browser.visit(at('/'))).status).toBe('loggedin')
  },
)
