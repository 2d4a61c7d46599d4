/** The store in memory, for development: lost at a restart, not shared between processes. */
import type { Kv } from './kv'

interface Entry<T> {
  value: T
  expiresAt: number
}

const SWEEP_EVERY = 1000

/** A `Kv` in memory. */
export class MemoryKv implements Kv {
  readonly #texts = new Map<string, Entry<string>>()
  readonly #sets = new Map<string, Entry<Set<string>>>()
  readonly #queues = new Map<string, Map<string, number>>()
  readonly #now: () => number
  #writes = 0

  /** @param now milliseconds since 1970 */
  constructor(now: () => number) {
    this.#now = now
  }

  async mget(keys: readonly string[]): Promise<(string | null)[]> {
    return keys.map((key) => this.#text(key) ?? null)
  }
  async compareAndSet(key: string, before: string | null, after: string, seconds: number, alsoDelete?: string) {
    if ((this.#text(key) ?? null) !== before) return false
    this.#put(key, after, seconds)
    if (alsoDelete) this.#texts.delete(alsoDelete)
    return true
  }
  async overwrite(key: string, value: string, seconds: number, alsoDelete?: string): Promise<void> {
    this.#put(key, value, seconds)
    if (alsoDelete) this.#texts.delete(alsoDelete)
  }
  async setUnless(key: string, guard: string, words: readonly string[], value: string, seconds: number) {
    if (words.includes(this.#text(guard) ?? '')) return false
    this.#put(key, value, seconds)
    return true
  }
  async claim(key: string, seconds: number): Promise<boolean> {
    if (this.#text(key) !== undefined) return false
    this.#put(key, '1', seconds)
    return true
  }
  async exists(key: string): Promise<boolean> {
    return this.#text(key) !== undefined
  }
  async del(key: string): Promise<void> {
    this.#texts.delete(key)
  }
  async expire(key: string, seconds: number): Promise<void> {
    const value = this.#text(key)
    if (value !== undefined) this.#put(key, value, seconds)
  }

  async addMember(key: string, member: string, seconds: number): Promise<void> {
    const members = this.#live(this.#sets, key) ?? new Set<string>()
    this.#sets.set(key, { value: members.add(member), expiresAt: this.#now() + seconds * 1000 })
    this.#sweep()
  }
  async members(key: string): Promise<string[]> {
    return [...(this.#live(this.#sets, key) ?? [])]
  }
  async removeMember(key: string, member: string): Promise<void> {
    this.#live(this.#sets, key)?.delete(member)
  }

  async enqueue(queue: string, entry: string, due: number): Promise<void> {
    const entries = this.#queues.get(queue) ?? new Map<string, number>()
    this.#queues.set(queue, entries.set(entry, due))
  }
  async takeDue(queue: string, at: number, next: number, most: number): Promise<string[]> {
    const entries = this.#queues.get(queue) ?? new Map<string, number>()
    const due = [...entries].filter(([, time]) => time <= at).slice(0, most)
    for (const [entry] of due) entries.set(entry, next)
    return due.map(([entry]) => entry)
  }
  async dequeue(queue: string, entry: string): Promise<void> {
    this.#queues.get(queue)?.delete(entry)
  }
  readonly isAvailable = true
  async ping(): Promise<void> {}
  async close(): Promise<void> {}

  #text(key: string): string | undefined {
    return this.#live(this.#texts, key)
  }
  #live<T>(map: Map<string, Entry<T>>, key: string): T | undefined {
    const entry = map.get(key)
    if (entry && entry.expiresAt > this.#now()) return entry.value
    map.delete(key)
    return undefined
  }
  #put(key: string, value: string, seconds: number): void {
    this.#texts.set(key, { value, expiresAt: this.#now() + seconds * 1000 })
    this.#sweep()
  }
  #sweep(): void {
    this.#writes += 1
    if (this.#writes % SWEEP_EVERY !== 0) return
    for (const key of this.#texts.keys()) this.#live(this.#texts, key)
    for (const key of this.#sets.keys()) this.#live(this.#sets, key)
  }
}
