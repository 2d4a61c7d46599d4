import express from 'express'
import { PlatformApi, PlatformApiError } from '../../lib'
import { createEmulator, type Emulator } from '../../lib/emulator'
import { configuration, gracesAddress } from '../emulator/configuration'
import { Platform } from '../emulator/platform'
import { ada, eventually, logIn, startSetup } from '../flows/setup'
import { failure } from './faulty-server'

/* Each call of the REST API over HTTP against the emulator, with the access token of a real user. */

const emulator: Emulator = createEmulator(configuration)
let url: string
let api: PlatformApi

beforeAll(async () => {
  url = (await emulator.listen()).url
})
afterAll(() => emulator.close())
beforeEach(async () => {
  emulator.reset()
  api = new PlatformApi({ apiUrl: url, accessToken: await new Platform(url).accessToken() })
})

const gift = { campaign_code: 'DAILY', delivery_address: gracesAddress }

const calls: ((client: PlatformApi) => Promise<unknown>)[] = [
  (client) => client.marketplaceGroups(),
  (client) => client.validateGiftReceiver(gift),
  (client) => client.administrators(),
  (client) => client.administratorsByAccount(),
]

describe('right answers', () => {
  test('marketplaceGroups gives the groups with their markets', async () => {
    expect(await api.marketplaceGroups()).toEqual(configuration.marketplaceGroups)
  })

  const created = '2021-03-04T09:30:00'
  const entry = { account_id: 'A-ada', contact_email: 'ada@example.com', name: 'Ada Lindqvist', created }

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

  test('a page makes each call with the token of the user who is logged in', async () => {
    const setup = await startSetup({
      build: (sso) => {
        const app = express()
        app.use(sso)
        app.get('/ask', async (req, res) => {
          const answers = calls.map((call) => call(req.sso2.api).catch((error: Error) => error.name))
          res.json(await Promise.all(answers))
        })
        app.use((_req, res) => void res.end('page'))
        return app
      },
    })
    try {
      const browser = setup.browser()
      // a Redis that is late for once refuses the form, and knows nobody on the page
      await eventually(async () => (await logIn(browser, setup.morning, ada).catch(() => undefined))?.status === 200)
      let body = ''
      await eventually(async () => {
        body = (await browser.visit(`${setup.morning.url}/ask`)).body
        return body.includes('homes')
      })
      // The campaign of the other configuration is unknown here.
      expect(JSON.parse(body)).toMatchObject([
        [{ key: 'homes' }, { key: 'things' }],
        'PlatformApiError',
        [{ group: 'Editors' }, { group: 'Subscriptions' }],
        [{ account_id: 'account-ada', groups: ['Editors', 'Subscriptions'] }],
      ])
      const asked = setup.emulator.calls({ operation: 'administrators' })
      expect(asked.map(({ claims }) => claims?.['aid'])).toEqual(['account-ada', 'account-ada'])
    } finally {
      await setup.close()
    }
  })
})

test('an account without the right to administrators keeps its other calls', async () => {
  const grace = { usr: 'grace', pwd: 'battery-staple' }
  const client = new PlatformApi({ apiUrl: url, accessToken: await new Platform(url).accessToken(grace) })
  expect(await client.marketplaceGroups()).toHaveLength(1)
  expect(await client.validateGiftReceiver(gift)).toBe(false)
  expect(await failure(client.administrators())).toMatchObject({ status: 403, scope: '/external/admin/r' })
})
