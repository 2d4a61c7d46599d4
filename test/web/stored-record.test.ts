import { randomUUID } from 'node:crypto'
import { serialiseRecord } from '../../lib/decide/record'
import { sessionKey } from '../../lib/storage/keys'
import { MemoryKv } from '../../lib/storage/memory-kv'
import { Records } from '../../lib/storage/records'
import { StoredRecord } from '../../lib/web/stored-record'
import { loggedInRecord, NOW } from '../decide/samples'

const lives = { idleSeconds: 1000, anonymousIdleSeconds: 1000, absoluteSeconds: 10_000 }

/** A session in the store, and the one that is about to follow on it. */
async function moving() {
  const kv = new MemoryKv(() => NOW * 1000)
  const records = new Records(
    kv,
    'x:',
    () => [Buffer.alloc(32, 7)],
    () => NOW * 1000,
  )
  const [oldId, newId] = [randomUUID(), randomUUID()]
  const parts = { records, config: lives, now: () => NOW } as unknown as ConstructorParameters<typeof StoredRecord>[0]
  const stored = new StoredRecord(parts, undefined, { state: 'none', raw: null })
  await stored.begin(sessionKey(oldId), loggedInRecord())
  return { records, stored, newId }
}

test('[S16] while a session moves, a request that follows it is led to the new one', async () => {
  const { stored, newId } = await moving()
  expect(await stored.revoke(() => true, 'moved', newId)).toEqual({ outcome: 'done', taken: null })
  await stored.follow()
  expect(stored.key).toBe(sessionKey(newId))
})

test('[S16] a logout in the middle of a move keeps the new session from beginning', async () => {
  const { records, stored, newId } = await moving()
  await stored.revoke(() => true, 'moved', newId)
  await stored.follow()
  await records.end(String(stored.key)) // what a logout does with a session of which nothing can be read
  expect(await stored.begin(sessionKey(newId), loggedInRecord())).toBe('changed')
  expect(stored.value).toBeUndefined()
})

describe('a write that another request is faster than', () => {
  /** A session whose record changes before each of the next writes, so many times. */
  async function contended(times: number) {
    const { records, stored } = await moving()
    let left = times
    const key = String(stored.key)
    const rival = async () => {
      if (left === 0) return
      left -= 1
      const found = await records.read(key)
      if (found === 'unavailable' || found.state !== 'live') throw new Error('no record')
      await records.replace(
        key,
        found.raw,
        serialiseRecord({ ...found.record, checkedAt: found.record.checkedAt + 1 }),
        60,
      )
    }
    const [replace, revoke, drop] = [
      records.replace.bind(records),
      records.revoke.bind(records),
      records.drop.bind(records),
    ]
    let isRival = false
    const guarded = async <T>(run: () => Promise<T>) => {
      if (isRival) return run()
      isRival = true
      await rival()
      isRival = false
      return run()
    }
    records.replace = (...args) => guarded(() => replace(...args))
    records.revoke = (...args) => guarded(() => revoke(...args))
    records.drop = (...args) => guarded(() => drop(...args))
    return stored
  }
  const actions: [string, (stored: StoredRecord) => Promise<unknown>][] = [
    ['update', (stored) => stored.update((found) => ({ ...found, checkedAt: NOW + 100 }))],
    ['drop', (stored) => stored.drop(() => true)],
    ['revoke', async (stored) => (await stored.revoke(() => true, 'ended')).outcome],
  ]

  test.each(actions)('%s is made again on what is there then, four times in all', async (_name, act) => {
    expect(await act(await contended(3))).toBe('done')
    expect(await act(await contended(4))).toBe('changed')
  })

  test('an update stops where what is there wants no change, and says so', async () => {
    const stored = await contended(1)
    const seen: number[] = []
    const written = await stored.update((found) => {
      seen.push(found.checkedAt)
      return seen.length === 1 ? { ...found, checkedAt: NOW + 100 } : undefined
    })
    expect(written).toBe('stopped')
    expect(seen[1]).toBe(Number(seen[0]) + 1)
    stored.forget()
    expect(await stored.update((found) => found)).toBe('stopped')
  })
})
