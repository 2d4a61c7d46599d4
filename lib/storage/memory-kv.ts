/** The store in memory, for development: lost at a restart, not shared between processes. */
import type { Kv } from './kv'

interface Entry<T> {
  value: T
  expiresAt: number
}

const SWEEP_EVERY = 1000

/** A `Kv` in memory. @param now milliseconds since 1970 */
export function memoryKv(now: () => number): Kv {
  const texts = new Map<string, Entry<string>>()
  const sets = new Map<string, Entry<Set<string>>>()
  const queues = new Map<string, Map<string, number>>()
  let writes = 0

  const live = <T>(map: Map<string, Entry<T>>, key: string): T | undefined => {
    const entry = map.get(key)
    if (entry && entry.expiresAt > now()) return entry.value
    map.delete(key)
    return undefined
  }
  const sweep = () => {
    writes += 1
    if (writes % SWEEP_EVERY !== 0) return
    for (const map of [texts, sets]) for (const key of map.keys()) live(map as Map<string, Entry<unknown>>, key)
  }
  const put = (key: string, value: string, seconds: number) => {
    texts.set(key, { value, expiresAt: now() + seconds * 1000 })
    sweep()
  }
  return {
    mget: async (keys) => keys.map((key) => live(texts, key) ?? null),
    compareAndSet: async (key, before, after, seconds, alsoDelete) => {
      if ((live(texts, key) ?? null) !== before) return false
      put(key, after, seconds)
      if (alsoDelete) texts.delete(alsoDelete)
      return true
    },
    overwrite: async (key, value, seconds, alsoDelete) => {
      put(key, value, seconds)
      if (alsoDelete) texts.delete(alsoDelete)
    },
    setUnless: async (key, guard, words, value, seconds) => {
      if (words.includes(live(texts, guard) ?? '')) return false
      put(key, value, seconds)
      return true
    },
    claim: async (key, seconds) => {
      if (live(texts, key) !== undefined) return false
      put(key, '1', seconds)
      return true
    },
    exists: async (key) => live(texts, key) !== undefined,
    del: async (key) => void texts.delete(key),
    expire: async (key, seconds) => {
      const entry = texts.get(key)
      if (entry && live(texts, key) !== undefined) entry.expiresAt = now() + seconds * 1000
    },
    addMember: async (key, member, seconds) => {
      const members = live(sets, key) ?? new Set<string>()
      sets.set(key, { value: members.add(member), expiresAt: now() + seconds * 1000 })
      sweep()
    },
    members: async (key) => [...(live(sets, key) ?? [])],
    removeMember: async (key, member) => void live(sets, key)?.delete(member),
    enqueue: async (queue, entry, due) => {
      const entries = queues.get(queue) ?? new Map<string, number>()
      queues.set(queue, entries.set(entry, due))
    },
    takeDue: async (queue, at, next, most) => {
      const entries = queues.get(queue) ?? new Map<string, number>()
      const due = [...entries].filter(([, time]) => time <= at).slice(0, most)
      for (const [entry] of due) entries.set(entry, next)
      return due.map(([entry]) => entry)
    },
    dequeue: async (queue, entry) => void queues.get(queue)?.delete(entry),
    ping: async () => {},
    close: async () => {},
  }
}
