import { randomUUID } from 'node:crypto'
import { eventually, pause } from '../support/wait'
import { allStores, atOnce, useStore } from './stores'

/* What every store must do alike. */

const LIVE = '{"a":"record"}'

describe.each(allStores)('in %s', (_name, open) => {
  const { kv } = useStore(open)
  const newKeys = () => {
    const key = randomUUID()
    return { record: `record:{${key}}`, data: `data:{${key}}` }
  }
  const valuesOf = ({ record, data }: ReturnType<typeof newKeys>) => kv().mget([record, data])

  test('a value is read until it is deleted', async () => {
    const key = randomUUID()
    expect([await kv().get(key), await kv().mget([key])]).toEqual([null, [null]])
    await kv().set(key, 'first', 60)
    await kv().set(key, 'second', 60)
    expect([await kv().get(key), await kv().mget([key])]).toEqual(['second', ['second']])
    await kv().del(key)
    expect(await kv().get(key)).toBeNull()
    await kv().probe()
    expect([kv().isAvailable, kv().failure]).toEqual([true, undefined])
  })

  test('a value is gone after its time, unless that is renewed with its session, or by a write of its other part', async () => {
    const [gone, used, ended, keys, others] = [newKeys(), newKeys(), newKeys(), newKeys(), newKeys()]
    for (const { data } of [gone, used, ended, keys]) await kv().set(data, 'value', 1)
    await kv().set(keys.record, LIVE, 60)
    await kv().end(ended, 'gone', 1)
    for (const session of [used, ended]) await kv().renew(session, 60)
    expect(await kv().write(keys, 'record', LIVE, 60)).toBe(true)
    await kv().set(others.record, LIVE, 1)
    expect(await kv().write(others, 'data', 'value', 60)).toBe(true)
    await pause(1100)
    await kv().renew(gone, 60)
    expect(await Promise.all([gone, used, ended, keys, others].map(valuesOf))).toEqual([
      [null, null],
      [null, 'value'],
      [null, null],
      [LIVE, 'value'],
      [LIVE, 'value'],
    ])
  })

  test('one of many adds a value, and the next one after its time', async () => {
    const key = randomUUID()
    const added = await atOnce(10, (index) => kv().add(key, String(index), 400))
    expect(added.filter(Boolean)).toHaveLength(1)
    expect(await kv().get(key)).toBe(String(added.indexOf(true)))
    await eventually(() => kv().add(key, 'next', 400))
  })

  describe('a write of a session', () => {
    test('never creates: without a record and without data nothing is written', async () => {
      const keys = newKeys()
      for (const part of ['record', 'data'] as const) expect(await kv().write(keys, part, LIVE, 60)).toBe(false)
      expect(await valuesOf(keys)).toEqual([null, null])
    })

    test('creates either part of a new session', async () => {
      for (const part of ['record', 'data'] as const) {
        const keys = newKeys()
        expect(await kv().write(keys, part, LIVE, 60, true)).toBe(true)
        expect(await kv().get(keys[part])).toBe(LIVE)
      }
    })

    test('reaches a session that has data alone, or a live record alone', async () => {
      const [withData, withRecord] = [newKeys(), newKeys()]
      await kv().set(withData.data, 'data', 60)
      await kv().set(withRecord.record, LIVE, 60)
      expect(await kv().write(withData, 'data', 'next', 60)).toBe(true)
      expect(await kv().write(withRecord, 'data', 'data', 60)).toBe(true)
      expect([await valuesOf(withData), await valuesOf(withRecord)]).toEqual([
        [null, 'next'],
        [LIVE, 'data'],
      ])
    })

    test('reaches no session that has ended, whichever part, new or not', async () => {
      const keys = newKeys()
      await kv().set(keys.record, LIVE, 60)
      await kv().end(keys, 'gone:::', 60)
      for (const part of ['record', 'data'] as const)
        for (const isNew of [false, true]) expect(await kv().write(keys, part, LIVE, 60, isNew)).toBe(false)
      expect(await valuesOf(keys)).toEqual(['gone:::', null])
    })
  })

  describe('the end of a session', () => {
    test('one of many gets its values, and the others see the marker', async () => {
      const keys = newKeys()
      await kv().set(keys.record, LIVE, 60)
      await kv().set(keys.data, 'data', 60)
      const ends = await atOnce(10, (index) => kv().end(keys, `gone:${index}::`, 60))
      const winner = ends.findIndex(({ record }) => record === LIVE)
      expect(ends[winner]).toEqual({ record: LIVE, data: 'data' })
      const others = ends.filter((_, index) => index !== winner)
      expect(others).toEqual(Array(9).fill({ record: `gone:${winner}::`, data: null }))
      expect(await valuesOf(keys)).toEqual([`gone:${winner}::`, null])
    })

    test('takes data without a record, and leaves nothing where there was nothing', async () => {
      const [withData, none] = [newKeys(), newKeys()]
      await kv().set(withData.data, 'data', 60)
      expect(await kv().end(withData, 'gone:::', 60)).toEqual({ record: null, data: 'data' })
      expect(await kv().end(none, 'gone:::', 60)).toEqual({ record: null, data: null })
      expect([await valuesOf(withData), await valuesOf(none)]).toEqual([
        ['gone:::', null],
        [null, null],
      ])
    })
  })

  test('members are listed by their scores, as many as are asked for, and a new score replaces the old one', async () => {
    const set = randomUUID()
    await kv().removeMembers(set, ['none'])
    expect(await kv().members(set, 9)).toEqual([])
    const sizes = [
      await kv().addMember(set, 'late', 30, 60),
      await kv().addMember(set, 'early', 10, 60),
      await kv().addMember(set, 'middle', 90, 60),
      await kv().addMember(set, 'middle', 20, 60),
    ]
    expect(sizes).toEqual([1, 2, 3, 3])
    expect(await kv().members(set, 9)).toEqual(['early', 'middle', 'late'])
    expect(await kv().members(set, 2)).toEqual(['early', 'middle'])
    expect(await kv().members(set, 9, 20)).toEqual(['early', 'middle'])
    await kv().removeMembers(set, ['middle', 'none'])
    expect(await kv().members(set, 9)).toEqual(['early', 'late'])
  })
})
