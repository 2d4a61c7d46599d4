import { inspect } from 'node:util'
import { AccessTokenExpiredError, type AccessTokenSource, PlatformApi } from '../../lib'
import { type Behaviour, failure, halfAnswer, json, useFaultyServer } from '../support/faulty-server'

const accessToken = 'secret/token-of-the-test'
const address = { city: 'Lund' }
const receiver = { campaign_code: 'c', delivery_address: address }
const server = useFaultyServer()
let api: PlatformApi

beforeAll(() => {
  api = new PlatformApi({ apiUrl: server.url, accessToken })
})

const good: Behaviour = (res, { method }) =>
  json(res, 200, method === 'POST' ? { item: { receiver_eligible: true } } : { items: [] })
const apiWith = (source: AccessTokenSource) => new PlatformApi({ apiUrl: server.url, accessToken: source })
const calls: [name: string, call: (options?: object) => Promise<unknown>, scope: string][] = [
  ['marketplaceGroups', (o) => api.marketplaceGroups(o), '/external/marketing/r'],
  ['validateGiftReceiver', (o) => api.validateGiftReceiver(receiver, o), '/external/me/order/r'],
  ['administrators', (o) => api.administrators({ group: 'a&b=c' }, o), '/external/admin/r'],
]

describe.each(calls)('%s', (operation, call, scope) => {
  test('a refusal is an error with status, scope, body and no token', async () => {
    server.become((res) => json(res, 403, { said: accessToken }))
    const error = await failure(call())
    const fields = { name: 'PlatformApiError', operation, httpStatus: 403, scope, body: { said: '***' } }
    expect(error).toMatchObject(fields)
    expect(inspect(error, { depth: null })).not.toContain(accessToken)
    expect(server.seen).toHaveLength(1)
  })

  test.each([{ timeoutMs: 0 }, { signal: null }])(
    'bad options %p are a TypeError before anything is sent',
    async (options) => {
      server.become(good)
      const message = expect.stringContaining(`${operation}: ${Object.keys(options)[0]}: `)
      expect(await failure(call(options))).toMatchObject({ name: 'TypeError', message })
      expect(server.seen).toHaveLength(0)
    },
  )
})

test('each call asks what the interface says, and the gift as JSON', async () => {
  server.become(good)
  for (const [, call] of calls) await call()
  await api.administratorsByAccount()
  const asked = server.seen.map(({ method, url, headers, body }) => [method, url, headers['content-type'], body])
  expect(asked).toEqual([
    ['GET', '/external/api/v2/marketing/marketplace/groups', undefined, ''],
    ['POST', '/external/api/v1/me/order/validate_gift_receiver', 'application/json', JSON.stringify(receiver)],
    ['GET', '/external/api/v1/admin?group=a%26b%3Dc', undefined, ''],
    ['GET', '/external/api/v1/admin', undefined, ''],
  ])
})

const redirect: Behaviour = (res) => res.writeHead(302, { location: '/elsewhere' }).end()
const noResponse = { name: 'Sso2ResponseError' }
test.each<[what: string, behave: Behaviour, error: object]>([
  ['a redirect', redirect, { name: 'PlatformApiError', httpStatus: 302 }],
  ['HTTP 503', (res) => res.writeHead(503).end(), { name: 'PlatformApiError', httpStatus: 503 }],
  ['no JSON', (res) => res.end('<html>'), noResponse],
  ['nothing', (res) => res.writeHead(204).end(), noResponse],
  ['JSON of another shape', (res) => json(res, 200, []), noResponse],
  ['too much', (res) => res.end(`{"items":[],"x":"${'x'.repeat(600_000)}"}`), noResponse],
  ['half a body and then a cut', halfAnswer, { name: 'Sso2UnavailableError', timedOut: false }],
  ['no answer until timeoutMs', () => {}, { name: 'Sso2UnavailableError', timedOut: true }],
])('%s is an error, and not asked again', async (_what, behave, error) => {
  server.become(behave)
  expect(await failure(api.marketplaceGroups({ timeoutMs: 1000 }))).toMatchObject(error)
  expect(server.seen).toHaveLength(1)
})

