import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { serialiseRecord } from '../../lib/decide/record'
import type { Kv } from '../../lib/storage/kv'
import { MemoryKv } from '../../lib/storage/memory-kv'
import { sessionKey, storeUnavailable } from '../../lib/storage/site-store'
import { StoredRecord, type StoredRecordParts } from '../../lib/web/stored-record'
import { loggedInRecord, NOW } from '../decide/samples'
import { tapped } from '../storage/failing-kv'
import { siteOver } from '../storage/stores'

const lives = { idleSeconds: 1000, anonymousIdleSeconds: 1000, absoluteSeconds: 10_000 }

/** A session in the store, and the one that is about to follow on it. @param over what the session sees of the store */
async function moving(over = (kv: Kv) => kv) {
  const kv = new MemoryKv(() => NOW * 1000)
  const { records } = siteOver(over(kv), { now: NOW }, 'x:')
  const [oldId, newId] = [randomUUID(), randomUUID()]
  const parts: StoredRecordParts = { records, config: lives, now: () => NOW }
  const stored = new StoredRecord(parts, undefined, { state: 'none', raw: null })
  await stored.begin(sessionKey(oldId), loggedInRecord())
  return { kv, records, parts, stored, newId }
}

test('[S16] while a session moves, a request that follows it is led to the new one', async () => {
  const { stored, newId } = await moving()
  expect(await stored.writeMarker(() => true, 'moved', newId)).toEqual({ outcome: 'done', taken: null })
  await stored.followMovedSession()
  expect(stored.key).toBe(sessionKey(newId))
})

test('[S16] a logout in the middle of a move keeps the new session from beginning', async () => {
  const { records, stored, newId } = await moving()
  await stored.writeMarker(() => true, 'moved', newId)
  await stored.followMovedSession()
  await records.end(String(stored.key)) // what a logout does with a session of which nothing can be read
  expect(await stored.begin(sessionKey(newId), loggedInRecord())).toBe('changed')
  expect(stored.value).toBeUndefined()
})

type Action = [name: string, act: (stored: StoredRecord) => Promise<unknown>]
/** Writes of what is there then. */
const conditional: Action[] = [
  ['update', (stored) => stored.update((found) => ({ ...found, checkedAt: NOW + 100 }))],
  ['drop', (stored) => stored.drop(() => true)],
  ['writeMarker', async (stored) => (await stored.writeMarker(() => true, 'ended')).outcome],
]

