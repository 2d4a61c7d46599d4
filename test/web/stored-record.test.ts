import { randomUUID } from 'node:crypto'
import { sessionKey } from '../../lib/storage/hashes'
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
    () => NOW,
  )
  const [oldId, newId] = [randomUUID(), randomUUID()]
  const parts = { records, config: lives, now: () => NOW } as unknown as ConstructorParameters<typeof StoredRecord>[0]
  const stored = new StoredRecord(parts, undefined, { state: 'none', raw: null })
  await stored.begin(sessionKey(oldId), loggedInRecord())
  return { records, stored, newId }
}

test('[S16] while a session moves, whoever follows it is led to the one that is being made', async () => {
  const { stored, newId } = await moving()
  expect(await stored.bury('moved', newId)).toEqual({ did: 'done', taken: null })
  await stored.follow()
  expect(stored.key).toBe(sessionKey(newId))
})

test('[S16] a logout in the middle of a move keeps the new session from beginning', async () => {
  const { records, stored, newId } = await moving()
  await stored.bury('moved', newId)
  await stored.follow()
  await records.end(String(stored.key)) // what a logout does with a session of which nothing can be read
  expect(await stored.begin(sessionKey(newId), loggedInRecord())).toBe('changed')
  expect(stored.value).toBeUndefined()
})
