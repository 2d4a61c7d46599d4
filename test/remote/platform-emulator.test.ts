import { inspect } from 'node:util'
import express from 'express'
import { PlatformApi, PlatformApiError, Sso2ResponseError, Sso2UnavailableError } from '../../lib'
import { createEmulator, type Emulator, type FaultKind } from '../../lib/emulator'
import { configuration, gracesAddress } from '../emulator/configuration'
import { Platform } from '../emulator/platform'
import { ada, eventually, logIn, startNetwork } from '../flows/network'
import { failure } from './faulty-server'

/* Each call of the REST API over HTTP against the emulator, with the access token of a real user. */

const withoutScopes = { accountId: 'A-bare', username: 'bare', password: 'no-scope-at-all', scopes: [] }
const bare = { usr: withoutScopes.username, pwd: withoutScopes.password }
const grace = { usr: 'grace', pwd: 'battery-staple' }
const emulator: Emulator = createEmulator({
  ...configuration,
  accounts: [...configuration.accounts, withoutScopes],
})
let url: string
let token: string
let api: PlatformApi

beforeAll(async () => {
  url = (await emulator.listen()).url
})
afterAll(() => emulator.close())
beforeEach(async () => {
  emulator.reset()
  token = await new Platform(url).accessToken()
  api = new PlatformApi({ apiUrl: url, accessToken: token })
})

const apiOf = async (account: object) =>
  new PlatformApi({ apiUrl: url, accessToken: await new Platform(url).accessToken({ ...account }) })
const gift = { campaign_code: 'DAILY', delivery_address: gracesAddress }

type Options = { timeoutMs?: number; signal?: AbortSignal }
const calls = [
  {
    name: 'marketplaceGroups',
    operation: 'marketplace',
    scope: '/external/marketing/r',
    call: (client: PlatformApi, options?: Options): Promise<unknown> => client.marketplaceGroups(options),
  },
  {
    name: 'validateGiftReceiver',
    operation: 'gift',
    scope: '/external/me/order/r',
    call: (client: PlatformApi, options?: Options): Promise<unknown> => client.validateGiftReceiver(gift, options),
  },
  {
    name: 'administrators',
    operation: 'administrators',
    scope: '/external/admin/r',
    call: (client: PlatformApi, options?: Options): Promise<unknown> => client.administrators({}, options),
  },
  {
    name: 'administratorsByAccount',
    operation: 'administrators',
    scope: '/external/admin/r',
    call: (client: PlatformApi, options?: Options): Promise<unknown> => client.administratorsByAccount(options),
  },
] as const

function expectNoToken(error: unknown, secret = token): void {
  expect(secret.length).toBeGreaterThan(16)
  expect(inspect(error, { depth: 20, showHidden: true })).not.toContain(secret)
  expect(JSON.stringify(error)).not.toContain(secret)
}

