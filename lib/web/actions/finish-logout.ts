/**
 * Finishes logouts: at the SSO system, and on this site if Redis did not end all sessions. Used by the logout itself (log-out.ts), by later
 * requests of the browser, and by the background worker (logout-retry-worker.ts). Threats S16, S17, S21.
 */
import {
  accountOfAll,
  type LogoutScope,
  type PendingLogout,
  pendingLogoutId,
  type RetryOutcome,
  scopeOf,
} from '../../decide/logout'
import { hasMovedOrEnded } from '../../decide/record'
import type { DeferredLogout } from '../../storage/logout-memory'
import { MAX_SESSIONS } from '../../storage/session-index'
import { type Done, shortHash, type Unavailable } from '../../storage/site-store'
import { publish } from '../hooks'
import type { Site } from '../site'
import { StoredRecord } from '../stored-record'

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

/** Adds a pending logout. This process keeps a copy, in case Redis does not store it. @param id hash of the SSO session, or key of the session */
export async function addPendingLogout(site: Site, id: string, logout: PendingLogout): Promise<Done | Unavailable> {
  const added = await site.pendingLogouts.add(id, logout, site.now())
  site.logoutWorker.start()
  return added
}

const SLOW_MS = 1000
/** Did a call of the SSO system take so long that the next page must not wait for another call at once? */
export const isSlow = (beganAt: number) => performance.now() - beganAt > SLOW_MS

/** Result of a retry. */
export interface RetryResult {
  readonly outcome: RetryOutcome
  /** Do all sessions of the account end? `undefined` if Redis did not return the logout. */
  readonly isAll: boolean | undefined
  /** Since when the logout waits, in seconds since 1970. Set only if the next retry in the background is to wait longer. */
  readonly waitsSince?: number
}

/**
 * Retries a pending logout from the first step. Only one request or process at a time retries a logout.
 * @param id hash of the SSO session, or key of the session
 */
export async function retryPendingLogout(site: Site, id: string): Promise<RetryResult> {
  const { pendingLogouts, now } = site
  const found = await pendingLogouts.find(id)
  if (found === 'unavailable') return { outcome: 'pending', isAll: undefined }
  // for the process that has the secret: the next retry here waits as long as possible
  if (found === 'unreadable') return { outcome: 'not_found', isAll: undefined, waitsSince: Number.NEGATIVE_INFINITY }
  if (found === 'not_found' || found === 'finished') {
    await pendingLogouts.removeFromQueue(id)
    return { outcome: found, isAll: false }
  }
  const { isAll } = found
  if ((await pendingLogouts.lockRetry(id)) !== true) return { outcome: 'pending', isAll }
  const beganAt = performance.now()
  const sidHash = shortHash(found.sid)
  const isEnded = (await endLocalSessions(site, sidHash, found)) === 'done'
  const left = isEnded ? await completeLogout(site, found) : found
  publish('logout', {
    operation: 'retry',
    outcome: left === undefined ? 'confirmed' : 'pending',
    durationMs: performance.now() - beganAt,
    sidHash,
  })
  if (left === undefined) {
    const isStored = (await pendingLogouts.markFinished(id, found)) === 'done'
    if (!isStored) await pendingLogouts.add(id, { ...found, isConfirmed: true }, now())
    return { outcome: 'confirmed', isAll }
  }
  if (left !== found) await pendingLogouts.add(id, left, now())
  await (isSlow(beganAt) ? pendingLogouts.pauseRetry(id) : pendingLogouts.unlockRetry(id))
  const isRefused = isEnded && !left.isConfirmed
  return isRefused ? { outcome: 'pending', isAll, waitsSince: found.since } : { outcome: 'pending', isAll }
}

/** Reads the session of a deferred logout, adds a pending logout and ends the session. */
export async function resumeDeferredLogout(site: Site, logout: DeferredLogout): Promise<Done | Unavailable> {
  const stored = new StoredRecord(site, logout.key, 'unavailable')
  if ((await stored.reread()) === 'unavailable' || (await stored.followMovedSession()) === 'unavailable')
    return 'unavailable'
  const { key, value, secrets } = stored
  if (!value) return (await endWithoutRecord(stored)) === 'done' ? 'done' : 'unavailable'
  const scope = scopeOf(key, value, logout.isAll)
  if (secrets) {
    const pending = { sid: secrets.sid, ...logout.device, ...scope, isConfirmed: logout.isConfirmed }
    // first, because a browser whose session has ended looks for the pending logout
    if ((await addPendingLogout(site, pendingLogoutId(logout), pending)) === 'unavailable') return 'unavailable'
  }
  return endLocalSessions(site, value.sidHash, scope)
}

