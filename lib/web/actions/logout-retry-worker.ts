/**
 * Retries kept logouts in the background, whichever process kept them: every process looks from its start on, until it is
 * closed. While the SSO system is known to be away nothing is taken; once it answers, all that waits goes at once, a few
 * at a time.
 */
import type { Unavailable } from '../../storage/unavailable'
import type { Site } from '../site'
import { endUnreadSessions, retryPendingLogout } from './log-out'

/** A process that is doing nothing looks so often, in milliseconds, for what others have left behind. */
const IDLE_MS = 10_000
/** While something is waiting here. */
const BUSY_MS = 1000
const AT_ONCE = 8
/** In each look, so many of this process's own are seen to be in the store still. */
const RESTORED = 50

/** The queue of one site. */
export class LogoutRetryWorker {
  readonly #site: Site
  #timer: NodeJS.Timeout | undefined
  #nextLook = Number.POSITIVE_INFINITY
  #round: Promise<void> | undefined
  #isStopped = false
  /** Has none succeeded since some failed, or since the start? Then the first success makes all others due. */
  #wasAway = true
  #isBusy = false

  constructor(site: Site) {
    this.#site = site
  }

  /** Looks soon; whoever keeps a logout calls this too. */
  start(): void {
    this.#isBusy = true
    this.#lookWithin(BUSY_MS)
  }

  /** Stops for good, and waits for the end of a round that is under way. */
  async stop(): Promise<void> {
    this.#isStopped = true
    clearTimeout(this.#timer)
    await this.#round
  }

  /** Never later than a look that is planned already. */
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
    const { logoutOutbox, client, now } = this.#site
    await endUnreadSessions(this.#site)
    await logoutOutbox.restore(now(), RESTORED)
    for (let isBack = false; !this.#isStopped; ) {
      const due: string[] | Unavailable = client.isAvailable ? await this.#take(isBack) : 'unavailable'
      if (due.length === 0) return
      this.#isBusy = true // looks again soon, also if Redis or the SSO system does not answer
      if (due === 'unavailable') return
      const isAnswered = (await Promise.all(due.map((sidHash) => this.#retry(sidHash)))).includes(true)
      isBack = isAnswered && this.#wasAway
      this.#wasAway = !isAnswered
    }
  }

  #take(isBack: boolean): Promise<string[] | Unavailable> {
    const { logoutOutbox, now } = this.#site
    return isBack ? logoutOutbox.takeWaiting(now(), AT_ONCE) : logoutOutbox.takeDue(now(), AT_ONCE)
  }

  /** Retries one logout. @returns has the SSO system just confirmed it? */
  async #retry(sidHash: string): Promise<boolean> {
    const { logoutOutbox, now } = this.#site
    const kept = await logoutOutbox.find(sidHash)
    if (kept === 'confirmed' || kept === 'gone') {
      await logoutOutbox.drop(sidHash)
      return false
    }
    const since = typeof kept === 'object' ? kept.since : undefined
    if (since !== undefined && (await retryPendingLogout(this.#site, sidHash)) === 'no') return true
    await logoutOutbox.postpone(sidHash, since, now(), Math.random())
    return false
  }
}
