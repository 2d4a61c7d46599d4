/**
 * Stores sessions. Each session has two values: the site's data, and the login record.
 * Names the keys, encrypts the secrets of a record, and makes each change in a single step.
 * Decides nothing: lib/decide/record.ts reads an entry, and only lib/web/stored-record.ts writes a record.
 */
import { markerText, readEntry, type SessionMarker, type SsoRecord, type StoredEntry } from '../decide/record'
import {
  type Done,
  doneUnlessUnavailable,
  SiteStore,
  seal,
  sessionKey,
  type Unavailable,
  unlessUnavailable,
  unseal,
} from './site-store'

/** A deleted-session marker outlives every request that may still save its session, in seconds. */
const MARKER_SECONDS = 3600

/** Maximum of drawn IDs. Nearly always enough for a Cluster of a hundred masters. */
const MAX_DRAWS = 500

/** The encrypted part of a record. */
export interface Secrets {
  readonly sid: string
  readonly accessToken?: string
}

/** Session data and record, as stored. */
export interface StoredPair {
  readonly data: string | null
  readonly stored: StoredEntry
}

/** The sessions of a site, under the site's prefix. */
export class Records extends SiteStore {
  /** Braces make a Cluster keep both values of a session in one slot. */
  #dataKey(key: string): string {
    return `${this.prefix}sess:{${key}}`
  }
  #recordKey(key: string): string {
    return `${this.prefix}sso2:{${key}}`
  }

  #now(): number {
    return Math.floor(this.nowMs() / 1000)
  }

  /** Draws session IDs until an ID is on the server that holds the index of its SSO session. A login then depends on fewer servers. */
  drawId(draw: () => string, sidHash: string): string {
    for (let draws = 1; ; draws += 1) {
      const id = draw()
      const isThere = this.kv.isOnSameServer(this.#recordKey(sessionKey(id)), `${this.prefix}sid:{${sidHash}}`)
      if (isThere || draws === MAX_DRAWS) return id
    }
  }

  async readBoth(key: string): Promise<StoredPair | Unavailable> {
    const values = await unlessUnavailable(() => this.kv.mget([this.#dataKey(key), this.#recordKey(key)]))
    if (values === 'unavailable') return values
    const [data, raw] = values
    return { data, stored: readEntry(raw) }
  }

  read(key: string): Promise<StoredEntry | Unavailable> {
    return unlessUnavailable(async () => {
      const [raw] = await this.kv.mget([this.#recordKey(key)])
      return readEntry(raw)
    })
  }

  /**
   * Replaces a record that is exactly `before`.
   * @param dataSeconds renews the expiry of the data in the same step
   * @returns whether the record is replaced
   */
  replace(
    key: string,
    before: string | null,
    after: string,
    seconds: number,
    dataSeconds?: number,
  ): Promise<boolean | Unavailable> {
    const data = { key: this.#dataKey(key), action: 'renew', seconds: dataSeconds ?? 0 } as const
    return this.isSet(this.#recordKey(key), before, after, seconds, dataSeconds === undefined ? undefined : data)
  }

  /** Deletes a record that is exactly `before`, and leaves the data. @returns whether the record is deleted */
  drop(key: string, before: string): Promise<boolean | Unavailable> {
    return this.isSet(this.#recordKey(key), before, null, 0)
  }

  /**
   * Ends a session whose record is exactly `before`, and takes its data in the same step.
   * @param successor session ID of the session that follows, or '' without such a session
   * @returns the data and the new entry, or false if the record has changed
   */
  async writeMarker(
    key: string,
    before: string | null,
    reason: SessionMarker,
    successor = '',
  ): Promise<{ readonly taken: string | null; readonly left: StoredEntry } | false | Unavailable> {
    const text = markerText(reason, this.#now(), successor === '' ? '' : seal(successor, this.encryptionKeys()))
    const data = { key: this.#dataKey(key), action: 'delete' } as const
    const result = await unlessUnavailable(() =>
      this.kv.compareAndSet(this.#recordKey(key), before, text, MARKER_SECONDS, data),
    )
    if (result === 'unavailable') return result
    return result.isDone && { taken: result.other, left: readEntry(text) }
  }

  /** Ends a session, regardless of its record. @param since 0: the next request with its cookie begins another session at once */
  async end(key: string, since = this.#now()): Promise<Done | Unavailable> {
    const text = markerText('ended', since)
    const data = { key: this.#dataKey(key), action: 'delete' } as const
    const isDone = await this.isSet(this.#recordKey(key), undefined, text, MARKER_SECONDS, data)
    return isDone === 'unavailable' ? isDone : 'done'
  }

  /** Decrypts the secrets of a record. @returns `undefined` if no secret of this process fits */
  open(record: SsoRecord): Secrets | undefined {
    const text = unseal(record.sealedSecrets, this.encryptionKeys())
    return text === undefined ? undefined : JSON.parse(text)
  }
  seal(secrets: Secrets): string {
    return seal(JSON.stringify(secrets), this.encryptionKeys())
  }
  /**
   * Returns the ID of the session that follows a moved session.
   * @returns `undefined` if no session follows, or if no secret of the process fits
   */
  successorOf(stored: StoredEntry): string | undefined {
    return stored.state === 'moved' ? unseal(stored.successor, this.encryptionKeys()) : undefined
  }

  /** Saves session data. @returns false if the session has moved or ended: then nothing is saved */
  saveData(key: string, value: string, seconds: number): Promise<boolean | Unavailable> {
    return unlessUnavailable(() => this.kv.setUnlessMarker(this.#dataKey(key), this.#recordKey(key), value, seconds))
  }
  deleteData(key: string): Promise<Done | Unavailable> {
    return doneUnlessUnavailable(() => this.kv.del(this.#dataKey(key)))
  }

  /** Renews the expiry of record and data. @param dataSeconds if the site sets another lifetime for its data */
  renew(key: string, seconds: number, dataSeconds = seconds): Promise<Done | Unavailable> {
    return doneUnlessUnavailable(() =>
      Promise.all([this.kv.expire(this.#dataKey(key), dataSeconds), this.kv.expire(this.#recordKey(key), seconds)]),
    )
  }

  /** Acquires the lock for a new access token of a session. True for a single caller in `seconds`. */
  lockRenewal(key: string, seconds: number): Promise<boolean | Unavailable> {
    return this.isSet(`${this.prefix}renew:${key}`, null, '1', seconds)
  }

  /** False while the store is known not to answer. */
  get isAvailable(): boolean {
    return this.kv.isAvailable
  }
  get failure(): string | undefined {
    return this.kv.failure
  }
  probe(): Promise<Done | Unavailable> {
    return doneUnlessUnavailable(() => this.kv.probe())
  }
}
