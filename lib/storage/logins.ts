/** What logins under way share between processes: the submit in flight of a session, and what is known of a user name under attack. */
import type { LoginResult, Tries } from '../decide/login'
import type { Kv } from './kv'
import { seal, unseal } from './seal'
import { type Done, doneUnlessAway, type Unavailable, unlessAway } from './unavailable'

/** What is known of a submit outlives the process that it was sent to, in seconds. */
const FLIGHT_SECONDS = 20
/** Whoever has a flight says so again and again; after so long without a word he is gone, in seconds. */
const LEASE_SECONDS = 2
/** The same of a turn; longer than one Authenticate, so that whoever had it when he asked has it until he is answered. */
const TURN_SECONDS = 10
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
  /** Has somebody said within the last two seconds that he has it? */
  readonly isHeld: boolean
}

/** What is noted of a name, as read; `raw` is what the next note compares with. */
export interface StoredTries {
  readonly raw: string | null
  readonly tries: Tries | undefined
}

/**
 * The count, and behind so many zeros that a number loses it the spelling: a process of the version before reads the count alone.
 * What it writes has no spelling, and is of several as far as we know.
 */
const TRIES = /^(\d+)(?:\.0{20}(\d+))?$/
const writeTries = ({ left, spelling }: Tries) =>
  spelling === undefined ? String(left) : `${left}.${'0'.repeat(20)}${spelling}`

/** What cannot be read is taken for a name without a try. */
function readTries(raw: string): Tries {
  const [, left = '0', spelling] = TRIES.exec(raw) ?? []
  return { left: Number(left), spelling }
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
      const [raw, lease] = await this.#kv.mget([this.#flightKey(key), this.#leaseKey(key)])
      const text = raw === null ? undefined : unseal(raw, this.#boxKeys())
      return { raw, flight: text === undefined ? undefined : JSON.parse(text), isHeld: lease !== null }
    })
  }
  /**
   * For the one who may fly what he holds the flight by, no other's being the same; else false.
   * @param before the flight that was read, finished or left by a process that is gone, or null
   */
  beginFlight(key: string, before: string | null, digest: string): Promise<string | false | Unavailable> {
    const held = this.#seal({ digest })
    return unlessAway(async () => {
      await this.#kv.overwrite(this.#leaseKey(key), '1', LEASE_SECONDS) // first: nobody may find the flight without it
      return (await this.#kv.compareAndSet(this.#flightKey(key), before, held, FLIGHT_SECONDS)) && held
    })
  }
  /** Holds a flight for the next seconds; false where somebody else has taken it over. */
  holdFlight(key: string, held: string): Promise<boolean | Unavailable> {
    return unlessAway(async () => {
      const isOurs = await this.#kv.compareAndSet(this.#flightKey(key), held, held, FLIGHT_SECONDS)
      if (isOurs) await this.#kv.overwrite(this.#leaseKey(key), '1', LEASE_SECONDS)
      return isOurs
    })
  }
  /** Leaves the result to those who share it; false where somebody else has taken the flight over. */
  endFlight(key: string, held: string, flight: Flight): Promise<boolean | Unavailable> {
    const sealed = this.#seal(flight)
    return unlessAway(() => this.#kv.compareAndSet(this.#flightKey(key), held, sealed, FINISHED_SECONDS))
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
      const [until] = await this.#kv.mget([this.#heldKey(name)])
      return Number(until ?? 0)
    })
  }
  /** It has logged in: what was noted before counts no more. What has come since stays. @param until as it was held before, or 0 */
  release(name: string, before: string, until: number): Promise<Done | Unavailable> {
    return doneUnlessAway(async () => {
      if (!(await this.#kv.deleteIf(this.#leftKey(name), before)) || until === 0) return
      await this.#kv.deleteIf(this.#heldKey(name), String(until))
    })
  }

  /** Notes how many tries a user name has left before a freeze; false where something else is noted than `before`. */
  noteTries(name: string, before: string | null, tries: Tries, seconds: number): Promise<boolean | Unavailable> {
    return unlessAway(() => this.#kv.compareAndSet(this.#leftKey(name), before, writeTries(tries), seconds))
  }
  /** What was last noted of it. */
  tries(name: string): Promise<StoredTries | Unavailable> {
    return unlessAway(async () => {
      const [raw = null] = await this.#kv.mget([this.#leftKey(name)])
      return { raw, tries: raw === null ? undefined : readTries(raw) }
    })
  }

  /** True for the one stranger who may try this user name now. @param mark that no other's is the same as */
  takeTurn(name: string, mark: string): Promise<boolean | Unavailable> {
    return unlessAway(() => this.#kv.compareAndSet(this.#turnKey(name), null, mark, TURN_SECONDS))
  }
  /** Takes over the turn of a process that is gone; false where there is none of that beginning. */
  inheritTurn(name: string, beginning: string, mark: string): Promise<boolean | Unavailable> {
    const key = this.#turnKey(name)
    return unlessAway(async () => {
      const [left = null] = await this.#kv.mget([key])
      return left?.startsWith(beginning) === true && this.#kv.compareAndSet(key, left, mark, TURN_SECONDS)
    })
  }
  /** Holds a turn for the next seconds; false where it is another's. */
  holdTurn(name: string, mark: string): Promise<boolean | Unavailable> {
    return unlessAway(() => this.#kv.compareAndSet(this.#turnKey(name), mark, mark, TURN_SECONDS))
  }
  /** Leaves one's own turn, and nobody else's. */
  leaveTurn(name: string, mark: string): Promise<Done | Unavailable> {
    return doneUnlessAway(() => this.#kv.deleteIf(this.#turnKey(name), mark))
  }

  /** Braces make a Cluster keep both values of a flight in one slot. */
  #flightKey(key: string): string {
    return `${this.#prefix}login:{${key}}`
  }
  #leaseKey(key: string): string {
    return `${this.#prefix}alive:{${key}}`
  }
  #heldKey(name: string): string {
    return `${this.#prefix}held:${name}`
  }
  #leftKey(name: string): string {
    return `${this.#prefix}left:${name}`
  }
  #turnKey(name: string): string {
    return `${this.#prefix}turn:${name}`
  }
}
