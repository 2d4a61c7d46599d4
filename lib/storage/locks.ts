/** Locks that all processes share: status checks, used landing tokens, and logins in progress. */
import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { EpochSeconds } from '../protocol/claims'
import { SiteStore } from './site-store'

/** A used landing token is remembered longer than its lifetime and the widest leeway. */
const USED_TOKEN_MS = 150_000
/** A login of a process that has died keeps others waiting so long, in seconds. */
export const LOGIN_SECONDS = 20
const LOGIN_MS = LOGIN_SECONDS * 1000
/** Simultaneous submits of a form get its result for this time, in seconds. */
const RESULT_SECONDS = 5
const POLL_MS = 50

const MIN_CHECK_MS = 4000
/** Added to the limit of one call, because the lock of a status check must outlive the call. */
const SPARE_MS = 2000

/** Returns how long the lock of a status check lasts. @param timeoutMs limit of the call */
export const checkLockMs = (timeoutMs: number): number => Math.max(MIN_CHECK_MS, timeoutMs + SPARE_MS)

/** A login in progress, or its result. Encrypted, because a dump of Redis would allow guesses at the digest. */
interface LoginForm<Result> {
  /** Digest of the credentials. Submits with equal digests are the same form. */
  readonly digest: string
  readonly result?: Result
  /** Is the result for submits that arrive later, too? */
  readonly isFinal?: boolean
}

/** Outcome of {@link Locks.once}. `ended`: the session has ended. `busy`: another login of the session is in progress. */
export type OnceOutcome<Result> =
  | { readonly outcome: 'ran' | 'shared'; readonly result: Result }
  | { readonly outcome: 'ended' | 'busy' }

/** The locks of a site. Every method may throw `Sso2UnavailableError`. */
export class Locks extends SiteStore {
  /**
   * Takes the status check of a session. A lock is for one state of the record, so it ends with the next recorded status, or with its time.
   * After a failed check, the rest of the time is a pause.
   * @param checkedAt time of the recorded status, in seconds
   * @param timeoutMs limit of the call
   * @returns `'taken'`, or what another request does with it
   */
  async takeCheck(key: string, checkedAt: EpochSeconds, timeoutMs: number): Promise<'taken' | 'begun' | 'failed'> {
    const lock = this.#checkKey(key, checkedAt)
    if (await this.kv.add(lock, 'begun', checkLockMs(timeoutMs))) return 'taken'
    return (await this.kv.get(lock)) === 'failed' ? 'failed' : 'begun'
  }
  /** Notes that the check got no usable response, so that nobody waits for it. */
  failCheck(key: string, checkedAt: EpochSeconds, timeoutMs: number): Promise<void> {
    return this.kv.set(this.#checkKey(key, checkedAt), 'failed', Math.ceil(checkLockMs(timeoutMs) / 1000))
  }
  /** Is a check of the session in progress? False after a failure. */
  async isBeingChecked(key: string, checkedAt: EpochSeconds): Promise<boolean> {
    return (await this.kv.get(this.#checkKey(key, checkedAt))) === 'begun'
  }

  /** Uses a landing token. @param signature decoded bytes of its signature @returns false if it was used before */
  useToken(signature: Buffer): Promise<boolean> {
    const used = createHash('sha256').update(signature).digest('base64url')
    return this.kv.add(`${this.prefix}used:${used}`, '1', USED_TOKEN_MS)
  }

  /**
   * Runs a login once for all simultaneous submits of a form. If the process of another submit dies, its lock expires, and this one runs.
   * @param isFinal is the result to be shared with later submits for a moment?
   */
  async once<Result>(
    key: string,
    digest: string,
    run: () => Promise<Result>,
    isFinal: (result: Result) => boolean,
  ): Promise<OnceOutcome<Result>> {
    const lock = `${this.prefix}login:{${key}}`
    let hasWaited = false
    for (const end = performance.now() + LOGIN_MS + POLL_MS; performance.now() < end; ) {
      const taken = await this.kv.lock(lock, `${this.prefix}sso2:{${key}}`, this.sealed({ digest }), LOGIN_MS)
      if (taken === 'ended') return { outcome: 'ended' }
      if (taken === 'taken') return this.#runLocked(lock, digest, run, isFinal)
      const form = this.opened<LoginForm<Result>>(taken.value)
      const isSame = form?.digest === digest
      if (form?.result !== undefined) {
        if (isSame && (form.isFinal || hasWaited)) return { outcome: 'shared', result: form.result }
        await this.kv.del(lock) // of another form, which is over
      } else if (isSame) {
        hasWaited = true
        await sleep(POLL_MS)
      } else return { outcome: 'busy' }
    }
    return { outcome: 'busy' }
  }

  async #runLocked<Result>(
    lock: string,
    digest: string,
    run: () => Promise<Result>,
    isFinal: (result: Result) => boolean,
  ): Promise<OnceOutcome<Result>> {
    let shared: LoginForm<Result> | undefined
    try {
      const result = await run()
      shared = { digest, result, isFinal: isFinal(result) }
      return { outcome: 'ran', result }
    } finally {
      const written = shared
        ? this.kv.set(lock, this.sealed(shared), shared.isFinal ? RESULT_SECONDS : 1)
        : this.kv.del(lock)
      await written.catch(() => {}) // without Redis the lock expires, and the login is valid all the same
    }
  }

  #checkKey(key: string, checkedAt: EpochSeconds): string {
    return `${this.prefix}check:${key}:${checkedAt}`
  }
}
