import { configuration, gracesAddress } from '../configuration'
import { evening, formOf, morning, type Platform } from '../platform'
import { type Check, requirementsOf } from './check'

const exchange = requirementsOf('Authentication, SSO2, 3: the ticket')
const auth = requirementsOf('Authentication, REST API')
const marketplace = requirementsOf('GET marketplace groups')
const gift = requirementsOf('POST validate gift receiver')
const admin = requirementsOf('GET administrators')

const paths = {
  me: '/external/api/v1/me',
  marketplace: '/external/api/v2/marketing/marketplace/groups',
  gift: '/external/api/v1/me/order/validate_gift_receiver',
  administrators: '/external/api/v1/admin',
}

/** The header by which a client says who it is. */
const basic = (secret: string) => ({
  authorization: `Basic ${Buffer.from(`${morning.clientId}:${secret}`).toString('base64')}`,
})

const tickets: Check[] = [
  exchange.loggedIn('a ticket becomes a bearer token', async (platform, { at }) => {
    const { status, json, headers } = await platform.exchangeTicket(at)
    expect([status, headers['cache-control']]).toEqual([200, 'no-store'])
    expect(json).toEqual({
      access_token: expect.any(String),
      token_type: 'Bearer',
      expires_in: 3600,
      scope: '/external/marketing/r /external/me/order/r /external/admin/r',
    })
  }),
  exchange.loggedIn('a ticket is taken once', async (platform, { at }) => {
    await platform.exchangeTicket(at)
    const { status, json } = await platform.exchangeTicket(at)
    expect([status, json.error]).toEqual([400, 'invalid_grant'])
  }),
  exchange.loggedIn('a ticket lives 60 seconds', async (platform, { at, sid }) => {
    await platform.advance(50)
    expect((await platform.exchangeTicket(at)).status).toBe(200)
    const next = (await platform.status(sid))['at']
    await platform.advance(60)
    expect((await platform.exchangeTicket(next)).json.error).toBe('invalid_grant')
  }),
  exchange.loggedIn('a ticket is for its client only, which does not lose it', async (platform, { at }) => {
    expect((await platform.exchangeTicket(at, evening)).json.error).toBe('invalid_grant')
    expect((await platform.exchangeTicket(at)).status).toBe(200)
  }),
  exchange.loggedIn('a ticket ends with its session', async (platform, { at, sid }) => {
    await platform.logout(sid)
    expect((await platform.exchangeTicket(at)).json.error).toBe('invalid_grant')
  }),
  exchange.loggedIn('a wrong secret is refused, and the ticket is not lost', async (platform, { at }) => {
    const { status, json } = await platform.exchangeTicket(at, { ...morning, secret: 'wrong' })
    expect([status, json.error]).toEqual([401, 'invalid_client'])
    expect((await platform.exchangeTicket(at)).status).toBe(200)
  }),
  exchange.loggedIn('the client may say who it is in the header', async (platform, { at }) => {
    const fields = { grant_type: 'authorization_code', code: String(at) }
    const answer = await platform.exchange(fields, basic(encodeURIComponent(morning.secret)))
    expect(answer.status).toBe(200)
  }),
  exchange('a secret in header and form is refused, and so is another client ID in the form', async (platform) => {
    expect((await platform.exchange(formOf(morning), basic('x'))).status).toBe(401)
    const fields = { grant_type: 'client_credentials', client_id: evening.clientId }
    expect((await platform.exchange(fields, basic(encodeURIComponent(morning.secret)))).status).toBe(401)
  }),
  exchange('a request with an unknown grant type, with none, or without a ticket is refused', async (platform) => {
    const unknown = await platform.exchange(formOf(morning, 'password'))
    expect(unknown.json.error).toBe('unsupported_grant_type')
    const { grant_type: _none, ...client } = formOf(morning)
    for (const fields of [client, formOf(morning, 'authorization_code')])
      expect((await platform.exchange(fields)).json.error).toBe('invalid_request')
  }),
  exchange('a service token has the scopes that were asked for', async (platform) => {
    const { json } = await platform.exchange({ ...formOf(morning), scope: '/external/marketing/r' })
    expect(json.scope).toBe('/external/marketing/r')
  }),
  exchange('a service token cannot have a scope that its client lacks', async (platform) => {
    const { json } = await platform.exchange({ ...formOf(evening), scope: '/external/admin/r' })
    expect(json.error).toBe('invalid_scope')
  }),
  exchange('the access token identifies the user', async (platform) => {
    const { json } = await platform.api('GET', paths.me, await platform.accessToken())
    const item = { account_id: 'A-ada', username: 'ada', name: 'Ada Lindqvist', contact_email: 'ada@example.com' }
    expect(json).toEqual({ item })
  }),
]

const operations = ['me', 'marketplace', 'gift', 'administrators'] as const
type Operation = (typeof operations)[number]
const giftBody = { campaign_code: 'DAILY', delivery_address: gracesAddress }

function callWith(platform: Platform, operation: Operation, bearer: string) {
  return operation === 'gift'
    ? platform.api('POST', paths.gift, bearer, giftBody)
    : platform.api('GET', paths[operation], bearer)
}

