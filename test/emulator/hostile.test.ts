import net from 'node:net'
import fc from 'fast-check'
import { device, formOf, morning, token } from './platform'
import { sharedEmulator } from './shared'

/* Malformed, oversized and odd requests: each gets a 4xx, and the process lives. */

const { emulator, platform } = sharedEmulator()
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
  ['a list', json, () => '[]'],
  ['no t', json, () => '{}'],
  ['t that is a number', json, () => '{"t":7}'],
  ['more than t', json, () => JSON.stringify({ ...JSON.parse(good()), more: 1 })],
  ['t under __proto__', json, () => `{"__proto__":${good()}}`],
  ['another content type', { 'content-type': 'text/plain' }, good],
  ['a form', form, () => `t=${goodToken()}`],
  ['deep nesting', json, () => `{"t":${'['.repeat(9000)}${']'.repeat(9000)}}`],
]

const tokens: typeof bodies = [
  ['an empty token', json, () => '{"t":""}'],
  ['a token of four parts', json, () => '{"t":"e30.e30.e30.e30"}'],
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

/** A request without a body, after which the connection ends. */
const request = (line: string, host = 'localhost') => `${line} HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`

test('a body of 40 kB in chunks of undeclared length is refused, and the connection stays usable', async () => {
  const chunk = `2000\r\n${'a'.repeat(0x2000)}\r\n`
  const post = `POST /sso/logout HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n${chunk.repeat(5)}0\r\n\r\n`
  const answer = await raw(post + request('GET /_emulator/ready'))
  expect(answer.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 413', 'HTTP/1.1 200'])
})

test.each([
  ['a path with a bad encoding', request('GET /_emulator/sessions/%E0%A4%A'), 4],
  ['a path that climbs', request('GET /../../etc/passwd'), 404],
  ['an absolute address', request('GET http://evil.example/sso/identify?x', 'evil.example'), 4],
])('%s', async (_what, bytes, status) => {
  expect(await raw(bytes)).toMatch(new RegExp(`^HTTP/1\\.1 ${status}`))
})

test('cookies of any shape open a session of their own at most', async () => {
  const cookies = ['sso2emu', 'sso2emu=', 'sso2emu=a; sso2emu=b', '=;;=', 'sso2emu=%00', `sso2emu=${'a'.repeat(4000)}`]
  for (const cookie of cookies) {
    const path = `/sso/identify?t=${token(morning)}&r=http%3A%2F%2Flocalhost%2F`
    const before = emulator.sessions().map(({ sid }) => sid)
    expect((await platform.request('GET', path, { cookie })).status).toBe(302)
    const after = emulator.sessions().map(({ sid }) => sid)
    expect([after.length - before.length, before.filter((sid) => !after.includes(sid))]).toEqual([1, []])
  }
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

test('whatever the claims are, there is an answer, and it is no success', async () => {
  const claims = fc.dictionary(
    fc.constantFrom('sid', 'usr', 'pwd', 'lks', 'ipa', 'iat', 'exp', 'nbf', '__proto__'),
    fc.jsonValue(),
  )
  await fc.assert(
    fc.asyncProperty(fc.constantFrom('authenticate', 'sessionstatus', 'logout'), claims, async (operation, given) => {
      const answer = await platform.call(operation, { sid: 'x', usr: 'u', pwd: 'p', lks: 'anon', ...given })
      expect(['invalid_token', 'session_not_found']).toContain(answer['err'])
    }),
    { numRuns: 150 },
  )
})

/** Sends bytes as they are and gives what comes back until the connection ends. */
function raw(bytes: string | Buffer): Promise<string> {
  const port = Number(new URL(emulator.url).port)
  return new Promise((resolve, reject) => {
    let answer = ''
    const socket = net.connect(port, '127.0.0.1', () => socket.write(bytes))
    socket.on('data', (chunk) => {
      answer += chunk.toString('latin1')
    })
    socket.on('close', () => resolve(answer))
    socket.on('error', reject)
  })
}