test.each<[what: string, body: string, said: unknown]>([
  ['in Base64', JSON.stringify({ said: Buffer.from(accessToken).toString('base64') }), { said: '***' }],
  ['with escapes', `{"said":"${accessToken.replace('/', '\\/')}"}`, { said: '***' }],
  ['in a page, of which the beginning is kept', `<p>${accessToken}${'x'.repeat(900)}`, /^<p>\*\*\*x{1,500}$/],
])('a token that the answer repeats %s is masked', async (_what, body, said) => {
  server.become((res) => res.writeHead(403).end(body))
  const expected = said instanceof RegExp ? expect.stringMatching(said) : said
  expect(await failure(api.marketplaceGroups())).toMatchObject({ body: expected })
})

test.each<[what: string, status: number, body: unknown, reason: string | undefined, message: string]>([
  ['of the interface', 400, { error: { code: 'unknown', message: 'x' } }, 'unknown', 'HTTP 400 (unknown)'],
  ['as a text', 400, { error: 'bad_request' }, 'bad_request', 'HTTP 400 (bad_request)'],
  ['that is prose', 400, { error: 'No such campaign.' }, undefined, 'HTTP 400'],
  ['and the scope at 403', 403, { code: 'no' }, 'no', 'HTTP 403 (no); the call needs the scope /external/marketing/r'],
])('a refusal names the reason of the platform, %s', async (_what, httpStatus, body, reason, said) => {
  server.become((res) => json(res, httpStatus, body))
  const error = await failure(api.marketplaceGroups())
  expect(error).toMatchObject({ httpStatus, reason, message: `marketplaceGroups: the REST API answered ${said}` })
  for (const name of ['status', 'statusCode']) expect(error).not.toHaveProperty(name)
})

test('a field named __proto__ is left out of what the REST API sends, at every depth', async () => {
  server.become((res) => res.end('{"item":{"a":1,"__proto__":{"isAdmin":true}},"__\\u0070roto__":{"isAdmin":true}}'))
  const body = await api.get('/me')
  expect([Reflect.ownKeys(body), Reflect.ownKeys(body['item'] as object)]).toEqual([['item'], ['a']])
  server.become((res) => res.writeHead(400).end('{"error":{"__proto__":{"code":"x"}}}'))
  const { body: refusal } = (await failure(api.get('/me'))) as { body: { error: object } }
  expect(Reflect.ownKeys(refusal.error)).toEqual([])
})

test.each([
  [{ apiUrl: 'api.example', accessToken }, 'apiUrl'],
  [{ apiUrl: 'http://127.0.0.1', accessToken: 'a\r\nb' }, 'accessToken'],
])('the constructor refuses %p and names %s', (options, named) => {
  expect(() => new PlatformApi(options as never)).toThrow(new RegExp(`^PlatformApi: ${named} must be`))
})

/** Arguments that are refused, each with what the error must name. */
const badReceivers: [receiver: unknown, named: string][] = [
  [undefined, 'argument'],
  [{ delivery_address: address }, 'campaign_code'],
  [{ ...receiver, campaign_code: '' }, 'campaign_code'],
  [{ ...receiver, delivery_address: 'Lund' }, 'delivery_address'],
  [{ ...receiver, campaignCode: 'DAILY' }, 'campaignCode'],
  [{ ...receiver, delivery_address: { ...address, zip: '22100' } }, 'zip'],
  [{ campaign_code: '', delivery_address: { city: 7 } }, '; delivery_address.city: '],
]
const badFilters: [filter: unknown, named: string][] = [
  [null, 'argument'],
  [{ group: '' }, 'group'],
  [{ group: '\ud800' }, 'group: must be well-formed Unicode'],
  [{ groups: 'Editors' }, 'groups'],
]
/** With some of these paths the token would go to another host. */
const badPaths = [undefined, '', 'me', '?a=b', ':81/me', '/me\r\nx: y', '/mé', '@other.example/', '.other.example/']

