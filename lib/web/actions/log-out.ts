/**
 * Logout. The local session ends at once, with or without a response of the SSO system. A logout that the SSO system has not confirmed is retried.
 * Threats S12, S16, S17, F12.
 */
import {
  decideLogout,
  isRecentLogout,
  isToRetry,
  type LogoutDecision,
  type LogoutResult,
  type PendingLogout,
  pendingLogoutId,
  type RetryOutcome,
  type SessionLogout,
  scopeOf,
} from '../../decide/logout'
import { isLoggedIn, type SsoRecord } from '../../decide/record'
import { shortHash } from '../../storage/site-store'
import { callListener, publish } from '../hooks'
import { deviceOf, readCookie } from '../http/request-facts'
import { dropLogoutCookie, type RequestContext, setLogoutCookie } from '../request-context'
import { MAX_TRIES } from '../stored-record'
import {
  addPendingLogout,
  callLogout,
  completeLogout,
  endLocalSessions,
  endWithoutRecord,
  isSlow,
  type RetryResult,
  resumeDeferredLogout,
  retryPendingLogout,
} from './finish-logout'

/** Ends the browser's session, or all of the account's. */
export async function logOut(context: RequestContext, isAll: boolean): Promise<LogoutResult> {
  const started = performance.now()
  const { stored, site, req, browser } = context
  const decision = await beginLogout(context, isAll)
  const sidHash = stored.value?.sidHash
  const result = await applyLogoutDecision(context, decision)
  if (!isToRetry(browser.logoutCookie)) setLogoutCookie(context, { of: 'recent' })
  stored.forget()
  await site.sessions.replaceWithEmptySession(req) // and drops the session cookie
  publish('logout', {
    operation: isAll ? 'logoutall' : 'logout',
    outcome: result,
    durationMs: performance.now() - started,
    sidHash,
  })
  const { onLogout, config } = site
  // a logout in `onLogout` would otherwise call it again without end, and stop the process
  if (onLogout && !context.running.onLogout) {
    context.running.onLogout = true
    await callListener('onLogout', config.log, () => onLogout(req, result))
    context.running.onLogout = false
  }
  return result
}

/**
 * Decides what to end. A session without a record ends here, or when Redis is back. If another request has changed the session, the decision
 * is made again.
 */
async function beginLogout(context: RequestContext, isAll: boolean): Promise<LogoutDecision> {
  const { stored, browser } = context
  for (let tries = 1; ; tries += 1) {
    // a tab may have logged in since, which moves the session
    const isAvailable = (await stored.followMovedSession()) !== 'unavailable' && stored.hasBeenRead
    const decision = decideLogout({
      isAvailable,
      record: stored.value,
      key: stored.key,
      state: stored.state,
      hasUnreadableCookie: context.hasUnreadableCookie,
      hasLogoutCookie: isToRetry(browser.logoutCookie),
      isAll,
    })
    if (decision.action === 'end' || tries === MAX_TRIES) return decision
    const outcome = isAvailable ? await endWithoutRecord(stored) : 'unavailable'
    if (outcome === 'unavailable')
      deferLogout(context, { of: 'session', key: stored.key ?? '', isAll, isConfirmed: false })
    if (outcome !== 'changed') return decision
  }
}

async function applyLogoutDecision(context: RequestContext, decision: LogoutDecision): Promise<LogoutResult> {
  switch (decision.action) {
    case 'end':
      return endSession(context, decision.record, decision.isAll)
    case 'retry':
      return retryLogoutOnClick(context, decision.isAll)
    case 'set_cookie':
      setLogoutCookie(context, decision.logoutCookie)
      return 'pending'
    case 'nothing':
      return 'no_session'
  }
}

/**
 * Ends a stored session, first on this site, then at the SSO system. If Redis takes no writes, the session ends at the next contact with Redis.
 * If no secret of this process decrypts the session, the browser's next landing ends the SSO session.
 */
async function endSession(context: RequestContext, record: SsoRecord, isAll: boolean): Promise<LogoutResult> {
  const { site, req } = context
  const { key, secrets } = context.stored
  const { sidHash } = record
  const scope = scopeOf(key, record, isAll)
  const isEnded = (await endLocalSessions(site, sidHash, scope)) === 'done'
  const logout = secrets && { sid: secrets.sid, ...deviceOf(req), ...scope, isConfirmed: false }
  if (isEnded && logout) return sendLogout(context, sidHash, logout)
  // Redis may have ended the session all the same, so the pending logout is added in any case
  const isConfirmed = !isEnded && logout !== undefined && (await callLogout(site, logout))
  const sessionLogout: SessionLogout = { of: 'session', key: key ?? '', isAll, isConfirmed, sidHash }
  // without the SSO session ID there is no pending logout, so the next login that the browser brings ends
  setLogoutCookie(context, isEnded ? { of: 'next_login' } : sessionLogout)
  if (isEnded) return 'pending'
  if (!logout) deferLogout(context, sessionLogout)
  else if ((await addPendingLogout(site, sidHash, { ...logout, isConfirmed })) === 'done')
    await endLocalSessions(site, sidHash, scope) // Redis is back, and a retry may wait for the SSO system
  return 'pending'
}

