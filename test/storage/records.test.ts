import { randomUUID } from 'node:crypto'
import type { Gone, LoginRecord } from '../../lib/decide/record'
import { MemoryKv } from '../../lib/storage/memory-kv'
import { KEY, NOW, OTHER_KEY, siteOver, stores, type TestSite, useStore } from './stores'

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
const LIVES = { record: 60, data: 60 }
const GONE: Gone = { next: 'next-key', sidHash: 'a-sid-hash', account: 'an-account' }

describe.each(stores)('in %s', (_name, open) => {
  const store = useStore(open)
  let site: TestSite
  let key: string
  beforeEach(() => {
    site = store.site()
    key = randomUUID()
  })
  const begin = async () => {
    await site.records.saveData(key, 'data', 60, true)
    await site.records.begin(key, record, 60)
  }

  test('a session that has begun is read with its record and its data, and its record alone', async () => {
    await begin()
    const entry = { state: 'live', record }
    expect(await site.records.read(key)).toEqual({ entry, data: 'data' })
    expect(await site.records.readEntry(key)).toEqual(entry)
  })

  test('the record of a live session is updated, and that of no other', async () => {
    expect(await site.records.update(key, later, LIVES)).toBe(false)
    await begin()
    expect(await site.records.update(key, later, LIVES)).toBe(true)
    expect(await site.records.readEntry(key)).toEqual({ state: 'live', record: later })
  })

  test('a late write restores neither record nor data of a session that has ended, not even after the marker', async () => {
    await begin()
    await site.records.end(key, GONE)
    const late = async () => [
      await site.records.update(key, later, LIVES),
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

  test('secrets are read with any of the keys, and with no other', () => {
    const secrets = { sid: 'the-sid', accessToken: 'the-token' }
    const sealed = { ...record, sealed: site.records.seal(secrets) }
    expect(sealed.sealed).not.toContain('the-')
    expect(site.records.open(sealed)).toEqual(secrets)
    expect(store.site([OTHER_KEY, KEY]).records.open(sealed)).toEqual(secrets)
    expect(store.site([OTHER_KEY]).records.open(sealed)).toBeUndefined()
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
