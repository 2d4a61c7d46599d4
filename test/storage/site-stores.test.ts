import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Gone, LoginRecord } from '../../lib/decide/record'
import { Sso2UnavailableError } from '../../lib/errors'
import { accountName } from '../../lib/storage/account-index'
import { MemoryKv } from '../../lib/storage/memory-kv'
import type { PendingLogout } from '../../lib/storage/pending-logouts'
import { shortHash, storeUnavailable, unlessUnavailable } from '../../lib/storage/site-store'
import { atOnce, KEY, NOW, OTHER_KEY, siteOver, stores, type TestSite, useStore } from './stores'

/* What a site keeps, in Redis and in memory: records and data of sessions, the sessions of an account, pending logouts. */

const record: LoginRecord = {
  v: 1,
  status: 'loggedin',
  since: NOW,
  checkedAt: NOW,
  startedAt: NOW * 1000,
  sidHash: 'a-sid-hash',
  sealed: '',
  user: { accountId: 'ada' },
}
const later: LoginRecord = { ...record, checkedAt: NOW + 9 }
const GONE: Gone = { next: 'next-key', sidHash: 'a-sid-hash', account: 'an-account' }

const logout: PendingLogout = {
  sid: 'the-sid',
  scope: 'session',
  accountId: 'ada',
  since: NOW,
  ipa: '192.0.2.1',
  uas: 'a browser',
}
const SID_HASH = shortHash(logout.sid)

const ACCOUNT = accountName('ada')

