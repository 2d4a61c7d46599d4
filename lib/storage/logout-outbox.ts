/**
 * Queues logouts that the SSO system has not confirmed. They are encrypted and shared by all processes.
 * The queue has eight parts. Each part is in the same slot of a Cluster as its logouts.
 * So a master that does not answer delays no logout of another master.
 */

import { SiteStore } from './keys'
import { RememberedLogouts } from './remembered-logouts'
import { seal, unseal } from './seal'
import { REVOCATION_SECONDS } from './session-index'
import { type Done, doneUnlessUnavailable, type Unavailable, unlessUnavailable } from './unavailable'

/** A logout that is not finished: the SSO system has not confirmed the logout, or Redis has not ended all its sessions. */
export interface PendingLogout {
  readonly sid: string
  /** Account of the login, if any. */
  readonly accountId?: string
  /** Account ID, if all sessions of the account are to end. */
  readonly aid?: string
  /** Key of the browser's session, which may be missing in the index. */
  readonly key?: string
  /** Has the SSO system confirmed the logout? Then a second Logout All would end newer logins. */
  readonly isConfirmed?: boolean
  readonly ipa: string
  readonly uas: string
}

/** A logout in the queue. */
export interface QueuedLogout extends PendingLogout {
  /** Time of queuing, in seconds since 1970. */
  readonly since: number
}

type FoundLogout = QueuedLogout | 'confirmed' | 'unknown' | 'gone'

/** Replaces a logout that the SSO system has confirmed. */
const CONFIRMED = 'confirmed'
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

/** A logout in the memory of the process that queued the logout, with the time until which the process remembers the logout. */
interface OwnLogout {
  readonly logout: QueuedLogout
  readonly until: number
}

/** The pending logouts of a site, under the site's prefix. */
export class LogoutOutbox extends SiteStore {
  /** Logouts that the current process has queued, because Redis may evict logouts, restart empty, or refuse writes. */
  readonly #own = new RememberedLogouts<OwnLogout>()

