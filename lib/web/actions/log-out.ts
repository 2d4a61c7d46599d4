/**
 * Logout. The local session ends at once, with or without a response of the SSO system. A logout that the SSO system has not confirmed is retried.
 * Threats S12, S16, S17, F12.
 */
import { decideLogout, type LogoutDecision, type LogoutResult } from '../../decide/logout'
import type { LogoutCookie, SessionLogout } from '../../decide/logout-cookie'
import { isLoggedIn, type SsoRecord } from '../../decide/record'
import type { LogoutCookieState } from '../../decide/request-decision'
import { isGone } from '../../decide/stored-entry'
import type { Device } from '../../protocol/claims'
import { shortHash } from '../../storage/keys'
import type { PendingLogout } from '../../storage/logout-outbox'
import type { UnreadLogout } from '../../storage/remembered-logouts'
import type { Done, Unavailable } from '../../storage/unavailable'
import { callListener, publish } from '../hooks'
import { deviceOf } from '../http/request-facts'
import type { RequestContext } from '../request-context'
import { dropLogoutCookie, setLogoutCookie } from '../request-context'
import type { Site } from '../site'
import { MAX_TRIES, StoredRecord } from '../stored-record'
import { localLogoutOf, revokeAccountSessions, revokeLocalSessions } from './revoke-local-sessions'

/** Ends the browser's session, or all of the account's. */
export async function logOut(context: RequestContext, isAll: boolean): Promise<LogoutResult> {
  const started = performance.now()
  const { stored, site, req } = context
  const step = await nextLogoutStep(context, isAll)
  const sidHash = stored.value?.sidHash
  const result = await applyLogoutDecision(context, step)
  stored.forget()
  await site.sessions.end(req)
  publish('logout', {
    operation: isAll ? 'logoutall' : 'logout',
    outcome: result,
    durationMs: performance.now() - started,
    sidHash,
  })
  const { onLogout, config } = site
  if (onLogout) await callListener('onLogout', config.log, () => onLogout(req, result))
  return result
}

async function applyLogoutDecision(context: RequestContext, step: LogoutDecision): Promise<LogoutResult> {
  switch (step.action) {
    case 'end':
      return endSession(context, context.stored, step.record, step.isAll)
    case 'retry':
      return (await retryLogoutFromCookie(context)) === 'no' ? 'confirmed' : 'pending'
    case 'set_cookie':
      setLogoutCookie(context, step.logoutCookie)
      if (step.logoutCookie.of === 'session') rememberUnreadLogout(context, step.logoutCookie)
      return step.result
  }
}

/**
 * Ends a stored session, first on this site, then at the SSO system. If Redis takes no writes, the session ends at the next contact with Redis.
 * If no secret of this process decrypts the session, the browser's next landing ends the SSO session.
 */
async function endSession(
  context: RequestContext,
  { key, secrets }: StoredRecord,
  record: SsoRecord,
  isAll: boolean,
): Promise<LogoutResult> {
  const { site, req } = context
  const { sidHash } = record
  const aid = accountForLogoutAll(record, isAll)
  const isEnded = (await revokeLocalSessions(site, localLogoutOf(key, record, aid))) === 'done'
  if (!isEnded) setLogoutCookie(context, { of: 'session', key: key ?? '', isAll, sidHash })
  else if (!secrets) setLogoutCookie(context, { of: 'anything' })
  if (!secrets) return 'pending'
  const logout = logoutOf(secrets.sid, aid, deviceOf(req))
  if (isEnded) return sendLogout(context, sidHash, logout)
  // Redis may have ended the session all the same, so the logout is queued in any case
  await Promise.all([isLogoutConfirmed(site, logout), queueLogout(site, sidHash, logout)])
  return 'pending'
}

/** Sends the logout to the SSO system, now or later. */
async function sendLogout(context: RequestContext, sidHash: string, logout: PendingLogout): Promise<LogoutResult> {
  const { site } = context
  const beganAt = performance.now()
  const isConfirmed = await isLogoutConfirmed(site, logout)
  // sessions of landings that began before the SSO system ended the account's sessions
  if (logout.aid !== undefined) await revokeAccountSessions(site, logout.aid)
  if (isConfirmed) return 'confirmed'
  await queueForRetry(context, sidHash, logout)
  if (isSlow(beganAt)) await site.logoutOutbox.pauseRetry(sidHash)
  return 'pending'
}

