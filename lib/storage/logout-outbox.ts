/**
 * Logouts that the SSO system has not confirmed: sealed, queued, shared by all processes. The queue has eight parts, each in a slot of
 * a Cluster of its own together with its logouts: one master that is down keeps the others' logouts from nothing.
 */
import type { Kv } from './kv'
import { seal, unseal } from './seal'
import { ENDED_SECONDS } from './session-index'
import { type Done, doneUnlessUnavailable, type Unavailable, unlessUnavailable } from './unavailable'

/** What a retry needs. */
export interface PendingLogout {
  readonly sid: string
  /** Account ID, where all of its sessions are to end. */
  readonly aid?: string
  readonly ipa: string
  readonly uas: string
}

type FoundLogout = PendingLogout | 'confirmed' | 'unknown' | 'gone'

/** Says that the SSO system has confirmed a logout. */
const CONFIRMED = 'confirmed'
const RETRY_LOCK_SECONDS = 2
/** Failed retries are counted past the longest wait between two of them, in seconds. */
const TRIES_SECONDS = 3600
/** Whoever takes an entry has it to himself for so long, in seconds: longer than one Logout takes. */
const LEASE_SECONDS = 5
/** The wait after the first retry that failed, the second, and so on; the last one holds for all that follow. In seconds. */
const WAITS_SECONDS = [5, 30, 120]
const LONGEST_SECONDS = 120
/** Waits differ by as much of themselves, so that the logouts of one outage are not retried together. */
const WAIT_SPREAD = 0.2

/** Parts of the queue. */
const PARTS = 8

/** So many of its own a process remembers; the oldest go first. */
const MAX_OWN = 10_000

/** A logout as the process that kept it remembers it; until it is forgotten, in seconds since 1970. */
interface OwnLogout {
  readonly logout: PendingLogout
  readonly until: number
}

/** The logouts of one site, under its prefix. */
export class LogoutOutbox {
  readonly #kv: Kv
  /** What this process has kept: a store may evict it, come back empty, or take nothing for a while. */
  readonly #own = new Map<string, OwnLogout>()
  readonly #prefix: string
  readonly #boxKeys: () => readonly Buffer[]

  constructor(kv: Kv, prefix: string, encryptionKeys: () => readonly Buffer[]) {
    this.#kv = kv
    this.#prefix = prefix
    this.#boxKeys = encryptionKeys
  }

  /** Keeps a logout, and queues its retry; one of all sessions stays one of all. @param due seconds since 1970 */
  keep(sidHash: string, logout: PendingLogout, due: number): Promise<Done | Unavailable> {
    const { aid } = this.#own.get(sidHash)?.logout ?? {}
    const widest = withAccount(logout, aid)
    this.#remember(sidHash, { logout: widest, until: due + ENDED_SECONDS })
    return doneUnlessUnavailable(async () => {
      await this.#write(sidHash, widest)
      await this.#kv.enqueue(this.#queueOf(sidHash), sidHash, due)
    })
  }

  /** A logout of all sessions replaces any other one, and no other one replaces it: one that loses against another writer is not needed. */
  async #write(sidHash: string, logout: PendingLogout): Promise<void> {
    const sealed = seal(JSON.stringify(logout), this.#boxKeys())
    if (logout.aid !== undefined) return this.#kv.overwrite(this.#key(sidHash), sealed, ENDED_SECONDS)
    const { raw, kept } = await this.#read(sidHash)
    if (typeof kept === 'string') await this.#kv.compareAndSet(this.#key(sidHash), raw, sealed, ENDED_SECONDS)
  }

