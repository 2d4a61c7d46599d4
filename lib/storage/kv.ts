/**
 * The commands that this package needs of a store, for Redis and for memory. test/storage/contract.test.ts holds both to them.
 * Every command may throw `Sso2UnavailableError` with `operation: 'store'`.
 */

/** The two keys of a session. Braces around the session's key keep both in one slot of a Cluster. */
export interface SessionKeys {
  readonly record: string
  readonly data: string
}

/** The values of a session. */
export type SessionValues = Readonly<Record<keyof SessionKeys, string | null>>

/** A store. Lifetimes are in seconds, unless a name says otherwise. */
export interface Kv {
  get(key: string): Promise<string | null>
  mget(keys: readonly string[]): Promise<(string | null)[]>
  set(key: string, value: string, seconds: number): Promise<void>
  /** Writes a value if there is none. @returns whether it was written */
  add(key: string, value: string, ms: number): Promise<boolean>
  del(...keys: string[]): Promise<void>

  /**
   * Writes the record or the data of a session, but never creates: only while the record is live, or without a record while data exist, or
   * for a new ID.
   * @param seconds lifetime of both values
   * @param isNew is the session's ID new, so that nothing has to exist?
   * @returns whether the value was written
   */
  write(keys: SessionKeys, part: keyof SessionKeys, value: string, seconds: number, isNew?: boolean): Promise<boolean>
  /** Renews the lifetime of both values of a session. A session that has ended stays as it is. */
  renew(keys: SessionKeys, seconds: number): Promise<void>
  /**
   * Ends a session and takes its values, in one step. A session that has ended stays as it is, and has no data.
   * @param goneText text under the record's key afterwards, which does not begin with a brace
   * @returns the values as they were
   */
  end(keys: SessionKeys, goneText: string, seconds: number): Promise<SessionValues>

  /** Adds a member to a set that is sorted by scores, or changes its score. @returns the number of members */
  addMember(set: string, member: string, score: number, seconds: number): Promise<number>
  /** Returns the members with the lowest scores. @param most at most so many @param max highest score, default any */
  members(set: string, most: number, max?: number): Promise<string[]>
  removeMembers(set: string, members: readonly string[]): Promise<void>

  /** False while Redis is known not to serve reads and writes. Sends nothing. */
  readonly isAvailable: boolean
  /** Why reads or writes fail, until both succeed again. Sends nothing. */
  readonly failure: string | undefined
  /** Sends a harmless read and a harmless write. */
  probe(): Promise<void>
  close(): Promise<void>
}
