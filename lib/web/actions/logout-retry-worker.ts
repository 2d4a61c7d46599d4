/**
 * Retries pending logouts in the background, also logouts of other processes. Each process polls the queue from start to close.
 * During an outage of the SSO system no logout is taken. After the outage all waiting logouts are sent in small batches.
 */
import type { Unavailable } from '../../storage/unavailable'
import type { Site } from '../site'
import { endUnreadSessions, retryPendingLogout } from './retry-logout'

/** Polling interval of an idle process, in milliseconds. Finds logouts left by other processes. */
const IDLE_MS = 10_000
/** Polling interval while logouts are waiting, in milliseconds. */
const BUSY_MS = 1000
const AT_ONCE = 8
/** In each round, so many logouts of this process are queued again if Redis has lost them. */
const RESTORED = 50

/** The worker of one site. */
export class LogoutRetryWorker {
  readonly #site: Site
  #timer: NodeJS.Timeout | undefined
  #nextLook = Number.POSITIVE_INFINITY
  #round: Promise<void> | undefined
  #isStopped = false
  /** Has no logout succeeded since a failure, or since the start? Then the first success makes all others due. */
  #wasAway = true
  #isBusy = false

  constructor(site: Site) {
    this.#site = site
  }

  /** Starts polling, or polls again soon. Call after queueing a logout. */
  start(): void {
    this.#isBusy = true
    this.#lookWithin(BUSY_MS)
  }

  /** Stops permanently, and waits for the current round. */
  async stop(): Promise<void> {
    this.#isStopped = true
    clearTimeout(this.#timer)
    await this.#round
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
    const { logoutOutbox, unreadLogouts, client, now } = this.#site
    await endUnreadSessions(this.#site)
    this.#isBusy ||= unreadLogouts.size > 0
    await logoutOutbox.restore(now(), RESTORED)
    for (let isBack = false; !this.#isStopped; ) {
      const due: string[] | Unavailable = client.isAvailable
        ? await logoutOutbox.takeDue(now(), AT_ONCE, isBack)
        : 'unavailable'
      if (due.length === 0) return
      this.#isBusy = true // looks again soon, also if Redis or the SSO system does not answer
      if (due === 'unavailable') return
      const isAnswered = (await Promise.all(due.map((sidHash) => this.#retry(sidHash)))).includes(true)
      isBack = isAnswered && this.#wasAway
      this.#wasAway = !isAnswered
    }
  }

  /**
   * Retries a logout. A logout that Redis or another process has deferred is due again in a few seconds.
   * @returns true if the SSO system has just confirmed the logout
   */
  async #retry(name: string): Promise<boolean> {
    const { logoutOutbox, now } = this.#site
    const result = await retryPendingLogout(this.#site, name)
    if (result === 'already') await logoutOutbox.removeFromQueue(name)
    if (result === 'failed' || result === 'unknown') {
      const kept = await logoutOutbox.find(name)
      await logoutOutbox.postpone(name, typeof kept === 'object' ? kept.since : undefined, now(), Math.random())
    }
    return result === 'confirmed'
  }
}
