/** Stores sessions: for each session the site's data, and the login record beside it. Names the keys and encrypts the secrets of a record. */
import { EMPTY_RECORD, type Entry, goneText, readEntry, type SsoRecord } from '../decide/record'
import type { SessionKeys } from './kv'
import { SiteStore } from './site-store'

/** Seconds in which a late write, or a request with the old cookie, still finds what the session has become. */
const GONE_SECONDS = 5

/** The encrypted part of a record. */
export interface Secrets {
  readonly sid: string
  readonly accessToken?: string
}

/** A session by its names. */
export interface NamedSession {
  readonly key: string
  /** Hash of its SSO session. */
  readonly sidHash: string
  /** Name of the account in the index, '' if nobody is logged in. */
  readonly account: string
}

/** A session as found. */
export interface StoredSession {
  readonly entry: Entry
  readonly data: string | null
}

/** The sessions of a site. Every method may throw `Sso2UnavailableError`. */
export class Records extends SiteStore {
  async read(key: string): Promise<StoredSession> {
    const { record, data } = this.#keysOf(key)
    const [text = null, raw = null] = await this.kv.mget([data, record])
    return { entry: readEntry(raw), data: text }
  }

  async readEntry(key: string): Promise<Entry> {
    return readEntry(await this.kv.get(this.recordKey(key)))
  }

  /** Writes the first record of a new session. */
  begin(key: string, record: SsoRecord, seconds: number): Promise<void> {
    return this.kv.set(this.recordKey(key), JSON.stringify(record), seconds)
  }

  /** Writes the record of a live session. @returns false if the session has ended */
  update(key: string, record: SsoRecord, seconds: number): Promise<boolean> {
    return this.kv.write(this.#keysOf(key), 'record', JSON.stringify(record), seconds)
  }

  /** Empties the record of a live session, whose data stay. @returns false if the session has ended */
  empty(key: string, seconds: number): Promise<boolean> {
    return this.kv.write(this.#keysOf(key), 'record', EMPTY_RECORD, seconds)
  }

  /** Saves the data of a session. @returns false if the session has ended: then nothing is saved */
  saveData(key: string, value: string, seconds: number, isNew: boolean): Promise<boolean> {
    return this.kv.write(this.#keysOf(key), 'data', value, seconds, isNew)
  }

  deleteData(key: string): Promise<void> {
    return this.kv.del(this.#keysOf(key).data)
  }

  /** Ends a session and takes its data in the same step. One of several callers gets what it was. @param next key of the session that follows */
  async end({ key, sidHash, account }: NamedSession, next = ''): Promise<StoredSession> {
    const { record, data } = await this.kv.end(this.#keysOf(key), goneText({ next, sidHash, account }), GONE_SECONDS)
    return { entry: readEntry(record), data }
  }

  /** Removes both values of a session, without a trace. */
  remove(key: string): Promise<void> {
    const { record, data } = this.#keysOf(key)
    return this.kv.del(record, data)
  }

  /** Renews the lifetime of a used session, unless it has ended. */
  renew(key: string, seconds: number): Promise<void> {
    return this.kv.renew(this.#keysOf(key), seconds)
  }

  /** Decrypts the secrets of a record. @returns `undefined` if no secret of this process fits */
  open({ sealed }: SsoRecord): Secrets | undefined {
    return this.opened(sealed)
  }
  seal(secrets: Secrets): string {
    return this.sealed(secrets)
  }

  #keysOf(key: string): SessionKeys {
    return { record: this.recordKey(key), data: this.key('sess', key) }
  }
}
