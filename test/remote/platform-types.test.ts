import { inspect } from 'node:util'
import { PlatformApi } from '../../lib'
import { byAccount } from '../../lib/remote/platform-types'
import { failure, json, useFaultyServer } from '../support/faulty-server'

const server = useFaultyServer()
let api: PlatformApi

beforeAll(() => {
  api = new PlatformApi({ apiUrl: server.url, accessToken: 'token-of-the-test' })
})

const market = { name: 'Homes', key: 'homes', more: [1] }
const texts = { name: 'n', key: 'k', image_url: 'i', image_link: 'l', rgb: '#000', header: 'h', description: 'd' }
const group = { ...texts, markets: [market], more: { a: null } }
const administrator = { group: 'g', created: 'c', account_id: 'a', contact_email: 'e', name: 'n', more: 1 }
const receiver = { campaign_code: 'c', delivery_address: {} }
const groups = () => api.marketplaceGroups()
const administrators = () => api.administrators()
const eligible = () => api.validateGiftReceiver(receiver)

test.each<[what: string, body: object, result: unknown, call: () => Promise<unknown>]>([
  ['marketplace groups', { items: [group] }, [group], groups],
  ['administrators', { items: [administrator] }, [administrator], administrators],
  ['the eligibility of a receiver', { item: { receiver_eligible: false, more: 1 }, more: 2 }, false, eligible],
])(
  '%s come back as they were sent, with fields that the interface does not name',
  async (_what, body, result, call) => {
    server.become((res) => json(res, 200, body))
    expect(await call()).toEqual(result)
  },
)

const SECRET = 'leaked-value'
test.each<[path: string, body: object, call: () => Promise<unknown>]>([
  ['items', { items: { SECRET } }, groups],
  ['items.0.rgb', { items: [{ ...group, rgb: { SECRET } }] }, groups],
  ['items.0.markets', { items: [{ ...group, markets: SECRET }] }, groups],
  ['items.1.markets.0.key', { items: [group, { ...group, markets: [{ name: SECRET }] }] }, groups],
  ...Object.keys(administrator)
    .filter((name) => name !== 'more')
    .map((name): [string, object, () => Promise<unknown>] => [
      `items.0.${name}`,
      { items: [{ ...administrator, [name]: [SECRET] }] },
      administrators,
    ]),
  ['item', { item: SECRET }, eligible],
  ['item.receiver_eligible', { item: { receiver_eligible: SECRET } }, eligible],
])('a field %s of another type is reported by its path and without its value', async (path, body, call) => {
  server.become((res) => json(res, 200, body))
  const error = await failure(call())
  expect(error).toMatchObject({ name: 'Sso2ResponseError', httpStatus: 200 })
  expect((error as Error).message.split(': ')[1]).toBe(path)
  expect(inspect(error, { depth: null })).not.toMatch(/leaked-value|token-of-the-test/)
})

test('administrators by account: an entry an account with its first fields, and its groups in order', () => {
  const of = (account_id: string, group: string, name: string) => ({ ...administrator, account_id, group, name })
  const entries = [of('__proto__', 'g1', 'n1'), of('a', 'g2', 'n2'), of('__proto__', 'g3', 'n3')]
  expect(byAccount(entries)).toMatchObject([
    { account_id: '__proto__', name: 'n1', groups: ['g1', 'g3'] },
    { account_id: 'a', name: 'n2', groups: ['g2'] },
  ])
})
