/** Login forms in progress, which all processes share. */
import type { LoginResult } from '../decide/login'
import type { CompareAndSetResult } from './kv'
import { SiteStore, seal, type Unavailable, unlessUnavailable, unseal } from './site-store'

/** Seconds until a form in progress expires after its process last renewed the form. */
const FORM_SECONDS = 20
/** Seconds without a renewal after which the process of a form counts as dead. */
export const LEASE_SECONDS = 2
/** Seconds for which the result of a form is stored for simultaneous submits. */
const RESULT_SECONDS = 5
/** A value that no stored form has. A compare-and-set with the value writes nothing. */
const NO_FORM = ''

/** A form in progress, or its result. The value is encrypted, because a dump of Redis would allow guesses at the digest. */
export interface LoginForm {
  /** Digest of the credentials. Submits with equal digests are the same form. */
  readonly digest: string
  readonly result?: LoginResult
  readonly sessionId?: string
  /** When the login ended, in milliseconds since 1970. */
  readonly endedAt?: number
}

/** A form of the current process, as its unique encrypted value. */
export type HeldForm = { readonly held: string }
/** A form of another submit, as read. */
export interface FoundForm {
  /** Encrypted value, `null` if there is no form. */
  readonly raw: string | null
  /** `undefined` if there is no form, or if no secret of the process decrypts the form. */
  readonly form: LoginForm | undefined
  /** Has the process of the form renewed the form within the last two seconds? */
  readonly isAlive: boolean
}

/** The logins in progress of a site, under the site's prefix. */
export class LoginLocks extends SiteStore {
  /** Logins of this process, by session. */
  readonly running = new Map<string, Promise<LoginResult>>()

  /**
   * Begins a form of a session.
   * @param before value of a form that has finished, or whose process has died. `null`: there is no form. If the process has renewed the
   * form since, the process is alive
   * @returns the form that was found instead of `before`
   */
  beginForm(key: string, before: string | null, digest: string): Promise<HeldForm | FoundForm | Unavailable> {
    const held = this.#seal({ digest })
    return unlessUnavailable(async () => {
      const maxSecondsLeft = before === null ? undefined : FORM_SECONDS - LEASE_SECONDS
      const found = await this.kv.compareAndSet(
        this.#formKey(key),
        before,
        held,
        FORM_SECONDS,
        undefined,
        maxSecondsLeft,
      )
      return found.isDone ? { held } : this.#read(found)
    })
  }
  /** Renews a form of the current process. @returns false if another submit has replaced the form */
  renewForm(key: string, held: string): Promise<boolean | Unavailable> {
    return this.isSet(this.#formKey(key), held, held, FORM_SECONDS)
  }
  /** Stores the result of a form for simultaneous submits. @returns false if another submit has replaced the form */
  endForm(key: string, held: string, form: LoginForm): Promise<boolean | Unavailable> {
    return this.isSet(this.#formKey(key), held, this.#seal(form), RESULT_SECONDS)
  }
  findForm(key: string): Promise<FoundForm | Unavailable> {
    return unlessUnavailable(async () =>
      this.#read(await this.kv.compareAndSet(this.#formKey(key), NO_FORM, NO_FORM, RESULT_SECONDS)),
    )
  }

  #seal(form: LoginForm): string {
    return seal(JSON.stringify(form), this.encryptionKeys())
  }
  #open(raw: string | null): LoginForm | undefined {
    const text = raw === null ? undefined : unseal(raw, this.encryptionKeys())
    return text === undefined ? undefined : JSON.parse(text)
  }
  #read({ value, secondsLeft }: CompareAndSetResult): FoundForm {
    return { raw: value, form: this.#open(value), isAlive: secondsLeft > FORM_SECONDS - LEASE_SECONDS }
  }
  #formKey(key: string): string {
    return `${this.prefix}login:{${key}}`
  }
}
