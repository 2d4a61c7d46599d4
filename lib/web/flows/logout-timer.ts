/** Retries pending logouts in the background, also those of other processes. One timer for each process, one process a round. */
import { accountName } from '../../storage/account-index'
import { publish } from '../hooks'
import type { Site } from '../site'
import { endIndexed, sendLogout } from './log-out'

const IDLE_MS = 2000
const BUSY_MS = 1000
/** Logouts in a round. */
const AT_ONCE = 20

/** The timer of one site. */
export class LogoutTimer {
  readonly #site: Site
  #timer: NodeJS.Timeout | undefined
  #round: Promise<void> | undefined
  #isStopped = false

  constructor(site: Site) {
    this.#site = site
  }

  start(ms = IDLE_MS): void {
    if (this.#isStopped) return
    this.#timer = setTimeout(() => this.#begin(), ms * (0.75 + Math.random() / 2)).unref()
  }

  /** Stops permanently, after the current round. */
  async stop(): Promise<void> {
    this.#isStopped = true
    clearTimeout(this.#timer)
    await this.#round
  }

  #begin(): void {
    this.#round = retryDue(this.#site)
      .catch(() => false) // Redis does not answer
      .then((isBusy) => this.start(isBusy ? BUSY_MS : IDLE_MS))
  }
}

/** Retries the logouts that are due. @returns whether there were any */
async function retryDue(site: Site): Promise<boolean> {
  const { client, pendingLogouts, now } = site
  const ids = client.isAvailable ? await pendingLogouts.due(now(), AT_ONCE) : []
  if (ids.length === 0 || !(await pendingLogouts.takeRound())) return ids.length > 0
  try {
    await Promise.all(ids.map((id) => retry(site, id)))
  } finally {
    await pendingLogouts.endRound()
  }
  return true
}

/** Ends the sessions of a logout again, because a process may have died in between, and calls Logout. */
async function retry(site: Site, id: string): Promise<void> {
  const { pendingLogouts, now } = site
  const logout = await pendingLogouts.find(id)
  if (!logout && (await pendingLogouts.has(id))) return pendingLogouts.postpone(id, { since: 0 }, now()) // another process may have its secret
  if (!logout) return pendingLogouts.remove(id)
  const began = performance.now()
  const account = logout.accountId === undefined ? '' : accountName(logout.accountId)
  const isAll = logout.scope === 'account'
  await endIndexed(site, account, ({ sidHash }) => isAll || sidHash === id)
  const isTold = await sendLogout(site, logout)
  const outcome = isTold ? 'confirmed' : 'pending'
  publish('logout', { operation: 'retry', outcome, durationMs: performance.now() - began, sidHash: id })
  if (!isTold) await pendingLogouts.postpone(id, logout, now())
}
