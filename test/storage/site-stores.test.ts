import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Entry, Gone, LoginRecord } from '../../lib/decide/record'
import { accountName } from '../../lib/storage/account-index'
import { MemoryKv } from '../../lib/storage/memory-kv'
import type { PendingLogout } from '../../lib/storage/pending-logouts'
import { shortHash, storeUnavailable } from '../../lib/storage/site-store'
import { hold } from '../support/turnstile'
import { atOnce, KEY, NOW, OTHER_KEY, siteOver, stores, type TestSite, useStore } from './stores'

/* What a site keeps, in Redis and in memory: records and data of sessions, the sessions of an account, pending logouts, locks of logins. */

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
const ID = shortHash(logout.sid)

const ACCOUNT = accountName('ada')

/** A login that says how often it ran. */
function login(ms = 0) {
  const state = { runs: 0 }
  const run = async () => {
    state.runs += 1
    await sleep(ms)
    return { ok: true, run: state.runs }
  }
  return { state, run }
}
const isFinal = () => true

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

  test('a late write restores neither record nor data of a session that has ended, not even after the marker', async () => {
    await begin()
    await site.records.end(key, GONE)
    const late = async () => [
      await site.records.update(key, later, 60),
      await site.records.empty(key, 60),
      await site.records.saveData(key, 'late', 60, false),
    ]
    expect(await late()).toEqual([false, false, false])
    await store.kv().del(`${site.prefix}sso2:{${key}}`)
    expect(await late()).toEqual([false, false, false])
    expect(await site.records.read(key)).toEqual({ entry: { state: 'none' }, data: null })
  })

  test('an emptied record keeps the data of its session, which can still be saved', async () => {
    await begin()
    expect(await site.records.empty(key, 60)).toBe(true)
    expect(await site.records.saveData(key, 'a basket', 60, false)).toBe(true)
    expect(await site.records.read(key)).toEqual({ entry: { state: 'empty' }, data: 'a basket' })
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
    const others = { ...record, sidHash: 'another' }
    const voided = [record, others].map((one) => site.accounts.isVoided(one, ACCOUNT))
    expect(await Promise.all(voided)).toEqual([true, false])
  })

  const dueAt = (now: number) => site.pendingLogouts.due(now, 20)

  test('a logout is found until it is removed', async () => {
    await site.pendingLogouts.add(logout)
    expect(await site.pendingLogouts.find(ID)).toEqual(logout)
    site.pendingLogouts.remove(ID)
    expect(await site.pendingLogouts.find(ID)).toBeUndefined()
    expect(await dueAt(NOW + 9999)).toEqual([])
  })

  test('a logout is due 8 s after it was added, and later each time that it fails, by at most 120 s', async () => {
    await site.pendingLogouts.add(logout)
    expect([await dueAt(NOW + 7), await dueAt(NOW + 8)]).toEqual([[], [ID]])
    await site.pendingLogouts.postpone(ID, logout.since, NOW + 10)
    expect([await dueAt(NOW + 19), await dueAt(NOW + 20)]).toEqual([[], [ID]])
    await site.pendingLogouts.postpone(ID, logout.since, NOW + 1000)
    expect([await dueAt(NOW + 1119), await dueAt(NOW + 1120)]).toEqual([[], [ID]])
  })

  test('a logout of all of the same SSO session stays one, and a logout of one becomes one of all', async () => {
    await site.pendingLogouts.add(logout)
    await site.pendingLogouts.add({ ...logout, scope: 'account' })
    expect(await site.pendingLogouts.find(ID)).toMatchObject({ scope: 'account' })
    await site.pendingLogouts.add({ ...logout, accountId: undefined })
    expect(await site.pendingLogouts.find(ID)).toMatchObject({ scope: 'account', accountId: 'ada' })
  })

  test('one process takes a round, and another one the next', async () => {
    const processes = await atOnce(5, async () => other())
    const rounds: number[] = []
    const run = (index: number) => async () => {
      rounds.push(index)
      await sleep(100)
    }
    await Promise.all(processes.map(({ pendingLogouts }, index) => pendingLogouts.inRound(run(index))))
    expect(rounds).toHaveLength(1)
    await processes[1]?.pendingLogouts.inRound(run(1))
    expect(rounds).toHaveLength(2)
  })

  test('nothing is readable in the store, nor with another secret', async () => {
    await site.pendingLogouts.add(logout)
    const value = String(await store.kv().get(`${site.prefix}logout:{${ID}}`))
    for (const text of [logout.sid, logout.accountId ?? '', logout.ipa, logout.uas]) expect(value).not.toContain(text)
    const stranger = store.site([OTHER_KEY], site.prefix)
    expect(await stranger.pendingLogouts.find(ID)).toBe('unreadable')
  })

  const resultKey = () => `${site.prefix}result:{${key}}`

  describe('a login', () => {
    test('of other credentials waits for its turn, and gets the session as the login before has left it', async () => {
      const { held, pass } = hold()
      await begin()
      const move = () => pass().then(() => site.records.end(key, GONE))
      const first = site.locks.once(key, 'digest', move, isFinal)
      await held.arrived
      const seen: string[] = []
      const run = async ({ state }: Entry) => seen.push(state)
      const others = [site, other()].map(({ locks }, index) => locks.once(key, `another ${index}`, run, isFinal))
      await sleep(200)
      expect(seen).toEqual([])
      held.open()
      expect(await first).toMatchObject({ outcome: 'ran' })
      expect(await Promise.all(others)).toMatchObject([{ outcome: 'ran' }, { outcome: 'ran' }])
      expect(seen).toEqual(['gone', 'gone'])
    })

    test('that throws, or whose result was not final, is not shared with later submits', async () => {
      const { state, run } = login()
      const fail = () => Promise.reject(new TypeError('broken'))
      await expect(site.locks.once(key, 'digest', fail, isFinal)).rejects.toThrow('broken')
      await site.locks.once(key, 'digest', run, () => false)
      expect(await other().locks.once(key, 'digest', run, isFinal)).toMatchObject({ outcome: 'ran' })
      expect(state.runs).toBe(2)
    })

    test('nothing of its credentials or of its result is readable in the store', async () => {
      const digest = 'the-digest-of-a-password'
      await site.locks.once(key, digest, async () => 'the-session-id', isFinal)
      const value = String(await store.kv().get(resultKey()))
      expect([value.includes(digest), value.includes('the-session-id')]).toEqual([false, false])
    })
  })
})

