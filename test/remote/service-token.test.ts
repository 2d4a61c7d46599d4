import { inspect } from 'node:util'
import { NotLoggedInError, Sso2ResponseError, Sso2UnavailableError, sso2 } from '../../lib'
import { demoOptions } from '../../lib/emulator'
import { serviceTokenSource } from '../../lib/remote/token-endpoint'
import { sharedEmulator } from '../emulator/shared'
import { failure, json, useFaultyServer } from '../support/faulty-server'
import { loggerTo } from '../support/log-lines'
import { openInTest } from './sso-scene'

/* Clients that a site makes of its options: `sso.api`, whose calls need no user, and the secret and the log of all. */

const TOKEN_LIFE = 300
const MANY = 20
const clientSecret = 'client-secret-of-the-morning-paper-0123456789'
const siteUrl = 'http://morning.localhost:1'
const sessionSecret = 'the-secret-of-the-sessions-of-the-site-0123456789'
const clients = [{ clientId: 'morning', clientSecret, name: 'Morning', landingPage: `${siteUrl}/sso2/landing` }]
const { emulator } = sharedEmulator(demoOptions({ clients, limits: { accessTokenSeconds: TOKEN_LIFE } }))
const receiver = { campaign_code: 'POST-DAILY', delivery_address: { city: 'Demoville' } }
const open = openInTest()
const server = useFaultyServer()

/** The clients of a site that holds no token yet, and what its operator reads. */
function clientsOf(options: object = {}) {
  const lines: string[] = []
  const site = { ...emulator.siteOptions('morning'), siteUrl, sessionSecret, logger: loggerTo(lines), ...options }
  const sso = sso2({ ...site, clock: emulator.clock })
  open.push(sso)
  return { lines, api: sso.api }
}
let api: ReturnType<typeof clientsOf>['api']
beforeEach(() => {
  ;({ api } = clientsOf())
})

const count = (operation: string) => emulator.calls({ operation }).length
const counts = () => [count('token'), count('marketplace')]
/** A busy machine needs more than the usual three seconds for so many at once. */
const many = () => Promise.allSettled(Array.from({ length: MANY }, () => api.marketplaceGroups({ timeoutMs: 20_000 })))

test('parallel calls share one token of the client itself, kept until 30 seconds before it ends', async () => {
  const results = await many()
  expect(new Set(results.map(({ status }) => status))).toEqual(new Set(['fulfilled']))
  expect(counts()).toEqual([1, MANY])
  expect(emulator.calls({ operation: 'token' })).toMatchObject([
    { clientId: 'morning', sid: null, claims: { grant_type: 'client_credentials' }, outcome: 'ok' },
  ])
  emulator.clock.advance(TOKEN_LIFE - 30 - 5)
  await many()
  expect(counts()).toEqual([1, 2 * MANY])
  emulator.clock.advance(6)
  await many()
  expect(counts()).toEqual([2, 3 * MANY])
})

test.each([
  ['down', { kind: 'down' }, Sso2UnavailableError],
  ['answering 400', { kind: 'status', code: 400 }, Sso2ResponseError],
] as const)(
  'the token endpoint %s: one request for all calls, and the next one tries again',
  async (_, fault, type) => {
    emulator.faults.add({ operation: 'token', ...fault, times: 1 })
    for (const result of await many()) {
      const error = result.status === 'rejected' ? result.reason : undefined
      expect(error).toBeInstanceOf(type)
      expect(error).toMatchObject({ operation: 'token' })
      expect(inspect(error, { depth: 20, showHidden: true })).not.toContain(clientSecret)
    }
    expect(counts()).toEqual([1, 0])
    expect(await api.marketplaceGroups()).toHaveLength(2)
    expect(counts()).toEqual([2, 1])
  },
)

test.each([
  ['administrators', () => api.administrators()],
  ['administrators', () => api.administratorsByAccount()],
  ['validateGiftReceiver', () => api.validateGiftReceiver(receiver)],
])('sso.api: %s needs a user → NotLoggedInError names req.sso2.api, nothing is sent', async (name, call) => {
  const error = await failure(call())
  expect(error).toBeInstanceOf(NotLoggedInError)
  expect(error).toMatchObject({ message: expect.stringMatching(new RegExp(`^${name}: .*req\\.sso2\\.api`)) })
  expect(emulator.calls({})).toEqual([])
})

test('without tokenUrl, the error names the option, and the call is not sent', async () => {
  const without = clientsOf({ tokenUrl: undefined, exchangeTicket: async () => 'token' }).api
  expect(await failure(without.marketplaceGroups())).toMatchObject({ problems: [{ option: 'tokenUrl' }] })
  expect(count('marketplace')).toBe(0)
})

test('refusals of one token at the very same time, and one that comes late, lead to one new token', async () => {
  server.become((res, _seen, times) => json(res, 200, { access_token: `token-${times}` }))
  const endpoint = { tokenUrl: server.url, clientId: 'c', clientSecret: () => 's', ticketExchange: {} }
  const now = () => 1_700_000_000
  const source = serviceTokenSource(endpoint, '/x/r', now)
  expect(await source()).toBe('token-1')
  const next = await Promise.all(Array.from({ length: 50 }, () => source('token-1')))
  expect(new Set(next)).toEqual(new Set(['token-2']))
  expect([await source('token-1'), server.seen.length]).toEqual(['token-2', 2])
})
