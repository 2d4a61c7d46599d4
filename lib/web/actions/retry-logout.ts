/**
 * Finishes logouts: at the SSO system, and on this site if Redis did not end all sessions. Used by the logout itself (log-out.ts), by later
 * requests of the browser, and by the background worker (logout-retry-worker.ts).
 */
import type { Device } from '../../protocol/claims'
import { shortHash } from '../../storage/keys'
import type { PendingLogout } from '../../storage/logout-outbox'
import type { UnreadLogout } from '../../storage/remembered-logouts'
import type { Done, Unavailable } from '../../storage/unavailable'
import type { Site } from '../site'
import { StoredRecord } from '../stored-record'
import { type LocalLogout, localLogoutOf, revokeAccountSessions, revokeLocalSessions } from './revoke-local-sessions'

/**
 * Sends the logout to the SSO system, unless the SSO system has confirmed it already. Then ends sessions of landings that began before the
 * SSO system ended the account's sessions.
 * @returns the logout as to be retried, `undefined` if nothing is left to do
 */
export async function completeLogout(site: Site, logout: PendingLogout): Promise<PendingLogout | undefined> {
  const { aid } = logout
  if (!logout.isConfirmed && !(await requestLogout(site, logout))) return logout
  const isEnded = aid === undefined || (await revokeAccountSessions(site, aid)) === 'done'
  return isEnded ? undefined : { ...logout, isConfirmed: true }
}

/** Sends the logout to the SSO system. Interface: "POST {sso_url}/logout" and "POST {sso_url}/logoutall". @returns false without a confirmation */
export async function requestLogout(
  { client }: Pick<Site, 'client'>,
  { sid, aid, ipa, uas }: PendingLogout,
): Promise<boolean> {
  try {
    const answer =
      aid === undefined ? await client.logout({ sid, ipa, uas }) : await client.logoutAll({ aid, ipa, uas })
    return answer.err === undefined || answer.err === 'session_not_found'
  } catch {
    return false
  }
}

const SLOW_MS = 1000
/** Did a call of the SSO system take so long that the next page must not wait for another call at once? */
export const isSlow = (beganAt: number) => performance.now() - beganAt > SLOW_MS

/**
 * Result of a retry. `already`: the logout was confirmed before. `failed`: the SSO system has not confirmed the logout. `deferred`: Redis
 * does not answer, or another process retries. `gone`: Redis has no such logout. `unknown`: no secret of this process decrypts the logout.
 */
export type RetryResult = 'confirmed' | 'already' | 'failed' | 'deferred' | 'gone' | 'unknown'

/**
 * Retries a pending logout from the first step.
 * @param name hash of the SSO session, or key of the session
 * @param isAll must all sessions of the account end, as far as the account is known?
 */
export async function retryPendingLogout(site: Site, name: string, isAll = false): Promise<RetryResult> {
  const { logoutOutbox, now } = site
  const kept = await logoutOutbox.find(name)
  if (kept === 'unavailable') return 'deferred'
  if (kept === 'confirmed') return 'already'
  if (kept === 'gone') await logoutOutbox.removeFromQueue(name)
  if (typeof kept === 'string') return kept
  const logout = isAll ? asLogoutOfAll(kept) : kept
  if (logout !== kept) await logoutOutbox.keep(name, logout, now())
  if ((await logoutOutbox.lockRetry(name)) !== true) return 'deferred'
  const beganAt = performance.now()
  const isEnded = (await revokeLocalSessions(site, { sidHash: shortHash(logout.sid), ...logout })) === 'done'
  const left = isEnded ? await completeLogout(site, logout) : logout
  if (left === undefined) {
    const isStored = (await logoutOutbox.confirm(name)) === 'done'
    if (!isStored) await logoutOutbox.keep(name, { ...logout, isConfirmed: true }, now())
    return 'confirmed'
  }
  if (left !== logout) await logoutOutbox.keep(name, left, now())
  await (isSlow(beganAt) ? logoutOutbox.pauseRetry(name) : logoutOutbox.unlockRetry(name))
  return isEnded && !left.isConfirmed ? 'failed' : 'deferred'
}

/** Returns the logout as one of all sessions of its account. The SSO system has to confirm it anew. */
function asLogoutOfAll(logout: PendingLogout): PendingLogout {
  const { aid, accountId } = logout
  return aid === undefined && accountId !== undefined ? { ...logout, aid: accountId, isConfirmed: false } : logout
}

/** Returns the logout of an SSO session, with the sessions to end on this site, by any process. */
export function logoutOf(sid: string, device: Device, { accountId, aid, key }: LocalLogout): PendingLogout {
  return {
    sid,
    ...device,
    ...(accountId === undefined ? {} : { accountId }),
    ...(aid === undefined ? {} : { aid }),
    ...(key === undefined ? {} : { key }),
  }
}

/** Queues a logout. If Redis does not answer, the process remembers the logout. @param name hash of the SSO session, or key of the session */
export async function queueLogout(site: Site, name: string, logout: PendingLogout): Promise<Done | Unavailable> {
  const kept = await site.logoutOutbox.keep(name, logout, site.now())
  site.logoutWorker.start()
  return kept
}

const AT_ONCE = 8

/** Name of the pending logout of such a session. */
export const pendingLogoutName = ({ key, sidHash }: Pick<UnreadLogout, 'key' | 'sidHash'>): string => sidHash ?? key

/** Reads the session again, ends the session and queues the logout for the SSO system. An ended session needs no logout. */
export async function endUnreadSession(site: Site, logout: UnreadLogout): Promise<Done | Unavailable> {
  const stored = new StoredRecord(site, logout.key, 'unavailable')
  if ((await stored.reread()) === 'unavailable' || (await stored.follow()) === 'unavailable') return 'unavailable'
  const { value, secrets } = stored
  if (!value) return 'done'
  const local = localLogoutOf(stored.key, value, logout.isAll)
  // first, because a browser whose session has ended looks for the pending logout
  if (
    secrets &&
    (await queueLogout(site, pendingLogoutName(logout), logoutOf(secrets.sid, logout.device, local))) !== 'done'
  )
    return 'unavailable'
  return revokeLocalSessions(site, local)
}

/** Finishes the logouts remembered by the process, each once. A master of a Cluster that does not answer delays only its own logouts. */
export async function endUnreadSessions(site: Site): Promise<void> {
  const { unreadLogouts, records } = site
  const logouts = [...unreadLogouts.values()]
  for (let from = 0; from < logouts.length && records.isAvailable; from += AT_ONCE) {
    const batch = logouts.slice(from, from + AT_ONCE)
    const results = await Promise.all(batch.map((logout) => endUnreadSession(site, logout)))
    for (const [index, logout] of batch.entries()) {
      const isNewest = unreadLogouts.get(logout.key) === logout // the user may have logged out of all sessions since
      if (results[index] === 'done' && isNewest) unreadLogouts.delete(logout.key)
    }
  }
}
