/** The timer of a site: retries the logouts that the SSO system has not confirmed. Threat F12. */
import { setTimeout as sleep } from 'node:timers/promises'
import { accountName } from '../../storage/account-index'
import { publish } from '../hooks'
import type { Site } from '../site'
import { endOtherSessions, sendLogout } from './log-out'

const PAUSE_MS = 1500
/** Logouts in a round. */
const IN_ROUND = 20

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
  const due = client.isAvailable ? await pendingLogouts.due(now(), IN_ROUND) : []
  if (due.length > 0) await pendingLogouts.inRound(() => Promise.all(due.map((sidHash) => retryLogout(site, sidHash))))
}

/** Ends the sessions of a logout again, because a process may have died in between, and calls Logout. */
async function retryLogout(site: Site, sidHash: string): Promise<void> {
  const { pendingLogouts, now } = site
  const logout = await pendingLogouts.find(sidHash)
  if (!logout) return pendingLogouts.remove(sidHash)
  if (logout === 'unreadable') return pendingLogouts.postpone(sidHash, 0, now()) // another process may have its secret
  const began = performance.now()
  const account = logout.accountId === undefined ? '' : accountName(logout.accountId)
  await endOtherSessions(site, { key: '', sidHash, account }, logout.scope)
  const isConfirmed = await sendLogout(site, logout)
  const outcome = isConfirmed ? 'confirmed' : 'pending'
  publish('logout', { operation: 'retry', outcome, durationMs: performance.now() - began, sidHash })
  if (!isConfirmed) await pendingLogouts.postpone(sidHash, logout.since, now())
}