/**
 * Logs out the session of a landing token, because the browser has a logout cookie. Otherwise a landing would undo the logout. If the
 * cookie names a session, the logout of the session is retried first, because all sessions of the account may have to end. While the retry is
 * pending, the cookie stays.
 * @returns true if the browser had a logout cookie and the cookie is dropped
 */
export async function logOutLandedToken(context: RequestContext, sid: string): Promise<boolean> {
  const { site, req, browser } = context
  const wasMarked = browser.logoutCookie !== undefined
  const isDue = browser.logoutCookie?.of === 'session' && (await retryLogoutFromCookie(context)) === 'pending'
  const sidHash = shortHash(sid)
  const logout = logoutOf(sid, undefined, deviceOf(req))
  await revokeLocalSessions(site, { sidHash, aid: undefined })
  const isConfirmed = await isLogoutConfirmed(site, logout)
  if (isDue) return false
  if (isConfirmed) dropLogoutCookie(context)
  else await queueForRetry(context, sidHash, logout)
  return wasMarked && isConfirmed
}

async function queueForRetry(context: RequestContext, sidHash: string, logout: PendingLogout): Promise<void> {
  const kept = await queueLogout(context.site, sidHash, logout)
  setLogoutCookie(context, kept === 'done' ? { of: 'sso_session', sidHash } : { of: 'anything' })
}