describe('right answers', () => {
  test('marketplaceGroups gives the groups with their markets', async () => {
    expect(await api.marketplaceGroups()).toEqual(configuration.marketplaceGroups)
  })

  const entry = {
    account_id: 'A-ada',
    contact_email: 'ada@example.com',
    name: 'Ada Lindqvist',
    created: '2021-03-04T09:30:00',
  }

  test('administrators gives an entry a group, accounts that are not active too', async () => {
    const list = await api.administrators()
    expect(list).toMatchObject([
      { ...entry, group: 'Editors' },
      { ...entry, group: 'Subscriptions' },
      { account_id: 'A-otto', group: 'Editors' },
    ])
  })

  test.each([
    ['Editors', ['A-ada', 'A-otto']],
    ['Subscriptions', ['A-ada']],
    ['editors', []],
    ['Editors&group=Subscriptions', []],
    ['Editörer / 100 % ?#', []],
  ])('administrators of the group %p', async (group, expected) => {
    const list = await api.administrators({ group })
    expect(list.map(({ account_id }) => account_id)).toEqual(expected)
    expect(emulator.calls({ operation: 'administrators' })).toMatchObject([{ outcome: 'ok' }])
  })

  test('administratorsByAccount gives an entry an account with all groups, in the order of the platform', async () => {
    const list = await api.administratorsByAccount()
    expect(list[0]).toEqual({ ...entry, groups: ['Editors', 'Subscriptions'] })
    expect(list.slice(1)).toMatchObject([{ account_id: 'A-otto', groups: ['Editors'] }])
  })

  test.each([
    ['the same product at the same address', 'DAILY', gracesAddress, false],
    ['a product in conflict at the same address', 'WEEKEND', gracesAddress, false],
    ['letters and spaces written differently', 'DAILY', { ...gracesAddress, city: ' DEMOVILLE ' }, false],
    ['a subscription that is not active', 'EVENING', gracesAddress, true],
    ['another address', 'DAILY', { ...gracesAddress, street_number: '13' }, true],
  ])('validateGiftReceiver: %s', async (_what, campaign_code, delivery_address, eligible) => {
    expect(await api.validateGiftReceiver({ campaign_code, delivery_address })).toBe(eligible)
  })

  test.each([
    ['an unknown campaign', { ...gift, campaign_code: 'MONTHLY' }, 'unknown_campaign'],
    ['an empty address', { ...gift, delivery_address: {} }, 'bad_request'],
  ])('validateGiftReceiver with %s is a 400 with what the API said', async (_what, receiver, code) => {
    const error = await failure(api.validateGiftReceiver(receiver))
    expect(error).toBeInstanceOf(PlatformApiError)
    expect(error).toMatchObject({ status: 400, scope: '/external/me/order/r', body: { error: { code } } })
    expect(emulator.calls({ operation: 'gift' })).toHaveLength(1)
  })

  test('marketplace groups that are not enabled are a 404', async () => {
    const other = createEmulator({ ...configuration, marketplaceEnabled: false })
    try {
      const { url: apiUrl } = await other.listen()
      const accessToken = await new Platform(apiUrl).accessToken()
      const error = await failure(new PlatformApi({ apiUrl, accessToken }).marketplaceGroups())
      expect(error).toMatchObject({ name: 'PlatformApiError', status: 404, scope: '/external/marketing/r' })
    } finally {
      await other.close()
    }
  })

  test('a page asks with the token of the user who is logged in, all calls', async () => {
    const network = await startNetwork({
      build: (sso) => {
        const app = express()
        app.use(sso)
        app.get('/ask', async (req, res) => {
          const answers = calls.map(({ call }) => call(req.sso2.api).catch((error: Error) => error.name))
          res.json(await Promise.all(answers))
        })
        app.use((_req, res) => void res.end('page'))
        return app
      },
    })
    try {
      const browser = network.browser()
      // a Redis that is late for once refuses the form, and knows nobody on the page
      await eventually(async () => (await logIn(browser, network.morning, ada).catch(() => undefined))?.status === 200)
      let body = ''
      await eventually(async () => {
        body = (await browser.visit(`${network.morning.url}/ask`)).body
        return body.includes('homes')
      })
      // The campaign of the other configuration is unknown here.
      expect(JSON.parse(body)).toMatchObject([
        [{ key: 'homes' }, { key: 'things' }],
        'PlatformApiError',
        [{ group: 'Editors' }, { group: 'Subscriptions' }],
        [{ account_id: 'account-ada', groups: ['Editors', 'Subscriptions'] }],
      ])
      const asked = network.emulator.calls({ operation: 'administrators' })
      expect(asked.map(({ claims }) => claims?.['aid'])).toEqual(['account-ada', 'account-ada'])
    } finally {
      await network.close()
    }
  })
})

test('an account without the right to administrators keeps its other calls', async () => {
  const client = await apiOf(grace)
  expect(await client.marketplaceGroups()).toHaveLength(1)
  expect(await client.validateGiftReceiver(gift)).toBe(false)
  expect(await failure(client.administrators())).toMatchObject({ status: 403, scope: '/external/admin/r' })
})