const bearers: Check[] = [
  ...operations.map((operation) =>
    auth(`${operation} without a bearer token, or with a made-up one, is refused`, async (platform) => {
      const { status, json } = await platform.request(operation === 'gift' ? 'POST' : 'GET', paths[operation])
      expect([status, json]).toEqual([401, { error: { code: 'missing_token', message: expect.any(String) } }])
      const made = await callWith(platform, operation, 'made-up')
      expect([made.status, made.json.error.code]).toEqual([401, 'invalid_token'])
    }),
  ),
  auth('a bearer token lives 3600 seconds', async (platform) => {
    const bearer = await platform.accessToken()
    await platform.advance(3590)
    expect((await platform.api('GET', paths.me, bearer)).status).toBe(200)
    await platform.advance(10)
    expect((await platform.api('GET', paths.me, bearer)).status).toBe(401)
  }),
]

const ofGrace = (platform: Platform) => platform.accessToken({ usr: 'grace', pwd: 'battery-staple' })
const ofClient = (platform: Platform) => platform.serviceToken()
const ofAdmin = (platform: Platform) => platform.serviceToken('/external/admin/r')

type Right = [name: string, Operation, bearerOf: (platform: Platform) => Promise<string>, refusedAs?: string]
const rightRows: Right[] = [
  ['me needs an identity', 'me', ofClient, 'identity_required'],
  ['gift needs an identity', 'gift', ofClient, 'identity_required'],
  ['administrators needs an identity', 'administrators', ofClient, 'identity_required'],
  ['marketplace needs no identity', 'marketplace', ofClient],
  ['marketplace needs the scope /external/marketing/r', 'marketplace', ofAdmin, 'insufficient_scope'],
  ['administrators needs a scope that the account has', 'administrators', ofGrace, 'insufficient_scope'],
  ['gift needs the scope /external/me/order/r, which the account has too', 'gift', ofGrace],
]
const rights = rightRows.map(([name, operation, bearerOf, code]) =>
  auth(name, async (platform) => {
    const { status, json } = await callWith(platform, operation, await bearerOf(platform))
    expect([status, json.error?.code]).toEqual([code === undefined ? 200 : 403, code])
  }),
)

const groups: Check[] = [
  marketplace('the groups are given as they are configured', async (platform) => {
    const { json } = await callWith(platform, 'marketplace', await platform.serviceToken())
    expect(json).toEqual({ items: configuration.marketplaceGroups })
  }),
]

async function eligible(platform: Platform, campaign_code: string, changes: object): Promise<unknown> {
  const bearer = await platform.accessToken()
  const delivery_address = { ...gracesAddress, ...changes }
  const { status, json } = await platform.api('POST', paths.gift, bearer, { campaign_code, delivery_address })
  return [status, json.item?.receiver_eligible ?? json.error.code]
}

const gifts: Check[] = [
  ...(
    [
      ['not eligible with an active subscription of the same product', 'DAILY', {}, [200, false]],
      ['not eligible with an active subscription that the campaign conflicts with', 'WEEKEND', {}, [200, false]],
      ['eligible when the subscription is not active', 'EVENING', {}, [200, true]],
      ['eligible at another address', 'DAILY', { street_number: '13' }, [200, true]],
      ["letters' case and spaces do not matter", 'DAILY', { street: ' MILL  lane ', zip_code: 'dp24ab' }, [200, false]],
      ['an unknown campaign is a 400', 'NOTHING', {}, [400, 'unknown_campaign']],
      ['an address with a field that is no text is a 400', 'DAILY', { street: 7 }, [400, 'bad_request']],
    ] as const
  ).map(([name, campaign, changes, answer]) =>
    gift(name, async (platform) => {
      expect(await eligible(platform, campaign, changes)).toEqual(answer)
    }),
  ),
  gift('a body without campaign_code, or without delivery_address, is a 400', async (platform) => {
    const bearer = await platform.accessToken()
    for (const body of [{}, { campaign_code: 'DAILY' }, { delivery_address: gracesAddress }, [], 7]) {
      expect((await platform.api('POST', paths.gift, bearer, body)).status).toBe(400)
    }
    const { json } = await platform.api('POST', paths.gift, bearer, { campaign_code: 'DAILY', delivery_address: {} })
    expect(json.error.code).toBe('bad_request')
  }),
]

const entry = (group: string) => ({
  group,
  created: '2021-03-04T09:30:00',
  account_id: 'A-ada',
  contact_email: 'ada@example.com',
  name: 'Ada Lindqvist',
})

const administrators: Check[] = [
  admin('one entry for each group of each administrator, created in ISO 8601 without a zone', async (platform) => {
    const { json } = await callWith(platform, 'administrators', await platform.accessToken())
    const inactive = expect.objectContaining({ account_id: 'A-otto', group: 'Editors' })
    expect(json.items).toEqual([entry('Editors'), entry('Subscriptions'), inactive])
    for (const { created } of json.items) expect(created).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/)
  }),
  admin('group filters', async (platform) => {
    const bearer = await platform.accessToken()
    const { json } = await platform.api('GET', `${paths.administrators}?group=Subscriptions`, bearer)
    expect(json).toEqual({ items: [entry('Subscriptions')] })
  }),
  admin('two groups are a 400', async (platform) => {
    const bearer = await platform.accessToken()
    const { status, json } = await platform.api('GET', `${paths.administrators}?group=Editors&group=None`, bearer)
    expect([status, json.error.code]).toEqual([400, 'bad_request'])
  }),
]

export const restRequirements: Check[] = [...tickets, ...bearers, ...rights, ...groups, ...gifts, ...administrators]
