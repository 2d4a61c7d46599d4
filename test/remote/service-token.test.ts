import { inspect } from 'node:util'
import { NotLoggedInError, Sso2ConfigError, Sso2ResponseError, Sso2UnavailableError, sso2 } from '../../lib'
import { readGrant, serviceToken, serviceTokenSource } from '../../lib/remote/ticket'
import { type Setup, sessionSecret, startSetup } from '../flows/setup'
import { failure, json, useFaultyServer } from '../support/faulty-server'

/* `sso.api`: the calls of a site without a user, over HTTP against the emulator. */

const TOKEN_LIFE = 300
const receiver = { campaign_code: 'POST-DAILY', delivery_address: { city: 'Demoville' } }
let setup: Setup

/** A site that holds no token yet. */
beforeEach(async () => {
  setup = await startSetup({ emulator: { limits: { accessTokenSeconds: TOKEN_LIFE } } })
})
afterEach(() => setup.close())

const groups = (options?: { timeoutMs: number }) => setup.morning.sso.api.marketplaceGroups(options)
/** A busy machine needs more than the usual three seconds for so many at once. */
const fifty = () => Promise.allSettled(Array.from({ length: 50 }, () => groups({ timeoutMs: 20_000 })))
const counts = () => [setup.countCalls('token'), setup.countCalls('marketplace')]

test('50 parallel calls share one token of the client itself, with the one scope that they need', async () => {
  const results = await fifty()
  expect(new Set(results.map(({ status }) => status))).toEqual(new Set(['fulfilled']))
  expect(counts()).toEqual([1, 50])
  expect(setup.emulator.calls({ operation: 'token' })).toMatchObject([
    { clientId: 'morning', sid: null, claims: { grant_type: 'client_credentials' }, outcome: 'ok' },
  ])
})

test('each site has a token of its own', async () => {
  await Promise.all([groups(), setup.evening.sso.api.marketplaceGroups()])
  const clients = setup.emulator.calls({ operation: 'token' }).map(({ clientId }) => clientId)
  expect(clients.sort()).toEqual(['evening', 'morning'])
})

test('a token is kept until 30 seconds before it ends, and then replaced by one request for all', async () => {
  await groups()
  setup.emulator.clock.advance(TOKEN_LIFE - 30 - 5)
  await groups()
  expect(counts()).toEqual([1, 2])
  setup.emulator.clock.advance(6)
  await fifty()
  expect(counts()).toEqual([2, 52])
})

test.each([
  ['down', { kind: 'down' }, Sso2UnavailableError],
  ['answering 503', { kind: 'status', code: 503 }, Sso2UnavailableError],
  ['answering 400', { kind: 'status', code: 400 }, Sso2ResponseError],
  ['answering garbage', { kind: 'garbage' }, Sso2ResponseError],
  ['losing its answer', { kind: 'drop_after_commit' }, Sso2UnavailableError],
] as const)('the token endpoint %s: one request for 50 calls, and the next one tries again', async (_, fault, type) => {
  setup.emulator.faults.add({ operation: 'token', ...fault, times: 1 })
  for (const result of await fifty()) {
    const error = result.status === 'rejected' ? result.reason : undefined
    expect(error).toBeInstanceOf(type)
    expect(error).toMatchObject({ operation: 'token' })
    expect(inspect(error, { depth: 20, showHidden: true })).not.toContain('client-secret-of-the-morning')
  }
  expect(counts()).toEqual([1, 0])
  expect(await groups()).toHaveLength(2)
  expect(counts()).toEqual([2, 1])
})

test('a token endpoint that fails when a token is to be replaced leaves nothing behind', async () => {
  await groups()
  setup.emulator.faults.add({ operation: 'marketplace', kind: 'status', code: 401, times: 1 })
  setup.emulator.faults.add({ operation: 'token', kind: 'down', times: 1 })
  expect(await failure(groups())).toBeInstanceOf(Sso2UnavailableError)
  expect(await groups()).toHaveLength(2)
  expect(counts()).toEqual([3, 3])
})