test.each<[operation: string, argument: unknown, named: string, call: (argument: never) => Promise<unknown>]>([
  ...badReceivers.map(
    (row) => ['validateGiftReceiver', ...row, (one: never) => api.validateGiftReceiver(one)] as const,
  ),
  ...badFilters.map((row) => ['administrators', ...row, (one: never) => api.administrators(one)] as const),
  ...badPaths.map((path) => ['get', path, 'path must begin', (one: never) => api.get(one)] as const),
  ['marketplaceGroups', 5, 'argument', (one: never) => api.marketplaceGroups(one)],
] as never)('%s(%j) is a TypeError that names %p, and nothing is sent', async (operation, argument, named, call) => {
  server.become(good)
  const error = await failure(call(argument as never))
  expect(error).toMatchObject({ name: 'TypeError', message: expect.stringContaining(named) })
  expect(error).toMatchObject({ message: expect.stringMatching(new RegExp(`^${operation}: `)) })
  expect(server.seen).toHaveLength(0)
})

test.each(['/me', '//other.example/me'])('get(%p) stays at its host', async (path) => {
  server.become((res) => json(res, 200, { fine: true }))
  expect(await api.get(path)).toEqual({ fine: true })
  expect(server.seen).toMatchObject([{ url: path, headers: { authorization: `Bearer ${accessToken}` } }])
})

describe('an abort', () => {
  const reason = new Error('enough')

  test('before the call rejects with its reason, and nothing is sent', async () => {
    server.become(good)
    expect(await failure(api.marketplaceGroups({ signal: AbortSignal.abort(reason) }))).toBe(reason)
    expect(server.seen).toHaveLength(0)
  })

  test('during an answer that does not come rejects at once with its reason', async () => {
    const control = new AbortController()
    server.become(() => void setTimeout(() => control.abort(reason), 25))
    const begin = performance.now()
    expect(await failure(api.marketplaceGroups({ signal: control.signal }))).toBe(reason)
    expect(performance.now() - begin).toBeLessThan(1500)
    expect(server.seen).toHaveLength(1)
  })
})

describe('a source of tokens', () => {
  /** Answers 401 to every token but the good one, and repeats what it was sent. */
  const onlyFor =
    (token: string): Behaviour =>
    (res, seen, count) =>
      seen.headers.authorization === `Bearer ${token}`
        ? good(res, seen, count)
        : json(res, 401, { said: seen.headers.authorization })

  /** A source that gives one token after the other, and what it was told. */
  function source(...tokens: (string | undefined)[]) {
    const told: unknown[][] = []
    const client = apiWith(async (...args) => {
      told.push(args)
      return tokens[told.length - 1]
    })
    return { told, client }
  }

  test.each<[when: string, tokens: (string | undefined)[], error: object, told: unknown[][]]>([
    ['at first', [undefined], { code: 'ERR_SSO2_ACCESS_TOKEN_EXPIRED', operation: 'marketplaceGroups' }, [[]]],
    ['after a 401', ['first-token', undefined], { body: { said: 'Bearer ***' } }, [[], ['first-token']]],
  ])('that gives none %s is an expired token', async (_when, tokens, fields, expected) => {
    server.become(onlyFor('another-token'))
    const { told, client } = source(...tokens)
    const error = await failure(client.marketplaceGroups())
    expect(error).toBeInstanceOf(AccessTokenExpiredError)
    expect(error).toMatchObject({ httpStatus: 401, ...fields })
    expect([told, server.seen.length]).toEqual([expected, tokens.length - 1])
  })

  test('is asked for another token once only; the second 401 stands', async () => {
    server.become(onlyFor('third-token'))
    const { told, client } = source('first-token', 'second-token', 'third-token')
    const error = await failure(client.marketplaceGroups())
    expect(error).toMatchObject({ name: 'PlatformApiError', code: 'ERR_SSO2_PLATFORM_API', httpStatus: 401 })
    expect(inspect(error, { depth: 20, showHidden: true })).not.toMatch(/first-token|second-token/)
    expect([told.length, server.seen.length]).toEqual([2, 2])
  })
})
