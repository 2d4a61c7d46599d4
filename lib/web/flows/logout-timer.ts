/** Retries pending logouts in the background, also those of other processes. One timer for each process, one process a round. */
import { setTimeout as sleep } from 'node:timers/promises'
import { accountName } from '../../storage/account-index'
import { publish } from '../hooks'
import type { Site } from '../site'
import { endIndexed, sendLogout } from './log-out'

const PAUSE_MS = 1500
/** Logouts in a round. */
const AT_ONCE = 20

/** Starts the timer of a site. @returns stops it permanently, after the current round */
export function startLogoutTimer(site: Site): () => Promise<void> {
  const stopped = new AbortController()
  const rounds = runRounds(site, stopped.signal)
  return () => {
    stopped.abort()
    return rounds
  }
}

async function runRounds(site: Site, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await sleep(PAUSE_MS * (0.75 + Math.random() / 2), undefined, { ref: false, signal }).catch(() => {})
    if (!signal.aborted) await retryDue(site).catch(() => {}) // Redis does not answer
  }
}

/** Retries the logouts that are due. */
async function retryDue(site: Site): Promise<void> {
  const { client, pendingLogouts, now } = site
  const ids = client.isAvailable ? await pendingLogouts.due(now(), AT_ONCE) : []
  if (ids.length > 0) await pendingLogouts.inRound(() => Promise.all(ids.map((id) => retry(site, id))))
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
  const isConfirmed = await sendLogout(site, logout)
  const outcome = isConfirmed ? 'confirmed' : 'pending'
  publish('logout', { operation: 'retry', outcome, durationMs: performance.now() - began, sidHash: id })
  if (!isConfirmed) await pendingLogouts.postpone(id, logout, now())
}
