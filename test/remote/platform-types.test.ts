import { inspect } from 'node:util'
import fc from 'fast-check'
import { PlatformApi } from '../../lib'
import { byAccount } from '../../lib/remote/platform-types'
import { failure, json, useFaultyServer } from '../support/faulty-server'

type Item = Record<string, unknown>
const server = useFaultyServer()
let api: PlatformApi

beforeAll(() => {
  api = new PlatformApi({ apiUrl: server.url, accessToken: 'token-of-the-test' })
})

const extra = { unknown_field: fc.jsonValue() }
const texts = (...names: string[]) => Object.fromEntries(names.map((name) => [name, fc.string({ maxLength: 12 })]))
const groupTexts = ['name', 'key', 'image_url', 'image_link', 'rgb', 'header', 'description']
const administratorTexts = ['group', 'created', 'account_id', 'contact_email', 'name']
const market = fc.record({ ...texts('name', 'key'), ...extra })
const markets = fc.array(market, { minLength: 1, maxLength: 3 })
const group = fc.record({ ...texts(...groupTexts), markets, ...extra })
const administrator = fc.record({ ...texts(...administratorTexts), ...extra })
const items = (item: fc.Arbitrary<Item>) => fc.record({ items: fc.array(item, { minLength: 1, maxLength: 3 }) })
const receiver = { campaign_code: 'c', delivery_address: {} }

const resources = [
  {
    name: 'marketplaceGroups',
    valid: items(group),
    fields: ['items', ...[...groupTexts, 'markets', 'markets.*.name', 'markets.*.key'].map((f) => `items.*.${f}`)],
    call: () => api.marketplaceGroups() as Promise<unknown>,
    result: (body: Item) => body['items'],
  },
  {
    name: 'administrators',
    valid: items(administrator),
    fields: ['items', ...administratorTexts.map((f) => `items.*.${f}`)],
    call: () => api.administrators() as Promise<unknown>,
    result: (body: Item) => body['items'],
  },
  {
    name: 'validateGiftReceiver',
    valid: fc.record({ item: fc.record({ receiver_eligible: fc.boolean(), ...extra }) }),
    fields: ['item', 'item.receiver_eligible'],
    call: () => api.validateGiftReceiver(receiver) as Promise<unknown>,
    result: (body: Item) => (body['item'] as Item)['receiver_eligible'],
  },
]

/** Deletes or replaces one field; `pick` chooses an entry of every array on the way. @returns its path */
function spoil(body: Item, field: string, pick: number, value: unknown): string {
  const path = field.split('.')
  let place = body
  path.forEach((step, at) => {
    const key = step === '*' ? String(pick % (place as unknown as unknown[]).length) : step
    path[at] = key
    if (at < path.length - 1) place = place[key] as Item
    else if (value === undefined) delete place[key]
    else place[key] = value
  })
  return path.join('.')
}

describe.each(resources)('$name', ({ valid, fields, call, result }) => {
  test('a valid answer comes back unchanged, unknown fields too', async () => {
    await fc.assert(
      fc.asyncProperty(valid as fc.Arbitrary<Item>, async (body) => {
        const sent = JSON.stringify(body)
        server.become((res) => json(res, 200, body))
        expect(JSON.parse(JSON.stringify(await call()))).toEqual(result(JSON.parse(sent)))
      }),
      { numRuns: 10 },
    )
  })

  test.each(fields)('%s missing or of another type is reported by its path and without its value', async (field) => {
    const other = field === 'item' ? 'leaked-value' : { secret: 'leaked-value' }
    const wrong = fc.constantFrom<unknown>(undefined, null, 90210417, other)
    let hits = 0
    await fc.assert(
      fc.asyncProperty(valid as fc.Arbitrary<Item>, wrong, fc.nat(8), async (body, value, pick) => {
        const path = spoil(body, field, pick, value)
        server.become((res) => json(res, 200, body))
        const error = await failure(call())
        expect(error).toMatchObject({ name: 'Sso2ResponseError', httpStatus: 200 })
        expect((error as Error).message.split(': ')[1]).toBe(path)
        expect(inspect(error, { depth: null })).not.toMatch(/leaked-value|90210417|token-of-the-test/)
        hits++
      }),
      { numRuns: 4 },
    )
    expect(hits).toBeGreaterThan(0)
  })
})

const ids = fc.constantFrom('__proto__', 'constructor', 'toString', 'a', 'b', '')
const text = fc.string()
const entry = fc.record({ group: text, created: text, account_id: ids, contact_email: text, name: text })

test('administrators by account: one entry an account, first fields, groups in order, nothing lost', () => {
  fc.assert(
    fc.property(fc.array(entry), (entries) => {
      const accounts = byAccount(entries)
      expect(accounts.map((a) => a.account_id)).toEqual([...new Set(entries.map((e) => e.account_id))])
      for (const account of accounts) {
        const own = entries.filter((e) => e.account_id === account.account_id)
        expect(account.groups).toEqual(own.map((e) => e.group))
        expect(account.name).toBe(own[0]?.name)
        expect(account.contact_email).toBe(own[0]?.contact_email)
      }
    }),
  )
})