describe.each(stores)('in %s', (_name, open) => {
  const store = useStore(open)
  let site: TestSite
  let key: string
  beforeEach(() => {
    site = store.site()
    key = randomUUID()
  })
  /** Another process of the same site. */
  const other = () => store.site([KEY], site.prefix)
  const begin = async () => {
    await site.records.saveData(key, 'data', 60, true)
    await site.records.begin(key, record, 60)
  }

  test('a session is read as it was written last, until its data or both values are removed. A late write brings nothing back', async () => {
    await begin()
    expect(await site.records.update(key, later, 60)).toBe(true)
    expect(await other().records.read(key)).toEqual({ entry: { state: 'live', record: later }, data: 'data' })
    await site.records.deleteData(key)
    expect(await site.records.read(key)).toEqual({ entry: { state: 'live', record: later }, data: null })
    await site.records.saveData(key, 'data', 60, false)
    await site.records.remove(key)
    expect([await site.records.update(key, later, 60), await site.records.empty(key, 60)]).toEqual([false, false])
    expect(await other().records.read(key)).toEqual({ entry: { state: 'none' }, data: null })
  })

  test('a logout of all voids logins of its account: any until it is confirmed, then those that began before', async () => {
    const startedAt = record.startedAt
    const voided = (process: TestSite, began: number, account = ACCOUNT) =>
      process.accounts.isVoided({ ...record, startedAt: began }, account)
    await site.accounts.markAccount(ACCOUNT)
    expect(await voided(other(), startedAt + 9999)).toBe(true)
    expect(await voided(other(), startedAt, accountName('grace'))).toBe(false)
    await site.accounts.markAccount(ACCOUNT, startedAt)
    expect([await voided(site, startedAt), await voided(site, startedAt + 1)]).toEqual([true, false])
    expect(await voided(other(), startedAt + 1)).toBe(true) // the clocks of two processes may differ
  })

  test('a logout voids every login of its SSO session', async () => {
    await site.accounts.markSession(record.sidHash)
    await site.accounts.markAccount(ACCOUNT, record.startedAt - 9999) // which voids neither
    const others = { ...record, sidHash: 'another' }
    const voided = [record, others].map((one) => site.accounts.isVoided(one, ACCOUNT))
    expect(await Promise.all(voided)).toEqual([true, false])
  })

  const named = (name: string) => ({ key: name, sidHash: `sid-${name}`, account: ACCOUNT })
  /** Adds the login of a session to an account. @returns the sessions that have to end */
  const add = (name: string, seconds: number) => site.accounts.add(named(name), (NOW + seconds) * 1000)

  test('the sessions of an account are listed from the oldest login to the latest, until they are removed', async () => {
    expect(await add('late', 9)).toEqual([])
    await add('early', 0)
    const [early, late] = ['early', 'late'].map(named)
    expect(await other().accounts.list(ACCOUNT)).toEqual([early, late])
    expect(await site.accounts.list(accountName('grace'))).toEqual([])
    await other().accounts.remove(ACCOUNT, early ? [early] : [])
    expect(await site.accounts.list(ACCOUNT)).toEqual([late])
  })

  test('[S21] beyond 1,000 sessions of an account its oldest login ends, but never the one that is added', async () => {
    const ended = await atOnce(1000, (index) => add(String(index), index))
    expect(ended.flat()).toEqual([])
    expect(await add('next', 1000)).toEqual([named('0')])
    expect(await site.accounts.list(ACCOUNT)).toHaveLength(1000)
    expect(await add('slow', -1)).toEqual([]) // a login that took long began before all others
    expect((await add('last', 1001)).map((session) => session.key)).toEqual(['slow', '1'])
    expect(await site.accounts.list(ACCOUNT)).toHaveLength(1000)
  })

  const dueAt = (now: number) => site.pendingLogouts.due(now, 20)

  test('a logout is found until it is removed', async () => {
    await site.pendingLogouts.add(logout)
    expect(await site.pendingLogouts.find(SID_HASH)).toEqual(logout)
    site.pendingLogouts.remove(SID_HASH)
    expect(await site.pendingLogouts.find(SID_HASH)).toBeUndefined()
    expect(await dueAt(NOW + 9999)).toEqual([])
  })

  test('a logout is due 8 s after it was added, and later each time that it fails, by at most 120 s', async () => {
    await site.pendingLogouts.add(logout)
    expect([await dueAt(NOW + 7), await dueAt(NOW + 8)]).toEqual([[], [SID_HASH]])
    expect(await store.site().pendingLogouts.due(NOW + 8, 20)).toEqual([])
    await site.pendingLogouts.postpone(SID_HASH, logout.since, NOW + 10)
    expect([await dueAt(NOW + 19), await dueAt(NOW + 20)]).toEqual([[], [SID_HASH]])
    await site.pendingLogouts.postpone(SID_HASH, logout.since, NOW + 1000)
    expect([await dueAt(NOW + 1119), await dueAt(NOW + 1120)]).toEqual([[], [SID_HASH]])
  })

  test('a logout of all of the same SSO session stays one, and a logout of one becomes one of all', async () => {
    await site.pendingLogouts.add(logout)
    const ofAll: PendingLogout = { ...logout, scope: 'account' }
    expect(await site.pendingLogouts.add(ofAll)).toEqual(ofAll)
    expect(await site.pendingLogouts.add({ ...logout, accountId: undefined })).toEqual(ofAll)
  })

  test('one process of a site takes a round, and another one the next', async () => {
    const processes = await atOnce(5, async () => other())
    const rounds: number[] = []
    const run = (index: number) => async () => {
      rounds.push(index)
      await sleep(100)
    }
    await Promise.all(processes.map(({ pendingLogouts }, index) => pendingLogouts.inRound(run(index))))
    expect(rounds).toHaveLength(1)
    const again = [processes[1], store.site()].map((process) => process?.pendingLogouts.inRound(run(1)))
    await Promise.all(again)
    expect(rounds).toHaveLength(3)
  })

  test('nothing is readable in the store, nor with another secret', async () => {
    await site.pendingLogouts.add(logout)
    const value = String(await store.kv().get(`${site.prefix}logout:{${SID_HASH}}`))
    for (const text of [logout.sid, logout.accountId ?? '', logout.ipa, logout.uas]) expect(value).not.toContain(text)
    const stranger = store.site([OTHER_KEY], site.prefix)
    expect(await stranger.pendingLogouts.find(SID_HASH)).toBe('unreadable')
    expect(await stranger.pendingLogouts.add(logout)).toEqual(logout)
  })

  test('after a change of secrets the new one encrypts, and values of the old one are read as long as it is known', async () => {
    await site.pendingLogouts.add(logout)
    const rotated = store.site([OTHER_KEY, KEY], site.prefix)
    expect(await rotated.pendingLogouts.find(SID_HASH)).toEqual(logout)
    await rotated.pendingLogouts.add({ ...logout, scope: 'account' })
    expect(await site.pendingLogouts.find(SID_HASH)).toBe('unreadable')
  })
})

