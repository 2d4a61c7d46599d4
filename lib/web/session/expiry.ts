/** Renews the expiry of used sessions in Redis, in the background. No request waits for the renewal. A status check renews the expiry itself. */
import type { Config } from '../../config'
import { indexLifeOf, isLoggedIn } from '../../decide/record'
import { isDueToRenew, remainingLives } from '../../decide/session-data'
import { recordIn } from '../../decide/stored-entry'
import { isYoungerThan } from '../../decide/timestamps'
import type { Records, StoredPair } from '../../storage/records'
import type { SessionIndex } from '../../storage/session-index'

const RENEW_EVERY_SECONDS = 60
const MAX_RENEWED = 10_000

/** Expiry of the sessions of a site. */
export class Expiry {
  readonly #config: Config
  readonly #records: Records
  readonly #index: SessionIndex
  #renewed = new Set<string>()
  #since = 0

  constructor(config: Config, records: Records, index: SessionIndex) {
    this.#config = config
    this.#records = records
    this.#index = index
  }

  /** Renews the expiry of a session that a request uses, if a renewal is due, at most once a minute. @param now seconds since 1970 */
  used(key: string, pair: StoredPair, now: number): void {
    const lives = remainingLives(pair.stored, pair.data, now, this.#config)
    if (!isDueToRenew(pair.stored, lives, now)) return
    if (!isYoungerThan(this.#since, now, RENEW_EVERY_SECONDS) || this.#renewed.size >= MAX_RENEWED) {
      this.#renewed = new Set()
      this.#since = now
    }
    if (this.#renewed.has(key)) return
    if (Math.min(lives.record, lives.data) > 2 * RENEW_EVERY_SECONDS) this.#renewed.add(key)
    this.#records.renew(key, lives.record, lives.data).catch(() => {})
    const record = recordIn(pair.stored)
    if (!isLoggedIn(record)) return
    const entry = { key, sidHash: record.sidHash, accountId: record.user.accountId }
    this.#index.renew(entry, indexLifeOf(record, now, this.#config)).catch(() => {})
  }
}
