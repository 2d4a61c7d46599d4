import type { LoginRecord } from '../../lib/decide/record'
import { Sso2UnavailableError } from '../../lib/errors'
import type { Kv } from '../../lib/storage/kv'
import { openRedis } from '../../lib/storage/redis-connection'
import { redisKv } from '../../lib/storage/redis-kv'
import { isStoreUnavailable, storeUnavailable, unlessUnavailable } from '../../lib/storage/site-store'
import { freePort } from '../support/ports'
import { NOW, siteOver, type TestSite } from './stores'

const record = { status: 'loggedin' } as LoginRecord
const gone = { next: '', sidHash: 's', account: 'a' }
const logout = { sid: 'the-sid', scope: 'account', accountId: 'ada', since: NOW, ipa: '192.0.2.1', uas: 'x' } as const
const session = { key: 'k', sidHash: 's' }
const lives = { record: 60, data: 60 }

const calls: [name: string, ask: (site: TestSite) => Promise<unknown>][] = [
  ['read', ({ records }) => records.read('k')],
  ['readEntry', ({ records }) => records.readEntry('k')],
  ['begin', ({ records }) => records.begin('k', record, 60)],
  ['update', ({ records }) => records.update('k', record, lives)],
  ['empty', ({ records }) => records.empty('k', 60)],
  ['saveData', ({ records }) => records.saveData('k', 'data', 60, false)],
  ['deleteData', ({ records }) => records.deleteData('k')],
  ['end', ({ records }) => records.end('k', gone)],
  ['remove', ({ records }) => records.remove('k')],
  ['renew', ({ records }) => records.renew('k', lives)],
  ['probe', ({ records }) => records.probe()],
  ['add', ({ accounts }) => accounts.add('a', session, NOW)],
  ['list', ({ accounts }) => accounts.list('a')],
  ['remove', ({ accounts }) => accounts.remove('a', [session])],
  ['markSession', ({ accounts }) => accounts.markSession('s')],
  ['markAccount', ({ accounts }) => accounts.markAccount('a')],
  ['marks', ({ accounts }) => accounts.marks('s', 'a')],
  ['takeCheck', ({ locks }) => locks.takeCheck('k', 4000, NOW, 0)],
  ['failCheck', ({ locks }) => locks.failCheck('k', 4000, NOW)],
  ['endCheck', ({ locks }) => locks.endCheck('k')],
  ['isBeingChecked', ({ locks }) => locks.isBeingChecked('k')],
  ['takeRenewal', ({ locks }) => locks.takeRenewal('k', 10)],
  ['useToken', ({ locks }) => locks.useToken(Buffer.from('x'))],
  [
    'once',
    ({ locks }) =>
      locks.once(
        'k',
        'digest',
        async () => 'ran',
        () => true,
      ),
  ],
  ['add', ({ pendingLogouts }) => pendingLogouts.add(logout)],
  ['find', ({ pendingLogouts }) => pendingLogouts.find('h')],
  ['has', ({ pendingLogouts }) => pendingLogouts.has('h')],
  ['remove', ({ pendingLogouts }) => pendingLogouts.remove('h')],
  ['takeRound', ({ pendingLogouts }) => pendingLogouts.takeRound()],
  ['endRound', ({ pendingLogouts }) => pendingLogouts.endRound()],
  ['due', ({ pendingLogouts }) => pendingLogouts.due(NOW, 8)],
  ['postpone', ({ pendingLogouts }) => pendingLogouts.postpone('h', logout, NOW)],
]

describe('a Redis that is not there', () => {
  let kv: Kv
  let site: TestSite
  beforeAll(async () => {
    kv = redisKv(openRedis(`redis://127.0.0.1:${await freePort()}`), true)
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
