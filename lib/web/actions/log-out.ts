/** Logout: final here at once, whatever the SSO system answers; what it has not confirmed is kept and retried. Threats S12, S16, S17, F12. */
import { decideLogout, type LogoutDecision, type LogoutResult } from '../../decide/logout'
import type { LogoutCookie, SessionLogout } from '../../decide/logout-cookie'
import { isLoggedIn, type SsoRecord } from '../../decide/record'
import type { LogoutCookieState } from '../../decide/request-decision'
import { isGone } from '../../decide/stored-entry'
import type { Device } from '../../protocol/claims'
import { shortHash } from '../../storage/keys'
import type { PendingLogout } from '../../storage/logout-outbox'
import type { Done, Unavailable } from '../../storage/unavailable'
import type { UnreadLogout } from '../../storage/unread-logouts'
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
    case 'mark':
      setLogoutCookie(context, step.logoutCookie)
      if (step.logoutCookie.of === 'session') rememberUnreadLogout(context, step.logoutCookie)
      return step.result
  }
}

/** Ends one stored session: here first, then at the SSO system. A store that takes no writes is told at the next contact. */
async function endSession(
  context: RequestContext,
  stored: StoredRecord,
  record: SsoRecord,
  isAll: boolean,
): Promise<LogoutResult> {
  const aid = accountOf(record, isAll)
  if ((await revokeLocalSessions(context.site, localLogoutOf(stored.key, record, aid))) === 'done')
    return sendLogout(context, stored, record, aid)
  await sendLogoutWithoutRedis(context, stored, record, isAll)
  return 'pending'
}

/** Logs out at the SSO system while Redis fails. Redis may have ended the session all the same, so the logout is queued in any case. */
async function sendLogoutWithoutRedis(
  context: RequestContext,
  stored: StoredRecord,
  record: SsoRecord,
  isAll: boolean,
): Promise<void> {
  const { site, req } = context
  const { secrets, key = '' } = stored
  const { sidHash } = record
  setLogoutCookie(context, { of: 'session', key, isAll, sidHash })
  if (!secrets) return
  const logout = logoutOf(secrets.sid, accountOf(record, isAll), deviceOf(req))
  await Promise.all([isLogoutConfirmed(site, logout), queueLogout(site, sidHash, logout)])
}

/** Tells the SSO system, now or later. A session that no secret of this process opens is ended by the browser's next landing. */
async function sendLogout(
  context: RequestContext,
  { secrets }: StoredRecord,
  { sidHash }: SsoRecord,
  aid: string | undefined,
): Promise<LogoutResult> {
  if (!secrets) {
    setLogoutCookie(context, { of: 'anything' })
    return 'pending'
  }
  const logout = logoutOf(secrets.sid, aid, deviceOf(context.req))
  const isConfirmed = await isLogoutConfirmed(context.site, logout)
  // sessions of landings that began before the SSO system ended the account's sessions
  if (aid !== undefined) await revokeAccountSessions(context.site, aid)
  if (isConfirmed) return 'confirmed'
  await queueForRetry(context, sidHash, logout)
  return 'pending'
}

/**
 * The token that meets the mark ends its own session: nobody is logged in silently after a logout. A mark of a session that could not be
 * ended comes first, for it may be of all sessions; it stays until the store has been told.
 * @returns true where the mark has fallen
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

/** Tries what the browser's mark stands for again, one process at a time; `'no'`: it is confirmed, and the mark has fallen. */
export async function retryLogoutFromCookie(context: RequestContext): Promise<LogoutCookieState> {
  const { logoutCookie } = context.browser
  if (logoutCookie === undefined) return 'no'
  const word = await retryByCookie(context, logoutCookie)
  if (word === 'no') dropLogoutCookie(context)
  return word
}

async function retryByCookie(context: RequestContext, logoutCookie: LogoutCookie): Promise<LogoutCookieState> {
  switch (logoutCookie.of) {
    case 'sso_session':
      return retryPendingLogout(context.site, logoutCookie.sidHash)
    case 'session':
      return retryUnreadLogout(context, logoutCookie)
    case 'anything':
      return endLateLogin(context)
  }
}

/** A landing that was under way has brought a login meanwhile: it is what the logout was of. */
async function endLateLogin(context: RequestContext): Promise<LogoutCookieState> {
  const { value } = context.stored
  if (!isLoggedIn(value)) return 'unknown'
  return (await endSession(context, context.stored, value, false)) === 'confirmed' ? 'no' : 'pending'
}

