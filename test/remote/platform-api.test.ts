import { inspect } from 'node:util'
import { PlatformApi } from '../../lib'
import { type Behaviour, failure, halfAnswer, json, useFaultyServer } from '../support/faulty-server'

const accessToken = 'secret/token-of-the-test'
const receiver = { campaign_code: 'c', delivery_address: { city: 'Lund' } }
const server = useFaultyServer()
let api: PlatformApi

beforeAll(() => {
  api = new PlatformApi({ apiUrl: server.url, accessToken })
})

const good: Behaviour = (res, { method }) =>
  json(res, 200, method === 'POST' ? { item: { receiver_eligible: true } } : { items: [] })
/** What errors name: a call that is made of another is called by the other's name. */
const operationOf = (name: string) => (name.startsWith('administrators') ? 'administrators' : name)
const calls: [string, (options?: object) => Promise<unknown>, string][] = [
  ['marketplaceGroups', (o) => api.marketplaceGroups(o), '/external/marketing/r'],
  ['validateGiftReceiver', (o) => api.validateGiftReceiver(receiver, o), '/external/me/order/r'],
  ['administrators', (o) => api.administrators({}, o), '/external/admin/r'],
  ['administrators of a group', (o) => api.administrators({ group: 'a&b=c' }, o), '/external/admin/r'],
  ['administratorsByAccount', (o) => api.administratorsByAccount(o), '/external/admin/r'],
]

describe.each(calls)('%s', (name, call, scope) => {
  const operation = operationOf(name)
  test.each([400, 401, 403, 429, 500])('HTTP %i is an error with status, scope, body and no token', async (status) => {
    server.become((res) => json(res, status, { said: accessToken }))
    const error = await failure(call())
    expect(error).toMatchObject({
      name: 'PlatformApiError',
      operation,
      httpStatus: status,
      scope,
      body: { said: '***' },
    })
    expect(inspect(error, { depth: null })).not.toContain(accessToken)
    expect(server.seen).toHaveLength(1)
  })

  test.each([502, 503, 504])('HTTP %i is asked once more', async (status) => {
    server.become((res, seen, count) => (count === 1 ? json(res, status, {}) : good(res, seen, count)))
    await call()
    expect(server.seen).toHaveLength(2)
    server.become((res) => json(res, status, {}))
    expect(await failure(call())).toMatchObject({ httpStatus: status, scope })
    expect(server.seen).toHaveLength(2)
  })

  test.each<[string, Behaviour]>([
    ['no JSON', (res) => res.end('<html>')],
    ['nothing', (res) => res.writeHead(204).end()],
    ['too much', (res) => res.end(`{"items":[],"item":{"receiver_eligible":true},"x":"${'x'.repeat(600_000)}"}`)],
    ['a redirect', (res) => res.writeHead(302, { location: '/elsewhere' }).end()],
  ])('an answer with %s is refused and not asked again', async (_what, behave) => {
    server.become(behave)
    expect(await failure(call())).toMatchObject({ name: 'Sso2ResponseError' })
    expect(server.seen).toHaveLength(1)
  })

  test('half a body and then a cut is asked once more', async () => {
    server.become(halfAnswer)
    expect(await failure(call())).toMatchObject({ name: 'Sso2UnavailableError', timedOut: false })
    expect(server.seen).toHaveLength(2)
  })

  test('a slow answer ends at timeoutMs', async () => {
    server.become(() => {})
    expect(await failure(call({ timeoutMs: 300 }))).toMatchObject({ name: 'Sso2UnavailableError', timedOut: true })
    expect(server.seen).toHaveLength(1)
  })

  /** An abort while the call is under way is in platform-rules.test.ts. */
  test('an abort before the call rejects with its reason', async () => {
    const reason = new Error('enough')
    server.become(() => {})
    expect(await failure(call({ signal: AbortSignal.abort(reason) }))).toBe(reason)
    expect(server.seen).toHaveLength(0)
  })

  test.each([
    ...[0, -1, Number.NaN, 600_001, '5'].map((timeoutMs) => ({ timeoutMs })),
    { signal: {} },
    { signal: null },
  ])('bad options %p are a TypeError before anything is sent', async (options) => {
    server.become(good)
    const error = await failure(call(options))
    expect(error).toMatchObject({
      name: 'TypeError',
      message: expect.stringContaining(`${operation}: ${Object.keys(options)[0]} must be`),
    })
    expect(server.seen).toHaveLength(0)
  })
})

test('each call asks what the interface says, and the gift as JSON', async () => {
  server.become(good)
  for (const [, call] of calls) await call()
  const asked = server.seen.map(({ method, url, headers, body }) => [method, url, headers['content-type'], body])
  expect(asked).toEqual([
    ['GET', '/external/api/v2/marketing/marketplace/groups', undefined, ''],
    ['POST', '/external/api/v1/me/order/validate_gift_receiver', 'application/json', JSON.stringify(receiver)],
    ['GET', '/external/api/v1/admin', undefined, ''],
    ['GET', '/external/api/v1/admin?group=a%26b%3Dc', undefined, ''],
    ['GET', '/external/api/v1/admin', undefined, ''],
  ])
})

test('the scopes can be asked for, with and without a client', () => {
  const scopes = Object.fromEntries(calls.map(([name, , scope]) => [name, scope]))
  delete scopes['administrators of a group']
  expect(PlatformApi.scopes).toEqual(scopes)
  expect(api.scopes).toBe(PlatformApi.scopes)
})