const AT_ONCE = 8

/**
 * Resumes the deferred logouts of the process, each once. A master of a Cluster that does not answer delays only its own logouts.
 * @param end time after which no more is resumed, by `performance.now()`
 */
export async function resumeDeferredLogouts(site: Site, end = Number.POSITIVE_INFINITY): Promise<void> {
  const { deferredLogouts, records } = site
  const logouts = [...deferredLogouts.values()]
  for (let from = 0; from < logouts.length && records.isAvailable && performance.now() < end; from += AT_ONCE) {
    const batch = logouts.slice(from, from + AT_ONCE)
    const results = await Promise.all(batch.map((logout) => resumeDeferredLogout(site, logout)))
    for (const [index, logout] of batch.entries()) {
      const isNewest = deferredLogouts.get(logout.key) === logout // the user may have logged out of all sessions since
      if (results[index] === 'done' && isNewest) deferredLogouts.delete(logout.key)
    }
  }
}

/** Batch size. Between two batches, other requests are served. */
const BATCH = 50
/** An oversized index is processed in at most so many parts of {@link MAX_SESSIONS}. */
const MAX_PARTS = 100

/**
 * Ends the sessions of an SSO session, and of a logout's scope. Writes a revocation first, then ends every session in the index. So a login
 * in progress either finds the revocation or is in the index.
 */
export async function endLocalSessions(site: Site, sidHash: string, scope: LogoutScope): Promise<Done | Unavailable> {
  const { sessionIndex: index, records } = site
  const { key, accountId, isAll } = scope
  const account = accountOfAll(scope)
  const revoke = () =>
    Promise.all([index.revokeSsoSession(sidHash, key), account === undefined ? [] : index.revokeAccount(account, key)])
  const remove = (keys: readonly string[]) =>
    Promise.all([
      index.removeOfSsoSession(sidHash, keys),
      accountId === undefined ? 'done' : index.removeOfAccount(accountId, keys),
    ])
  const isLeftInIndex = key !== undefined && accountId !== undefined && !isAll
  const [listed, own] = await Promise.all([
    endListedSessions(site, revoke, remove),
    key === undefined ? 'done' : records.end(key),
    isLeftInIndex ? index.removeOfAccount(accountId, [key]) : 'done',
  ])
  return listed === 'done' && own === 'done' ? 'done' : 'unavailable'
}

/**
 * Ends a session without a readable record, so that its cookie is void.
 * @returns `changed` if another request has written a record first
 */
export async function endWithoutRecord(stored: StoredRecord): Promise<Done | Unavailable | 'changed'> {
  if (stored.key === undefined || hasMovedOrEnded(stored)) return 'done'
  const { outcome } = await stored.writeMarker(({ value }) => value === undefined && !hasMovedOrEnded(stored), 'ended')
  return outcome
}

/** Revokes all logins of an account in progress, and ends the account's sessions. */
function endAccountSessions(site: Site, accountId: string): Promise<Done | Unavailable> {
  const { sessionIndex: index } = site
  return endListedSessions(
    site,
    async () => [await index.revokeAccount(accountId)],
    (keys) => index.removeOfAccount(accountId, keys),
  )
}

/**
 * Ends the sessions of the indexes that `revoke` revokes and lists. A session stays in its indexes until the session has ended, so that
 * a retry finds it. No request waits for the removal, because the entry of an ended session does no harm. An oversized index is processed
 * in parts.
 */
async function endListedSessions(
  site: Site,
  revoke: () => Promise<readonly (readonly string[] | Unavailable)[]>,
  remove: (keys: readonly string[]) => Promise<unknown>,
): Promise<Done | Unavailable> {
  for (let parts = 1; ; parts += 1) {
    const lists = await revoke()
    const keys = [...new Set(lists.flatMap((found) => (found === 'unavailable' ? [] : found)))]
    let isOver = !lists.includes('unavailable')
    for (let from = 0; from < keys.length; from += BATCH) {
      const batch = keys.slice(from, from + BATCH)
      const ends = await Promise.all(batch.map((key) => site.records.end(key)))
      const gone = batch.filter((_key, index) => ends[index] === 'done')
      if (gone.length > 0) remove(gone).catch(() => {})
      isOver &&= gone.length === batch.length
    }
    if (!isOver) return 'unavailable'
    if (keys.length < MAX_SESSIONS || parts === MAX_PARTS) return 'done'
  }
}
