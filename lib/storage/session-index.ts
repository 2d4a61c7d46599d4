/**
 * Indexes the sessions on the site: by SSO session, and by account. Beside each index is the revocation of a logout.
 * A login first adds its session to both indexes and then reads their revocations, with a script for each index.
 * A logout writes the revocation and then reads the index, also in a script.
 * In any interleaving, the login or the logout sees the other.
 */
import { createHash } from 'node:crypto'
import { isRevokedSince } from '../decide/timestamps'
import type { IndexState } from './kv'
import {
  type Done,
  doneUnlessUnavailable,
  SiteStore,
  shortHash,
  type Unavailable,
  unlessUnavailable,
} from './site-store'

/** Seconds for which a revocation is stored, as long as the retries of its logout. */
export const REVOCATION_SECONDS = 86_400
/** Seconds for which a used token is stored, longer than its lifetime and the widest leeway. */
const USED_TOKEN_SECONDS = 150
/** Maximum of sessions for an account, and for an SSO session. Beyond the limit, the least recently used session ends. Threat S21. */
export const MAX_SESSIONS = 1000

/** Start of a login, by two clocks. People may set the first. The second stops while the machine sleeps. */
export interface LoginStart {
  readonly wallMs: number
  readonly steadyMs: number
}

/** State of a landing token. */
export interface TokenState {
  readonly isFirst: boolean
  readonly isSsoSessionRevoked: boolean
}

/** A session in the indexes. */
export interface Entry {
  readonly key: string
  readonly sidHash: string
  readonly accountId: string
}

/** Sessions of an index beyond its limit. */
export interface Surplus {
  readonly count: number
  /** The candidates include the least recently used session. */
  readonly candidates: readonly string[]
}

/** Result of adding a session. */
export interface AddedEntry {
  /** Was the session logged out while its login was in progress? Then it must end. */
  readonly isRevoked: boolean
  readonly surplus: readonly Surplus[]
}

/** The indexes of a site, under the site's prefix. */
export class SessionIndex extends SiteStore {
  /** Returns the start time of a login. Call before the first call that may establish a session. */
  startNow(): LoginStart {
    return { wallMs: this.nowMs(), steadyMs: performance.now() }
  }

  /**
   * Uses a landing token, and reads whether the token's SSO session was logged out.
   * @param signature decoded bytes of the token's signature
   */
  useToken(signature: Buffer, sidHash: string): Promise<TokenState | Unavailable> {
    const used = createHash('sha256').update(signature).digest('base64url')
    return unlessUnavailable(async () => {
      const key = `${this.prefix}used:{${sidHash}}${used}`
      const revocation = { key: this.#outKey(sidHash), action: 'keep' } as const
      const { isDone, other } = await this.kv.compareAndSet(key, null, '1', USED_TOKEN_SECONDS, revocation)
      return { isFirst: isDone, isSsoSessionRevoked: other !== null }
    })
  }

  /** Adds a session to both indexes. @param lifeSeconds lifetime of an unused session */
  add({ key, sidHash, accountId }: Entry, lifeSeconds: number, start: LoginStart): Promise<AddedEntry | Unavailable> {
    const account = shortHash(accountId)
    return unlessUnavailable(async () => {
      const [ofSid, ofAccount] = await Promise.all([
        this.kv.addEntry(this.#sidKey(sidHash), key, this.#entry(lifeSeconds), this.#outKey(sidHash)),
        this.kv.addEntry(this.#accountKey(account), key, this.#entry(lifeSeconds), this.#allKey(account)),
      ])
      const isAccountRevoked = isRevokedSince(ofAccount.revokedAgeMs, this.#elapsedMs(start)) // after the server has read its time
      const surplus = [ofSid, ofAccount].flatMap((listing) => surplusOf(listing, key))
      return { isRevoked: ofSid.revokedAgeMs !== null || isAccountRevoked, surplus }
    })
  }

  #elapsedMs({ wallMs, steadyMs }: LoginStart): number {
    return Math.max(this.nowMs() - wallMs, performance.now() - steadyMs)
  }

  #entry(lifeSeconds: number) {
    const now = Math.floor(this.nowMs() / 1000)
    return { until: now + lifeSeconds, now, max: MAX_SESSIONS }
  }

  /** Renews both entries of a session. Does not add a removed entry again. */
  renew({ key, sidHash, accountId }: Entry, lifeSeconds: number): Promise<Done | Unavailable> {
    const { until, now } = this.#entry(lifeSeconds)
    const indexes = [this.#sidKey(sidHash), this.#accountKey(shortHash(accountId))]
    return doneUnlessUnavailable(() => Promise.all(indexes.map((index) => this.kv.renewEntry(index, key, until, now))))
  }

  /**
   * Revokes an SSO session.
   * @param ownKey key that is removed from the index
   * @returns keys of the other sessions on the site, {@link MAX_SESSIONS} at most. Some of the sessions may have ended.
   */
  revokeSsoSession(sidHash: string, ownKey?: string): Promise<string[] | Unavailable> {
    return this.#revoke(this.#sidKey(sidHash), this.#outKey(sidHash), REVOCATION_SECONDS, ownKey)
  }

  /** Revokes all logins of an account that are in progress now. Parameter and result are as for `revokeSsoSession`. */
  revokeAccount(accountId: string, ownKey?: string): Promise<string[] | Unavailable> {
    const account = shortHash(accountId)
    return this.#revoke(this.#accountKey(account), this.#allKey(account), REVOCATION_SECONDS, ownKey)
  }

  #revoke(index: string, revocation: string, seconds: number, ownKey = ''): Promise<string[] | Unavailable> {
    const read = { now: Math.floor(this.nowMs() / 1000), member: ownKey, most: MAX_SESSIONS }
    return unlessUnavailable(() => this.kv.revokeAndList(revocation, seconds, index, read))
  }

  remove({ key, sidHash, accountId }: Entry): Promise<Done | Unavailable> {
    const indexes = [this.#sidKey(sidHash), this.#accountKey(shortHash(accountId))]
    return doneUnlessUnavailable(() => Promise.all(indexes.map((index) => this.kv.remove(index, [key]))))
  }

  removeOfSsoSession(sidHash: string, keys: readonly string[]): Promise<Done | Unavailable> {
    return doneUnlessUnavailable(() => this.kv.remove(this.#sidKey(sidHash), keys))
  }

  removeOfAccount(accountId: string, keys: readonly string[]): Promise<Done | Unavailable> {
    return doneUnlessUnavailable(() => this.kv.remove(this.#accountKey(shortHash(accountId)), keys))
  }

  #sidKey(sidHash: string): string {
    return `${this.prefix}sid:{${sidHash}}`
  }
  #outKey(sidHash: string): string {
    return `${this.prefix}out:{${sidHash}}`
  }
  #accountKey(account: string): string {
    return `${this.prefix}acct:{${account}}`
  }
  #allKey(account: string): string {
    return `${this.prefix}all:{${account}}`
  }
}

function surplusOf({ size, oldest }: IndexState, ownKey: string): Surplus[] {
  const count = size - MAX_SESSIONS
  return count > 0 ? [{ count, candidates: oldest.filter((key) => key !== ownKey) }] : []
}
