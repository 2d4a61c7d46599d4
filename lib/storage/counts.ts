/**
 * Counts logins and landings for all processes together.
 * While the Redis master of a count does not answer, each process counts alone.
 */
import { createHash } from 'node:crypto'
import { type Budgets, type LimitReason, SITE_SHARES } from '../decide/login-budgets'
import type { Kv } from './kv'
import { MemoryKv } from './memory-kv'
import { unlessUnavailable } from './site-store'

/** An addition to counts, which can be taken back. */
export interface AddedCounts {
  readonly kv: Kv
  readonly keys: readonly string[]
  /** Ends of the windows to which the attempt was added. */
  readonly ends: readonly number[]
}

/** A limit that was reached. */
export interface ReachedLimit {
  readonly reason: LimitReason
  readonly seconds: number
}

/** The counts of a site, under the site's prefix. */
export class Counts {
  readonly #kv: Kv
  readonly #memory: Kv
  readonly #prefix: string

  /** @param now milliseconds since 1970 */
  constructor(kv: Kv, prefix: string, now: () => number) {
    this.#kv = kv
    this.#memory = new MemoryKv(now)
    this.#prefix = prefix
  }

  /** Increments all counts, or none of them if a count has reached its limit. */
  async add({ counts, reserved }: Budgets, perSeconds: number): Promise<AddedCounts | ReachedLimit> {
    const share = hashOf(counts[0].subject).readUInt8() % SITE_SHARES // each share is in its own slot of a Cluster
    const keyed = counts.map(({ subject, limit }) => ({
      key: `${this.#prefix}limit:{${share}}:${hashOf(subject).toString('base64url')}`,
      limit,
    }))
    const addTo = (kv: Kv) => kv.addToCounts(keyed, perSeconds, reserved)
    const shared = await unlessUnavailable(() => addTo(this.#kv))
    const isUnavailable = shared === 'unavailable'
    const counted = isUnavailable ? await addTo(this.#memory) : shared
    if ('limitReached' in counted)
      return { reason: counts[counted.limitReached]?.reason ?? 'site', seconds: counted.secondsLeft }
    return { kv: isUnavailable ? this.#memory : this.#kv, keys: keyed.map(({ key }) => key), ends: counted.ends }
  }

  async undo({ kv, keys, ends }: AddedCounts): Promise<void> {
    await unlessUnavailable(() => kv.takeFromCounts(keys, ends)) // without Redis the window ends by itself
  }
}

const hashOf = (text: string) => createHash('sha256').update(text).digest()