/** Ends the session that Redis did not return to an earlier logout of this browser. */
async function retryUnreadLogout(context: RequestContext, logoutCookie: SessionLogout): Promise<LogoutCookieState> {
  const { site, req } = context
  if ((await endUnreadSession(site, { ...logoutCookie, device: deviceOf(req) })) === 'done')
    return retryPendingLogout(site, pendingLogoutName(logoutCookie))
  rememberUnreadLogout(context, logoutCookie)
  return 'pending'
}

/** The browser may not return. */
function rememberUnreadLogout({ site, req }: RequestContext, logoutCookie: SessionLogout): void {
  site.unreadLogouts.add({ ...logoutCookie, device: deviceOf(req) })
  site.logoutWorker.start()
}

/** Tries one kept logout again, from the beginning. @param name hash of its SSO session, or key of its session */
export async function retryPendingLogout(site: Site, name: string): Promise<LogoutCookieState> {
  const kept = await site.logoutOutbox.find(name)
  if (kept === 'unavailable') return 'pending'
  if (kept === 'confirmed') return 'no'
  if (kept === 'gone') await site.logoutOutbox.drop(name)
  if (kept === 'gone' || kept === 'unknown') return 'unknown'
  if ((await site.logoutOutbox.lockRetry(name)) !== true) return 'pending'
  const isOver =
    (await revokeLocalSessions(site, { sidHash: shortHash(kept.sid), accountId: kept.aid, aid: kept.aid })) === 'done'
  if (!(isOver && (await isLogoutConfirmed(site, kept)))) {
    await site.logoutOutbox.unlockRetry(name)
    return 'pending'
  }
  await site.logoutOutbox.confirm(name)
  return 'no'
}

/** Decides what to end. A session without a record ends at once. If another request has changed the session, the decision is made again. */
export async function nextLogoutStep(context: RequestContext, isAll: boolean): Promise<LogoutDecision> {
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

/** Ends what has no record, or one that nobody can read: it opens nothing any more. `changed`: something has come of it first. */
async function endWithoutRecord(stored: StoredRecord): Promise<'ended' | 'changed'> {
  if (stored.key === undefined || !stored.isAvailable || isGone(stored)) return 'ended'
  const { outcome } = await stored.revoke(({ value }) => value === undefined && !isGone(stored), 'ended')
  return outcome === 'changed' ? 'changed' : 'ended'
}

/** Account of which all sessions end, if they shall. */
export const accountOf = (record: SsoRecord, isAll: boolean): string | undefined =>
  isAll && isLoggedIn(record) ? record.user.accountId : undefined

export const logoutOf = (sid: string, aid: string | undefined, device: Device): PendingLogout => ({
  sid,
  ...(aid === undefined ? {} : { aid }),
  ...device,
})

/** Queues a logout. If Redis does not take it, this process remembers it. @param name hash of the SSO session, or key of the session */
export async function queueLogout(site: Site, name: string, logout: PendingLogout): Promise<Done | Unavailable> {
  const kept = await site.logoutOutbox.keep(name, logout, site.now())
  site.logoutWorker.start()
  return kept
}

const AT_ONCE = 8

/** Name of the pending logout of such a session. */
export const pendingLogoutName = ({ key, sidHash }: Pick<UnreadLogout, 'key' | 'sidHash'>): string => sidHash ?? key

/** Reads the session again, ends it on this site and queues its logout at the SSO system. A session that has ended since needs nothing. */
export async function endUnreadSession(site: Site, logout: UnreadLogout): Promise<Done | Unavailable> {
  const stored = new StoredRecord(site, logout.key, 'unavailable')
  if ((await stored.reread()) === 'unavailable' || (await stored.follow()) === 'unavailable') return 'unavailable'
  const { value, secrets } = stored
  if (!value) return 'done'
  const aid = accountOf(value, logout.isAll)
  // first: a browser that finds its session ended looks for the pending logout
  if (
    secrets &&
    (await queueLogout(site, pendingLogoutName(logout), logoutOf(secrets.sid, aid, logout.device))) !== 'done'
  )
    return 'unavailable'
  return revokeLocalSessions(site, localLogoutOf(stored.key, value, aid))
}

/** Finishes the logouts that this process remembers, until Redis does not answer. */
export async function endUnreadSessions(site: Site): Promise<void> {
  for (;;) {
    const batch = site.unreadLogouts.oldest(AT_ONCE)
    const results = await Promise.all(batch.map((logout) => endUnreadSession(site, logout)))
    for (const [index, logout] of batch.entries()) if (results[index] === 'done') site.unreadLogouts.remove(logout)
    if (batch.length === 0 || results.includes('unavailable')) return
  }
}
