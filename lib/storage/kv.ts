/** One value for each key; `null` where there is none. */
export type Values<Keys extends readonly string[]> = { readonly [index in keyof Keys]: string | null }

/**
 * The smallest thing that we ask of a store; Redis and memory answer it alike, and one contract test holds both to it.
 * Every method may throw `Sso2UnavailableError` with `operation` `'store'`; `unlessAway` makes it a value.
 */
export interface Kv {
  /** Values of several keys of one session, in one round trip. */
  mget<const Keys extends readonly string[]>(keys: Keys): Promise<Values<Keys>>
  /** Writes `after` if the key holds exactly `before` (`null`: nothing). */
  compareAndSet(key: string, before: string | null, after: string, seconds: number): Promise<boolean>
  /**
   * As `compareAndSet`, and takes another key of the same session away in the same step; nothing is written where neither is there.
   * @returns its value, or false
   */
  compareAndTake(
    key: string,
    before: string | null,
    after: string,
    seconds: number,
    taken: string,
  ): Promise<{ readonly taken: string | null } | false>
  /** Writes whatever was there before, and deletes another key of the same session. */
  overwrite(key: string, value: string, seconds: number, alsoDelete?: string): Promise<void>
  /** Writes `value` unless the guard key of the same session holds something that does not begin with `{`. */
  setUnlessDead(key: string, guard: string, value: string, seconds: number): Promise<boolean>
  /** True for the first caller in `seconds`. */
  claim(key: string, seconds: number): Promise<boolean>
  del(key: string): Promise<void>
  /** Deletes a key if it holds exactly this. */
  deleteIf(key: string, value: string): Promise<boolean>
  expire(key: string, seconds: number): Promise<void>
  /** Adds one to a count that lives `seconds` from now. */
  increment(key: string, seconds: number): Promise<number>
  /** Puts a member on a list until a time in seconds, drops what has expired, and reads a mark of the same slot: in this order. */
  enlist(list: string, member: string, until: number, now: number, mark: string): Promise<string | null>
  /** Members that have not expired. */
  listed(list: string, now: number): Promise<string[]>
  unlist(list: string, member: string): Promise<void>
  /** Puts an entry into a queue, due at a time in seconds; replaces an equal one. */
  enqueue(queue: string, entry: string, due: number): Promise<void>
  /** As `enqueue`, but leaves an equal one as it is. */
  enqueueOnce(queue: string, entry: string, due: number): Promise<void>
  /** Entries due at `now`, each pushed on to `next` so that nobody else takes them meanwhile. */
  takeDue(queue: string, now: number, next: number, most: number): Promise<string[]>
  /** Makes entries due at `due` that would be due after `after`. */
  hasten(queue: string, after: number, due: number): Promise<void>
  dequeue(queue: string, entry: string): Promise<void>
  /** False while the store is known to be away; costs nothing to ask. */
  readonly isAvailable: boolean
  ping(): Promise<void>
  close(): Promise<void>
}