test('a call does not wait for a slow token beyond its bound; the next one uses what came meanwhile', async () => {
  setup.emulator.faults.add({ operation: 'token', kind: 'slow', ms: 1500, times: 1 })
  const error = await failure(groups({ timeoutMs: 100 }))
  expect(error).toBeInstanceOf(Sso2UnavailableError)
  expect(error).toMatchObject({ timedOut: true })
  expect(setup.countCalls('marketplace')).toBe(0)
  expect(await groups()).toHaveLength(2)
  expect(counts()).toEqual([1, 1])
})

test.each([
  ['administrators', () => setup.morning.sso.api.administrators()],
  ['administratorsByAccount', () => setup.morning.sso.api.administratorsByAccount()],
  ['validateGiftReceiver', () => setup.morning.sso.api.validateGiftReceiver(receiver)],
])('sso.api.%s: the call needs a user → NotLoggedInError names req.sso2.api, nothing is sent', async (name, call) => {
  const error = await failure(call())
  expect(error).toBeInstanceOf(NotLoggedInError)
  expect(error).toMatchObject({ message: expect.stringMatching(new RegExp(`^${name}: .*req\\.sso2\\.api`)) })
  expect(counts()).toEqual([0, 0])
  expect(setup.countCalls('administrators') + setup.countCalls('gift')).toBe(0)
})

test('without tokenUrl, the error names the option, and the call is not sent', async () => {
  const { emulator } = setup
  const site = { ...emulator.siteOptions('morning'), tokenUrl: undefined, exchangeTicket: async () => 'token' }
  const sso = sso2({ ...site, siteUrl: 'http://localhost:3000', sessionSecret, clock: emulator.clock })
  const error = await failure(sso.api.marketplaceGroups())
  await sso.close()
  expect(error).toBeInstanceOf(Sso2ConfigError)
  expect(error).toMatchObject({ problems: [{ option: 'tokenUrl', variable: 'SSO2_TOKEN_URL' }] })
  expect(setup.countCalls('marketplace')).toBe(0)
})

describe('a token endpoint that answers as a test says', () => {
  let now = 1_700_000_000
  const server = useFaultyServer()

  /** Gets a token, and tells how many have been fetched by then. */
  function sourceOf(answer: (count: number) => object) {
    server.become((res, _seen, count) => json(res, 200, answer(count)))
    const endpoint = { tokenUrl: server.url, clientId: 'c', clientSecret: () => 's', ticketExchange: {} }
    const source = serviceTokenSource(
      async () => readGrant(await serviceToken(endpoint, '/external/marketing/r'), now),
      () => now,
    )
    return async (refused?: string) => [await source(refused), server.seen.length]
  }

  test.each([
    ['none', {}, 270],
    ['600 seconds', { expires_in: 600 }, 570],
  ])('%s: it is kept until 30 seconds before the end, of 300 seconds where nothing is said', async (...row) => {
    const [, life, kept] = row
    const get = sourceOf((count) => ({ access_token: `token-${count}`, ...life }))
    expect(await get()).toEqual(['token-1', 1])
    now += kept - 1
    expect(await get()).toEqual(['token-1', 1])
    now += 1
    expect(await get()).toEqual(['token-2', 2])
  })

  test('refusals of one token at the very same time, and one that comes late, lead to one new token', async () => {
    const get = sourceOf((count) => ({ access_token: `token-${count}` }))
    expect(await get()).toEqual(['token-1', 1])
    const next = await Promise.all(Array.from({ length: 50 }, () => get('token-1')))
    expect(new Set(next.flat())).toEqual(new Set(['token-2', 2]))
    expect(await get('token-1')).toEqual(['token-2', 2])
    expect(await get()).toEqual(['token-2', 2])
  })

  test('a token that is refused and given once more is asked for once a call', async () => {
    const get = sourceOf(() => ({ access_token: 'the-same' }))
    expect(await get()).toEqual(['the-same', 1])
    expect(await get('the-same')).toEqual(['the-same', 2])
    expect(await get()).toEqual(['the-same', 2])
  })
})
