/** The smallest thing that we ask of a store; Redis and memory answer it alike, and one contract test holds both to it. */
export interface Kv {
  /** Values of several keys of one session, in one round trip. */
  mget(keys: readonly string[]): Promise<(string | null)[]>
  /** Writes `after` if the key holds exactly `before` (`null`: nothing); deletes the other keys in the same step. */
  compareAndSet(
    key: string,
    before: string | null,
    after: string,
    seconds: number,
    alsoDelete?: string,
  ): Promise<boolean>
  /** Writes whatever was there before, and deletes another key of the same session. */
  overwrite(key: string, value: string, seconds: number, alsoDelete?: string): Promise<void>
  /** Writes `value` unless the guard key holds one of the words that say "dead". */
  setUnless(key: string, guard: string, words: readonly string[], value: string, seconds: number): Promise<boolean>
  /** True for the first caller in `seconds`. */
  claim(key: string, seconds: number): Promise<boolean>
  exists(key: string): Promise<boolean>
  del(key: string): Promise<void>
  expire(key: string, seconds: number): Promise<void>
  /** Adds a member to a set that lives `seconds` from now. */
  addMember(key: string, member: string, seconds: number): Promise<void>
  members(key: string): Promise<string[]>
  removeMember(key: string, member: string): Promise<void>
  /** Puts an entry into a queue, due at a time in seconds; replaces an equal one. */
  enqueue(queue: string, entry: string, due: number): Promise<void>
  /** Entries due at `now`, each pushed on to `next` so that nobody else takes them meanwhile. */
  takeDue(queue: string, now: number, next: number, most: number): Promise<string[]>
  dequeue(queue: string, entry: string): Promise<void>
  /** False while the store is known to be away; costs nothing to ask. */
  readonly isAvailable: boolean
  ping(): Promise<void>
  close(): Promise<void>
}