async function isLogoutConfirmed(
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

/** Retries the logout of the browser's logout cookie. Only one process at a time retries. `'no'`: confirmed, and the cookie is dropped. */
export async function retryLogoutFromCookie(context: RequestContext): Promise<LogoutCookieState> {
  const { logoutCookie } = context.browser
  const result = logoutCookie === undefined ? 'no' : await retryLogout(context, logoutCookie)
  if (result === 'no') dropLogoutCookie(context)
  return result
}

async function retryLogout(context: RequestContext, logoutCookie: LogoutCookie): Promise<LogoutCookieState> {
  switch (logoutCookie.of) {
    case 'sso_session':
      return retryPendingLogout(context.site, logoutCookie.sidHash)
    case 'session':
      return retryUnreadLogout(context, logoutCookie)
    case 'anything':
      return endLateLogin(context)
  }
}

/** Ends a login established by a landing during the logout, because the logout was meant for the login too. */
async function endLateLogin(context: RequestContext): Promise<LogoutCookieState> {
  const { value } = context.stored
  if (!isLoggedIn(value)) return 'unknown'
  return (await endSession(context, context.stored, value, false)) === 'confirmed' ? 'no' : 'pending'
}

/** Ends a session that Redis did not return to an earlier logout of the browser. */
async function retryUnreadLogout(context: RequestContext, logoutCookie: SessionLogout): Promise<LogoutCookieState> {
  const { site, req } = context
  if ((await endUnreadSession(site, { ...logoutCookie, device: deviceOf(req) })) === 'done')
    return retryPendingLogout(site, pendingLogoutName(logoutCookie))
  rememberUnreadLogout(context, logoutCookie)
  return 'pending'
}

/** Remembers the logout in this process, because the browser may not return. A logout of all sessions stays a logout of all sessions. */
function rememberUnreadLogout({ site, req }: RequestContext, logoutCookie: SessionLogout): void {
  const { key } = logoutCookie
  const isAll = logoutCookie.isAll || site.unreadLogouts.get(key)?.isAll === true
  site.unreadLogouts.set(key, { ...logoutCookie, isAll, device: deviceOf(req) })
  site.logoutWorker.start()
}

const SLOW_MS = 1000
/** Did a call of the SSO system take so long that the next page must not wait for another call at once? */
const isSlow = (beganAt: number) => performance.now() - beganAt > SLOW_MS

/** Retries a pending logout from the first step. @param name hash of the SSO session, or key of the session */
export async function retryPendingLogout(site: Site, name: string): Promise<LogoutCookieState> {
  const kept = await site.logoutOutbox.find(name)
  if (kept === 'unavailable') return 'pending'
  if (kept === 'confirmed') return 'no'
  if (kept === 'gone') await site.logoutOutbox.drop(name)
  if (kept === 'gone' || kept === 'unknown') return 'unknown'
  if ((await site.logoutOutbox.lockRetry(name)) !== true) return 'pending'
  const beganAt = performance.now()
  const isOver =
    (await revokeLocalSessions(site, { sidHash: shortHash(kept.sid), accountId: kept.aid, aid: kept.aid })) === 'done'
  if (!(isOver && (await isLogoutConfirmed(site, kept)))) {
    const { logoutOutbox } = site
    await (isSlow(beganAt) ? logoutOutbox.pauseRetry(name) : logoutOutbox.unlockRetry(name))
    return 'pending'
  }
  await site.logoutOutbox.confirm(name)
  return 'no'
}

/** Decides what to end. A session without a record ends at once. If another request has changed the session, the decision is made again. */
async function nextLogoutStep(context: RequestContext, isAll: boolean): Promise<LogoutDecision> {
  const { stored, browser } = context
  for (let tries = 1; ; tries += 1) {
    await stored.follow()
    const step = decideLogout({
      isAvailable: stored.isAvailable,
      record: stored.value,
      key: stored.key,
      state: stored.state,
      hasUnreadableCookie: context.hasUnreadableCookie,
      hasLogoutCookie: browser.logoutCookie !== undefined,
      isAll,
    })
    if (step.action === 'end' || tries === MAX_TRIES || (await endWithoutRecord(stored)) === 'ended') return step
  }
}

/** Ends a session without a readable record, so that its cookie is void. `changed`: another request has written a record first. */
async function endWithoutRecord(stored: StoredRecord): Promise<'ended' | 'changed'> {
  if (stored.key === undefined || !stored.isAvailable || isGone(stored)) return 'ended'
  const { outcome } = await stored.revoke(({ value }) => value === undefined && !isGone(stored), 'ended')
  return outcome === 'changed' ? 'changed' : 'ended'
}

/** Returns the account whose sessions all end, if the logout is for all sessions. */
const accountForLogoutAll = (record: SsoRecord, isAll: boolean): string | undefined =>
  isAll && isLoggedIn(record) ? record.user.accountId : undefined

const logoutOf = (sid: string, aid: string | undefined, device: Device): PendingLogout => ({
  sid,
  ...(aid === undefined ? {} : { aid }),
  ...device,
})

/** Queues a logout. If Redis does not answer, the process remembers the logout. @param name hash of the SSO session, or key of the session */
async function queueLogout(site: Site, name: string, logout: PendingLogout): Promise<Done | Unavailable> {
  const kept = await site.logoutOutbox.keep(name, logout, site.now())
  site.logoutWorker.start()
  return kept
}

const AT_ONCE = 8

/** Name of the pending logout of such a session. */
const pendingLogoutName = ({ key, sidHash }: Pick<UnreadLogout, 'key' | 'sidHash'>): string => sidHash ?? key

/** Reads the session again, ends the session and queues the logout for the SSO system. An ended session needs no logout. */
async function endUnreadSession(site: Site, logout: UnreadLogout): Promise<Done | Unavailable> {
  const stored = new StoredRecord(site, logout.key, 'unavailable')
  if ((await stored.reread()) === 'unavailable' || (await stored.follow()) === 'unavailable') return 'unavailable'
  const { value, secrets } = stored
  if (!value) return 'done'
  const aid = accountForLogoutAll(value, logout.isAll)
  // first, because a browser whose session has ended looks for the pending logout
  if (
    secrets &&
    (await queueLogout(site, pendingLogoutName(logout), logoutOf(secrets.sid, aid, logout.device))) !== 'done'
  )
    return 'unavailable'
  return revokeLocalSessions(site, localLogoutOf(stored.key, value, aid))
}

/** Finishes the logouts remembered by the process, until Redis does not answer. */
export async function endUnreadSessions(site: Site): Promise<void> {
  for (;;) {
    const batch = [...site.unreadLogouts.values()].slice(0, AT_ONCE)
    const results = await Promise.all(batch.map((logout) => endUnreadSession(site, logout)))
    for (const [index, logout] of batch.entries()) {
      const isNewest = site.unreadLogouts.get(logout.key) === logout // the user may have logged out of all sessions since
      if (results[index] === 'done' && isNewest) site.unreadLogouts.delete(logout.key)
    }
    if (batch.length === 0 || results.includes('unavailable')) return
  }
}
