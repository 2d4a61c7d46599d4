import { inspect } from 'node:util'
import { formExchange, readGrant } from '../../lib/remote/ticket'
import { type Behaviour, failure, faultyServer, json } from './faulty-server'

let server: Awaited<ReturnType<typeof faultyServer>>
beforeAll(async () => {
  server = await faultyServer()
})
afterAll(() => server.close())
const exchange = (ticketExchange: object) =>
  formExchange({ tokenUrl: server.url, clientId: 'site', clientSecret: () => 'pass', ticketExchange } as never)

test.each([
  [{}, 'grant_type=authorization_code&code=T&client_id=site&client_secret=pass', undefined],
  [{ grantType: 'g', ticketParameter: 'ticket', clientAuth: 'basic' }, 'grant_type=g&ticket=T', 'Basic c2l0ZTpwYXNz'],
])('the exchange %p sends this body and header', async (options, body, authorization) => {
  server.become((res) => json(res, 200, { access_token: 'a' }))
  await exchange(options)('T', { sid: 's' })
  expect(server.seen.map((r) => [r.body, r.headers.authorization])).toEqual([[body, authorization]])
})

test.each([400, 401, 500, 503])('a ticket is never sent twice: HTTP %i', async (status) => {
  server.become((res) => json(res, status, {}))
  const error = await failure(Promise.resolve(exchange({})('T', { sid: 's' })))
  expect(error).toMatchObject(
    status < 500
      ? { name: 'Sso2ResponseError', status, message: `token: the token endpoint refused (HTTP ${status})` }
      : {
          name: 'Sso2UnavailableError',
          retryable: false,
          timedOut: false,
          message: `token: the token endpoint answered HTTP ${status}`,
        },
  )
  expect(server.seen).toHaveLength(1)
})

const reasons = [
  ...['invalid_request', 'invalid_client', 'invalid_grant', 'unauthorized_client', 'unsupported_grant_type'],
  'invalid_scope',
]
test.each<[object, string]>([
  ...reasons.map((error): [object, string] => [{ error }, `: ${error}`]),
  [{ error: 'T is no ticket' }, ''],
  [{ error_description: 'invalid_grant' }, ''],
  [['invalid_grant'], ''],
])('of a refusal with %p the operator reads the reason, where it is one that RFC 6749 names', async (said, reason) => {
  server.become((res) => json(res, 400, said))
  const error = await failure(Promise.resolve(exchange({})('T', { sid: 's' })))
  expect(error).toMatchObject({ message: `token: the token endpoint refused${reason} (HTTP 400)` })
})

const cut: [string, Behaviour, string][] = [
  ['a cut connection', (res) => res.destroy(), 'Sso2UnavailableError'],
  [
    'half a body and then a cut',
    (res) => {
      res.writeHead(200, { 'content-length': 100 })
      res.write('{"access_token"', () => res.destroy())
    },
    'Sso2UnavailableError',
  ],
  ['no HTTP at all', (res) => res.socket?.end('this is no HTTP\r\n\r\n'), 'Sso2UnavailableError'],
  ['a page', (res) => res.end('<html>'), 'Sso2ResponseError'],
  ['nothing', (res) => res.end(), 'Sso2ResponseError'],
  ['a redirect', (res) => res.writeHead(307, { location: '/elsewhere' }).end(), 'Sso2ResponseError'],
  ['more than a token can be', (res) => json(res, 200, { access_token: 'a'.repeat(70_000) }), 'Sso2ResponseError'],
]
test.each(cut)('a ticket is never sent twice: %s', async (_what, behave, name) => {
  server.become(behave)
  const error = await failure(Promise.resolve(exchange({})('ticket-of-the-test', { sid: 's' })))
  expect(error).toMatchObject({ name, operation: 'token' })
  if (name === 'Sso2UnavailableError') expect(error).toMatchObject({ retryable: false })
  expect(inspect(error, { depth: 20, showHidden: true })).not.toMatch(/ticket-of-the-test|pass\b/)
  expect(server.seen).toHaveLength(1)
})

test('an abort ends an exchange with its reason; the ticket is not sent again', async () => {
  const control = new AbortController()
  const reason = new Error('enough')
  server.become(() => setTimeout(() => control.abort(reason), 30))
  const call = exchange({})('T', { sid: 's', signal: control.signal })
  expect(await failure(Promise.resolve(call))).toBe(reason)
  expect(server.seen).toHaveLength(1)
})

test.each([
  ['a-token', undefined],
  [{ access_token: 'a-token', expires_in: 60 }, 1060],
  [{ access_token: 'a-token', expires_in: '60' }, 1060],
  [{ access_token: 'a-token', expires_in: 0 }, 1000],
  [{ accessToken: 'a-token', expiresAt: 7 }, 7],
  [{ accessToken: 'a-token', expiresAt: 0 }, 0],
  [{ accessToken: 'a-token' }, undefined],
  [{ access_token: 'a-token' }, undefined],
])('%p is an access token', (value, expiresAt) => {
  const grant = readGrant(value, 1000)
  expect([grant.token(), grant.expiresAt]).toEqual(['a-token', expiresAt])
})

test.each([1790.9, 1790, '1790', '1790.5'])('an end of life of %p is told in whole seconds', (expiresAt) => {
  expect(readGrant({ accessToken: 't', expiresAt }, 1000).expiresAt).toBe(1790)
})

const noNumbers = ['', ' ', 'soon', null, true, {}, [7], new Date(0), undefined]
const absurd = [...noNumbers, Number.NaN, Number.POSITIVE_INFINITY, -1, -0.5, 2 ** 53, 1e300]
test.each(absurd)('a token whose end of life is %p is a token all the same, its end unknown', (value) => {
  for (const own of [
    { accessToken: 't', expiresAt: value },
    { access_token: 't', expires_in: value },
  ]) {
    const grant = readGrant(own, 1000)
    expect([grant.token(), grant.expiresAt]).toEqual(['t', undefined])
  }
})

test('a life that goes beyond what can be counted has no known end', () => {
  expect(readGrant({ access_token: 't', expires_in: Number.MAX_SAFE_INTEGER }, 1000).expiresAt).toBeUndefined()
})

test.each([[''], [null], [{}], [{ access_token: 1 }], ['a b'], ['a\r\nb'], [[]]])('%p is none', (value) => {
  expect(() => readGrant(value, 1000)).toThrow('token: the answer has no access token')
})
