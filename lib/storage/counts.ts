/** Counts of logins and landings, shared by all processes. While the Redis master of a count is away, a process counts by itself. */
import { createHash, randomUUID } from 'node:crypto'
import { type Budgets, type LimitReason, SITE_SHARES } from '../decide/login-budgets'
import type { Kv } from './kv'
import { MemoryKv } from './memory-kv'
import { unlessUnavailable } from './unavailable'

/** What was added to counts, to be taken back where it turns out not to count. */
export interface AddedCounts {
  readonly kv: Kv
  readonly keys: readonly string[]
  readonly windows: readonly string[]
}

/** A limit that was reached. */
export interface Reached {
  readonly reason: LimitReason
  /** Until its window ends. */
  readonly seconds: number
}

/** The counts of one site, under its prefix. */
export class Counts {
  readonly #kv: Kv
  readonly #own: Kv
  readonly #prefix: string

  /** @param now milliseconds since 1970 */
  constructor(kv: Kv, prefix: string, now: () => number) {
    this.#kv = kv
    this.#own = new MemoryKv(now)
    this.#prefix = prefix
  }

  /** Adds one to all counts, or to none where one has reached its limit. */
  async add({ counts, kept }: Budgets, perSeconds: number): Promise<AddedCounts | Reached> {
    const share = hashOf(counts[0].subject).readUInt8() % SITE_SHARES // one share is one slot of a Cluster
    const keyed = counts.map(({ subject, limit }) => ({
      key: `${this.#prefix}limit:{${share}}:${hashOf(subject).toString('base64url')}`,
      limit,
    }))
    const window = randomUUID().slice(0, 8)
    const addTo = (kv: Kv) => kv.addToCounts(keyed, perSeconds, window, kept)
    const shared = await unlessUnavailable(() => addTo(this.#kv))
    const isAway = shared === 'unavailable'
    const counted = isAway ? await addTo(this.#own) : shared
    if ('spent' in counted) return { reason: counts[counted.spent]?.reason ?? 'site', seconds: counted.secondsLeft }
    return { kv: isAway ? this.#own : this.#kv, keys: keyed.map(({ key }) => key), windows: counted.windows }
  }

  /** Takes back what was added, from the windows to which it was added. */
  async takeBack({ kv, keys, windows }: AddedCounts): Promise<void> {
    await unlessUnavailable(() => kv.takeFromCounts(keys, windows)) // else the window ends by itself
  }
}

const hashOf = (text: string) => createHash('sha256').update(text).digest()
