/** Renews what a used session needs to live on, in the background: no command of a request waits for it. */
import type { Config } from '../../config'
import { isYounger } from '../../decide/age'
import { isDueToRenew, livesFrom } from '../../decide/session-data'
import type { Records, StoredPair } from '../../storage/records'

const RENEW_EVERY_SECONDS = 60
const MAX_RENEWED = 10_000

/** Expiry of the sessions of one site. */
export class Expiry {
  readonly #config: Config
  readonly #records: Records
  #renewed = new Set<string>()
  #since = 0

  constructor(config: Config, records: Records) {
    this.#config = config
    this.#records = records
  }

  /** A session is being used: renewed where it is due, at most once a minute. @param now seconds since 1970 */
  used(key: string, pair: StoredPair, now: number): void {
    const lives = livesFrom(pair.stored, pair.data, now, this.#config)
    if (!isDueToRenew(pair.stored, lives, now)) return
    if (!isYounger(this.#since, now, RENEW_EVERY_SECONDS) || this.#renewed.size >= MAX_RENEWED) {
      this.#renewed = new Set()
      this.#since = now
    }
    if (this.#renewed.has(key)) return
    if (Math.min(lives.record, lives.data) > 2 * RENEW_EVERY_SECONDS) this.#renewed.add(key)
    this.#records.renew(key, lives.record, lives.data).catch(() => {})
  }

  /** The SSO system is being asked about a session, which is when most are renewed. @param now seconds since 1970 */
  checked(key: string, { stored, data }: StoredPair, now: number): void {
    const lives = livesFrom(stored, data, now, this.#config)
    this.#records.renew(key, lives.record, lives.data).catch(() => {})
  }
}
