import { send } from '../support/http'
import { device, formOf, morning, token } from './platform'
import { sharedEmulator } from './shared'

/* Malformed, oversized and odd requests: each gets a 4xx, and the process lives. */

const { platform, another } = sharedEmulator()
afterEach(async () => {
  expect((await platform.control('GET', '/ready')).status).toBe(200)
})

const json = { 'content-type': 'application/json' }
const form = { 'content-type': 'application/x-www-form-urlencoded' }
/** With the claims of every operation. */
const goodToken = () =>
  token(morning, { ...device, sid: 'x', aid: 'A-ada', lks: 'anon', usr: 'ada', pwd: 'correct-horse' })
const good = () => JSON.stringify({ t: goodToken() })

/** A good token, where there is one, stands in what makes it a bad body. */
const bodies: [what: string, headers: Record<string, string>, body: () => string][] = [
  ['no body', json, () => ''],
  ['no JSON', json, () => '{'],
  ['t that is a number', json, () => '{"t":7}'],
  ['more than t', json, () => JSON.stringify({ ...JSON.parse(good()), more: 1 })],
  ['t under __proto__', json, () => `{"__proto__":${good()}}`],
  ['another content type', { 'content-type': 'text/plain' }, good],
  ['a form', form, () => `t=${goodToken()}`],
  ['deep nesting', json, () => `{"t":${'['.repeat(9000)}${']'.repeat(9000)}}`],
]

const tokens: typeof bodies = [
  ['an empty token', json, () => '{"t":""}'],
  ['a token that is no base64url', json, () => '{"t":"e+0.e/0.e=0"}'],
  ['a header that is null', json, () => '{"t":"bnVsbA.bnVsbA.AAAA"}'],
  ['a token of 9,000 characters', json, () => JSON.stringify({ t: `e30.${'A'.repeat(9000)}.AAAA` })],
]

describe.each(['authenticate', 'sessionstatus', 'logout', 'logoutall'])('%s', (operation) => {
  const refused = async (headers: Record<string, string>, body: string, code: string) => {
    const answer = await platform.request('POST', `/sso/${operation}`, headers, body)
    expect(answer.status).toBe(400)
    expect(answer.json).toEqual({ error: { code, message: expect.any(String) } })
  }
  test.each(bodies)('%s', (_what, headers, body) => refused(headers, body(), 'bad_request'))
  test.each(tokens)('%s', (_what, headers, body) => refused(headers, body(), 'invalid_client'))
})

const takingBodies = ['/sso/authenticate', '/oauth/token', '/external/api/v1/me/order/validate_gift_receiver']
test.each([...takingBodies, '/_emulator/faults'])('%s: a body of a megabyte', async (path) => {
  const { status, json: body } = await platform.request('POST', path, json, `{"t":"${'a'.repeat(1_000_000)}"}`)
  expect([status, body.error.code]).toEqual([413, 'bad_request'])
})

test.each([
  ['a body of a megabyte without its length', 413, { 'transfer-encoding': 'chunked' }, 'a'.repeat(1_000_000)],
  ['a compressed body', 415, { 'content-encoding': 'gzip' }, '{}'],
])('%s: %i', async (_what, expected, headers: Record<string, string>, body) => {
  const answer = await send({ method: 'POST', url: new URL('/sso/logout', platform.url), headers, body })
  expect(answer.status).toBe(expected)
})

test.each(['Basic', 'Basic bm9jb2xvbg==', 'Bearer abc'])('a client that is no client: %s', async (authorization) => {
  const answer = await platform.exchange({ grant_type: 'client_credentials' }, { authorization })
  expect([answer.status, answer.json.error]).toEqual([401, 'invalid_client'])
})

test('the token endpoint takes forms only, each field once', async () => {
  const right = formOf(morning)
  const good = new URLSearchParams(right).toString()
  for (const [headers, body, status, error] of [
    [json, JSON.stringify(right), 401, 'invalid_client'],
    [form, `${good}&grant_type=client_credentials`, 400, 'invalid_request'],
    [form, `${good}&scope=&scope=`, 400, 'invalid_request'],
    [form, '%%%', 401, 'invalid_client'],
  ] as const) {
    const answer = await platform.request('POST', '/oauth/token', headers, body)
    expect([body, answer.status]).toEqual([body, status])
    expect(answer.json).toEqual({ error, error_description: expect.any(String) })
  }
  expect((await platform.request('POST', '/oauth/token', form, good)).status).toBe(200)
})

test('what comes from outside is shown as text, in the portal and in a flow', async () => {
  const { sid } = await platform.browser().identify()
  await platform.authenticate(sid, { usr: '"><script>alert(1)</script>', pwd: 'x' })
  for (const path of ['/', `/flows/sessions/${sid}`]) {
    const { body, headers } = await platform.request('GET', path, { accept: 'text/html' })
    expect(body).toContain('&lt;script&gt;alert(1)')
    expect(body).not.toContain('<script>alert')
    expect(headers['content-security-policy']).toContain("default-src 'none'")
  }
})

test('the portal of a platform without accounts and clients says what is missing', async () => {
  const { there } = await another({ accounts: [], clients: [], production: true })
  const { body } = await there.request('GET', '/', { accept: 'text/html' })
  for (const text of [
    'No accounts are configured',
    'No API client is configured',
    'No API client for SSO2 is configured: start the emulator with --site',
    'No account can log in: configure one',
    'played as production',
  ])
    expect(body).toContain(text)
})

test('the portal shows wrong attempts, faults of one session, clients without scopes, and how many sessions it leaves out', async () => {
  for (let index = 0; index < 105; index += 1) await platform.browser().identify()
  const [{ sid }] = [await platform.login(), await platform.login()]
  await platform.authenticate((await platform.browser().identify()).sid, { usr: 'grace', pwd: 'wrong' })
  await platform.control('POST', '/faults', { operation: 'logout', kind: 'down', sid })
  const { body } = await platform.request('GET', '/', { accept: 'text/html' })
  for (const text of ['1 wrong so far', 'until switched off', ', session ', 'The latest ', ' of 108.', '2 sessions'])
    expect(body).toContain(text)
  expect(body).toContain('data-heading="Scopes"><div>none</div>')
  const { body: flow } = await platform.request('GET', '/flows/sessions/nobody', { accept: 'text/html' })
  expect(flow).toContain('No call has been about it yet')
})
