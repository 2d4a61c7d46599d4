import { randomUUID } from 'node:crypto'
import { serialiseRecord } from '../../lib/decide/record'
import type { Kv } from '../../lib/storage/kv'
import type { Records } from '../../lib/storage/records'
import { sessionKey } from '../../lib/storage/site-store'
import { anonRecord } from '../decide/samples'
import { KEY, NOW, OTHER_KEY, siteOver, stores, type TestClock, winners } from './stores'

const record = (checkedAt = NOW) => serialiseRecord(anonRecord({ checkedAt }))
const [one, two] = [record(), record(NOW + 1)]

describe.each(stores)('records in %s', (_name, open) => {
  const clock: TestClock = { now: NOW }
  let kv: Kv
  let prefix: string
  let records: Records
  let key: string
  beforeAll(() => {
    kv = open(clock)
  })
  beforeEach(() => {
    ;({ prefix, records } = siteOver(kv, clock))
    key = sessionKey(randomUUID())
  })
  afterAll(() => kv.close())

  const read = async () => {
    const stored = await records.read(key)
    if (stored === 'unavailable') throw new Error('no store')
    return stored
  }

  test('a session that was never written has neither data nor record', async () => {
    const nothing = { state: 'none', raw: null }
    expect(await records.readBoth(key)).toEqual({ data: null, stored: nothing })
    expect(await records.read(key)).toEqual(nothing)
  })

  test('a record is replaced only where it is exactly what was read', async () => {
    expect(await records.replace(key, null, one, 60)).toBe(true)
    expect(await records.replace(key, null, two, 60)).toBe(false)
    expect(await records.replace(key, ` ${one}`, two, 60)).toBe(false)
    expect((await read()).raw).toBe(one)
    expect(await records.replace(key, one, two, 60)).toBe(true)
    expect(await records.read(key)).toMatchObject({ state: 'live', raw: two, record: { checkedAt: NOW + 1 } })
  })

  test('of 50 parallel writes on the same content one wins', async () => {
    await records.replace(key, null, one, 60)
    const won = await winners(50, async (index) => {
      const next = record(NOW + 10 + index)
      return (await records.replace(key, one, next, 60)) === true && next
    })
    expect(won).toHaveLength(1)
    expect((await read()).raw).toBe(won[0])
  })

  test('data and record are read together, and renewed together', async () => {
    expect(await records.saveData(key, 'basket', 60)).toBe(true)
    await records.replace(key, null, one, 60)
    expect(await records.readBoth(key)).toMatchObject({ data: 'basket', stored: { raw: one } })
    expect(await records.renew(key, 120)).toBe('done')
    expect(await records.deleteData(key)).toBe('done')
    expect(await records.readBoth(key)).toMatchObject({ data: null, stored: { raw: one } })
  })

  test('two sessions have data of their own, which is renewed with the record only where that is asked for', async () => {
    const other = sessionKey(randomUUID())
    const secondsLeft = async (of: string) =>
      (await kv.compareAndSet(`${prefix}sess:{${of}}`, 'nothing', null, 0)).secondsLeft
    const dataOf = (of: string) => `basket of ${of}`
    for (const session of [key, other]) await records.saveData(session, dataOf(session), 30)
    await records.replace(key, null, one, 60, 60)
    await records.replace(other, null, one, 60)
    expect(await secondsLeft(key)).toBeGreaterThan(30)
    expect(await secondsLeft(other)).toBeGreaterThan(0)
    expect(await secondsLeft(other)).toBeLessThanOrEqual(30)
    for (const session of [key, other]) expect(await records.readBoth(session)).toMatchObject({ data: dataOf(session) })
    await records.deleteData(other)
    expect(await records.readBoth(key)).toMatchObject({ data: dataOf(key) })
  })

  test('where there is one server the first session ID is taken', () => {
    const draw = jest.fn(() => 'an ID')
    expect(records.drawId(draw, 'a hash')).toBe('an ID')
    expect(draw).toHaveBeenCalledTimes(1)
  })

  test.each(['moved', 'ended'] as const)(
    'a session revoked as %s gives its data up and takes none any more',
    async (word) => {
      await records.saveData(key, 'basket', 60)
      await records.replace(key, null, one, 60)
      expect(await records.writeMarker(key, two, word)).toBe(false)
      expect(await records.readBoth(key)).toMatchObject({ data: 'basket', stored: { raw: one } })
      expect(await records.writeMarker(key, one, word)).toMatchObject({ taken: 'basket' })
      expect(await records.saveData(key, 'late', 60)).toBe(false)
      expect(await records.replace(key, one, two, 60)).toBe(false)
      expect(await records.replace(key, null, two, 60)).toBe(false)
      expect(await records.writeMarker(key, one, word)).toBe(false)
      expect(await records.readBoth(key)).toMatchObject({ data: null, stored: { state: word, since: NOW } })
    },
  )

  test('a session with data and no record is revoked too, and where nothing is nothing is revoked', async () => {
    expect(await records.writeMarker(key, null, 'ended')).toMatchObject({ taken: null })
    expect(await records.read(key)).toMatchObject({ state: 'none' })
    await records.saveData(key, 'basket', 60)
    expect(await records.writeMarker(key, null, 'ended')).toMatchObject({ taken: 'basket' })
    expect(await records.saveData(key, 'late', 60)).toBe(false)
  })

  test('of 50 parallel revocations one wins, and it has the data', async () => {
    await records.saveData(key, 'basket', 60)
    await records.replace(key, null, one, 60)
    expect(await winners(50, () => records.writeMarker(key, one, 'moved', 'next'))).toMatchObject([{ taken: 'basket' }])
  })

  test('of a revocation and saves at once no save is lost: what is not taken is refused', async () => {
    await records.replace(key, null, one, 60)
    await records.saveData(key, 'basket 0', 60)
    await records.writeMarker(sessionKey(randomUUID()), null, 'moved') // a script that Redis does not know yet is sent a second time, later
    const save = (index: number) => records.saveData(key, `basket ${index}`, 60)
    const before = Array.from({ length: 12 }, (_, index) => save(index))
    const revocation = records.writeMarker(key, one, 'moved')
    const after = Array.from({ length: 13 }, (_, index) => save(12 + index))
    expect(await Promise.all(before)).toEqual(before.map(() => true))
    expect(await revocation).toMatchObject({ taken: 'basket 11' })
    expect(await Promise.all(after)).toEqual(after.map(() => false))
    expect(await records.readBoth(key)).toMatchObject({ data: null })
  })

  test('a session is ended whatever its record says', async () => {
    await records.saveData(key, 'basket', 60)
    await records.replace(key, null, 'garbage', 60)
    expect(await records.read(key)).toEqual({ state: 'unreadable', raw: 'garbage' })
    expect(await records.saveData(key, 'other', 60)).toBe(false)
    expect(await records.end(key)).toBe('done')
    expect(await records.saveData(key, 'late', 60)).toBe(false)
    expect(await records.readBoth(key)).toMatchObject({ data: null, stored: { state: 'ended', since: NOW } })
  })

  test('a moved session tells its successor to a site that has the secret, and to no other', async () => {
    await records.replace(key, null, one, 60)
    await records.writeMarker(key, one, 'moved', 'the-next-session-id')
    const stored = await read()
    expect(stored.raw).not.toContain('next-session')
    expect(records.successorOf(stored)).toBe('the-next-session-id')
    expect(siteOver(kv, clock, prefix, [OTHER_KEY, KEY]).records.successorOf(stored)).toBe('the-next-session-id')
    expect(siteOver(kv, clock, prefix, [OTHER_KEY]).records.successorOf(stored)).toBeUndefined()
  })

  test.each(['moved', 'ended', 'live'] as const)(
    'a session that is %s, without a successor, has none',
    async (state) => {
      await records.replace(key, null, one, 60)
      if (state !== 'live') await records.writeMarker(key, one, state)
      const stored = await read()
      expect([stored.state, records.successorOf(stored)]).toEqual([state, undefined])
    },
  )

  test('what is sealed opens with the secret that sealed it, and with no other', () => {
    const secrets = { sid: 'the-sid', accessToken: 'the-token' }
    const box = records.seal(secrets)
    const sealed = anonRecord({ sealedSecrets: box })
    expect(box).not.toMatch(/the-(sid|token)/)
    expect(records.open(sealed)).toEqual(secrets)
    expect(siteOver(kv, clock, prefix, [OTHER_KEY]).records.open(sealed)).toBeUndefined()
    expect(records.open({ ...sealed, sealedSecrets: 'garbage' })).toBeUndefined()
  })

  test('of ten requests for a new access token of a session one may be sent', async () => {
    expect(await winners(10, () => records.lockRenewal(key, 10))).toEqual([true])
    expect(await records.lockRenewal(sessionKey('another'), 10)).toBe(true)
  })

  test('two sites under two prefixes share nothing', async () => {
    await records.replace(key, null, one, 60)
    expect(await siteOver(kv, clock).records.read(key)).toMatchObject({ state: 'none' })
  })

  test('a store that answers is available', async () => {
    expect([await records.probe(), records.isAvailable, records.failure]).toEqual(['done', true, undefined])
  })
})
