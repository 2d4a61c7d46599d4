import { PlatformApi, PlatformApiError } from '../../lib'
import { gracesAddress } from '../emulator/configuration'
import { sharedEmulator } from '../emulator/shared'
import { failure } from '../support/faulty-server'

/* Calls of the REST API over HTTP against the emulator, with the access token of a real user. */

const { emulator, platform } = sharedEmulator()
const apiOf = async (account = {}) =>
  new PlatformApi({ apiUrl: emulator.url, accessToken: await platform.accessToken(account) })
const gift = { campaign_code: 'DAILY', delivery_address: gracesAddress }

const created = '2021-03-04T09:30:00'
const entry = { account_id: 'A-ada', contact_email: 'ada@example.com', name: 'Ada Lindqvist', created }

test('administratorsByAccount gives an entry an account with all groups, in the order of the platform', async () => {
  const list = await (await apiOf()).administratorsByAccount()
  expect(list[0]).toEqual({ ...entry, groups: ['Editors', 'Subscriptions'] })
  expect(list.slice(1)).toMatchObject([{ account_id: 'A-otto', groups: ['Editors'] }])
})

test.each([
  ['the same product at the same address', gracesAddress, false],
  ['another address', { ...gracesAddress, street_number: '13' }, true],
])('validateGiftReceiver: %s', async (_what, delivery_address, eligible) => {
  expect(await (await apiOf()).validateGiftReceiver({ ...gift, delivery_address })).toBe(eligible)
})

test.each([['an unknown campaign', { ...gift, campaign_code: 'MONTHLY' }, 'unknown_campaign']])(
  'validateGiftReceiver with %s is a 400 with what the API said',
  async (_what, receiver, code) => {
    const error = await failure((await apiOf()).validateGiftReceiver(receiver))
    expect(error).toBeInstanceOf(PlatformApiError)
    expect(error).toMatchObject({
      httpStatus: 400,
      reason: code,
      scope: '/external/me/order/r',
      body: { error: { code } },
    })
    expect(emulator.calls({ operation: 'gift' })).toHaveLength(1)
  },
)

test.each([
  ['Editors', ['A-ada', 'A-otto']],
  ['Editors&group=Subscriptions', []],
  ['Editörer / 100 % ?#', []],
])('administrators of the group %p', async (group, expected) => {
  const list = await (await apiOf()).administrators({ group })
  expect(list.map(({ account_id }) => account_id)).toEqual(expected)
  expect(emulator.calls({ operation: 'administrators' })).toMatchObject([{ outcome: 'ok' }])
})

test('an account without the right to administrators keeps its other calls', async () => {
  const client = await apiOf({ usr: 'grace', pwd: 'battery-staple' })
  expect(await client.marketplaceGroups()).toHaveLength(1)
  expect(await client.validateGiftReceiver(gift)).toBe(false)
  expect(await failure(client.administrators())).toMatchObject({ httpStatus: 403, scope: '/external/admin/r' })
})