async function sendLogout(context: RequestContext, sidHash: string, logout: PendingLogout): Promise<LogoutResult> {
  const { site } = context
  const beganAt = performance.now()
  const left = await completeLogout(site, logout)
  if (left === undefined) return 'confirmed'
  // after the confirmation, Identify logs the browser in no more, so the browser needs no cookie
  if (left.isConfirmed) await addPendingLogout(site, sidHash, left)
  else await retryLater(context, sidHash, left)
  if (isSlow(beganAt)) await site.pendingLogouts.pauseRetry(sidHash)
  return 'pending'
}

/** Adds a pending logout, and sets the logout cookie. */
async function retryLater(context: RequestContext, sidHash: string, logout: PendingLogout): Promise<void> {
  const added = await addPendingLogout(context.site, sidHash, logout)
  if (added === 'done') return setLogoutCookie(context, { of: 'sso_session', sidHash })
  // without the session, Redis may have no pending logout, and the next login that the browser brings ends
  const { key, isAll, isConfirmed } = logout
  setLogoutCookie(
    context,
    key === undefined ? { of: 'next_login' } : { of: 'session', key, isAll, isConfirmed, sidHash },
  )
}

/** Keeps the logout in the memory of this process, because the browser may not return. A logout of all sessions stays a logout of all sessions. */
function deferLogout({ site, req }: RequestContext, logout: SessionLogout): void {
  if (logout.key === '') return
  const known = site.deferredLogouts.get(logout.key)
  site.deferredLogouts.set(logout.key, known?.isAll ? known : { ...logout, device: deviceOf(req) })
  site.logoutWorker.start()
}

/**
 * Retries an earlier logout after another click on "log out". The browser has no session any more, so "log out everywhere" after
 * "log out" has no account to end.
 */
async function retryLogoutOnClick(context: RequestContext, isAll: boolean): Promise<LogoutResult> {
  const { outcome, isAll: wasAll } = await retryLogoutFromCookie(context)
  if (isAll && wasAll === false) return 'no_session'
  return outcome === 'confirmed' || outcome === 'finished' ? 'confirmed' : 'pending'
}

/** Retries the logout of the browser's logout cookie. When the logout is over, the cookie is dropped, or is the cookie of a recent logout. */
export async function retryLogoutFromCookie(context: RequestContext): Promise<RetryResult> {
  const { site, req, browser } = context
  const isRecent = isRecentLogout(readCookie(req, site.config.cookies.logout), site.now())
  const isFirstRetry = isRecent && isToRetry(browser.logoutCookie)
  const result = await retryNamedLogout(context)
  if (result.outcome === 'confirmed' || result.outcome === 'finished')
    isFirstRetry ? setLogoutCookie(context, { of: 'recent' }) : dropLogoutCookie(context)
  return result
}

/**
 * Before a landing drops the logout cookie: retries the logout of a session that the cookie names, because all sessions of the account may have
 * to end.
 * @returns true while the retry is pending, so that the cookie stays
 */
export async function isNamedLogoutPending(context: RequestContext): Promise<boolean> {
  return context.browser.logoutCookie?.of === 'session' && (await retryLogoutFromCookie(context)).outcome === 'pending'
}

async function retryNamedLogout(context: RequestContext): Promise<RetryResult> {
  const { logoutCookie } = context.browser
  switch (logoutCookie?.of) {
    case undefined:
      return { outcome: 'finished', isAll: false }
    case 'sso_session':
      return retryPendingLogout(context.site, logoutCookie.sidHash)
    case 'session':
      return retryDeferredLogout(context, logoutCookie)
    case 'next_login':
    case 'recent':
      return { outcome: await endLoginDespiteLogout(context), isAll: context.stored.hasBeenRead ? false : undefined }
  }
}

/** Ends a session that Redis did not return, or did not end, when the browser logged out. */
async function retryDeferredLogout(context: RequestContext, logout: SessionLogout): Promise<RetryResult> {
  const { site, req } = context
  if ((await resumeDeferredLogout(site, { ...logout, device: deviceOf(req) })) === 'done')
    return retryPendingLogout(site, pendingLogoutId(logout))
  deferLogout(context, logout)
  return { outcome: 'pending', isAll: logout.isAll }
}

/** Ends a login that a landing established during the logout, because the logout was meant for the login too. */
async function endLoginDespiteLogout(context: RequestContext): Promise<RetryOutcome> {
  const { value } = context.stored
  if (!isLoggedIn(value)) return 'not_found'
  const started = performance.now()
  const { sidHash } = value
  const outcome = (await endSession(context, value, false)) === 'confirmed' ? 'confirmed' : 'pending'
  publish('logout', {
    operation: 'logout',
    outcome,
    durationMs: performance.now() - started,
    sidHash,
    reason: 'logged_out_before',
  })
  return outcome
}

/**
 * Logs out the session of a landing token, because the browser has a logout cookie. Otherwise a landing would undo the logout.
 * @returns true if the browser had a logout cookie and the cookie is dropped
 */
export async function logOutLandedToken(context: RequestContext, sid: string): Promise<boolean> {
  const { site, req, browser } = context
  const hadCookie = browser.logoutCookie !== undefined
  const isUnfinished = await isNamedLogoutPending(context)
  const sidHash = shortHash(sid)
  const scope = { key: undefined, accountId: undefined, isAll: false }
  const logout = { sid, ...deviceOf(req), ...scope, isConfirmed: false }
  await endLocalSessions(site, sidHash, scope)
  const isConfirmed = await callLogout(site, logout)
  if (isUnfinished) return false
  if (isConfirmed) dropLogoutCookie(context)
  else await retryLater(context, sidHash, logout)
  return hadCookie && isConfirmed
}
