/**
 * Which sessions here belong to a session of the SSO system, and to an account; and which of both were logged out.
 * Who establishes a session enters its lists and only then reads the marks; who logs out sets the marks and only then reads
 * the lists: whatever the order, one of them sees the other.
 */
import { createHash } from 'node:crypto'
import { shortHash } from './hashes'
import type { Kv } from './kv'
import { type Done, doneUnlessAway, type Unavailable, unlessAway } from './unavailable'

/** A logout is remembered as long as it is retried, in seconds. */
export const ENDED_SECONDS = 86_400
/** A used token is remembered past its life and the widest leeway, in seconds. */
const USED_TOKEN_SECONDS = 150

/** What is known when a session begins to be established. */
export interface Beginning {
  /** How many times somebody logged out everywhere, before. */
  readonly logoutAlls: number
}

/** The marks of a landing token. */
export interface TokenMarks extends Beginning {
  readonly isFirst: boolean
  /** Did this site log the token's SSO session out? */
  readonly isSidEnded: boolean
}

/** One session for the lists. */
export interface Entry {
  readonly key: string
  readonly sidHash: string
  readonly accountId: string
  /** When it ends at the latest, in seconds since 1970. */
  readonly until: number
}

/** The lists of one site, under its prefix. */
export class Lists {
  readonly #kv: Kv
  readonly #prefix: string
  readonly #now: () => number

  /** @param now seconds since 1970 */
  constructor(kv: Kv, prefix: string, now: () => number) {
    this.#kv = kv
    this.#prefix = prefix
    this.#now = now
  }

  /** Read before anything that may establish a session. */
  beginning(): Promise<Beginning | Unavailable> {
    return unlessAway(async () => {
      const [count] = await this.#kv.mget([this.#allsKey])
      return { logoutAlls: Number(count ?? 0) }
    })
  }

  /** Takes a landing token: true for its first use. @param signature decoded bytes of the token's signature */
  takeToken(signature: Buffer, sidHash: string): Promise<TokenMarks | Unavailable> {
    const used = createHash('sha256').update(signature).digest('base64url')
    return unlessAway(async () => {
      const [isFirst, [out], [count]] = await Promise.all([
        this.#kv.claim(`${this.#prefix}used:${used}`, USED_TOKEN_SECONDS),
        this.#kv.mget([this.#outKey(sidHash)]),
        this.#kv.mget([this.#allsKey]),
      ])
      return { isFirst, isSidEnded: out !== null, logoutAlls: Number(count ?? 0) }
    })
  }

  /** Enters a session. @returns true where it was logged out meanwhile: then it must end */
  enter({ key, sidHash, accountId, until }: Entry, { logoutAlls }: Beginning): Promise<boolean | Unavailable> {
    return unlessAway(async () => {
      const account = shortHash(accountId)
      const [out, all] = await Promise.all([
        this.#kv.enlist(this.#sidKey(sidHash), key, until, this.#now(), this.#outKey(sidHash)),
        this.#kv.enlist(this.#accountKey(account), key, until, this.#now(), this.#allKey(account)),
      ])
      const isAllOut = Number(all ?? 0) > logoutAlls
      if (isAllOut) await this.#raise(this.#allsKey, Number(all)) // the store may have lost the count, and the next login begins with it
      return out !== null || isAllOut
    })
  }

  /** Marks a session of the SSO system as logged out. @returns keys of its sessions here; some may be dead */
  endSid(sidHash: string): Promise<string[] | Unavailable> {
    return unlessAway(async () => {
      await this.#kv.overwrite(this.#outKey(sidHash), '1', ENDED_SECONDS)
      const keys = await this.#kv.listed(this.#sidKey(sidHash), this.#now())
      await doneUnlessAway(() => this.#kv.del(this.#sidKey(sidHash))) // whoever enters from here on reads the mark
      return keys
    })
  }

  /** Marks an account as logged out everywhere, for whoever is establishing a session of it now. @returns keys of its sessions */
  endAccount(accountId: string): Promise<string[] | Unavailable> {
    const account = shortHash(accountId)
    return unlessAway(async () => {
      await this.#raise(this.#allKey(account), await this.#nextCount(this.#allKey(account)))
      return this.#kv.listed(this.#accountKey(account), this.#now())
    })
  }

  /** A count above the account's last one, also where the store has lost the count and begins anew. */
  async #nextCount(allKey: string): Promise<number> {
    for (;;) {
      const count = await this.#kv.increment(this.#allsKey, ENDED_SECONDS)
      const [before] = await this.#kv.mget([allKey])
      if (Number(before ?? 0) < count) return count
      await this.#raise(this.#allsKey, Number(before))
    }
  }

  /** Of two who log out everywhere at once the later one counts, whichever of them writes first. */
  async #raise(key: string, count: number): Promise<void> {
    for (;;) {
      const [before] = await this.#kv.mget([key])
      if (Number(before ?? 0) >= count) return
      if (await this.#kv.compareAndSet(key, before, String(count), ENDED_SECONDS)) return
    }
  }

  /** Takes a session that has ended off its lists. */
  leave({ key, sidHash, accountId }: Omit<Entry, 'until'>): Promise<Done | Unavailable> {
    return doneUnlessAway(() =>
      Promise.all([
        this.#kv.unlist(this.#sidKey(sidHash), key),
        this.#kv.unlist(this.#accountKey(shortHash(accountId)), key),
      ]),
    )
  }

  /** Takes a session that has ended off its account's list; the list of its SSO session went with that one's mark. */
  leaveAccount(accountId: string, key: string): Promise<Done | Unavailable> {
    return doneUnlessAway(() => this.#kv.unlist(this.#accountKey(shortHash(accountId)), key))
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
  get #allsKey(): string {
    return `${this.#prefix}alls`
  }
}
