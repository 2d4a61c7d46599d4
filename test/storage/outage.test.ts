import { Sso2UnavailableError } from '../../lib/errors'
import type { Kv } from '../../lib/storage/kv'
import { openRedis } from '../../lib/storage/redis-connection'
import { redisKv } from '../../lib/storage/redis-kv'
import { doneUnlessUnavailable, storeUnavailable, unlessUnavailable } from '../../lib/storage/site-store'
import { freePort } from '../support/ports'
import { NOW, siteOver, type TestSite } from './stores'

const device = { ipa: '192.0.2.1', uas: 'a browser' }
const logout = { sid: 'the-sid', ...device, key: undefined, accountId: 'ada', isAll: true, isConfirmed: false }
const entry = { key: 'k', sidHash: 's', accountId: 'a' }

const calls: [name: string, ask: (site: TestSite) => Promise<unknown>][] = [
  ['readBoth', ({ records }) => records.readBoth('k')],
  ['read', ({ records }) => records.read('k')],
  ['replace', ({ records }) => records.replace('k', null, '{}', 60)],
  ['writeMarker', ({ records }) => records.writeMarker('k', null, 'ended')],
  ['end', ({ records }) => records.end('k')],
  ['drop', ({ records }) => records.drop('k', 'raw')],
  ['saveData', ({ records }) => records.saveData('k', 'data', 60)],
  ['deleteData', ({ records }) => records.deleteData('k')],
  ['renew', ({ records }) => records.renew('k', 60)],
  ['lockRenewal', ({ records }) => records.lockRenewal('k', 60)],
  ['probe', ({ records }) => records.probe()],
  ['useToken', ({ sessionIndex }) => sessionIndex.useToken(Buffer.from('x'), 's')],
  ['add', ({ sessionIndex }) => sessionIndex.add(entry, 60, sessionIndex.startNow())],
  ['renew', ({ sessionIndex }) => sessionIndex.renew(entry, 60)],
  ['remove', ({ sessionIndex }) => sessionIndex.remove(entry)],
  ['removeOfSsoSession', ({ sessionIndex }) => sessionIndex.removeOfSsoSession('s', ['k'])],
  ['removeOfAccount', ({ sessionIndex }) => sessionIndex.removeOfAccount('a', ['k'])],
  ['revokeSsoSession', ({ sessionIndex }) => sessionIndex.revokeSsoSession('s')],
  ['revokeAccount', ({ sessionIndex }) => sessionIndex.revokeAccount('a')],
  ['add', ({ pendingLogouts }) => pendingLogouts.add('h', logout, NOW)],
  ['find', ({ pendingLogouts }) => pendingLogouts.find('h')],
  ['lockRetry', ({ pendingLogouts }) => pendingLogouts.lockRetry('h')],
  ['pauseRetry', ({ pendingLogouts }) => pendingLogouts.pauseRetry('h')],
  ['unlockRetry', ({ pendingLogouts }) => pendingLogouts.unlockRetry('h')],
  ['markFinished', ({ pendingLogouts }) => pendingLogouts.markFinished('h', logout)],
  ['removeFromQueue', ({ pendingLogouts }) => pendingLogouts.removeFromQueue('h')],
  ['takeDue', ({ pendingLogouts }) => pendingLogouts.takeDue(NOW, 8)],
  ['postpone', ({ pendingLogouts }) => pendingLogouts.postpone('h', NOW, NOW, 0)],
  [
    'restoreLost',
    async ({ pendingLogouts }) => {
      await pendingLogouts.add('h2', logout, NOW)
      const restored = await pendingLogouts.restoreLost(NOW, 8)
      return restored.length === 0 ? 'unavailable' : restored
    },
  ],
  ['beginForm', ({ logins }) => logins.beginForm('k', null, 'digest')],
  ['renewForm', ({ logins }) => logins.renewForm('k', 'held')],
  ['endForm', ({ logins }) => logins.endForm('k', 'held', { digest: 'digest' })],
  ['findForm', ({ logins }) => logins.findForm('k')],
]

describe('a Redis that is not there', () => {
  let kv: Kv
  let site: TestSite
  beforeAll(async () => {
    kv = redisKv(openRedis(`redis://127.0.0.1:${await freePort()}`), true)
    site = siteOver(kv, { now: NOW })
  })
  afterAll(() => kv.close())

  test.each(calls)('answers %s with a value that says so', async (_name, ask) => {
    expect(await ask(site)).toBe('unavailable')
    expect(site.records.isAvailable).toBe(false)
  })

  test('has a failure, which the records of a site name', () => {
    expect(kv.failure).toBeDefined()
    expect(site.records.failure).toBe(kv.failure)
  })

  test('has been asked by every method that there is', () => {
    const methods = [site.records, site.sessionIndex, site.pendingLogouts, site.logins].flatMap((part) => {
      const all = Object.entries(Object.getOwnPropertyDescriptors(Object.getPrototypeOf(part)))
      return all.filter(([, { value }]) => typeof value === 'function').map(([name]) => name)
    })
    const pure = ['constructor', 'open', 'seal', 'successorOf', 'drawId', 'startNow']
    expect(calls.map(([name]) => name).sort()).toEqual(methods.filter((name) => !pure.includes(name)).sort())
  })
})

test('an outage of the store is a value, and says nothing of what was asked', async () => {
  expect(await unlessUnavailable(() => Promise.reject(storeUnavailable()))).toBe('unavailable')
  expect(await doneUnlessUnavailable(() => Promise.reject(storeUnavailable()))).toBe('unavailable')
  expect(await unlessUnavailable(async () => 7)).toBe(7)
  expect(await doneUnlessUnavailable(async () => 7)).toBe('done')
  expect(storeUnavailable()).toMatchObject({ operation: 'store', retryable: true })
  expect(storeUnavailable().cause).toBeUndefined()
})

test.each([new TypeError('a fault of ours'), new Sso2UnavailableError('sessionstatus', true, 'another system')])(
  'anything else stays an exception: %s',
  async (error) => {
    await expect(unlessUnavailable(() => Promise.reject(error))).rejects.toBe(error)
  },
)
