/**
 * Indexes of the sessions on this site: by session of the SSO system, and by account. Beside each index is the revocation of a logout.
 * A login first adds its session to both indexes and then reads their revocations, in one script for each. A logout writes the revocation
 * and then reads the index, in one script too. In any interleaving, at least one of the two sees the other.
 */
import { createHash } from 'node:crypto'
import { isRevokedSince } from '../decide/timestamps'
import { shortHash } from './keys'
import type { Kv, Listing } from './kv'
import { type Done, doneUnlessUnavailable, type Unavailable, unlessUnavailable } from './unavailable'

/** A revocation is remembered as long as its logout is retried, in seconds. */
export const ENDED_SECONDS = 86_400
/** A used token is remembered past its life and the widest leeway, in seconds. */
const USED_TOKEN_SECONDS = 150
/** Sessions of one account, and of one session of the SSO system. Beyond that the least recently used session ends. Threat S21. */
export const MAX_SESSIONS = 1000

/** When a login began, by two clocks. People may set the first. The second stops while the machine sleeps. */
export interface LoginStart {
  readonly wallMs: number
  readonly steadyMs: number
}

/** State of a landing token. */
export interface TokenState {
  /** Is the token used for the first time? */
  readonly isFirst: boolean
  /** Has this site logged the token's SSO session out? */
  readonly isSidEnded: boolean
}

/** A session in the indexes. */
export interface Entry {
  readonly key: string
  readonly sidHash: string
  readonly accountId: string
}

/** Sessions of one index beyond its limit. */
export interface Surplus {
  readonly count: number
  /** The least recently used one is among these. */
  readonly candidates: readonly string[]
}

/** Result of adding a session. */
export interface AddedEntry {
  /** Was the session logged out while its login was in progress? Then it must end. */
  readonly isRevoked: boolean
  readonly surplus: readonly Surplus[]
}

/** The indexes of one site, under its prefix. */
export class SessionIndex {
  readonly #kv: Kv
  readonly #prefix: string
  readonly #nowMs: () => number

  /** @param nowMs milliseconds since 1970 */
  constructor(kv: Kv, prefix: string, nowMs: () => number) {
    this.#kv = kv
    this.#prefix = prefix
    this.#nowMs = nowMs
  }

  /** Notes when a login begins. Call this before the first call that may establish a session. */
  startNow(): LoginStart {
    return { wallMs: this.#nowMs(), steadyMs: performance.now() }
  }

  /** Uses a landing token, and reads whether its SSO session was logged out. @param signature decoded bytes of the token's signature */
  useToken(signature: Buffer, sidHash: string): Promise<TokenState | Unavailable> {
    const used = createHash('sha256').update(signature).digest('base64url')
    return unlessUnavailable(async () => {
      const key = `${this.#prefix}used:{${sidHash}}${used}`
      const revocation = { key: this.#outKey(sidHash), action: 'keep' } as const
      const { isDone, other } = await this.#kv.compareAndSet(key, null, '1', USED_TOKEN_SECONDS, revocation)
      return { isFirst: isDone, isSidEnded: other !== null }
    })
  }

  /** Adds a session to both indexes. @param lifeSeconds how long the session lives unused */
  add({ key, sidHash, accountId }: Entry, lifeSeconds: number, start: LoginStart): Promise<AddedEntry | Unavailable> {
    const account = shortHash(accountId)
    return unlessUnavailable(async () => {
      const [ofSid, ofAccount] = await Promise.all([
        this.#kv.enlist(this.#sidKey(sidHash), key, this.#entry(lifeSeconds), this.#outKey(sidHash)),
        this.#kv.enlist(this.#accountKey(account), key, this.#entry(lifeSeconds), this.#allKey(account)),
      ])
      const isAllOut = isRevokedSince(ofAccount.revokedAgeMs, this.#elapsedMs(start)) // after the server has read its time
      const surplus = [ofSid, ofAccount].flatMap((listing) => surplusOf(listing, key))
      return { isRevoked: ofSid.revokedAgeMs !== null || isAllOut, surplus }
    })
  }

  #elapsedMs({ wallMs, steadyMs }: LoginStart): number {
    return Math.max(this.#nowMs() - wallMs, performance.now() - steadyMs)
  }

  #entry(lifeSeconds: number) {
    const now = Math.floor(this.#nowMs() / 1000)
    return { until: now + lifeSeconds, now, max: MAX_SESSIONS }
  }

  /** Renews both entries of a session. An entry that has been removed is not added again. */
  renew({ key, sidHash, accountId }: Entry, lifeSeconds: number): Promise<Done | Unavailable> {
    const { until, now } = this.#entry(lifeSeconds)
    const indexes = [this.#sidKey(sidHash), this.#accountKey(shortHash(accountId))]
    return doneUnlessUnavailable(() => Promise.all(indexes.map((index) => this.#kv.renewEntry(index, key, until, now))))
  }

  /**
   * Revokes a session of the SSO system.
   * @param own key that is removed from the index
   * @returns keys of the other sessions on this site, {@link MAX_SESSIONS} at most, of which some may have ended
   */
  revokeSsoSession(sidHash: string, own?: string): Promise<string[] | Unavailable> {
    return this.#revoke(this.#sidKey(sidHash), this.#outKey(sidHash), own)
  }

  /** Revokes all logins of an account that are in progress now. Parameter and result are those of `revokeSsoSession`. */
  revokeAccount(accountId: string, own?: string): Promise<string[] | Unavailable> {
    const account = shortHash(accountId)
    return this.#revoke(this.#accountKey(account), this.#allKey(account), own)
  }

  #revoke(index: string, revocation: string, own = ''): Promise<string[] | Unavailable> {
    const read = { now: Math.floor(this.#nowMs() / 1000), member: own, most: MAX_SESSIONS }
    return unlessUnavailable(() => this.#kv.revokeAndList(revocation, ENDED_SECONDS, index, read))
  }

  /** Removes a session that has ended from both indexes. */
  remove({ key, sidHash, accountId }: Entry): Promise<Done | Unavailable> {
    const indexes = [this.#sidKey(sidHash), this.#accountKey(shortHash(accountId))]
    return doneUnlessUnavailable(() => Promise.all(indexes.map((index) => this.#kv.remove(index, [key]))))
  }

  /** Removes sessions that have ended from the index of their SSO session. */
  removeOfSsoSession(sidHash: string, keys: readonly string[]): Promise<Done | Unavailable> {
    return doneUnlessUnavailable(() => this.#kv.remove(this.#sidKey(sidHash), keys))
  }

  /** Removes sessions that have ended from the index of their account. */
  removeOfAccount(accountId: string, keys: readonly string[]): Promise<Done | Unavailable> {
    return doneUnlessUnavailable(() => this.#kv.remove(this.#accountKey(shortHash(accountId)), keys))
  }

  #sidKey(sidHash: string): string {
    return `${this.#prefix}sid:{${sidHash}}`
  }
  #outKey(sidHash: string): string {
    return `${this.#prefix}out:{${sidHash}}`
  }
  #accountKey(account: string): string {
    return `${this.#prefix}acct:{${account}}`
  }
  #allKey(account: string): string {
    return `${this.#prefix}all:{${account}}`
  }
}

function surplusOf({ size, oldest }: Listing, own: string): Surplus[] {
  const count = size - MAX_SESSIONS
  return count > 0 ? [{ count, candidates: oldest.filter((key) => key !== own) }] : []
}