  /** Queues a logout, due at once. A logout of all sessions stays a logout of all sessions. @param now seconds since 1970 */
  keep(sidHash: string, logout: PendingLogout, now: number): Promise<Done | Unavailable> {
    const widest = { ...widerOf(this.#own.get(sidHash)?.logout, logout), since: now }
    this.#own.set(sidHash, { logout: widest, until: now + REVOCATION_SECONDS })
    return doneUnlessUnavailable(async () => {
      await this.#write(sidHash, widest)
      await this.kv.enqueue(this.#queueOf(sidHash), sidHash, now)
    })
  }

  /**
   * Writes a logout. A logout of all sessions replaces any other, unless the SSO system has confirmed that one of all.
   * A logout of a single session that loses against another writer is not needed.
   */
  async #write(sidHash: string, logout: QueuedLogout): Promise<void> {
    const { raw, kept } = await this.#read(sidHash)
    const isAll = logout.aid !== undefined
    if (typeof kept === 'object' && (!isAll || (kept.aid !== undefined && kept.isConfirmed))) return
    const sealed = seal(JSON.stringify(logout), this.encryptionKeys())
    await this.kv.compareAndSet(this.#key('pend', sidHash), isAll ? undefined : raw, sealed, REVOCATION_SECONDS)
  }

  /** Queues again logouts of the current process that Redis has lost. @param most maximum of logouts to examine, in turn */
  restore(now: number, most: number): Promise<Done | Unavailable> {
    const examined = [...this.#own].slice(0, most)
    return doneUnlessUnavailable(() =>
      Promise.all(examined.map(([sidHash, own]) => this.#restoreOne(sidHash, own, now))),
    )
  }

  async #restoreOne(sidHash: string, own: OwnLogout, now: number): Promise<void> {
    this.#own.delete(sidHash)
    if (own.until <= now) return
    this.#own.set(sidHash, own)
    const { kept } = await this.#read(sidHash)
    const isNews = typeof kept === 'object' && own.logout.isConfirmed && !kept.isConfirmed
    if (kept === 'gone' || isNews) await this.#write(sidHash, own.logout)
    if (kept === 'confirmed') this.#own.delete(sidHash)
    else await this.kv.enqueueOnce(this.#queueOf(sidHash), sidHash, now)
  }

  /** Reads a logout. `'unknown'`: only another process may have the secret for the logout. `'gone'`: Redis has no logout. */
  find(sidHash: string): Promise<FoundLogout | Unavailable> {
    return unlessUnavailable(async () => (await this.#read(sidHash)).kept)
  }

  async #read(sidHash: string): Promise<{ readonly raw: string | null; readonly kept: FoundLogout }> {
    const [raw] = await this.kv.mget([this.#key('pend', sidHash)])
    if (raw === null) return { raw, kept: 'gone' }
    if (raw === CONFIRMED) return { raw, kept: 'confirmed' }
    const text = unseal(raw, this.encryptionKeys())
    return { raw, kept: text === undefined ? 'unknown' : JSON.parse(text) }
  }

  /** Acquires the lock of a logout's retry. True for a single caller in five seconds. */
  lockRetry(sidHash: string): Promise<boolean | Unavailable> {
    return this.isSet(this.#key('retry', sidHash), null, '1', RETRY_LOCK_SECONDS)
  }

  /** Releases the lock of a failed retry, so that the next retry may follow at once. */
  unlockRetry(sidHash: string): Promise<Done | Unavailable> {
    return doneUnlessUnavailable(() => this.kv.del(this.#key('retry', sidHash)))
  }

  /** Allows no retry for a pause, after a retry that failed slowly. */
  pauseRetry(sidHash: string): Promise<Done | Unavailable> {
    const key = this.#key('retry', sidHash)
    return doneUnlessUnavailable(() => this.kv.compareAndSet(key, undefined, '1', RETRY_PAUSE_SECONDS))
  }

  confirm(sidHash: string): Promise<Done | Unavailable> {
    this.#own.delete(sidHash)
    return doneUnlessUnavailable(async () => {
      await this.kv.compareAndSet(this.#key('pend', sidHash), undefined, CONFIRMED, REVOCATION_SECONDS)
      await this.kv.remove(this.#queueOf(sidHash), [sidHash])
    })
  }

  removeFromQueue(sidHash: string): Promise<Done | Unavailable> {
    return doneUnlessUnavailable(() => this.kv.remove(this.#queueOf(sidHash), [sidHash]))
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
   * @param since time of queuing, if known
   * @param spread from 0 to 1, at random
   */
  postpone(sidHash: string, since: number | undefined, now: number, spread: number): Promise<Done | Unavailable> {
    const waited = since === undefined ? MAX_WAIT_SECONDS : now - since
    const wait = Math.min(Math.max(waited, MIN_WAIT_SECONDS), MAX_WAIT_SECONDS)
    const due = now + wait * (1 + WAIT_SPREAD * spread)
    return doneUnlessUnavailable(() => this.kv.enqueue(this.#queueOf(sidHash), sidHash, due))
  }

  /** Name of a value beside the logout's part of the queue. */
  #key(kind: string, sidHash: string): string {
    return `${this.prefix}${kind}:{logouts${partOf(sidHash)}}${sidHash}`
  }
  #queueOf(sidHash: string): string {
    return this.#queue(partOf(sidHash))
  }
  #queue(part: number): string {
    return `${this.prefix}logouts:{logouts${part}}`
  }
}

const partOf = (sidHash: string) => sidHash.charCodeAt(sidHash.length - 1) % PARTS

/** Returns the wider of two logouts. A confirmation counts only for the logout that the SSO system has confirmed. */
function widerOf(known: PendingLogout | undefined, logout: PendingLogout): PendingLogout {
  if (known?.aid === undefined) return logout
  if (logout.aid !== undefined) return known.isConfirmed ? { ...logout, isConfirmed: true } : logout
  if (known.isConfirmed) return known
  const { isConfirmed: _ofOneSession, ...unconfirmed } = logout
  return { ...unconfirmed, aid: known.aid }
}
