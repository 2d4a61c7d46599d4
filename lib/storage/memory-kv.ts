/** Keeps the store in memory, for development. The content is lost at a restart, and not shared between processes. */
import type { Kv, SessionKeys, SessionValues } from './kv'

interface Text {
  readonly value: string
  /** Milliseconds since 1970. */
  readonly expiresAt: number
}

const SWEEP_EVERY = 1000
const isLive = (record: string | null) => record?.startsWith('{') === true

/** A `Kv` in memory. */
export class MemoryKv implements Kv {
  readonly #texts = new Map<string, Text>()
  readonly #sets = new Map<string, Map<string, number>>()
  readonly #now: () => number
  #writes = 0
  readonly isAvailable = true
  readonly failure = undefined

  /** @param now milliseconds since 1970 */
  constructor(now: () => number) {
    this.#now = now
  }

  async get(key: string): Promise<string | null> {
    return this.#read(key)
  }
  async mget(keys: readonly string[]): Promise<(string | null)[]> {
    return keys.map((key) => this.#read(key))
  }
  async set(key: string, value: string, seconds: number): Promise<void> {
    this.#write(key, value, seconds * 1000)
  }
  async add(key: string, value: string, ms: number): Promise<boolean> {
    if (this.#read(key) !== null) return false
    this.#write(key, value, ms)
    return true
  }
  async del(...keys: string[]): Promise<void> {
    for (const key of keys) this.#texts.delete(key)
  }

  async write(keys: SessionKeys, part: keyof SessionKeys, value: string, seconds: number, isNew = false) {
    const record = this.#read(keys.record)
    const mayWrite = record === null ? isNew || this.#read(keys.data) !== null : isLive(record)
    if (!mayWrite) return false
    this.#write(keys[part], value, seconds * 1000)
    await this.renew(keys, seconds)
    return true
  }
  async renew({ record, data }: SessionKeys, seconds: number): Promise<void> {
    const left = this.#read(record)
    if (left !== null && !isLive(left)) return
    for (const key of [record, data]) {
      const value = this.#read(key)
      if (value !== null) this.#write(key, value, seconds * 1000)
    }
  }
  async end(keys: SessionKeys, goneText: string, seconds: number): Promise<SessionValues> {
    const record = this.#read(keys.record)
    if (record !== null && !isLive(record)) return { record, data: null }
    const data = this.#read(keys.data)
    if (record !== null || data !== null) this.#write(keys.record, goneText, seconds * 1000)
    this.#texts.delete(keys.data)
    return { record, data }
  }

  async addMember(set: string, member: string, score: number): Promise<number> {
    const members = this.#sets.get(set) ?? new Map<string, number>()
    this.#sets.set(set, members.set(member, score))
    return members.size
  }
  async members(set: string, most: number, max = Number.POSITIVE_INFINITY): Promise<string[]> {
    const found = [...(this.#sets.get(set) ?? [])].filter(([, score]) => score <= max).sort(([, a], [, b]) => a - b)
    return found.slice(0, most).map(([member]) => member)
  }
  async removeMembers(set: string, members: readonly string[]): Promise<void> {
    const found = this.#sets.get(set)
    for (const member of members) found?.delete(member)
    if (found?.size === 0) this.#sets.delete(set)
  }

  async probe(): Promise<void> {}
  async close(): Promise<void> {}

  #read(key: string): string | null {
    const text = this.#texts.get(key)
    if (text && text.expiresAt > this.#now()) return text.value
    this.#texts.delete(key)
    return null
  }
  #write(key: string, value: string, ms: number): void {
    this.#texts.set(key, { value, expiresAt: this.#now() + ms })
    this.#writes += 1
    if (this.#writes % SWEEP_EVERY === 0) for (const text of this.#texts.keys()) this.#read(text) // deletes expired values
  }
}
