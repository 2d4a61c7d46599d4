/**
 * Stores pending logouts, encrypted, for all processes. A queue holds the time at which each logout is due.
 * The queue has eight parts. Each part is in the same slot of a Cluster as its logouts.
 * So a master that does not answer delays no logout of another master.
 */
import { type LogoutScope, mergeLogouts, type PendingLogout } from '../decide/logout'
import { LogoutMemory } from './logout-memory'
import { REVOCATION_SECONDS } from './session-index'
import {
  type Done,
  doneUnlessUnavailable,
  SiteStore,
  seal,
  storeUnavailable,
  type Unavailable,
  unlessUnavailable,
  unseal,
} from './site-store'

/** A pending logout as stored. */
export interface StoredLogout extends PendingLogout {
  /** When the logout was added, in seconds since 1970. */
  readonly since: number
}

/**
 * State of a logout in Redis. `unreadable`: no secret of this process decrypts the logout. `finished`: nothing is left to do.
 * `not_found`: Redis has no such logout.
 */
type FoundLogout = StoredLogout | 'unreadable' | 'finished' | 'not_found'

/** Text in Redis that replaces a finished logout, so that other processes know. */
const FINISHED = 'over'
/** Longer than a Logout call. */
const RETRY_LOCK_SECONDS = 5
/** Seconds without another retry after a slow failure, so that few pages wait for the SSO system. */
const RETRY_PAUSE_SECONDS = 4
/** Seconds for which an entry belongs to the process that took the entry. Longer than a Logout call. */
const LEASE_SECONDS = 5
/** Bounds of the wait before the next retry. A logout waits again for as long as the logout has waited so far. */
const MIN_WAIT_SECONDS = 5
const MAX_WAIT_SECONDS = 120
/** Random share of a wait, so that the logouts of an outage are not retried together. */
const WAIT_SPREAD = 0.2
const PARTS = 8
/** Tries of a compare-and-set. A user can log out in several tabs and processes at once. */
const MAX_TRIES = 20

/** A copy of a pending logout, in the memory of the process that added the logout. The process keeps the copy until a time. */
interface LogoutCopy {
  readonly logout: StoredLogout
  readonly until: number
}

/** The pending logouts of a site, under the site's prefix. The ID of a logout is the hash of its SSO session, or the key of its session. */
export class PendingLogouts extends SiteStore {
  /** Copies of the logouts that this process has added, because Redis may evict logouts, restart empty, or refuse writes. */
  readonly #copies = new LogoutMemory<LogoutCopy>()

  /** Number of logouts whose copies this process keeps. */
  get copies(): number {
    return this.#copies.size
  }

