/** Keeps the store in memory, for development. The content is lost at a restart, and not shared between processes. */
import {
  type CompareAndSetResult,
  type IndexEntry,
  type IndexState,
  type Kv,
  MAX_CANDIDATES,
  MORE_CANDIDATES,
  type OtherKey,
  type Values,
} from './kv'

interface Text {
  readonly value: string
  /** Milliseconds since 1970. */
  readonly expiresAt: number
}

const SWEEP_EVERY = 1000

/** A `Kv` in memory. */
export class MemoryKv implements Kv {
  readonly #texts = new Map<string, Text>()
  /** Indexes and queues: members with their times in seconds. */
  readonly #sets = new Map<string, Map<string, number>>()
  readonly #now: () => number
  #writes = 0

  /** @param now milliseconds since 1970 */
  constructor(now: () => number) {
    this.#now = now
  }

  async mget<const Keys extends readonly string[]>(keys: Keys): Promise<Values<Keys>> {
    return keys.map((key) => this.#read(key)) as Values<Keys> // a value for each key
  }
  async compareAndSet(
    key: string,
    before: string | null | undefined,
    after: string | null,
    seconds: number,
    otherKey?: OtherKey,
    maxSecondsLeft = Number.POSITIVE_INFINITY,
  ): Promise<CompareAndSetResult> {
    const value = this.#read(key)
    const other = otherKey ? this.#read(otherKey.key) : null
    const secondsLeft = this.#msLeft(key) / 1000
    if ((before !== undefined && value !== before) || secondsLeft > maxSecondsLeft)
      return { isDone: false, value, secondsLeft, other }
    const done = { isDone: true, value, secondsLeft: 0, other }
    if (otherKey?.action === 'delete' && before === null && other === null) return done
    if (after === null) this.#texts.delete(key)
    else this.#write(key, after, seconds)
    if (otherKey?.action === 'delete') this.#texts.delete(otherKey.key)
    if (otherKey?.action === 'renew') await this.expire(otherKey.key, otherKey.seconds)
    return done
  }
  async setUnlessMarker(key: string, markerKey: string, value: string, seconds: number) {
    if (!(this.#read(markerKey) ?? '{').startsWith('{')) return false
    this.#write(key, value, seconds)
    return true
  }
  async del(key: string): Promise<void> {
    this.#texts.delete(key)
    this.#sets.delete(key)
  }
  async expire(key: string, seconds: number): Promise<void> {
    const value = this.#read(key)
    if (value !== null) this.#write(key, value, seconds)
  }

  async addEntry(
    index: string,
    member: string,
    { until, now, max }: IndexEntry,
    revocation: string,
  ): Promise<IndexState> {
    await this.enqueue(index, member, until)
    const members = this.#setOf(index)
    for (const [other, end] of members) if (end <= now) members.delete(other)
    const revokedAt = this.#read(revocation)
    const surplus = members.size - max
    const count = surplus > 0 ? Math.min(surplus + MORE_CANDIDATES, MAX_CANDIDATES) : 0
    return {
      revokedAgeMs: revokedAt === null ? null : performance.now() - Number.parseFloat(revokedAt),
      size: members.size,
      oldest: earliest(members, count),
    }
  }
  async renewEntry(index: string, member: string, until: number): Promise<void> {
    const known = this.#setOf(index).get(member)
    if (known !== undefined) await this.enqueue(index, member, Math.max(known, until))
  }
  async revokeAndList(
    revocation: string,
    seconds: number,
    index: string,
    { now, member, most }: { readonly now: number; readonly member: string; readonly most: number },
  ): Promise<string[]> {
    this.#write(revocation, `${performance.now()} ${now}`, seconds)
    await this.remove(index, [member])
    const living = [...this.#setOf(index)].filter(([, until]) => until > now)
    return living.slice(0, most).map(([other]) => other)
  }

  async enqueue(queue: string, entry: string, due: number): Promise<void> {
    this.#sets.set(queue, this.#setOf(queue).set(entry, due))
  }
  async enqueueOnce(queue: string, entry: string, due: number): Promise<void> {
    if (!this.#setOf(queue).has(entry)) await this.enqueue(queue, entry, due)
  }
  async takeDue(
    queue: string,
    { now, latest }: { readonly now: number; readonly latest: number },
    next: number,
    most: number,
  ): Promise<string[]> {
    const entries = this.#setOf(queue)
    for (const [entry, time] of entries) if (time > latest) entries.set(entry, now)
    const due = earliest(new Map([...entries].filter(([, time]) => time <= now)), most)
    for (const entry of due) entries.set(entry, next)
    return due
  }
  async remove(set: string, members: readonly string[]): Promise<void> {
    const found = this.#setOf(set)
    for (const member of members) found.delete(member)
    if (found.size === 0) this.#sets.delete(set)
  }

  readonly redis = undefined
  isOnSameServer(): boolean {
    return true
  }
  readonly isAvailable = true
  readonly failure = undefined
  async probe(): Promise<void> {}
  async close(): Promise<void> {}

  #read(key: string): string | null {
    const text = this.#texts.get(key)
    if (text && text.expiresAt > this.#now()) return text.value
    this.#texts.delete(key)
    return null
  }
  #write(key: string, value: string, seconds: number): void {
    this.#texts.set(key, { value, expiresAt: this.#now() + seconds * 1000 })
    this.#writes += 1
    if (this.#writes % SWEEP_EVERY === 0) for (const text of this.#texts.keys()) this.#read(text) // deletes expired values
  }
  #endOf(key: string): number {
    return this.#texts.get(key)?.expiresAt ?? 0
  }
  #msLeft(key: string): number {
    return Math.max(0, this.#endOf(key) - this.#now())
  }
  #setOf(key: string): Map<string, number> {
    return this.#sets.get(key) ?? new Map<string, number>()
  }
}

const earliest = (members: ReadonlyMap<string, number>, most: number): string[] =>
  [...members]
    .sort(([, one], [, other]) => one - other)
    .slice(0, most)
    .map(([member]) => member)
