/**
 * Retries pending logouts in the background, also logouts of other processes. Each process polls the queue from start to close.
 * During an outage of the SSO system no logout is taken. After the outage all waiting logouts are sent in small batches. While Logout alone does
 * not work, each process sends one batch a second.
 */
import { shortHash, type Unavailable } from '../../storage/site-store'
import type { Site } from '../site'
import { endLocalSessions, type RetryResult, resumeDeferredLogouts, retryPendingLogout } from './finish-logout'

/** Polling interval of an idle process, in milliseconds. Finds logouts left by other processes. */
const IDLE_MS = 10_000
/** Polling interval while logouts are waiting, in milliseconds. */
const BUSY_MS = 1000
const AT_ONCE = 8
/** In each round, at most so many pending logouts are restored, if Redis has lost them. */
const MAX_RESTORED = 50
/** After so many milliseconds, a process that stops begins no further round of restoring. */
const STOP_MS = 5000

/** Was the SSO system asked, without a confirmation? Not if another request or process retries the logout. */
const isUnconfirmed = ({ outcome, waitsSince }: RetryResult) => outcome === 'pending' && waitsSince !== undefined

/** The worker of one site. */
export class LogoutRetryWorker {
  readonly #site: Site
  #timer: NodeJS.Timeout | undefined
  #nextLook = Number.POSITIVE_INFINITY
  #round: Promise<void> | undefined
  #isStopped = false
  /** Did the SSO system confirm a logout of the last batch? The first confirmation after a failure makes all other logouts due. */
  #hasConfirmed = false
  #isBusy = false

  constructor(site: Site) {
    this.#site = site
  }

  /** Starts polling, or polls again soon. Call after adding a logout. */
  start(): void {
    this.#isBusy = true
    this.#lookWithin(BUSY_MS)
  }

  /** Stops permanently, after the current round. Redis gets the logouts that only this process has, as many as {@link STOP_MS} allows. */
  async stop(): Promise<void> {
    this.#isStopped = true
    clearTimeout(this.#timer)
    const end = performance.now() + STOP_MS
    await this.#round
    const { pendingLogouts, records } = this.#site
    for (let left = pendingLogouts.copies; ; left -= MAX_RESTORED) {
      await this.#moveToRedis(end)
      if (left <= MAX_RESTORED || !records.isAvailable || performance.now() > end) return
    }
  }

  #lookWithin(ms: number): void {
    const wait = ms * (0.75 + Math.random() / 2)
    if (this.#isStopped || this.#nextLook <= performance.now() + wait) return
    clearTimeout(this.#timer)
    this.#nextLook = performance.now() + wait
    this.#timer = setTimeout(() => this.#look(), wait).unref()
  }

  #look(): void {
    this.#nextLook = Number.POSITIVE_INFINITY
    this.#round ??= this.#drain().finally(() => {
      this.#round = undefined
      this.#lookWithin(this.#isBusy ? BUSY_MS : IDLE_MS)
    })
  }

  async #drain(): Promise<void> {
    this.#isBusy = false
    const { pendingLogouts, deferredLogouts, client, now } = this.#site
    await this.#moveToRedis()
    this.#isBusy ||= deferredLogouts.size > 0
    for (let isBack = false; !this.#isStopped; ) {
      const due: string[] | Unavailable = client.isAvailable
        ? await pendingLogouts.takeDue(now(), AT_ONCE, isBack)
        : 'unavailable'
      if (due.length === 0) return
      this.#isBusy = true // looks again soon, also if Redis or the SSO system does not answer
      if (due === 'unavailable') return
      const results: readonly RetryResult[] = await Promise.all(due.map((id) => this.#retry(id)))
      const isConfirmed = results.some(({ outcome }) => outcome === 'confirmed')
      isBack = isConfirmed && !this.#hasConfirmed
      this.#hasConfirmed = isConfirmed
      if (!isConfirmed && results.some(isUnconfirmed)) return // the SSO system may be down, or Logout alone
    }
  }

  /**
   * Moves the logouts of this process's memory to Redis, if Redis answers. A logout that Redis did not store may have ended no session
   * here either, so its sessions end now, with or without the SSO system. If Redis stops again, the retry ends the sessions.
   */
  async #moveToRedis(end?: number): Promise<void> {
    const { pendingLogouts, now } = this.#site
    await resumeDeferredLogouts(this.#site, end)
    const restored = await pendingLogouts.restoreLost(now(), MAX_RESTORED)
    for (const logout of restored) await endLocalSessions(this.#site, shortHash(logout.sid), logout)
  }

  /** Retries a logout. If Redis does not answer, or if another process retries the logout, the logout is due again in a few seconds. */
  async #retry(id: string): Promise<RetryResult> {
    const { pendingLogouts, now } = this.#site
    const result = await retryPendingLogout(this.#site, id)
    const { waitsSince } = result
    if (waitsSince !== undefined) await pendingLogouts.postpone(id, waitsSince, now(), Math.random())
    return result
  }
}