  /** Adds a logout, due at once. An earlier logout of the same ID is merged. @param now seconds since 1970 */
  add(id: string, logout: PendingLogout, now: number): Promise<Done | Unavailable> {
    const merged = { ...mergeLogouts(this.#copies.get(id)?.logout, logout), since: now }
    this.#copies.set(id, { logout: merged, until: now + REVOCATION_SECONDS })
    return doneUnlessUnavailable(async () => {
      await this.#write(id, merged)
      await this.kv.enqueue(this.#queueOf(id), id, now)
    })
  }

  /** Merges a logout into the logout that Redis has. */
  async #write(id: string, logout: StoredLogout): Promise<void> {
    const sealed = (merged: StoredLogout) => seal(JSON.stringify(merged), this.encryptionKeys())
    await this.#replace(id, (found) => sealed(typeof found === 'object' ? mergeLogouts(found, logout) : logout))
  }

  /**
   * Replaces the logout that Redis has. If another process writes at the same time, reads and decides again.
   * @param next returns the text to write, or `undefined` to leave the logout
   * @returns whether the logout is replaced
   */
  async #replace(id: string, next: (found: FoundLogout) => string | undefined): Promise<boolean> {
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      const { raw, found } = await this.#read(id)
      const text = next(found)
      if (text === undefined) return false
      const { isDone } = await this.kv.compareAndSet(this.#key('pend', id), raw, text, REVOCATION_SECONDS)
      if (isDone) return true
    }
    throw storeUnavailable()
  }

  /**
   * Adds logouts again that Redis has lost or never stored, and confirmations. Uses the copies of this process.
   * @param most maximum of copies to examine, in turn
   * @returns the logouts that Redis did not have, and has now
   */
  async restoreLost(now: number, most: number): Promise<StoredLogout[]> {
    const examined = [...this.#copies].slice(0, most)
    const results = await Promise.all(
      examined.map(([id, copy]) => unlessUnavailable(() => this.#restoreIfLost(id, copy, now))),
    )
    return results.filter((result) => typeof result === 'object')
  }

  async #restoreIfLost(id: string, copy: LogoutCopy, now: number): Promise<StoredLogout | undefined> {
    this.#copies.delete(id)
    if (copy.until <= now) return undefined
    this.#copies.set(id, copy)
    const { logout } = copy
    const { found } = await this.#read(id)
    if (found === 'not_found' || (typeof found === 'object' && isNewTo(found, logout))) await this.#write(id, logout)
    if (found === 'finished') this.#copies.delete(id)
    else await this.kv.enqueueOnce(this.#queueOf(id), id, now)
    return found === 'not_found' ? logout : undefined
  }

  find(id: string): Promise<FoundLogout | Unavailable> {
    return unlessUnavailable(async () => (await this.#read(id)).found)
  }

  async #read(id: string): Promise<{ readonly raw: string | null; readonly found: FoundLogout }> {
    const [raw] = await this.kv.mget([this.#key('pend', id)])
    if (raw === null) return { raw, found: 'not_found' }
    if (raw === FINISHED) return { raw, found: 'finished' }
    const text = unseal(raw, this.encryptionKeys())
    return { raw, found: text === undefined ? 'unreadable' : JSON.parse(text) }
  }

  /** Acquires the lock of a logout's retry. True for a single caller in five seconds. */
  lockRetry(id: string): Promise<boolean | Unavailable> {
    return this.isSet(this.#key('retry', id), null, '1', RETRY_LOCK_SECONDS)
  }

  /** Releases the lock of a failed retry, so that the next retry may follow at once. */
  unlockRetry(id: string): Promise<Done | Unavailable> {
    return doneUnlessUnavailable(() => this.kv.del(this.#key('retry', id)))
  }

  /** Allows no retry for a pause, after a retry that failed slowly. */
  pauseRetry(id: string): Promise<Done | Unavailable> {
    const key = this.#key('retry', id)
    return doneUnlessUnavailable(() => this.kv.compareAndSet(key, undefined, '1', RETRY_PAUSE_SECONDS))
  }

  /**
   * Notes that a logout is over, also for other processes. A logout of all that was added during the retry of a single logout stays.
   * @param logout the logout that is over
   */
  markFinished(id: string, { isAll }: LogoutScope): Promise<Done | Unavailable> {
    const isWider = (other: FoundLogout | undefined) => typeof other === 'object' && other.isAll && !isAll
    if (!isWider(this.#copies.get(id)?.logout)) this.#copies.delete(id)
    return doneUnlessUnavailable(async () => {
      const isReplaced = await this.#replace(id, (found) => (isWider(found) ? undefined : FINISHED))
      if (isReplaced) await this.kv.remove(this.#queueOf(id), [id])
    })
  }

  removeFromQueue(id: string): Promise<Done | Unavailable> {
    return doneUnlessUnavailable(() => this.kv.remove(this.#queueOf(id), [id]))
  }

  /**
   * Takes due logouts from all parts of the queue. No other process takes the logouts in the next seconds.
   * An entry with a longer wait than the maximum was written with a wrong clock, and is due.
   * @param isBack the SSO system answers again: all logouts are due, except those that a process has just taken
   * @returns `'unavailable'` if no logout is due and a part could not be read
   */
  async takeDue(now: number, most: number, isBack = false): Promise<string[] | Unavailable> {
    const longestWait = LEASE_SECONDS + (isBack ? 0 : MAX_WAIT_SECONDS * (1 + WAIT_SPREAD))
    const times = { now, latest: now + longestWait }
    const ofEach = Math.ceil(most / PARTS)
    const queues = Array.from({ length: PARTS }, (_, part) => this.#queue(part))
    const found = await Promise.all(
      queues.map((queue) => unlessUnavailable(() => this.kv.takeDue(queue, times, now + LEASE_SECONDS, ofEach))),
    )
    const due = found.flatMap((part) => (part === 'unavailable' ? [] : part))
    return due.length === 0 && found.includes('unavailable') ? 'unavailable' : due
  }

  /**
   * Delays a logout after a failed retry.
   * @param since time from which the logout waits, in seconds since 1970
   * @param spread from 0 to 1, at random
   */
  postpone(id: string, since: number, now: number, spread: number): Promise<Done | Unavailable> {
    const wait = Math.min(Math.max(now - since, MIN_WAIT_SECONDS), MAX_WAIT_SECONDS)
    const due = now + wait * (1 + WAIT_SPREAD * spread)
    return doneUnlessUnavailable(() => this.kv.enqueue(this.#queueOf(id), id, due))
  }

  /** Name of a value beside the logout's part of the queue. */
  #key(kind: string, id: string): string {
    return `${this.prefix}${kind}:{logouts${partOf(id)}}${id}`
  }
  #queueOf(id: string): string {
    return this.#queue(partOf(id))
  }
  #queue(part: number): string {
    return `${this.prefix}logouts:{logouts${part}}`
  }
}

/** Does this process's copy of a logout know more than the logout that Redis has? */
function isNewTo(found: PendingLogout, own: PendingLogout): boolean {
  const merged = mergeLogouts(found, own)
  return merged.isAll !== found.isAll || merged.isConfirmed !== found.isConfirmed
}

const partOf = (id: string) => id.charCodeAt(id.length - 1) % PARTS
