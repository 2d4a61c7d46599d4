/** Sessions in the store: the site's data, and beside it the SSO record, which comes out read and is opened here. */
import type { SsoRecord } from '../decide/record'
import { readEntry, type StoredEntry, type Tombstone, tombstone } from '../decide/stored-entry'
import { sessionKey } from './keys'
import type { Kv } from './kv'
import { seal, unseal } from './seal'
import { type Done, doneUnlessUnavailable, type Unavailable, unlessUnavailable } from './unavailable'

/** A tombstone outlives every request that may still save, in seconds. */
const TOMBSTONE_SECONDS = 3600

/** Enough for a Cluster of a hundred masters, nearly always. */
const MAX_DRAWS = 500

/** What is sealed in a record. */
export interface Secrets {
  /** SSO2 session ID. */
  readonly sid: string
  readonly accessToken?: string
}

/** Session data and record, as stored. */
export interface StoredPair {
  readonly data: string | null
  readonly stored: StoredEntry
}

/** The sessions of one site, under its prefix. */
export class Records {
  readonly #kv: Kv
  readonly #prefix: string
  readonly #boxKeys: () => readonly Buffer[]
  readonly #now: () => number

  /** @param boxKeys the first seals, all open; @param now seconds since 1970 */
  constructor(kv: Kv, prefix: string, encryptionKeys: () => readonly Buffer[], now: () => number) {
    this.#kv = kv
    this.#prefix = prefix
    this.#boxKeys = encryptionKeys
    this.#now = now
  }

  /** Braces make a Cluster keep both values of a session in one slot. */
  #dataKey(key: string): string {
    return `${this.#prefix}sess:{${key}}`
  }
  #recordKey(key: string): string {
    return `${this.#prefix}sso2:{${key}}`
  }

  /** Draws session IDs until one is on the server that holds its session of the SSO system: so a login depends on fewer servers. */
  drawId(draw: () => string, sidHash: string): string {
    for (let draws = 1; ; draws += 1) {
      const id = draw()
      const isThere = this.#kv.isTogether(this.#recordKey(sessionKey(id)), `${this.#prefix}sid:{${sidHash}}`)
      if (isThere || draws === MAX_DRAWS) return id
    }
  }

  /** Session data and record in one round trip. */
  async readBoth(key: string): Promise<StoredPair | Unavailable> {
    const values = await unlessUnavailable(() => this.#kv.mget([this.#dataKey(key), this.#recordKey(key)]))
    if (values === 'unavailable') return values
    const [data, raw] = values
    return { data, stored: readEntry(raw) }
  }

  /** The record alone. */
  read(key: string): Promise<StoredEntry | Unavailable> {
    return unlessUnavailable(async () => {
      const [raw] = await this.#kv.mget([this.#recordKey(key)])
      return readEntry(raw)
    })
  }

  /** Compare-and-set: false when the record is no longer exactly `before`. @param dataSeconds renews the expiry of the data in the same step */
  replace(
    key: string,
    before: string | null,
    after: string,
    seconds: number,
    dataSeconds?: number,
  ): Promise<boolean | Unavailable> {
    const data = dataSeconds === undefined ? undefined : { key: this.#dataKey(key), seconds: dataSeconds }
    return unlessUnavailable(() => this.#kv.compareAndSet(this.#recordKey(key), before, after, seconds, data))
  }

  /**
   * Ends a session whose record is exactly `before`, and takes its data away in the same step.
   * @param successor session ID of the session that follows; '' where none does
   * @returns the data, and what is left in the record's place
   */
  revoke(
    key: string,
    before: string | null,
    word: Tombstone,
    successor = '',
  ): Promise<{ readonly taken: string | null; readonly left: StoredEntry } | false | Unavailable> {
    const text = tombstone(word, this.#now(), successor === '' ? '' : seal(successor, this.#boxKeys()))
    return unlessUnavailable(async () => {
      const [record, data] = [this.#recordKey(key), this.#dataKey(key)]
      const revoked = await this.#kv.compareAndTake(record, before, text, TOMBSTONE_SECONDS, data)
      return revoked && { taken: revoked.taken, left: readEntry(text) }
    })
  }

  /** Takes a record away that is exactly `before`, and leaves the data. */
  drop(key: string, before: string): Promise<boolean | Unavailable> {
    return unlessUnavailable(() => this.#kv.deleteIf(this.#recordKey(key), before))
  }

  /** Ends a session whatever its record says. @param since 0: whoever comes with its cookie begins another at once */
  end(key: string, since = this.#now()): Promise<Done | Unavailable> {
    const text = tombstone('ended', since)
    return doneUnlessUnavailable(() =>
      this.#kv.overwrite(this.#recordKey(key), text, TOMBSTONE_SECONDS, this.#dataKey(key)),
    )
  }

  /** Opens a record; `undefined` when no secret of this process fits. */
  open(record: SsoRecord): Secrets | undefined {
    const text = unseal(record.box, this.#boxKeys())
    return text === undefined ? undefined : JSON.parse(text)
  }
  /** Seals what a record keeps to itself. */
  seal(secrets: Secrets): string {
    return seal(JSON.stringify(secrets), this.#boxKeys())
  }
  /** Session ID of the session that a dead one went over into; `undefined` where there is none that can be known. */
  successorOf(stored: StoredEntry): string | undefined {
    return stored.state === 'moved' ? unseal(stored.successor, this.#boxKeys()) : undefined
  }

  /** Saves session data; false, and nothing saved, where the session is dead. */
  saveData(key: string, value: string, seconds: number): Promise<boolean | Unavailable> {
    return unlessUnavailable(() => this.#kv.setUnlessDead(this.#dataKey(key), this.#recordKey(key), value, seconds))
  }
  deleteData(key: string): Promise<Done | Unavailable> {
    return doneUnlessUnavailable(() => this.#kv.del(this.#dataKey(key)))
  }

  /** Renews the expiry of record and data. @param dataSeconds where the site wants its data to live otherwise */
  renew(key: string, seconds: number, dataSeconds = seconds): Promise<Done | Unavailable> {
    return doneUnlessUnavailable(() =>
      Promise.all([this.#kv.expire(this.#dataKey(key), dataSeconds), this.#kv.expire(this.#recordKey(key), seconds)]),
    )
  }

  /** True for the one caller that may ask for a new access token of this session in the next seconds. */
  claimRenewal(key: string, seconds: number): Promise<boolean | Unavailable> {
    return unlessUnavailable(() => this.#kv.claim(`${this.#prefix}renew:${key}`, seconds))
  }

  /** False while the store is known to be away. */
  get isAvailable(): boolean {
    return this.#kv.isAvailable
  }
  /** Why reads or writes fail, until both succeed again. */
  get failure(): string | undefined {
    return this.#kv.failure
  }
  /** Tries a harmless read and a harmless write. */
  probe(): Promise<Done | Unavailable> {
    return doneUnlessUnavailable(() => this.#kv.probe())
  }
}
