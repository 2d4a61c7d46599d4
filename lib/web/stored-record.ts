/**
 * The login record of a request's session, as the request knows the record. No other code writes a login record. Every write is a
 * compare-and-set on the exact value read before. If another request was faster, the record is read again.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import {
  hasJustEnded,
  lifetimeOf,
  NO_ENTRY,
  readEntry,
  recordIn,
  type SessionLives,
  type SessionMarker,
  type SsoRecord,
  type StoredEntry,
  serialiseRecord,
} from '../decide/record'
import type { Records, Secrets } from '../storage/records'
import { sessionKey, type Unavailable } from '../storage/site-store'

/** Result of a write. After `changed`, the value is the record that another request has written. */
export type WriteResult = 'done' | 'changed' | Unavailable

/** Result of the end of a session. Its data are taken in the same step. */
export type MarkerResult =
  | { readonly outcome: 'done'; readonly taken: string | null }
  | { readonly outcome: 'changed' | Unavailable }

/** Parts of the site that a stored record needs. */
export interface StoredRecordParts {
  readonly records: Records
  readonly config: SessionLives
  now(): number
}

/** A browser may still send the cookie of a session after so many moves. */
const MAX_SUCCESSORS = 8
const POLL_MS = 25
const PATIENCE_MS = 500
/** Tries of a compare-and-set. More concurrent writers of one record are a fault. */
export const MAX_TRIES = 4

/** The session that follows a moved session. */
export interface Successor {
  readonly sessionId: string
  readonly stored: StoredRecord
}

/** The login record of one request's session. */
export class StoredRecord {
  readonly #parts: StoredRecordParts
  #key: string | undefined
  #stored: StoredEntry
  #hasBeenRead: boolean

  /** @param key of the session in the store, `undefined` if the browser has no session */
  constructor(parts: StoredRecordParts, key: string | undefined, stored: StoredEntry | Unavailable) {
    this.#parts = parts
    this.#key = key
    this.#hasBeenRead = stored !== 'unavailable'
    this.#stored = stored === 'unavailable' ? NO_ENTRY : stored
  }

  get key(): string | undefined {
    return this.#key
  }
  get value(): SsoRecord | undefined {
    return recordIn(this.#stored)
  }
  get state(): StoredEntry['state'] {
    return this.#stored.state
  }
  get hasJustEnded(): boolean {
    return hasJustEnded(this.#stored, this.#parts.now())
  }
  get isUnwritten(): boolean {
    return this.#stored.raw === null
  }
  /** Has Redis returned the entry of the session? */
  get hasBeenRead(): boolean {
    return this.#hasBeenRead
  }
  /** The decrypted secrets. `undefined` without a record, or if no secret of this process fits. */
  get secrets(): Secrets | undefined {
    return this.value && this.#parts.records.open(this.value)
  }

  async reread(): Promise<'done' | Unavailable> {
    if (this.#key === undefined) return 'done'
    const stored = await this.#parts.records.read(this.#key)
    if (stored === 'unavailable') return stored
    this.#stored = stored
    this.#hasBeenRead = true
    return 'done'
  }

  /** Replaces the record that was read. @param dataSeconds renews the expiry of the session's data in the same step */
  async replace(next: SsoRecord, dataSeconds?: number): Promise<WriteResult> {
    if (this.#key === undefined) return 'changed'
    const { records, config, now } = this.#parts
    const text = serialiseRecord(next)
    const done = await records.replace(this.#key, this.#stored.raw, text, lifetimeOf(next, now(), config), dataSeconds)
    return this.#written(done, readEntry(text))
  }

  /** Changes the record, also if other requests change the record at the same time. @param next returns the record to write, or `undefined` to stop */
  async update(next: (found: SsoRecord) => SsoRecord | undefined): Promise<WriteResult | 'stopped'> {
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      const record = this.value && next(this.value)
      if (record === undefined) return 'stopped'
      const written = await this.replace(record)
      if (written !== 'changed') return written
    }
    return 'changed'
  }

  /** Deletes the record while `isWanted` returns true. The session continues without a record. */
  async drop(isWanted: (stored: this) => boolean): Promise<WriteResult> {
    for (let tries = 0; tries < MAX_TRIES && isWanted(this); tries += 1) {
      const { raw } = this.#stored
      if (this.#key === undefined || raw === null) return 'changed'
      const dropped = await this.#written(await this.#parts.records.drop(this.#key, raw), NO_ENTRY)
      if (dropped !== 'changed') return dropped
    }
    return 'changed'
  }

  /** Ends the session and takes its data, while `isWanted` returns true. @param successor ID of the next session */
  async writeMarker(isWanted: (stored: this) => boolean, word: SessionMarker, successor = ''): Promise<MarkerResult> {
    for (let tries = 0; tries < MAX_TRIES && isWanted(this); tries += 1) {
      if (this.#key === undefined) return { outcome: 'done', taken: null }
      const revoked = await this.#parts.records.writeMarker(this.#key, this.#stored.raw, word, successor)
      if (revoked === 'unavailable') return { outcome: revoked }
      if (revoked !== false) {
        this.#stored = revoked.left // a logout of the same request follows the moved session
        return { outcome: 'done', taken: revoked.taken }
      }
      if ((await this.reread()) === 'unavailable') return { outcome: 'unavailable' }
    }
    return { outcome: 'changed' }
  }

  /** Writes the first record of another key. */
  async begin(key: string, record: SsoRecord): Promise<WriteResult> {
    this.#key = key
    this.#stored = NO_ENTRY
    return this.replace(record)
  }

  switchTo(sessionId: string): Promise<'done' | Unavailable> {
    this.#key = sessionKey(sessionId)
    this.#stored = NO_ENTRY
    return this.reread()
  }

  /** Switches to the session that follows a moved session, up to the last. */
  async followMovedSession(): Promise<'done' | Unavailable> {
    for (let steps = 0; steps < MAX_SUCCESSORS; steps += 1) {
      const successor = this.#parts.records.successorOf(this.#stored)
      if (successor === undefined) return 'done'
      if ((await this.switchTo(successor)) === 'unavailable') return 'unavailable'
    }
    return 'done'
  }

  /** Reads the last session that follows a moved session. The session may not be written yet. */
  async successor(): Promise<Successor | undefined> {
    let last: Successor | undefined
    for (let steps = 0, stored = this.#stored; steps < MAX_SUCCESSORS; steps += 1) {
      const sessionId = this.#parts.records.successorOf(stored)
      if (sessionId === undefined) break
      const next = new StoredRecord(this.#parts, sessionKey(sessionId), 'unavailable')
      if ((await next.reread()) === 'unavailable') return undefined
      last = { sessionId, stored: next }
      stored = next.#stored
    }
    return last
  }

  /** As {@link successor}, but waits until the other request has written the session. */
  async writtenSuccessor(): Promise<Successor | undefined> {
    const end = performance.now() + PATIENCE_MS
    for (;;) {
      const found = await this.successor()
      if (!found?.stored.isUnwritten || performance.now() > end) return found
      await sleep(POLL_MS)
    }
  }

  forget(): void {
    this.#key = undefined
    this.#stored = NO_ENTRY
  }

  async #written(done: boolean | Unavailable, stored: StoredEntry): Promise<WriteResult> {
    if (done === 'unavailable') return done
    if (!done) return (await this.reread()) === 'done' ? 'changed' : 'unavailable'
    this.#stored = stored
    return 'done'
  }
}
