/**
 * The login record of one request's session, as this request knows it, and the only code that writes one. Every write is a
 * compare-and-set on exactly what was read. If another request was faster, the record is read again.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { lifetimeOf, type SessionLives, type SsoRecord, serialiseRecord } from '../decide/record'
import { isLateFor, NO_ENTRY, readEntry, recordIn, type StoredEntry, type Tombstone } from '../decide/stored-entry'
import { sessionKey } from '../storage/keys'
import type { Records, Secrets } from '../storage/records'
import type { Unavailable } from '../storage/unavailable'

/** What became of a write. After `changed` the record is what another request made of it. */
export type Written = 'done' | 'changed' | Unavailable

/** What became of a revocation; the data were taken in the same step. */
export type Revoked =
  | { readonly outcome: 'done'; readonly taken: string | null }
  | { readonly outcome: 'changed' | Unavailable }

/** What it needs of its site. */
export interface Parts {
  readonly records: Records
  readonly config: SessionLives
  /** Seconds since 1970. */
  now(): number
}

/** As many sessions may have followed one another while a browser still came with the first one's cookie. */
const MAX_SUCCESSORS = 8
const POLL_MS = 25
const PATIENCE_MS = 500
/** So many tries a compare-and-set has: more writers of one record at once are a fault. */
export const MAX_TRIES = 4

/** A session that followed on another one. */
export interface Successor {
  readonly sessionId: string
  readonly stored: StoredRecord
}

/** @see the head of the file */
export class StoredRecord {
  readonly #parts: Parts
  #key: string | undefined
  #stored: StoredEntry
  #isAvailable: boolean

  /** @param key of the session in the store; `undefined` when the browser has none */
  constructor(parts: Parts, key: string | undefined, stored: StoredEntry | Unavailable) {
    this.#parts = parts
    this.#key = key
    this.#isAvailable = stored !== 'unavailable'
    this.#stored = stored === 'unavailable' ? NO_ENTRY : stored
  }

  get key(): string | undefined {
    return this.#key
  }
  /** The record, where there is a living one that can be read. */
  get value(): SsoRecord | undefined {
    return recordIn(this.#stored)
  }
  get state(): StoredEntry['state'] {
    return this.#stored.state
  }
  /** Has the session moved or ended a moment ago? */
  get isLate(): boolean {
    return isLateFor(this.#stored, this.#parts.now())
  }
  /** Is nothing there yet? */
  get isYetToCome(): boolean {
    return this.#stored === NO_ENTRY || this.#stored.raw === null
  }
  /** Could it be read at all? */
  get isAvailable(): boolean {
    return this.#isAvailable
  }
  /** What is sealed in the record; `undefined` without a record, or when no secret of this process opens it. */
  get secrets(): Secrets | undefined {
    return this.value && this.#parts.records.open(this.value)
  }

  /** Reads it again. */
  async reread(): Promise<'done' | Unavailable> {
    if (this.#key === undefined) return 'done'
    const stored = await this.#parts.records.read(this.#key)
    if (stored === 'unavailable') return stored
    this.#stored = stored
    this.#isAvailable = true
    return 'done'
  }

  /** Writes what follows on what was read. @param dataSeconds renews the expiry of the session's data in the same step */
  async replace(next: SsoRecord, dataSeconds?: number): Promise<Written> {
    if (this.#key === undefined) return 'changed'
    const { records, config, now } = this.#parts
    const text = serialiseRecord(next)
    const done = await records.replace(this.#key, this.#stored.raw, text, lifetimeOf(next, now(), config), dataSeconds)
    return this.#written(done, readEntry(text))
  }

  /** Changes the record, whatever other requests make of it meanwhile. @param next the record to write, or `undefined` to stop */
  async update(next: (found: SsoRecord) => SsoRecord | undefined): Promise<Written | 'stopped'> {
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      const record = this.value && next(this.value)
      if (record === undefined) return 'stopped'
      const written = await this.replace(record)
      if (written !== 'changed') return written
    }
    return 'changed'
  }

  /** Takes the record away, as long as `isWanted` says so; the session goes on without one. */
  async drop(isWanted: (stored: this) => boolean): Promise<Written> {
    for (let tries = 0; tries < MAX_TRIES && isWanted(this); tries += 1) {
      const { raw } = this.#stored
      if (this.#key === undefined || raw === null) return 'changed'
      const dropped = await this.#written(await this.#parts.records.drop(this.#key, raw), NO_ENTRY)
      if (dropped !== 'changed') return dropped
    }
    return 'changed'
  }

  /** Ends the session and takes its data, as long as `isWanted` says so. @param successor session ID of the one that follows */
  async revoke(isWanted: (stored: this) => boolean, word: Tombstone, successor = ''): Promise<Revoked> {
    for (let tries = 0; tries < MAX_TRIES && isWanted(this); tries += 1) {
      const revoked = await this.#revokeRead(word, successor)
      if (revoked.outcome !== 'changed') return revoked
    }
    return { outcome: 'changed' }
  }

  async #revokeRead(word: Tombstone, successor: string): Promise<Revoked> {
    if (this.#key === undefined) return { outcome: 'done', taken: null }
    const revoked = await this.#parts.records.revoke(this.#key, this.#stored.raw, word, successor)
    if (revoked === 'unavailable') return { outcome: revoked }
    if (revoked === false) return { outcome: (await this.reread()) === 'done' ? 'changed' : 'unavailable' }
    this.#stored = revoked.left // a logout on the same request follows it to the session that is being made
    return { outcome: 'done', taken: revoked.taken }
  }

  /** Begins under another key, where nothing is yet. */
  async begin(key: string, record: SsoRecord): Promise<Written> {
    this.#key = key
    this.#stored = NO_ENTRY
    return this.replace(record)
  }

  /** Goes over to a session that exists already. */
  turnTo(sessionId: string): Promise<'done' | Unavailable> {
    this.#key = sessionKey(sessionId)
    this.#stored = NO_ENTRY
    return this.reread()
  }

  /** Goes over to the session that followed on this one, and on that one, up to the last. */
  async follow(): Promise<'done' | Unavailable> {
    for (let steps = 0; steps < MAX_SUCCESSORS; steps += 1) {
      const successor = this.#parts.records.successorOf(this.#stored)
      if (successor === undefined) return 'done'
      if ((await this.turnTo(successor)) === 'unavailable') return 'unavailable'
    }
    return 'done'
  }

  /** The session that followed on this one, at the end of the trail; it may not have been written yet. */
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

  /** As {@link successor}. The request that moved the session writes the one that follows in a moment: that is waited for. */
  async writtenSuccessor(): Promise<Successor | undefined> {
    const end = performance.now() + PATIENCE_MS
    for (;;) {
      const found = await this.successor()
      if (!found?.stored.isYetToCome || performance.now() > end) return found
      await sleep(POLL_MS)
    }
  }

  /** Detaches this request from the record. */
  forget(): void {
    this.#key = undefined
    this.#stored = NO_ENTRY
  }

  async #written(done: boolean | Unavailable, stored: StoredEntry): Promise<Written> {
    if (done === 'unavailable') return done
    if (!done) return (await this.reread()) === 'done' ? 'changed' : 'unavailable'
    this.#stored = stored
    return 'done'
  }
}
