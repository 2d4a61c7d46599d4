/** Locks that all processes share: status checks, used landing tokens, and logins in progress. */
import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Entry, readEntry } from '../decide/record'
import type { EpochSeconds } from '../protocol/claims'
import { SiteStore } from './site-store'

/** A used landing token is remembered longer than its lifetime and the widest leeway. */
const USED_TOKEN_MS = 150_000
/** Longer than a visit (1.5 s), Authenticate (8 s), a status check (2 s) and the exchange of the ticket (8 s). After these the session has moved. */
const LOGIN_MS = 20_000
/** Simultaneous submits of a form get its result for this time, in seconds. */
const RESULT_SECONDS = 5
/** The pauses of a form that waits grow from one to the other. A result that is not final lives longer than the longest one. */
const [FIRST_PAUSE_MS, MAX_PAUSE_MS] = [50, 500]

const MIN_CHECK_MS = 4000
/** Added to the limit of one call, because the lock of a status check must outlive the call. */
const SPARE_MS = 2000

/** Returns how long the lock of a status check lasts. @param timeoutMs limit of the call */
const checkLockMs = (timeoutMs: number): number => Math.max(MIN_CHECK_MS, timeoutMs + SPARE_MS)

/** The result of a login. Encrypted, because a dump of Redis would allow guesses at the digest. */
interface LoginForm<Result> {
  /** Digest of the credentials. Submits with equal digests are the same form. */
  readonly digest: string
  readonly result: Result
  /** Is the result for submits that arrive later, too? */
  readonly isFinal: boolean
}

/** The locks of a site. Every method may throw `Sso2UnavailableError`. */
export class Locks extends SiteStore {
  /**
   * Takes the status check of a session. A lock is for one state of the record, so it ends with the next recorded status, or with its time.
   * @param checkedAt time of the recorded status, in seconds
   * @param timeoutMs limit of the call
   * @returns `'ours'`: the caller makes the call. `'theirs'`: another request makes it. `'failed'`: that of another request has failed
   */
  async takeCheck(key: string, checkedAt: EpochSeconds, timeoutMs: number): Promise<'ours' | 'theirs' | 'failed'> {
    const lock = this.#checkKey(key, checkedAt)
    if (await this.kv.add(lock, '1', checkLockMs(timeoutMs))) return 'ours'
    return (await this.kv.get(lock)) === 'failed' ? 'failed' : 'theirs'
  }
  /** Notes that the check got no usable response: nobody waits for it, and nobody asks again for as long as a lock lasts. */
  failCheck(key: string, checkedAt: EpochSeconds, timeoutMs: number): Promise<void> {
    return this.kv.set(this.#checkKey(key, checkedAt), 'failed', Math.ceil(checkLockMs(timeoutMs) / 1000))
  }

  /** Uses a landing token. @param signature decoded bytes of its signature @returns false if it was used before */
  useToken(signature: Buffer): Promise<boolean> {
    return this.kv.add(this.#usedKey(signature), '1', USED_TOKEN_MS)
  }
  /** Forgets a token whose landing has changed nothing. */
  forgetToken(signature: Buffer): Promise<void> {
    return this.kv.del(this.#usedKey(signature))
  }

  /**
   * Runs a login once for all simultaneous submits of a form. Another form of the session waits for its turn. If the process of a login dies,
   * its lock expires, and the next one runs.
   * @param run gets what the session is by then: a login before may have changed it, or its process may have died
   * @param isFinal is the result to be shared for a while? Otherwise only with the submits that wait for it
   * @returns the result, or `undefined` if other logins of the session took too long
   */
  async once<Result>(
    key: string,
    digest: string,
    run: (entry: Entry) => Promise<Result>,
    isFinal: (result: Result) => boolean,
  ): Promise<{ readonly outcome: 'ran' | 'shared'; readonly result: Result } | undefined> {
    const [lock, shared] = [this.key('login', key), this.key('result', key)]
    const end = performance.now() + LOGIN_MS + MAX_PAUSE_MS
    for (let pause = FIRST_PAUSE_MS; performance.now() < end; pause = Math.min(2 * pause, MAX_PAUSE_MS)) {
      const lockEnd = performance.now() + LOGIN_MS
      // Redis runs both in this order, so whoever gets the lock after a login finds its result, and the session as the login has left it
      const [isTaken, [text, record = null]] = await Promise.all([
        this.kv.add(lock, '1', LOGIN_MS),
        this.kv.mget([shared, this.recordKey(key)]),
      ])
      const form = text ? this.opened<LoginForm<Result>>(text) : undefined
      const isShared = form?.digest === digest && (form.isFinal || pause > FIRST_PAUSE_MS)
      if (!isTaken && !isShared) {
        await sleep(pause)
        continue
      }
      const isLocked = () => isTaken && performance.now() < lockEnd // or it is that of the next login
      try {
        if (isShared) return { outcome: 'shared', result: form.result }
        const result = await run(readEntry(record))
        const done: LoginForm<Result> = { digest, result, isFinal: isFinal(result) }
        // nobody waits for it: it is sent before the end of the lock, and the login is valid without it
        if (isLocked()) this.kv.set(shared, this.sealed(done), done.isFinal ? RESULT_SECONDS : 1).catch(() => {})
        return { outcome: 'ran', result }
      } finally {
        if (isLocked()) this.kv.del(lock).catch(() => {}) // without Redis the lock expires
      }
    }
    return undefined
  }

  #usedKey(signature: Buffer): string {
    return `${this.prefix}used:${createHash('sha256').update(signature).digest('base64url')}`
  }

  /** Each state of the record has a lock of its own. */
  #checkKey(key: string, checkedAt: EpochSeconds): string {
    return `${this.key('check', key)}:${checkedAt}`
  }
}
