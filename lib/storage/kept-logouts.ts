/** Logouts that the SSO system has not confirmed: sealed, queued, shared by all processes. */
import type { Kv } from './kv'
import { ENDED_SECONDS } from './lists'
import { seal, unseal } from './seal'
import { type Done, doneUnlessAway, type Unavailable, unlessAway } from './unavailable'

/** What a retry needs. */
export interface KeptLogout {
  readonly sid: string
  /** Account ID, where all of its sessions are to end. */
  readonly aid?: string
  readonly ipa: string
  readonly uas: string
}

type Found = KeptLogout | 'confirmed' | 'unknown' | 'gone'

/** Says that the SSO system has confirmed a logout. */
const CONFIRMED = 'confirmed'
const RETRY_CLAIM_SECONDS = 2
const MOST_AT_ONCE = 20

/** The logouts of one site, under its prefix. */
export class KeptLogouts {
  readonly #kv: Kv
  readonly #prefix: string
  readonly #boxKeys: () => readonly Buffer[]

  constructor(kv: Kv, prefix: string, boxKeys: () => readonly Buffer[]) {
    this.#kv = kv
    this.#prefix = prefix
    this.#boxKeys = boxKeys
  }

  /** Keeps a logout, and queues its retry; one of all sessions stays one of all. @param due seconds since 1970 */
  keep(sidHash: string, logout: KeptLogout, due: number): Promise<Done | Unavailable> {
    return doneUnlessAway(async () => {
      await this.#write(sidHash, logout)
      await this.#kv.enqueue(this.#queue, sidHash, due)
    })
  }

  async #write(sidHash: string, logout: KeptLogout): Promise<void> {
    for (;;) {
      const { raw, kept } = await this.#read(sidHash)
      const aid = typeof kept === 'object' ? kept.aid : undefined
      const sealed = seal(JSON.stringify(aid === undefined ? logout : { aid, ...logout }), this.#boxKeys())
      if (await this.#kv.compareAndSet(this.#key(sidHash), raw, sealed, ENDED_SECONDS)) return
    }
  }

  /** What is kept: `'unknown'` when no secret of this process opens it, but another one's may; `'gone'` when nobody can tell any more. */
  find(sidHash: string): Promise<Found | Unavailable> {
    return unlessAway(async () => (await this.#read(sidHash)).kept)
  }

  async #read(sidHash: string): Promise<{ readonly raw: string | null; readonly kept: Found }> {
    const [raw = null] = await this.#kv.mget([this.#key(sidHash)])
    if (raw === null) return { raw, kept: 'gone' }
    if (raw === CONFIRMED) return { raw, kept: 'confirmed' }
    const text = unseal(raw, this.#boxKeys())
    return { raw, kept: text === undefined ? 'unknown' : JSON.parse(text) }
  }

  /** True for the one caller that may retry this logout in the next seconds. */
  claim(sidHash: string): Promise<boolean | Unavailable> {
    return unlessAway(() => this.#kv.claim(`${this.#prefix}retry:${sidHash}`, RETRY_CLAIM_SECONDS))
  }

  /** The retry came to nothing: the next one may follow at once. */
  release(sidHash: string): Promise<Done | Unavailable> {
    return doneUnlessAway(() => this.#kv.del(`${this.#prefix}retry:${sidHash}`))
  }

  /** The SSO system has confirmed it. */
  confirm(sidHash: string): Promise<Done | Unavailable> {
    return doneUnlessAway(async () => {
      await this.#kv.overwrite(this.#key(sidHash), CONFIRMED, ENDED_SECONDS)
      await this.#kv.dequeue(this.#queue, sidHash)
    })
  }

  /** Takes one off the queue whose logout is gone. */
  drop(sidHash: string): Promise<Done | Unavailable> {
    return doneUnlessAway(() => this.#kv.dequeue(this.#queue, sidHash))
  }

  /** Logouts that are due, each pushed on to `next` so that no other process takes them meanwhile. */
  takeDue(now: number, next: number): Promise<string[] | Unavailable> {
    return unlessAway(() => this.#kv.takeDue(this.#queue, now, next, MOST_AT_ONCE))
  }

  #key(sidHash: string): string {
    return `${this.#prefix}pend:${sidHash}`
  }
  get #queue(): string {
    return `${this.#prefix}logouts`
  }
}
