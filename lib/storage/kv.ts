/** One value for each key; `null` where there is none. */
export type Values<Keys extends readonly string[]> = { readonly [index in keyof Keys]: string | null }

/** A list after an entry was added to it. */
export interface Listing {
  /** How long ago its mark was written, in milliseconds, by the clock of the server that holds both; `null` without a mark. */
  readonly markAgeMs: number | null
  /** Members that have not expired. */
  readonly size: number
  /** Where there are more than allowed: those that expire first, a few more than there are too many. */
  readonly oldest: readonly string[]
}

/** A member's place in a list: when it expires, what time it is (both in seconds), and how many members the list may have. */
export interface ListEntry {
  readonly until: number
  readonly now: number
  readonly max: number
}

/** So many more candidates than surplus members are named: which of them was used last is known by their sessions alone. */
export const MORE_CANDIDATES = 7
/** At most so many candidates are named at once. */
export const MAX_CANDIDATES = 100

/** What a key holds where it is not what the caller expected. */
export interface Found {
  readonly value: string | null
  /** Until the key expires; 0 where there is nothing. */
  readonly secondsLeft: number
}

/** One count of several that are added to together. */
export interface Count {
  readonly key: string
  readonly limit: number
}

/** Result of adding to counts: the window of each, or which of them has reached its limit. */
export type Counted = { readonly windows: readonly string[] } | { readonly spent: number; readonly secondsLeft: number }

/**
 * The smallest thing that we ask of a store; Redis and memory answer it alike, and one contract test holds both to it.
 * Every method may throw `Sso2UnavailableError` with `operation` `'store'`; `unlessAway` makes it a value.
 */
export interface Kv {
  /** Values of several keys of one session, in one round trip. */
  mget<const Keys extends readonly string[]>(keys: Keys): Promise<Values<Keys>>
  /** Writes `after` if the key holds exactly `before` (`null`: nothing). @param renewed another key of the same session, whose expiry is renewed too */
  compareAndSet(
    key: string,
    before: string | null,
    after: string,
    seconds: number,
    renewed?: { readonly key: string; readonly seconds: number },
  ): Promise<boolean>
  /** As `compareAndSet`. @returns what the key holds where it is not `before` */
  setOrRead(key: string, before: string | null, after: string, seconds: number): Promise<'done' | Found>
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
  /** As `claim`, and tells whether there is a mark in the same slot. */
  takeOnce(
    key: string,
    seconds: number,
    mark: string,
  ): Promise<{ readonly isFirst: boolean; readonly isMarked: boolean }>
  del(key: string): Promise<void>
  /** Deletes a key if it holds exactly this. */
  deleteIf(key: string, value: string): Promise<boolean>
  expire(key: string, seconds: number): Promise<void>
  /** Adds one to a count that lives `seconds` from now. */
  increment(key: string, seconds: number): Promise<number>
  /**
   * Adds one to each count, or to none where one has reached its limit. A count begins a window of `seconds` with its first addition. All
   * keys are of one slot.
   * @param window unique name for the windows that begin now
   * @param kept of the last count, only for a first key without a count
   */
  addToCounts(counts: readonly Count[], seconds: number, window: string, kept: number): Promise<Counted>
  /** Takes one from each count that is still in the window to which it was added. */
  takeFromCounts(keys: readonly string[], windows: readonly string[]): Promise<void>
  /** Adds a member to a list, removes expired ones, and reads a mark of the same slot: in this order. */
  enlist(list: string, member: string, entry: ListEntry, mark: string): Promise<Listing>
  /** Renews the expiry of a member that is on the list. */
  renewEntry(list: string, member: string, until: number, now: number): Promise<void>
  /** Marks a list with the server's time, removes a member, and reads the others that have not expired: in this order. @param most so many are read */
  markAndList(
    mark: string,
    seconds: number,
    list: string,
    { now, member, most }: { readonly now: number; readonly member: string; readonly most: number },
  ): Promise<string[]>
  unlist(list: string, members: readonly string[]): Promise<void>
  /** Puts an entry into a queue, due at a time in seconds; replaces an equal one. */
  enqueue(queue: string, entry: string, due: number): Promise<void>
  /** As `enqueue`, but leaves an equal one as it is. */
  enqueueOnce(queue: string, entry: string, due: number): Promise<void>
  /** Entries due at `now`, or later than `latest`, each pushed on to `next` so that no other process takes them meanwhile. */
  takeDue(
    queue: string,
    times: { readonly now: number; readonly latest: number },
    next: number,
    most: number,
  ): Promise<string[]>
  /** Makes entries due at `due` that would be due after `after`. */
  hasten(queue: string, after: number, due: number): Promise<void>
  dequeue(queue: string, entry: string): Promise<void>
  /** Are both keys on one server? */
  isTogether(key: string, other: string): boolean
  /** False while no server is known to serve reads and writes. Costs nothing to read. */
  readonly isAvailable: boolean
  /** Why reads or writes of a server fail, until both succeed again. Costs nothing to read. */
  readonly failure: string | undefined
  /** Sends a harmless read and a harmless write to every server. */
  probe(): Promise<void>
  close(): Promise<void>
}
