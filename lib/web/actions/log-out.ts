/**
 * Logout. The local session ends at once, with or without a response of the SSO system. A logout that the SSO system has not confirmed is retried.
 * Threats S12, S16, S17, F12.
 */
import { decideLogout, type LogoutDecision, type LogoutResult } from '../../decide/logout'
import type { LogoutCookie, SessionLogout } from '../../decide/logout-cookie'
import { isLoggedIn, type SsoRecord } from '../../decide/record'
import type { LogoutCookieState } from '../../decide/request-decision'
import { isGone } from '../../decide/stored-entry'
import { shortHash } from '../../storage/keys'
import type { PendingLogout } from '../../storage/logout-outbox'
import { callListener, publish } from '../hooks'
import { deviceOf } from '../http/request-facts'
import { dropLogoutCookie, type RequestContext, setLogoutCookie } from '../request-context'
import { MAX_TRIES, type StoredRecord } from '../stored-record'
import {
  completeLogout,
  endUnreadSession,
  isSlow,
  logoutOf,
  pendingLogoutName,
  queueLogout,
  type RetryResult,
  requestLogout,
  retryPendingLogout,
} from './retry-logout'
import { localLogoutOf, revokeLocalSessions } from './revoke-local-sessions'

/** Ends the browser's session, or all of the account's. */
export async function logOut(context: RequestContext, isAll: boolean): Promise<LogoutResult> {
  const started = performance.now()
  const { stored, site, req } = context
  const step = await nextLogoutStep(context, isAll)
  const sidHash = stored.value?.sidHash
  const result = await applyLogoutDecision(context, step)
  stored.forget()
  await site.sessions.replaceWithEmpty(req)
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
      return retryLogoutOnClick(context, step.isAll)
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
  const local = localLogoutOf(key, record, isAll)
  const { sidHash } = local
  const isEnded = (await revokeLocalSessions(site, local)) === 'done'
  const unread: SessionLogout = { of: 'session', key: key ?? '', isAll, sidHash }
  if (!isEnded) setLogoutCookie(context, unread)
  else if (!secrets) setLogoutCookie(context, { of: 'anything' })
  if (!secrets) {
    if (!isEnded) rememberUnreadLogout(context, unread)
    return 'pending'
  }
  const logout = logoutOf(secrets.sid, deviceOf(req), local)
  if (isEnded) return sendLogout(context, sidHash, logout)
  // Redis may have ended the session all the same, so the logout is queued in any case
  const [isConfirmed] = await Promise.all([requestLogout(site, logout), queueLogout(site, sidHash, logout)])
  if (isConfirmed) await queueLogout(site, sidHash, { ...logout, isConfirmed })
  return 'pending'
}

async function sendLogout(context: RequestContext, sidHash: string, logout: PendingLogout): Promise<LogoutResult> {
  const { site } = context
  const beganAt = performance.now()
  const left = await completeLogout(site, logout)
  if (left === undefined) return 'confirmed'
  // after the confirmation, Identify logs the browser in no more, so the browser needs no cookie
  if (left.isConfirmed) await queueLogout(site, sidHash, left)
  else await queueForRetry(context, sidHash, left)
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
  const logout = { sid, ...deviceOf(req) }
  await revokeLocalSessions(site, { sidHash, aid: undefined })
  const isConfirmed = await requestLogout(site, logout)
  if (isDue) return false
  if (isConfirmed) dropLogoutCookie(context)
  else await queueForRetry(context, sidHash, logout)
  return wasMarked && isConfirmed
}

async function queueForRetry(context: RequestContext, sidHash: string, logout: PendingLogout): Promise<void> {
  const kept = await queueLogout(context.site, sidHash, logout)
  setLogoutCookie(context, kept === 'done' ? { of: 'sso_session', sidHash } : { of: 'anything' })
}

const COOKIE_STATES: Readonly<Record<RetryResult, LogoutCookieState>> = {
  confirmed: 'no',
  already: 'no',
  failed: 'pending',
  deferred: 'pending',
  gone: 'unknown',
  unknown: 'unknown',
}

/**
 * Retries an earlier logout after another click on "log out". A click on "log out everywhere" makes the earlier logout one of all sessions,
 * unless that logout is over: then the browser has no session any more.
 */
async function retryLogoutOnClick(context: RequestContext, isAll: boolean): Promise<LogoutResult> {
  const { logoutCookie } = context.browser
  if (isAll && logoutCookie?.of === 'session') setLogoutCookie(context, { ...logoutCookie, isAll })
  const result = await retryByCookie(context, isAll)
  if (result === 'already') return isAll ? 'no_session' : 'confirmed'
  return result === 'confirmed' ? 'confirmed' : 'pending'
}

/** Retries the logout of the browser's logout cookie. Only one process at a time retries. `'no'`: confirmed, and the cookie is dropped. */
export async function retryLogoutFromCookie(context: RequestContext): Promise<LogoutCookieState> {
  return COOKIE_STATES[await retryByCookie(context, false)]
}

/** @param isAll must all sessions of the account end? */
async function retryByCookie(context: RequestContext, isAll: boolean): Promise<RetryResult> {
  const { logoutCookie } = context.browser
  const result = logoutCookie === undefined ? 'already' : await retryLogout(context, logoutCookie, isAll)
  if (COOKIE_STATES[result] === 'no') dropLogoutCookie(context)
  return result
}

function retryLogout(context: RequestContext, logoutCookie: LogoutCookie, isAll: boolean): Promise<RetryResult> {
  switch (logoutCookie.of) {
    case 'sso_session':
      return retryPendingLogout(context.site, logoutCookie.sidHash, isAll)
    case 'session':
      return retryUnreadLogout(context, logoutCookie)
    case 'anything':
      return endLateLogin(context, isAll)
  }
}

/** Ends a login established by a landing during the logout, because the logout was meant for the login too. */
async function endLateLogin(context: RequestContext, isAll: boolean): Promise<RetryResult> {
  const { value } = context.stored
  if (!isLoggedIn(value)) return 'unknown'
  return (await endSession(context, context.stored, value, isAll)) === 'confirmed' ? 'confirmed' : 'failed'
}

/** Ends a session that Redis did not return to an earlier logout of the browser. */
async function retryUnreadLogout(context: RequestContext, logoutCookie: SessionLogout): Promise<RetryResult> {
  const { site, req } = context
  if ((await endUnreadSession(site, { ...logoutCookie, device: deviceOf(req) })) === 'done')
    return retryPendingLogout(site, pendingLogoutName(logoutCookie), logoutCookie.isAll)
  rememberUnreadLogout(context, logoutCookie)
  return 'deferred'
}

/** Remembers the logout in this process, because the browser may not return. A logout of all sessions stays a logout of all sessions. */
function rememberUnreadLogout({ site, req }: RequestContext, logoutCookie: SessionLogout): void {
  const { key } = logoutCookie
  const isAll = logoutCookie.isAll || site.unreadLogouts.get(key)?.isAll === true
  site.unreadLogouts.set(key, { ...logoutCookie, isAll, device: deviceOf(req) })
  site.logoutWorker.start()
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
