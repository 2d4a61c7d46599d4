/**
 * Finishes logouts: at the SSO system, and on this site if Redis did not end all sessions. Used by the logout itself (log-out.ts), by later
 * requests of the browser, and by the background worker (logout-retry-worker.ts).
 */
import { accountOfAll, type PendingLogout, type RetryOutcome, scopeOf } from '../../decide/logout'
import { pendingLogoutName } from '../../decide/logout-cookie'
import type { DeferredLogout } from '../../storage/remembered-logouts'
import { type Done, shortHash, type Unavailable } from '../../storage/site-store'
import type { Site } from '../site'
import { StoredRecord } from '../stored-record'
import { endAccountSessions, endLocalSessions, endWithoutRecord } from './end-local-sessions'

/**
 * Calls Logout, unless the SSO system has confirmed the logout already. Then ends sessions of landings that began before the SSO system
 * ended the account's sessions.
 * @returns the logout as to be retried, `undefined` if nothing is left to do
 */
export async function completeLogout(site: Site, logout: PendingLogout): Promise<PendingLogout | undefined> {
  if (!logout.isConfirmed && !(await callLogout(site, logout))) return logout
  const account = accountOfAll(logout)
  const isEnded = account === undefined || (await endAccountSessions(site, account)) === 'done'
  return isEnded ? undefined : { ...logout, isConfirmed: true }
}

/** Calls Logout or Logout all. Interface: "POST {sso_url}/logout" and "POST {sso_url}/logoutall". @returns false without a confirmation */
export async function callLogout({ client }: Pick<Site, 'client'>, logout: PendingLogout): Promise<boolean> {
  const { sid, ipa, uas } = logout
  const aid = accountOfAll(logout)
  try {
    const answer =
      aid === undefined ? await client.logout({ sid, ipa, uas }) : await client.logoutAll({ aid, ipa, uas })
    return answer.err === undefined || answer.err === 'session_not_found'
  } catch {
    return false
  }
}

/** Adds a pending logout. If Redis does not answer, the process remembers the logout. @param name hash of the SSO session, or key of the session */
export async function addPendingLogout(site: Site, name: string, logout: PendingLogout): Promise<Done | Unavailable> {
  const added = await site.pendingLogouts.add(name, logout, site.now())
  site.logoutWorker.start()
  return added
}

const SLOW_MS = 1000
/** Did a call of the SSO system take so long that the next page must not wait for another call at once? */
export const isSlow = (beganAt: number) => performance.now() - beganAt > SLOW_MS

/** Result of a retry. */
export interface RetryResult {
  readonly outcome: RetryOutcome
  /** Is the logout known as one of all sessions of the account? */
  readonly isAll: boolean
  /** Since when the logout waits, in seconds since 1970. Set only if the next retry in the background is to wait longer. */
  readonly waitsSince?: number
}

/**
 * Retries a pending logout from the first step. Only one request or process at a time retries a logout.
 * @param name hash of the SSO session, or key of the session
 */
export async function retryPendingLogout(site: Site, name: string): Promise<RetryResult> {
  const { pendingLogouts, now } = site
  const found = await pendingLogouts.find(name)
  if (found === 'unavailable') return { outcome: 'pending', isAll: false }
  if (found === 'unreadable') return { outcome: 'unknown', isAll: false, waitsSince: Number.NEGATIVE_INFINITY }
  if (found === 'gone' || found === 'over') {
    await pendingLogouts.removeFromQueue(name)
    return { outcome: found === 'gone' ? 'unknown' : 'over', isAll: false }
  }
  const { isAll } = found
  if ((await pendingLogouts.lockRetry(name)) !== true) return { outcome: 'pending', isAll }
  const beganAt = performance.now()
  const isEnded = (await endLocalSessions(site, shortHash(found.sid), found)) === 'done'
  const left = isEnded ? await completeLogout(site, found) : found
  if (left === undefined) {
    const isStored = (await pendingLogouts.markOver(name, found)) === 'done'
    if (!isStored) await pendingLogouts.add(name, { ...found, isConfirmed: true }, now())
    return { outcome: 'confirmed', isAll }
  }
  if (left !== found) await pendingLogouts.add(name, left, now())
  await (isSlow(beganAt) ? pendingLogouts.pauseRetry(name) : pendingLogouts.unlockRetry(name))
  const isRefused = isEnded && !left.isConfirmed
  return isRefused ? { outcome: 'pending', isAll, waitsSince: found.since } : { outcome: 'pending', isAll }
}

/** Reads the session of a deferred logout, adds a pending logout and ends the session. */
export async function resumeDeferredLogout(site: Site, logout: DeferredLogout): Promise<Done | Unavailable> {
  const stored = new StoredRecord(site, logout.key, 'unavailable')
  if ((await stored.reread()) === 'unavailable' || (await stored.follow()) === 'unavailable') return 'unavailable'
  const { key, value, secrets } = stored
  if (!value) return (await endWithoutRecord(stored)) === 'done' ? 'done' : 'unavailable'
  const scope = scopeOf(key, value, logout.isAll)
  if (secrets) {
    const pending = { sid: secrets.sid, ...logout.device, ...scope, isConfirmed: logout.isConfirmed }
    // first, because a browser whose session has ended looks for the pending logout
    if ((await addPendingLogout(site, pendingLogoutName(logout), pending)) === 'unavailable') return 'unavailable'
  }
  return endLocalSessions(site, value.sidHash, scope)
}

const AT_ONCE = 8

/** Resumes the deferred logouts of the process, each once. A master of a Cluster that does not answer delays only its own logouts. */
export async function resumeDeferredLogouts(site: Site): Promise<void> {
  const { deferredLogouts, records } = site
  const logouts = [...deferredLogouts.values()]
  for (let from = 0; from < logouts.length && records.isAvailable; from += AT_ONCE) {
    const batch = logouts.slice(from, from + AT_ONCE)
    const results = await Promise.all(batch.map((logout) => resumeDeferredLogout(site, logout)))
    for (const [index, logout] of batch.entries()) {
      const isNewest = deferredLogouts.get(logout.key) === logout // the user may have logged out of all sessions since
      if (results[index] === 'done' && isNewest) deferredLogouts.delete(logout.key)
    }
  }
}