test.each<[form: string, value: () => string, requests: number, status?: number]>([
  ['seconds', () => '0', 2],
  ['seconds, and another status', () => '0', 1, 403],
  ['a date without a zone that has passed', () => 'Sun Nov  6 08:49:37 1994', 2],
  ['a date that begins with its year', () => '1994-11-06T08:49:37Z', 2],
  ['a date that has passed', () => new Date(Date.now() - 5000).toUTCString(), 2],
  ['many seconds', () => '60', 1],
  ['a date far away', () => new Date(Date.now() + 60_000).toUTCString(), 1],
  ['garbage', () => 'soon', 1],
])('a 429 with Retry-After as %s', async (_form, value, requests, status = 429) => {
  server.become((res) => json(res, status, {}, { 'retry-after': value() }))
  expect(await failure(api.marketplaceGroups())).toMatchObject({ httpStatus: status })
  expect(server.seen).toHaveLength(requests)
})

test('a token that the answer repeats in Base64 is masked too, with and without its padding', async () => {
  const base64 = Buffer.from('a-token-of-the-test').toString('base64')
  expect(base64).toMatch(/=$/)
  const said = { padded: base64, bare: `<${base64.replace(/=+$/, '')}>` }
  server.become((res) => json(res, 403, said))
  const client = new PlatformApi({ apiUrl: server.url, accessToken: 'a-token-of-the-test' })
  expect(await failure(client.marketplaceGroups())).toMatchObject({
    body: { padded: expect.stringMatching(/^\*\*\*=*$/), bare: '<***>' },
  })
})

test('a token that the answer repeats with escapes is masked too', async () => {
  server.become((res) => res.writeHead(403).end(`{"said":"${accessToken.replace('/', '\\/')}"}`))
  expect(inspect(await failure(api.marketplaceGroups()), { depth: null })).not.toContain(accessToken)
})

test.each([
  [{ apiUrl: 'api.example', accessToken }, 'apiUrl'],
  [{ apiUrl: '/api', accessToken }, 'apiUrl'],
  [{ apiUrl: 'http://', accessToken }, 'apiUrl'],
  [{ apiUrl: 'ftp://127.0.0.1', accessToken }, 'apiUrl'],
  [{ apiUrl: 'blob:http://127.0.0.1/api', accessToken }, 'apiUrl'],
  [{ apiUrl: new URL('http://127.0.0.1'), accessToken }, 'apiUrl'],
  [{ apiUrl: 'http://127.0.0.1', accessToken: '' }, 'accessToken'],
  [{ apiUrl: 'http://127.0.0.1', accessToken: 'a\r\nb' }, 'accessToken'],
  [{ apiUrl: 'http://127.0.0.1', accessToken: 5 }, 'accessToken'],
])('the constructor refuses %p and names %s', (options, named) => {
  const make = () => new PlatformApi(options as never)
  expect(make).toThrow(TypeError)
  expect(make).toThrow(`PlatformApi: ${named} must be`)
})

test('a list of some hundred kilobytes is read', async () => {
  const entry = { group: 'g'.repeat(300), created: '', account_id: 'a', contact_email: '', name: '' }
  server.become((res) => json(res, 200, { items: Array.from({ length: 1000 }, () => entry) }))
  expect(await api.administrators()).toHaveLength(1000)
})

test.each<[what: string, status: number, body: unknown, reason: string | undefined, message: string]>([
  [
    'of the interface',
    400,
    { error: { code: 'unknown_campaign', message: 'x' } },
    'unknown_campaign',
    'HTTP 400 (unknown_campaign)',
  ],
  ['as a text', 400, { error: 'bad_request' }, 'bad_request', 'HTTP 400 (bad_request)'],
  ['at the top', 409, { code: 'conflict' }, 'conflict', 'HTTP 409 (conflict)'],
  ['that is prose', 400, { error: 'No such campaign.' }, undefined, 'HTTP 400'],
  ['missing', 404, {}, undefined, 'HTTP 404'],
  [
    'and the scope at 403',
    403,
    { error: { code: 'scope_missing' } },
    'scope_missing',
    'HTTP 403 (scope_missing); the call needs the scope /external/marketing/r',
  ],
])('a refusal names the reason of the platform, %s', async (_what, status, body, reason, message) => {
  server.become((res) => json(res, status, body))
  const error = await failure(api.marketplaceGroups())
  expect(error).toMatchObject({
    httpStatus: status,
    reason,
    message: `marketplaceGroups: the REST API answered ${message}`,
  })
  expect(error).not.toHaveProperty('status')
  expect(error).not.toHaveProperty('statusCode')
})

test('a field named __proto__ is left out of what the REST API sends, at every depth', async () => {
  server.become((res) => res.end('{"item":{"a":1,"__proto__":{"isAdmin":true}},"__\\u0070roto__":{"isAdmin":true}}'))
  const body = await api.get('/me')
  expect([Reflect.ownKeys(body), Reflect.ownKeys(body['item'] as object)]).toEqual([['item'], ['a']])
  expect(Object.assign({}, body, body['item'])).not.toHaveProperty('isAdmin')
  server.become((res) => res.writeHead(400).end('{"error":{"__proto__":{"code":"x"}}}'))
  const { body: refusal } = (await failure(api.get('/me'))) as { body: { error: object } }
  expect(Reflect.ownKeys(refusal.error)).toEqual([])
})