describe('a write that another request is faster than', () => {
  /** A session whose record changes before each of the next writes, so many times. */
  async function contended(times: number) {
    let left = 0
    const withRival = (kv: Kv) =>
      tapped(kv, async (command, [key]) => {
        if (command !== 'compareAndSet' || left === 0) return
        left -= 1
        const [raw] = await kv.mget([String(key)])
        const record = JSON.parse(String(raw))
        await kv.compareAndSet(String(key), raw, JSON.stringify({ ...record, checkedAt: record.checkedAt + 1 }), 60)
      })
    const { stored } = await moving(withRival)
    left = times
    return stored
  }

  test.each(conditional)('%s is made again on what is there then, four times in all', async (_name, act) => {
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

describe('a session that has moved', () => {
  afterEach(() => jest.restoreAllMocks())

  /** A session that has moved so many times. The last session has a record. */
  async function movedTimes(times: number) {
    const { parts, stored } = await moving()
    const begun = new StoredRecord(parts, stored.key, 'unavailable')
    const ids = Array.from({ length: times }, () => randomUUID())
    for (const id of ids) {
      await stored.writeMarker(() => true, 'moved', id)
      await stored.begin(sessionKey(id), loggedInRecord())
    }
    await begun.reread()
    return { begun, ids }
  }

  test.each([
    [1, 1, loggedInRecord()],
    [3, 3, loggedInRecord()],
    [8, 8, loggedInRecord()],
    [9, 8, undefined],
  ])('%i times: a request finds the session of move %i', async (times, found, record) => {
    const { begun, ids } = await movedTimes(times)
    const successor = await begun.successor()
    expect([successor?.sessionId, successor?.stored.value]).toEqual([ids[found - 1], record])
    expect(await begun.followMovedSession()).toBe('done')
    expect([begun.key, begun.value]).toEqual([sessionKey(String(ids[found - 1])), record])
  })

  test('a session that has not moved has no successor, and stays', async () => {
    const { stored } = await moving()
    const { key } = stored
    expect(await stored.successor()).toBeUndefined()
    expect(await stored.writtenSuccessor()).toBeUndefined()
    expect(await stored.followMovedSession()).toBe('done')
    expect(stored.key).toBe(key)
  })

  test('a request waits until another request has written the new session', async () => {
    const { stored, records, newId } = await moving()
    await stored.writeMarker(() => true, 'moved', newId)
    expect((await stored.successor())?.stored.isUnwritten).toBe(true)
    jest.spyOn(performance, 'now').mockReturnValue(0) // a busy machine must not use up the half second
    const found = stored.writtenSuccessor()
    await sleep(60)
    await records.replace(sessionKey(newId), null, serialiseRecord(loggedInRecord()), 60)
    expect((await found)?.stored.value).toEqual(loggedInRecord())
  })

  test('a request waits for half a second at most, because the other process may have died', async () => {
    const { stored, newId } = await moving()
    await stored.writeMarker(() => true, 'moved', newId)
    const began = performance.now()
    expect((await stored.writtenSuccessor())?.stored.isUnwritten).toBe(true)
    expect(performance.now() - began).toBeGreaterThan(490)
  })
})

describe('a store that does not answer', () => {
  /** A session with a record. @param commands the store does not answer these */
  async function unanswered(...commands: ('mget' | 'compareAndSet')[]) {
    const made = await moving()
    for (const command of commands) made.kv[command] = () => Promise.reject(storeUnavailable())
    return made
  }

  const reads: Action[] = [
    ['reread', (stored) => stored.reread()],
    ['switchTo', (stored) => stored.switchTo(randomUUID())],
  ]
  const replace: Action = ['replace', (stored) => stored.replace(loggedInRecord({ checkedAt: NOW + 1 }))]
  const writes = [replace, ...conditional]

  test.each([...reads, ...writes])('%s says so', async (_name, act) => {
    const { stored } = await unanswered('mget', 'compareAndSet')
    expect(await act(stored)).toBe('unavailable')
  })

  test.each(writes)('a failed %s leaves the record as the request knows it', async (_name, act) => {
    const { stored } = await unanswered('compareAndSet')
    await act(stored)
    expect(stored.value).toEqual(loggedInRecord())
  })

  test.each(writes)('%s says so, if another request was faster and its record cannot be read', async (_name, act) => {
    const { kv, stored } = await unanswered('mget')
    await kv.compareAndSet(`x:sso2:{${stored.key}}`, undefined, serialiseRecord(loggedInRecord({ checkedAt: 1 })), 60)
    expect(await act(stored)).toBe('unavailable')
  })

  test('no successor is found', async () => {
    const { stored, newId } = await unanswered('mget')
    await stored.writeMarker(() => true, 'moved', newId)
    expect(await stored.successor()).toBeUndefined()
    expect(await stored.followMovedSession()).toBe('unavailable')
  })

  test('a record that could not be read is available after it is read', async () => {
    const { parts, stored } = await moving()
    const unread = new StoredRecord(parts, stored.key, 'unavailable')
    expect([unread.hasBeenRead, unread.isUnwritten, unread.value]).toEqual([false, true, undefined])
    await unread.reread()
    expect([unread.hasBeenRead, unread.isUnwritten, unread.value]).toEqual([true, false, loggedInRecord()])
  })
})

test('an ended session has no successor', async () => {
  const { stored } = await moving()
  await stored.writeMarker(() => true, 'ended')
  expect(await stored.successor()).toBeUndefined()
})

test('a browser without a session has nothing to read, write, drop or end, and costs no command', async () => {
  const commands: string[] = []
  const counted = (kv: Kv) => tapped(kv, async (command) => void commands.push(command))
  const { parts } = await moving(counted)
  commands.length = 0
  const stored = new StoredRecord(parts, undefined, { state: 'none', raw: null })
  expect([stored.hasBeenRead, stored.isUnwritten]).toEqual([true, true])
  expect(await stored.reread()).toBe('done')
  expect(await stored.replace(loggedInRecord())).toBe('changed')
  expect(await stored.drop(() => true)).toBe('changed')
  expect(await stored.writeMarker(() => true, 'ended')).toEqual({ outcome: 'done', taken: null })
  expect([stored.value, commands]).toEqual([undefined, []])
})

test('a session without a record has no record to drop', async () => {
  const { parts } = await moving()
  const stored = new StoredRecord(parts, sessionKey(randomUUID()), { state: 'none', raw: null })
  expect(await stored.drop(() => true)).toBe('changed')
})
