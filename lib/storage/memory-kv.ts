/** The store in memory, for development: lost at a restart, not shared between processes. */
import {
  type Count,
  type Counted,
  type Found,
  type Kv,
  type ListEntry,
  type Listing,
  MAX_CANDIDATES,
  MORE_CANDIDATES,
  type Values,
} from './kv'

interface Entry {
  readonly value: string
  readonly expiresAt: number
}

/** A count in its window. */
interface Window {
  count: number
  readonly window: string
  readonly expiresAt: number
}

const SWEEP_EVERY = 1000

/** A `Kv` in memory. */
export class MemoryKv implements Kv {
  readonly #texts = new Map<string, Entry>()
  /** Members by list, each with its end in seconds. */
  readonly #lists = new Map<string, Map<string, number>>()
  readonly #counts = new Map<string, Window>()
  readonly #queues = new Map<string, Map<string, number>>()
  readonly #now: () => number
  #writes = 0

  /** @param now milliseconds since 1970 */
  constructor(now: () => number) {
    this.#now = now
  }

  async mget<const Keys extends readonly string[]>(keys: Keys): Promise<Values<Keys>> {
    return keys.map((key) => this.#text(key) ?? null) as Values<Keys> // one for each key
  }
  async compareAndSet(
    key: string,
    before: string | null,
    after: string,
    seconds: number,
    renewed?: { readonly key: string; readonly seconds: number },
  ) {
    if ((this.#text(key) ?? null) !== before) return false
    this.#put(key, after, seconds)
    if (renewed) await this.expire(renewed.key, renewed.seconds)
    return true
  }
  async setOrRead(key: string, before: string | null, after: string, seconds: number): Promise<'done' | Found> {
    if (await this.compareAndSet(key, before, after, seconds)) return 'done'
    const value = this.#text(key) ?? null
    const end = this.#texts.get(key)?.expiresAt ?? this.#now()
    return { value, secondsLeft: (end - this.#now()) / 1000 }
  }
  async addToCounts(counts: readonly Count[], seconds: number, window: string, kept: number): Promise<Counted> {
    const found = counts.map(({ key }) => this.#count(key))
    const isFirstKnown = (found[0]?.count ?? 0) > 0
    const limitOf = (index: number) =>
      (counts[index]?.limit ?? 0) - (isFirstKnown && index === counts.length - 1 ? kept : 0)
    const spent = found.findIndex((one, index) => (one?.count ?? 0) >= limitOf(index))
    if (spent >= 0) return { spent, secondsLeft: ((found[spent]?.expiresAt ?? this.#now()) - this.#now()) / 1000 }
    const expiresAt = this.#now() + seconds * 1000
    const windows = counts.map(({ key }, index) => {
      const next = found[index] ?? { count: 0, window, expiresAt }
      next.count += 1
      this.#counts.set(key, next)
      return next.window
    })
    this.#sweep()
    return { windows }
  }
  async takeFromCounts(keys: readonly string[], windows: readonly string[]): Promise<void> {
    for (const [index, key] of keys.entries()) {
      const found = this.#count(key)
      if (found && found.window === windows[index]) found.count -= 1
    }
  }
  async compareAndTake(key: string, before: string | null, after: string, seconds: number, taken: string) {
    const value = this.#text(taken) ?? null
    if (before === null && value === null && this.#text(key) === undefined) return { taken: null }
    if (!(await this.compareAndSet(key, before, after, seconds))) return false
    this.#texts.delete(taken)
    return { taken: value }
  }
  async overwrite(key: string, value: string, seconds: number, alsoDelete?: string): Promise<void> {
    this.#put(key, value, seconds)
    if (alsoDelete) this.#texts.delete(alsoDelete)
  }
  async setUnlessDead(key: string, guard: string, value: string, seconds: number) {
    if (!(this.#text(guard) ?? '{').startsWith('{')) return false
    this.#put(key, value, seconds)
    return true
  }
  async claim(key: string, seconds: number): Promise<boolean> {
    if (this.#text(key) !== undefined) return false
    this.#put(key, '1', seconds)
    return true
  }
  async takeOnce(key: string, seconds: number, mark: string) {
    return { isFirst: await this.claim(key, seconds), isMarked: this.#text(mark) !== undefined }
  }
  async del(key: string): Promise<void> {
    this.#texts.delete(key)
    this.#lists.delete(key)
  }
  async deleteIf(key: string, value: string): Promise<boolean> {
    return this.#text(key) === value && this.#texts.delete(key)
  }
  async expire(key: string, seconds: number): Promise<void> {
    const value = this.#text(key)
    if (value !== undefined) this.#put(key, value, seconds)
  }

  async increment(key: string, seconds: number): Promise<number> {
    const count = Number(this.#text(key) ?? 0) + 1
    this.#put(key, String(count), seconds)
    return count
  }
  async enlist(list: string, member: string, { until, now, max }: ListEntry, mark: string): Promise<Listing> {
    const members = this.#lists.get(list) ?? new Map<string, number>()
    this.#lists.set(list, members.set(member, until))
    for (const [other, end] of members) if (end <= now) members.delete(other)
    const marked = this.#text(mark)
    const surplus = members.size - max
    const count = surplus > 0 ? Math.min(surplus + MORE_CANDIDATES, MAX_CANDIDATES) : 0
    const oldest = count === 0 ? [] : [...members].sort(([, one], [, other]) => one - other).slice(0, count)
    return {
      markAgeMs: marked === undefined ? null : performance.now() - Number(marked),
      size: members.size,
      oldest: oldest.map(([other]) => other),
    }
  }
  async renewEntry(list: string, member: string, until: number): Promise<void> {
    const members = this.#lists.get(list)
    if (members?.has(member)) members.set(member, until)
  }
  async markAndList(
    mark: string,
    seconds: number,
    list: string,
    { now, member, most }: { readonly now: number; readonly member: string; readonly most: number },
  ): Promise<string[]> {
    this.#put(mark, String(performance.now()), seconds)
    await this.unlist(list, [member])
    const living = [...(this.#lists.get(list) ?? [])].filter(([, until]) => until > now)
    return living.slice(0, most).map(([other]) => other)
  }
  async unlist(list: string, gone: readonly string[]): Promise<void> {
    const members = this.#lists.get(list)
    for (const member of gone) members?.delete(member)
    if (members?.size === 0) this.#lists.delete(list)
  }

  async enqueue(queue: string, entry: string, due: number): Promise<void> {
    const entries = this.#queues.get(queue) ?? new Map<string, number>()
    this.#queues.set(queue, entries.set(entry, due))
  }
  async enqueueOnce(queue: string, entry: string, due: number): Promise<void> {
    if (!this.#queues.get(queue)?.has(entry)) await this.enqueue(queue, entry, due)
  }
  async takeDue(
    queue: string,
    { now, latest }: { readonly now: number; readonly latest: number },
    next: number,
    most: number,
  ): Promise<string[]> {
    const entries = this.#queues.get(queue) ?? new Map<string, number>()
    const due = [...entries]
      .filter(([, time]) => time <= now || time > latest)
      .sort(([, one], [, other]) => one - other)
      .slice(0, most)
    for (const [entry] of due) entries.set(entry, next)
    return due.map(([entry]) => entry)
  }
  async hasten(queue: string, after: number, due: number): Promise<void> {
    const entries = this.#queues.get(queue) ?? new Map<string, number>()
    for (const [entry, time] of entries) if (time > after) entries.set(entry, due)
  }
  async dequeue(queue: string, entry: string): Promise<void> {
    this.#queues.get(queue)?.delete(entry)
  }
  isTogether(): boolean {
    return true
  }
  readonly isAvailable = true
  readonly failure = undefined
  async probe(): Promise<void> {}
  async close(): Promise<void> {}

  #text(key: string): string | undefined {
    const entry = this.#texts.get(key)
    if (entry && entry.expiresAt > this.#now()) return entry.value
    this.#texts.delete(key)
    return undefined
  }
  #count(key: string): Window | undefined {
    const found = this.#counts.get(key)
    if (found && found.expiresAt > this.#now()) return found
    this.#counts.delete(key)
    return undefined
  }
  #put(key: string, value: string, seconds: number): void {
    this.#texts.set(key, { value, expiresAt: this.#now() + seconds * 1000 })
    this.#sweep()
  }
  /** Deletes what has expired, at every thousandth write. */
  #sweep(): void {
    this.#writes += 1
    if (this.#writes % SWEEP_EVERY > 0) return
    for (const key of this.#texts.keys()) this.#text(key)
    for (const key of this.#counts.keys()) this.#count(key)
  }
}
