import { Sso2UnavailableError } from '../../lib/errors'
import type { Kv } from '../../lib/storage/kv'
import { openRedis } from '../../lib/storage/redis-connection'
import { redisKv } from '../../lib/storage/redis-kv'
import { isStoreUnavailable, storeUnavailable, unlessUnavailable } from '../../lib/storage/site-store'
import { calls } from './calls'
import { siteOver, type TestSite } from './stores'

describe('a Redis that is not there', () => {
  let kv: Kv
  let site: TestSite
  beforeAll(async () => {
    kv = redisKv(openRedis('redis://127.0.0.1:1'), true)
    site = siteOver(kv)
  })
  afterAll(() => kv.close())

  test.each(calls)('makes %s fail with the error of the store', async (_name, ask) => {
    const error = await ask(site).catch((cause: unknown) => cause)
    expect(isStoreUnavailable(error)).toBe(true)
    expect(site.records.isAvailable).toBe(false)
  })

  test('has a failure, which the records of a site name', () => {
    expect(kv.failure).toBeDefined()
    expect(site.records.failure).toBe(kv.failure)
  })

  test('has been asked by every method that there is', () => {
    const methods = [site.records, site.accounts, site.locks, site.pendingLogouts].flatMap((part) => {
      const all = Object.entries(Object.getOwnPropertyDescriptors(Object.getPrototypeOf(part)))
      return all.filter(([, { value }]) => typeof value === 'function').map(([name]) => name)
    })
    const pure = ['constructor', 'open', 'seal']
    expect(calls.map(([name]) => name).sort()).toEqual(methods.filter((name) => !pure.includes(name)).sort())
  })
})

test('an outage of the store is a value, and says nothing of what was asked', async () => {
  expect(await unlessUnavailable(() => Promise.reject(storeUnavailable()))).toBe('unavailable')
  expect(await unlessUnavailable(() => Promise.reject(storeUnavailable()), 7)).toBe(7)
  expect(await unlessUnavailable(async () => 7)).toBe(7)
  expect(storeUnavailable()).toMatchObject({ operation: 'store', retryable: true })
  expect(storeUnavailable().cause).toBeUndefined()
})

test.each([new TypeError('a fault of ours'), new Sso2UnavailableError('sessionstatus', true, 'another system')])(
  'anything else stays an exception: %s',
  async (error) => {
    await expect(unlessUnavailable(() => Promise.reject(error))).rejects.toBe(error)
  },
)
