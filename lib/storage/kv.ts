/**
 * The operations that this package needs of a store, for Redis and for memory. The test test/storage/contract.test.ts covers both.
 * Here is the interface alone. The classes that name keys and encode values are records.ts, session-index.ts, pending-logouts.ts
 * and login-locks.ts.
 * All keys of a call are in the same slot of a Cluster, so every call is a single step of a single server.
 */
import type { Cluster, Redis } from 'ioredis'

/** A value for each key, `null` for a key without a value. */
export type Values<Keys extends readonly string[]> = { readonly [index in keyof Keys]: string | null }

/** A second key that the step of {@link Kv.compareAndSet} reads, and deletes or renews. */
export type OtherKey =
  | { readonly key: string; readonly action: 'keep' | 'delete' }
  | { readonly key: string; readonly action: 'renew'; readonly seconds: number }

/** Result of a compare-and-set. */
export interface CompareAndSetResult {
  readonly isDone: boolean
  readonly value: string | null
  /** Until the found value expires. 0 if there is none, or if the compare-and-set is done. */
  readonly secondsLeft: number
  readonly other: string | null
}

/** An index after an entry was added. */
export interface IndexState {
  /** Age of the revocation in milliseconds, by the clock of the server that holds both. `null` without a revocation. */
  readonly revokedAgeMs: number | null
  /** Number of members that have not expired. */
  readonly size: number
  /** If the index has too many members: the members that expire first, some more than must go. */
  readonly oldest: readonly string[]
}

/** A member's place in an index: its expiry, the current time in seconds, and the maximum of members. */
export interface IndexEntry {
  readonly until: number
  readonly now: number
  readonly max: number
}

/** So many more candidates are named than must go, because only their records show which session was used last. */
export const MORE_CANDIDATES = 7
/** At most so many candidates are named at once. */
export const MAX_CANDIDATES = 100

/** Redis for a library that uses the client itself. */
export interface GuardedRedis {
  readonly client: Redis | Cluster
  /** Runs a command for a key: with the deadline and the circuit breaker of every command. @throws Sso2UnavailableError */
  run<T>(key: string, command: () => Promise<T>): Promise<T>
}

/**
 * A store. Every method may throw `Sso2UnavailableError` with `operation: 'store'`, which `unlessUnavailable` makes a value.
 * Texts expire after `seconds`. An index or a queue is a set of members, each with a time in seconds.
 */
export interface Kv {
  mget<const Keys extends readonly string[]>(keys: Keys): Promise<Values<Keys>>
  /**
   * Writes `after` if the key holds `before`.
   * @param before `null`: nothing, `undefined`: any value or nothing
   * @param after `null` deletes the key
   * @param other is always read, but deleted or renewed only if the write is done. Writes nothing if `other` is to be deleted
   * and neither key holds the expected value.
   * @param maxSecondsLeft writes nothing if the found value expires later. A process that uses a value renews its expiry
   */
  compareAndSet(
    key: string,
    before: string | null | undefined,
    after: string | null,
    seconds: number,
    other?: OtherKey,
    maxSecondsLeft?: number,
  ): Promise<CompareAndSetResult>
  /**
   * Writes `value` unless `markerKey` holds a deleted-session marker, which does not begin with `{`.
   * @returns whether the value is written
   */
  setUnlessMarker(key: string, markerKey: string, value: string, seconds: number): Promise<boolean>
  del(key: string): Promise<void>
  expire(key: string, seconds: number): Promise<void>
  /** Removes expired members from an index, adds a member, and then reads the revocation. */
  addEntry(index: string, member: string, entry: IndexEntry, revocation: string): Promise<IndexState>
  /** Renews the expiry of a member, if the index has it. Never shortens the expiry. */
  renewEntry(index: string, member: string, until: number, now: number): Promise<void>
  /** Writes a revocation: the server's time, a space, and `now`. Removes a member from the index, and then reads at most `most` of the others. */
  revokeAndList(
    revocation: string,
    seconds: number,
    index: string,
    { now, member, most }: { readonly now: number; readonly member: string; readonly most: number },
  ): Promise<string[]>
  /** Puts an entry into a queue, due at the given time. An equal entry gets the new time. */
  enqueue(queue: string, entry: string, due: number): Promise<void>
  /** As `enqueue`, but an equal entry keeps its time. */
  enqueueOnce(queue: string, entry: string, due: number): Promise<void>
  /**
   * Takes entries that are due at `now`, or later than `latest`.
   * Each entry is due again at `next`, so that no other process takes the entry until then.
   */
  takeDue(
    queue: string,
    times: { readonly now: number; readonly latest: number },
    next: number,
    most: number,
  ): Promise<string[]>
  /** Removes members of an index, or entries of a queue. */
  remove(set: string, members: readonly string[]): Promise<void>
  /** `undefined` in memory. */
  readonly redis: GuardedRedis | undefined
  isOnSameServer(key: string, other: string): boolean
  /** False while no server is known to serve reads and writes. Sends nothing. */
  readonly isAvailable: boolean
  /** Why reads or writes of a server fail, until both succeed again. Sends nothing. */
  readonly failure: string | undefined
  /** Reads and writes one key. */
  probe(): Promise<void>
  close(): Promise<void>
}
