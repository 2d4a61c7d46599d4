/** What logins under way share between processes: the submit in flight of a session, and what is known of a user name under attack. */
import type { Kv } from './kv'

/** One Authenticate with its checks lasts no longer, in seconds. */
const FLIGHT_SECONDS = 20
/** A finished login waits so long for those who share it, in seconds. */
const FINISHED_SECONDS = 5

/** The store of logins under way. Every method may throw `StoreUnavailableError`. */
export class Logins {
  readonly #kv: Kv
  readonly #prefix: string
  constructor(kv: Kv, prefix: string) {
    this.#kv = kv
    this.#prefix = prefix
  }

  /** The sealed flight of a session. */
  async flight(key: string): Promise<string | null> {
    const [flight = null] = await this.#kv.mget([this.#flightKey(key)])
    return flight
  }
  /** True for the one who may fly. @param before the finished flight that was read, or null */
  beginFlight(key: string, before: string | null, sealed: string): Promise<boolean> {
    return this.#kv.compareAndSet(this.#flightKey(key), before, sealed, FLIGHT_SECONDS)
  }
  endFlight(key: string, sealed: string): Promise<void> {
    return this.#kv.overwrite(this.#flightKey(key), sealed, FINISHED_SECONDS)
  }

  /** Holds a user name against strangers. @param until seconds since 1970 */
  hold(name: string, until: number, seconds: number): Promise<void> {
    return this.#kv.overwrite(this.#heldKey(name), String(until), seconds)
  }
  /** Until when a user name is held; 0 when it is not. */
  async heldUntil(name: string): Promise<number> {
    const [until = null] = await this.#kv.mget([this.#heldKey(name)])
    return Number(until ?? 0)
  }
  release(name: string): Promise<void> {
    return this.#kv.del(this.#heldKey(name))
  }

  /** True for the one stranger who may try this user name now. */
  takeTurn(name: string): Promise<boolean> {
    return this.#kv.claim(this.#turnKey(name), FLIGHT_SECONDS)
  }
  leaveTurn(name: string): Promise<void> {
    return this.#kv.del(this.#turnKey(name))
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