  /** Keeps again what the store has lost of this process's own, and is not confirmed. @param most so many are looked at, in turn */
  restore(now: number, most: number): Promise<Done | Unavailable> {
    const looked = [...firstOf(this.#own, most)]
    return doneUnlessUnavailable(() => Promise.all(looked.map(([sidHash, own]) => this.#restoreOne(sidHash, own, now))))
  }

  async #restoreOne(sidHash: string, own: OwnLogout, now: number): Promise<void> {
    this.#own.delete(sidHash)
    if (own.until <= now) return
    this.#remember(sidHash, own)
    const { kept } = await this.#read(sidHash)
    if (kept === 'gone') await this.#write(sidHash, own.logout)
    if (kept === 'confirmed') this.#own.delete(sidHash)
    else await this.#kv.enqueueOnce(this.#queueOf(sidHash), sidHash, now)
  }

  /** As the newest. */
  #remember(sidHash: string, own: OwnLogout): void {
    this.#own.delete(sidHash)
    this.#own.set(sidHash, own)
    for (const [oldest] of firstOf(this.#own, this.#own.size - MAX_OWN)) this.#own.delete(oldest)
  }

  /** What is kept: `'unknown'` when no secret of this process opens it, but another one's may; `'gone'` when nobody can tell any more. */
  find(sidHash: string): Promise<FoundLogout | Unavailable> {
    return unlessUnavailable(async () => (await this.#read(sidHash)).kept)
  }

  async #read(sidHash: string): Promise<{ readonly raw: string | null; readonly kept: FoundLogout }> {
    const [raw] = await this.#kv.mget([this.#key(sidHash)])
    if (raw === null) return { raw, kept: 'gone' }
    if (raw === CONFIRMED) return { raw, kept: 'confirmed' }
    const text = unseal(raw, this.#boxKeys())
    return { raw, kept: text === undefined ? 'unknown' : JSON.parse(text) }
  }

  /** True for the one caller that may retry this logout in the next seconds. */
  claim(sidHash: string): Promise<boolean | Unavailable> {
    return unlessUnavailable(() => this.#kv.claim(this.#name('retry', sidHash), RETRY_LOCK_SECONDS))
  }

  /** The retry came to nothing: the next one may follow at once. */
  release(sidHash: string): Promise<Done | Unavailable> {
    return doneUnlessUnavailable(() => this.#kv.del(this.#name('retry', sidHash)))
  }

  /** The SSO system has confirmed it. */
  confirm(sidHash: string): Promise<Done | Unavailable> {
    this.#own.delete(sidHash)
    return doneUnlessUnavailable(async () => {
      await this.#kv.overwrite(this.#key(sidHash), CONFIRMED, ENDED_SECONDS)
      await this.#kv.dequeue(this.#queueOf(sidHash), sidHash)
    })
  }

  /** Takes one off the queue whose logout is gone. */
  drop(sidHash: string): Promise<Done | Unavailable> {
    return doneUnlessUnavailable(() => this.#kv.dequeue(this.#queueOf(sidHash), sidHash))
  }

  /**
   * Logouts that are due, each for the caller alone in the next seconds, from all parts of the queue. An entry that would wait longer than
   * the longest wait was written by a clock that is wrong: it is due too. `'unavailable'` if there is none, and a part could not be read.
   */
  async takeDue(now: number, most: number): Promise<string[] | Unavailable> {
    const latest = now + LONGEST_SECONDS * (1 + WAIT_SPREAD) + LEASE_SECONDS
    const ofEach = Math.ceil(most / PARTS)
    const found = await Promise.all(
      this.#queues.map((queue) =>
        unlessUnavailable(() => this.#kv.takeDue(queue, { now, latest }, now + LEASE_SECONDS, ofEach)),
      ),
    )
    const due = found.flatMap((part) => (part === 'unavailable' ? [] : part))
    return due.length === 0 && found.includes('unavailable') ? 'unavailable' : due
  }

  /** A retry has failed: the next one waits longer. @param spread from 0 to 1, at random */
  postpone(sidHash: string, now: number, spread: number): Promise<Done | Unavailable> {
    return doneUnlessUnavailable(async () => {
      const tries = await this.#kv.increment(this.#name('tries', sidHash), TRIES_SECONDS)
      const wait = WAITS_SECONDS[tries - 1] ?? LONGEST_SECONDS
      await this.#kv.enqueue(this.#queueOf(sidHash), sidHash, now + wait * (1 + WAIT_SPREAD * spread))
    })
  }

  /** The SSO system answers again: all logouts that wait are due, but for those that a process has just taken. */
  hasten(now: number): Promise<Done | Unavailable> {
    return doneUnlessUnavailable(() =>
      Promise.all(this.#queues.map((queue) => this.#kv.hasten(queue, now + LEASE_SECONDS, now))),
    )
  }

  #key(sidHash: string): string {
    return this.#name('pend', sidHash)
  }
  #name(kind: string, sidHash: string): string {
    return `${this.#prefix}${kind}:{logouts${partOf(sidHash)}}${sidHash}`
  }
  #queueOf(sidHash: string): string {
    return `${this.#prefix}logouts:{logouts${partOf(sidHash)}}`
  }
  get #queues(): string[] {
    return Array.from({ length: PARTS }, (_, part) => `${this.#prefix}logouts:{logouts${part}}`)
  }
}

const partOf = (sidHash: string) => sidHash.charCodeAt(sidHash.length - 1) % PARTS

/** One of all sessions stays one of all. */
function withAccount(logout: PendingLogout, aid: string | undefined): PendingLogout {
  return aid === undefined ? logout : { aid, ...logout }
}

function* firstOf<T>(entries: Iterable<T>, most: number): Generator<T> {
  let count = 0
  for (const entry of entries) {
    if (count >= most) return
    count += 1
    yield entry
  }
}
