/** Logouts that the SSO system has not confirmed, encrypted, for all processes: a queue by due time and a value for each, named by the SSO session. */
import type { LogoutScope } from '../decide/logout-mark'
import type { Device, EpochSeconds } from '../protocol/claims'
import { SiteStore, shortHash } from './site-store'

/** A logout is retried for so many seconds. */
export const RETRIED_SECONDS = 86_400
/** The process that adds a logout calls the SSO system itself, before any other process does. */
const FIRST_PAUSE_SECONDS = 8
/** Longest pause between two tries, in seconds. */
const MAX_PAUSE_SECONDS = 120
/** A process has so long for its round. */
const ROUND_MS = 30_000

/** A logout to be sent to the SSO system. */
export interface PendingLogout extends Device {
  readonly sid: string
  readonly scope: LogoutScope
  /** Account of the session. `undefined` if nobody was logged in, or if it is not known. */
  readonly accountId?: string | undefined
  /** When the logout was added, in seconds. */
  readonly since: EpochSeconds
}

/** The pending logouts of a site. Every method may throw `Sso2UnavailableError`. */
export class PendingLogouts extends SiteStore {
  readonly #queueKey = `${this.prefix}logouts`

  /** Adds a logout, unless the SSO session has one. A logout of all sessions replaces any. @returns the logout to be sent */
  async add(logout: PendingLogout): Promise<PendingLogout> {
    const sidHash = shortHash(logout.sid)
    const [key, value] = [this.key('logout', sidHash), this.sealed(logout)]
    // the queue before the value: a name without a value is dropped, and a value without a name would stay pending for a day
    await this.kv.addMember(this.#queueKey, sidHash, logout.since + FIRST_PAUSE_SECONDS, RETRIED_SECONDS)
    if (logout.scope === 'account') await this.kv.set(key, value, RETRIED_SECONDS)
    else if (!(await this.kv.add(key, value, RETRIED_SECONDS * 1000))) {
      const known = await this.find(sidHash)
      return typeof known === 'object' ? known : logout
    }
    return logout
  }

  /** Finds a logout by the hash of its SSO session. @returns `undefined` if it is confirmed, `'unreadable'` if no secret of this process fits */
  async find(sidHash: string): Promise<PendingLogout | 'unreadable' | undefined> {
    const text = await this.kv.get(this.key('logout', sidHash))
    return text === null ? undefined : (this.opened<PendingLogout>(text) ?? 'unreadable')
  }

  /** Removes a confirmed logout. Nobody waits for it: one that stays is sent again. */
  remove(sidHash: string): void {
    this.kv.del(this.key('logout', sidHash)).catch(() => {})
    this.kv.removeMembers(this.#queueKey, [sidHash]).catch(() => {})
  }

  /** Runs a round of retries, unless another process runs one. A process that dies loses only its lock. */
  async inRound(run: () => Promise<unknown>): Promise<void> {
    const round = `${this.prefix}logouts:round`
    if (!(await this.kv.add(round, '1', ROUND_MS))) return
    await run().finally(() => this.kv.del(round))
  }

  /** Returns hashes of the SSO sessions whose logouts are due. @param most at most so many */
  due(now: EpochSeconds, most: number): Promise<string[]> {
    return this.kv.members(this.#queueKey, most, now)
  }

  /** Puts a logout off. The pauses grow with its age. */
  async postpone(sidHash: string, since: EpochSeconds, now: EpochSeconds): Promise<void> {
    const pause = Math.min(Math.max(1, now - since), MAX_PAUSE_SECONDS)
    await this.kv.addMember(this.#queueKey, sidHash, now + pause, RETRIED_SECONDS)
  }
}
