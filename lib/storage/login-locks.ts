/** Logins in progress, as processes share them: the form of a session, the attempts at a user name, and device cookies that are void. */
import type { Attempts } from '../decide/attempts'
import { DEVICE_SECONDS } from '../decide/device-cookie'
import type { LoginResult } from '../decide/login'
import type { EpochSeconds } from '../protocol/claims'
import { shortHash } from './keys'
import type { Found, Kv } from './kv'
import { seal, unseal } from './seal'
import { type Done, doneUnlessUnavailable, type Unavailable, unlessUnavailable } from './unavailable'

/** A form in progress is known for so long after its process was last heard of. */
const FORM_SECONDS = 20
/** The process of a form renews it at least this often, or has died. */
export const LEASE_SECONDS = 2
/** The result of a form waits so long for simultaneous submits. */
const RESULT_SECONDS = 5

/** No form has this value: compared with it, nothing is written. */
const NO_FORM = ''
const NOTHING: Found = { value: null, secondsLeft: 0 }

/** One form in progress, or its result. Sealed in the store, so that a dump of the store allows no guesses at the digest. */
export interface LoginForm {
  /** Digest of the credentials: submits with equal digests are the same form. */
  readonly digest: string
  readonly result?: LoginResult
  /** ID of the session after a login. */
  readonly sessionId?: string
  /** When the result was there, in milliseconds since 1970. */
  readonly endedAt?: number
}

/** A form of this process: its sealed value, which no other form's equals. */
export type HeldForm = { readonly held: string }
/** A form of another submit, as read. */
export interface FoundForm {
  /** Sealed value; `null`: the form is gone. */
  readonly raw: string | null
  /** `undefined` where it is gone, or sealed by a secret that this process does not know. */
  readonly form: LoginForm | undefined
  /** Has its process renewed it within the last two seconds? */
  readonly isAlive: boolean
}

/** The attempts at a name, as read. `raw` is the value to compare with at the next write. */
export interface StoredAttempts {
  readonly raw: string | null
  readonly attempts: Attempts | undefined
}

/** The logins in progress of one site, under its prefix. */
export class LoginLocks {
  readonly #kv: Kv
  readonly #prefix: string
  readonly #boxKeys: () => readonly Buffer[]
  constructor(kv: Kv, prefix: string, encryptionKeys: () => readonly Buffer[]) {
    this.#kv = kv
    this.#prefix = prefix
    this.#boxKeys = encryptionKeys
  }

  /**
   * Begins a form of a session.
   * @param before the value of a form that was found, finished or dead; `null`: none is there
   * @returns the form that is there instead, where it is not `before`
   */
  beginForm(key: string, before: string | null, digest: string): Promise<HeldForm | FoundForm | Unavailable> {
    const held = this.#seal({ digest })
    return unlessUnavailable(async () => {
      const found = await this.#kv.setOrRead(this.#formKey(key), before, held, FORM_SECONDS)
      return found === 'done' ? { held } : this.#read(found)
    })
  }
  /** Renews a form of this process; false where another submit has taken it over. */
  renewForm(key: string, held: string): Promise<boolean | Unavailable> {
    return unlessUnavailable(() => this.#kv.compareAndSet(this.#formKey(key), held, held, FORM_SECONDS))
  }
  /** Leaves the result to simultaneous submits; false where another submit has taken the form over. */
  endForm(key: string, held: string, form: LoginForm): Promise<boolean | Unavailable> {
    return unlessUnavailable(() => this.#kv.compareAndSet(this.#formKey(key), held, this.#seal(form), RESULT_SECONDS))
  }
  /** Reads the form of a session. */
  findForm(key: string): Promise<FoundForm | Unavailable> {
    return unlessUnavailable(async () => {
      const found = await this.#kv.setOrRead(this.#formKey(key), NO_FORM, NO_FORM, RESULT_SECONDS)
      return this.#read(found === 'done' ? NOTHING : found)
    })
  }

  /** Reads the attempts at a name. @param name hash of the normalised user name */
  parseAttempts(name: string): Promise<StoredAttempts | Unavailable> {
    return unlessUnavailable(async () => {
      const [raw] = await this.#kv.mget([this.#nameKey(name)])
      return { raw, attempts: readAttempts(raw) }
    })
  }
  /**
   * Writes the attempts at a name.
   * @param before the value that was read
   * @returns the attempts that are there instead, where they are not `before`
   */
  writeAttempts(
    name: string,
    before: string | null,
    after: Attempts,
    seconds: number,
  ): Promise<{ readonly written: string } | StoredAttempts | Unavailable> {
    const written = JSON.stringify(after)
    return unlessUnavailable(async () => {
      const found = await this.#kv.setOrRead(this.#nameKey(name), before, written, seconds)
      return found === 'done' ? { written } : { raw: found.value, attempts: readAttempts(found.value) }
    })
  }

  /** Makes every device cookie of an account void that was issued until now. */
  voidDevices(accountId: string, now: EpochSeconds): Promise<Done | Unavailable> {
    return doneUnlessUnavailable(() =>
      this.#kv.overwrite(this.#voidKey(shortHash(accountId)), String(now), DEVICE_SECONDS),
    )
  }
  /** Returns the time until which device cookies of an account are void, or 0. @param account short hash of its ID */
  devicesVoidUntil(account: string): Promise<EpochSeconds | Unavailable> {
    return unlessUnavailable(async () => {
      const [until] = await this.#kv.mget([this.#voidKey(account)])
      return Number(until ?? 0)
    })
  }

  #seal(form: LoginForm): string {
    return seal(JSON.stringify(form), this.#boxKeys())
  }
  #open(raw: string | null): LoginForm | undefined {
    const text = raw === null ? undefined : unseal(raw, this.#boxKeys())
    return text === undefined ? undefined : JSON.parse(text)
  }
  #read({ value, secondsLeft }: Found): FoundForm {
    return { raw: value, form: this.#open(value), isAlive: secondsLeft > FORM_SECONDS - LEASE_SECONDS }
  }
  #formKey(key: string): string {
    return `${this.#prefix}login:{${key}}`
  }
  #nameKey(name: string): string {
    return `${this.#prefix}left:${name}`
  }
  #voidKey(account: string): string {
    return `${this.#prefix}devices:{${account}}`
  }
}

/** A value that cannot be read says nothing of the name. */
function readAttempts(raw: string | null): Attempts | undefined {
  if (raw === null) return undefined
  try {
    return JSON.parse(raw)
  } catch {
    return undefined
  }
}