test('what a session became is known for 5 s', async () => {
  let now = 0
  const kv = new MemoryKv(() => now)
  const { records } = siteOver(kv)
  await records.begin('key', record, 60)
  await records.end('key', GONE)
  now = 4900
  expect(await records.readEntry('key')).toMatchObject({ state: 'gone' })
  now = 5000
  expect(await records.readEntry('key')).toEqual({ state: 'none' })
})

test('a logout whose place in the queue cannot be written does not stay pending', async () => {
  const kv = new MemoryKv(() => 0)
  jest.spyOn(kv, 'addMember').mockRejectedValue(storeUnavailable())
  const { pendingLogouts } = siteOver(kv)
  await expect(pendingLogouts.add(logout)).rejects.toThrow()
  expect(await pendingLogouts.find(ID)).toBeUndefined()
})

const { records } = siteOver(new MemoryKv(() => 0))

test('any one bit changed breaks the seal', () => {
  const bytes = Buffer.from(records.seal({ sid: 'text' }), 'base64url')
  for (let at = 0; at < bytes.length * 8; at += 1) {
    const changed = Buffer.from(bytes)
    changed.writeUInt8(changed.readUInt8(at >> 3) ^ (1 << (at & 7)), at >> 3)
    expect(records.open({ ...record, sealed: changed.toString('base64url') })).toBeUndefined()
  }
})

test.each(['', 'a', 'garbage', 'A'.repeat(37), '\u0000', '{}'])('the text %j is no seal', (sealed) => {
  expect(records.open({ ...record, sealed })).toBeUndefined()
})
