/** What is stored beside a session: the SSO record, tombstones, used tokens, ended SSO sessions, the account index, the logout queue. */
import { createHash } from 'node:crypto'
import type { Kv } from './kv'

/** Words that stand in a record's place when its session is dead: its ID was renewed, or it was ended. */
export const TOMBSTONES = ['moved', 'ended'] as const
/** Why a session ID is dead. */
export type Tombstone = (typeof TOMBSTONES)[number]

/** A tombstone outlives every request that may still save, in seconds. */
const TOMBSTONE_SECONDS = 3600
/** A signed-out SSO session is remembered as long as a logout is retried, in seconds. */
export const ENDED_SECONDS = 86_400
/** A used token is remembered past its life and the widest leeway, in seconds. */
const USED_TOKEN_SECONDS = 150

/** Says that the SSO system has confirmed a logout. */
export const CONFIRMED = 'confirmed'

/** Name of a session in the store: a hash, so that a dump of the store opens no session. */
export function sessionKey(sessionId: string): string {
  return createHash('sha256').update(sessionId).digest('base64url')
}

/** Short hash for comparing and logging identifiers. */
export function shortHash(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 16)
}

/** Session data and record, as stored. */
export interface StoredPair {
  readonly data: string | null
  readonly record: string | null
}

/** The store of one site, under its prefix. Every method may throw `StoreUnavailableError`. */
export class Records {
  readonly #kv: Kv
  readonly #prefix: string
  constructor(kv: Kv, prefix: string) {
    this.#kv = kv
    this.#prefix = prefix
  }

  /** Braces make a Cluster keep both values of a session in one slot. */
  dataKey(key: string): string {
    return `${this.#prefix}sess:{${key}}`
  }
  #recordKey(key: string): string {
    return `${this.#prefix}sso2:{${key}}`
  }

  /** Session data and record in one round trip. */
  async readBoth(key: string): Promise<StoredPair> {
    const [data = null, record = null] = await this.#kv.mget([this.dataKey(key), this.#recordKey(key)])
    return { data, record }
  }

  /** The record alone. */
  async read(key: string): Promise<string | null> {
    const [record = null] = await this.#kv.mget([this.#recordKey(key)])
    return record
  }

  /** Compare-and-set: false when the record is no longer exactly `before`. */
  replace(key: string, before: string | null, after: string, seconds: number): Promise<boolean> {
    return this.#kv.compareAndSet(this.#recordKey(key), before, after, seconds)
  }

  /** Ends a session whose record is exactly `before`, data and all. */
  bury(key: string, before: string | null, word: Tombstone): Promise<boolean> {
    return this.#kv.compareAndSet(this.#recordKey(key), before, word, TOMBSTONE_SECONDS, this.dataKey(key))
  }

  /** Ends a session whatever its record says. */
  end(key: string): Promise<void> {
    return this.#kv.overwrite(this.#recordKey(key), 'ended', TOMBSTONE_SECONDS, this.dataKey(key))
  }

  /** Saves session data; false, and nothing saved, where the session is dead. */
  saveData(dataKey: string, key: string, value: string, seconds: number): Promise<boolean> {
    return this.#kv.setUnless(dataKey, this.#recordKey(key), TOMBSTONES, value, seconds)
  }
  deleteData(key: string): Promise<void> {
    return this.#kv.del(this.dataKey(key))
  }

  /** Renews the expiry of data and record. */
  async renew(key: string, seconds: number): Promise<void> {
    await Promise.all([this.#kv.expire(this.dataKey(key), seconds), this.#kv.expire(this.#recordKey(key), seconds)])
  }

  /** True for the first use of a token. @param signature decoded bytes of the token's signature */
  useToken(signature: Buffer): Promise<boolean> {
    return this.#kv.claim(
      `${this.#prefix}used:${createHash('sha256').update(signature).digest('base64url')}`,
      USED_TOKEN_SECONDS,
    )
  }

  /** Remembers that this site logged an SSO session out. */
  async markSidEnded(sidHash: string): Promise<void> {
    await this.#kv.claim(`${this.#prefix}out:${sidHash}`, ENDED_SECONDS)
  }
  isSidEnded(sidHash: string): Promise<boolean> {
    return this.#kv.exists(`${this.#prefix}out:${sidHash}`)
  }

  /** Adds a session to its account's list. */
  addToAccount(accountId: string, key: string, seconds: number): Promise<void> {
    return this.#kv.addMember(this.#accountKey(accountId), key, seconds)
  }
  removeFromAccount(accountId: string, key: string): Promise<void> {
    return this.#kv.removeMember(this.#accountKey(accountId), key)
  }
  /** Keys of the sessions of an account on this site; some may be dead. */
  keysOfAccount(accountId: string): Promise<string[]> {
    return this.#kv.members(this.#accountKey(accountId))
  }
  #accountKey(accountId: string): string {
    return `${this.#prefix}acct:${shortHash(accountId)}`
  }

  /** Keeps a logout that the SSO system has not confirmed, and queues its retry. @param sealed what the retry needs */
  async keepLogout(sidHash: string, sealed: string, due: number): Promise<void> {
    await this.#kv.overwrite(this.#pendingKey(sidHash), sealed, ENDED_SECONDS)
    await this.#kv.enqueue(this.#queue, sidHash, due)
  }
  /** The sealed logout, `'confirmed'`, or null when nothing is known of it. */
  async keptLogout(sidHash: string): Promise<string | null> {
    const [kept = null] = await this.#kv.mget([this.#pendingKey(sidHash)])
    return kept
  }
  /** True for the one caller that may retry this logout in the next seconds. */
  claimRetry(sidHash: string, seconds: number): Promise<boolean> {
    return this.#kv.claim(`${this.#prefix}retry:${sidHash}`, seconds)
  }
  /** True for the one caller that may ask for a new access token of this session in the next seconds. */
  claimRenewal(key: string, seconds: number): Promise<boolean> {
    return this.#kv.claim(`${this.#prefix}renew:${key}`, seconds)
  }
  async confirmLogout(sidHash: string): Promise<void> {
    await this.#kv.overwrite(this.#pendingKey(sidHash), CONFIRMED, ENDED_SECONDS)
    await this.#kv.dequeue(this.#queue, sidHash)
  }
  /** Logouts that are due, each pushed on to `next` so that no other process takes them meanwhile. */
  takeDueLogouts(now: number, next: number): Promise<string[]> {
    return this.#kv.takeDue(this.#queue, now, next, 20)
  }
  #pendingKey(sidHash: string): string {
    return `${this.#prefix}pend:${sidHash}`
  }
  get #queue(): string {
    return `${this.#prefix}logouts`
  }

  /** False while the store is known to be away. */
  get isAvailable(): boolean {
    return this.#kv.isAvailable
  }
  ping(): Promise<void> {
    return this.#kv.ping()
  }
  close(): Promise<void> {
    return this.#kv.close()
  }
}
