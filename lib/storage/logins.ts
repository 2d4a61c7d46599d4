/** What logins under way share between processes: the submit in flight of a session, and what is known of a user name under attack. */
import type { LoginResult } from '../decide/login'
import type { Kv } from './kv'
import { seal, unseal } from './seal'
import { type Done, doneUnlessAway, type Unavailable, unlessAway } from './unavailable'

/** One Authenticate with its checks lasts no longer, in seconds. */
const FLIGHT_SECONDS = 20
/** A finished login waits so long for those who share it, in seconds. */
const FINISHED_SECONDS = 5

/** One submit under way, or just done. Sealed in the store: nobody who reads it can try passwords against the digest. */
export interface Flight {
  /** Of the credentials: what makes two submits the same. */
  readonly digest: string
  readonly result?: LoginResult
  /** The session that a login got. */
  readonly sessionId?: string
}

/** A flight as read; `raw` is what the next one compares with. */
export interface StoredFlight {
  readonly raw: string | null
  readonly flight: Flight | undefined
}

/** The store of logins under way. */
export class Logins {
  readonly #kv: Kv
  readonly #prefix: string
  readonly #boxKeys: () => readonly Buffer[]
  constructor(kv: Kv, prefix: string, boxKeys: () => readonly Buffer[]) {
    this.#kv = kv
    this.#prefix = prefix
    this.#boxKeys = boxKeys
  }

  /** The flight of a session. */
  flight(key: string): Promise<StoredFlight | Unavailable> {
    return unlessAway(async () => {
      const [raw = null] = await this.#kv.mget([this.#flightKey(key)])
      const text = raw === null ? undefined : unseal(raw, this.#boxKeys())
      return { raw, flight: text === undefined ? undefined : JSON.parse(text) }
    })
  }
  /** True for the one who may fly. @param before the finished flight that was read, or null */
  beginFlight(key: string, before: string | null, digest: string): Promise<boolean | Unavailable> {
    const sealed = this.#seal({ digest })
    return unlessAway(() => this.#kv.compareAndSet(this.#flightKey(key), before, sealed, FLIGHT_SECONDS))
  }
  endFlight(key: string, flight: Flight): Promise<Done | Unavailable> {
    return doneUnlessAway(() => this.#kv.overwrite(this.#flightKey(key), this.#seal(flight), FINISHED_SECONDS))
  }
  #seal(flight: Flight): string {
    return seal(JSON.stringify(flight), this.#boxKeys())
  }

  /** Holds a user name against strangers. @param until seconds since 1970 */
  hold(name: string, until: number, seconds: number): Promise<Done | Unavailable> {
    return doneUnlessAway(() => this.#kv.overwrite(this.#heldKey(name), String(until), seconds))
  }
  /** Until when a user name is held; 0 when it is not. */
  heldUntil(name: string): Promise<number | Unavailable> {
    return unlessAway(async () => {
      const [until = null] = await this.#kv.mget([this.#heldKey(name)])
      return Number(until ?? 0)
    })
  }
  release(name: string): Promise<Done | Unavailable> {
    return doneUnlessAway(() => this.#kv.del(this.#heldKey(name)))
  }

  /** True for the one stranger who may try this user name now. */
  takeTurn(name: string): Promise<boolean | Unavailable> {
    return unlessAway(() => this.#kv.claim(this.#turnKey(name), FLIGHT_SECONDS))
  }
  leaveTurn(name: string): Promise<Done | Unavailable> {
    return doneUnlessAway(() => this.#kv.del(this.#turnKey(name)))
  }

  #flightKey(key: string): string {
    return `${this.#prefix}login:${key}`
  }
  #heldKey(name: string): string {
    return `${this.#prefix}held:${name}`
  }
  #turnKey(name: string): string {
    return `${this.#prefix}turn:${name}`
  }
}