type Asked = 'once' | 'twice'
const refused = (status: number) => ({ type: PlatformApiError, fields: { status } })
const away = { type: Sso2UnavailableError, fields: { timedOut: false } }
const faults: [what: string, fault: FaultKind, error: { type: unknown; fields: object }, asked: Asked][] = [
  ...[400, 401, 403, 429, 500].map((code): (typeof faults)[number] => [
    `HTTP ${code}`,
    { kind: 'status', code },
    refused(code),
    'once',
  ]),
  ...[502, 503, 504].map((code): (typeof faults)[number] => [
    `HTTP ${code}`,
    { kind: 'status', code },
    refused(code),
    'twice',
  ]),
  ['a redirect', { kind: 'status', code: 302 }, { type: Sso2ResponseError, fields: { status: 302 } }, 'once'],
  ['garbage', { kind: 'garbage' }, { type: Sso2ResponseError, fields: { status: 200 } }, 'once'],
  ['a connection that ends', { kind: 'down' }, away, 'twice'],
  ['an answer that is lost', { kind: 'drop_after_commit' }, away, 'twice'],
]

describe.each(calls)('$name', ({ operation, scope, call }) => {
  const asked = () => emulator.calls({ operation }).length

  test.each(faults)('%s is an error without the token, asked the right number of times', async (...row) => {
    const [, fault, { type, fields }, times] = row
    emulator.faults.add({ operation, ...fault })
    const error = await failure(call(api))
    expect(error).toBeInstanceOf(type)
    expect(error).toMatchObject({ ...fields, ...(error instanceof PlatformApiError ? { scope } : {}) })
    expectNoToken(error)
    expect(asked()).toBe(times === 'once' ? 1 : 2)
  })

  test.each<FaultKind>([{ kind: 'down' }, { kind: 'drop_after_commit' }, { kind: 'status', code: 503 }])(
    'one failure of the kind %p is not noticed',
    async (fault) => {
      emulator.faults.add({ operation, ...fault, times: 1 })
      expect(await call(api)).toBeDefined()
      expect(asked()).toBe(2)
    },
  )

  test('an answer slower than timeoutMs is not waited for, and not asked for again', async () => {
    emulator.faults.add({ operation, kind: 'slow', ms: 1800 })
    const start = performance.now()
    const error = await failure(call(api, { timeoutMs: 300 }))
    expect(performance.now() - start).toBeLessThan(1790)
    expect(error).toBeInstanceOf(Sso2UnavailableError)
    expect(error).toMatchObject({ timedOut: true })
    expectNoToken(error)
    await eventually(async () => asked() > 0) // it is noted when it is answered
    await new Promise((resolve) => setTimeout(resolve, 600))
    expect(asked()).toBe(1)
  })

  test('an answer slower than usual but within timeoutMs is a right one', async () => {
    emulator.faults.add({ operation, kind: 'slow', ms: 100 })
    expect(await call(api, { timeoutMs: 2000 })).toBeDefined()
    expect(asked()).toBe(1)
  })

  test('an abort ends a call that hangs, with its reason', async () => {
    emulator.faults.add({ operation, kind: 'hang' })
    const control = new AbortController()
    const reason = new Error('the visitor went away')
    const ended = failure(call(api, { signal: control.signal }))
    await eventually(async () => asked() > 0)
    control.abort(reason)
    expect(await ended).toBe(reason)
    expect(asked()).toBe(1)
  })

  test('a token that nobody knows is a 401, asked once', async () => {
    const unknown = 'a-token-that-nobody-gave-out'
    const error = await failure(call(new PlatformApi({ apiUrl: url, accessToken: unknown })))
    expect(error).toBeInstanceOf(PlatformApiError)
    expect(error).toMatchObject({ status: 401, scope, body: { error: { code: 'invalid_token' } } })
    expectNoToken(error, unknown)
    expect(asked()).toBe(1)
  })

  test('a token that has run out is a 401, asked once', async () => {
    emulator.clock.advance(3601)
    const error = await failure(call(api))
    expect(error).toMatchObject({ name: 'PlatformApiError', status: 401, scope })
    expectNoToken(error)
    expect(asked()).toBe(1)
  })

  test('an account without the scope is a 403 that names the scope, asked once', async () => {
    const error = await failure(call(await apiOf(bare)))
    expect(error).toBeInstanceOf(PlatformApiError)
    expect(error).toMatchObject({ status: 403, scope, body: { error: { code: 'insufficient_scope' } } })
    expect((error as Error).message).toContain(scope)
    expect(asked()).toBe(1)
  })
})