describe('by a clock that the test turns', () => {
  let now: number
  let kv: MemoryKv
  let site: TestSite
  beforeEach(() => {
    now = NOW * 1000
    kv = new MemoryKv(() => now)
    site = siteOver(kv)
  })
  /** Turns the clock. @returns what holds right before so many seconds have passed, and then */
  async function around<T>(seconds: number, ask: () => Promise<T>): Promise<[before: T, then: T]> {
    now += seconds * 1000 - 1
    const before = await ask()
    now += 1
    return [before, await ask()]
  }

  test('what a session became is known for 5 s, also if a page that has read it before renews its lifetime', async () => {
    await site.records.begin('key', record, 60)
    await site.records.end({ ...GONE, key: 'key' }, GONE.next)
    await site.records.renew('key', 60)
    const entries = await around(5, () => site.records.readEntry('key'))
    expect(entries).toEqual([{ state: 'gone', gone: GONE }, { state: 'none' }])
  })

  test('a session that is used lives on, with its data', async () => {
    await site.records.saveData('key', 'data', 60, true)
    await site.records.begin('key', record, 60)
    now += 59_000
    await site.records.renew('key', 60)
    const [before, after] = await around(60, () => site.records.read('key'))
    expect([before, after]).toEqual([
      { entry: { state: 'live', record }, data: 'data' },
      { entry: { state: 'none' }, data: null },
    ])
  })

  test.each<[what: string, seconds: number, mark: () => Promise<void>]>([
    ['of an SSO session lasts 10 min', 600, () => site.accounts.markSession(record.sidHash)],
    ['of an account lasts 10 min', 600, () => site.accounts.markAccount(ACCOUNT, now)],
    ['of an account that is not confirmed lasts a day', 86_400, () => site.accounts.markAccount(ACCOUNT)],
  ])('the mark of a logout %s', async (_what, seconds, mark) => {
    await mark()
    expect(await around(seconds, () => site.accounts.isVoided(record, ACCOUNT))).toEqual([true, false])
  })

  test('a logout is retried for a day', async () => {
    await site.pendingLogouts.add(logout)
    expect(await around(86_400, () => site.pendingLogouts.find(SID_HASH))).toEqual([logout, undefined])
  })

  test('the process of a round dies → another one takes the next round 30 s later', async () => {
    void site.pendingLogouts.inRound(() => new Promise(() => {}))
    const rounds: number[] = []
    await around(30, () => site.pendingLogouts.inRound(async () => rounds.push(now)))
    expect(rounds).toEqual([now])
  })

  test('a logout whose place in the queue cannot be written does not stay pending', async () => {
    jest.spyOn(kv, 'addMember').mockRejectedValue(storeUnavailable())
    await expect(site.pendingLogouts.add(logout)).rejects.toThrow()
    expect(await site.pendingLogouts.find(SID_HASH)).toBeUndefined()
  })
})

test('only a store that does not answer counts as an outage: any other error is thrown', async () => {
  const failing = (error: Error) => () => Promise.reject(error)
  expect(await unlessUnavailable(async () => 'found')).toBe('found')
  expect(await unlessUnavailable(failing(storeUnavailable()))).toBe('unavailable')
  expect(await unlessUnavailable(failing(storeUnavailable()), false)).toBe(false)
  for (const error of [new TypeError('a defect'), new Sso2UnavailableError('sessionstatus', true, 'no response')])
    await expect(unlessUnavailable(failing(error))).rejects.toBe(error)
  expect(storeUnavailable()).toMatchObject({ operation: 'store', retryable: true, timedOut: false })
})

const { records } = siteOver(new MemoryKv(() => 0))

test('any one bit changed breaks the seal', () => {
  const sealed = records.seal({ sid: 'text' })
  expect(records.open({ ...record, sealed })).toEqual({ sid: 'text' })
  const bytes = Buffer.from(sealed, 'base64url')
  for (let at = 0; at < bytes.length * 8; at += 1) {
    const changed = Buffer.from(bytes)
    changed.writeUInt8(changed.readUInt8(at >> 3) ^ (1 << (at & 7)), at >> 3)
    expect(records.open({ ...record, sealed: changed.toString('base64url') })).toBeUndefined()
  }
})

test.each(['', 'a', 'garbage', 'A'.repeat(37), '\u0000', '{}'])('the text %j is no seal', (sealed) => {
  expect(records.open({ ...record, sealed })).toBeUndefined()
})
