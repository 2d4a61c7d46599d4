/** Logout: final here at once, whatever the SSO system answers; what it has not confirmed is kept and retried. Threats S12, S16, S17, F12. */
import type { LogoutDecision, LogoutResult } from '../../decide/logout'
import { isLoggedIn, type SsoRecord } from '../../decide/record'
import type { OfSession, SignedOut } from '../../decide/signed-out'
import type { SignedOutState } from '../../decide/visit'
import { shortHash } from '../../storage/hashes'
import type { KeptLogout } from '../../storage/kept-logouts'
import { publish } from '../events'
import { callListener } from '../hooks'
import { deviceOf } from '../http/request-facts'
import type { Site } from '../site'
import type { StoredRecord } from '../stored-record'
import type { Visit } from '../visit'
import { accountOf, keepForLater, logoutOf } from './keep-logout'
import { nextStep } from './logout-step'
import { endAccount, endHere, endingOf } from './revoke-local-sessions'
import { dropSignedOut, setSignedOut } from './signed-out'
import { endUnread, nameOf } from './unread-logouts'

/** Ends the browser's session, or all of the account's. */
export async function logOut(visit: Visit, isAll: boolean): Promise<LogoutResult> {
  const started = performance.now()
  const { stored, site, req } = visit
  const step = await nextStep(visit, isAll)
  const sidHash = stored.value?.sidHash
  const result = await carryOut(visit, step)
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

async function carryOut(visit: Visit, step: LogoutDecision): Promise<LogoutResult> {
  switch (step.do) {
    case 'end':
      return endStored(visit, visit.stored, step.record, step.isAll)
    case 'retry':
      return (await retrySignedOut(visit)) === 'no' ? 'confirmed' : 'pending'
    case 'mark':
      setSignedOut(visit, step.signedOut)
      if (step.signedOut.of === 'session') rememberUnread(visit, step.signedOut)
      return step.result
  }
}

/** Ends one stored session: here first, then at the SSO system. A store that takes no writes is told at the next contact. */
async function endStored(visit: Visit, stored: StoredRecord, record: SsoRecord, isAll: boolean): Promise<LogoutResult> {
  const aid = accountOf(record, isAll)
  if ((await endHere(visit.site, endingOf(stored.key, record, aid))) === 'done') return tell(visit, stored, record, aid)
  await tellAhead(visit, stored, record, isAll)
  return 'pending'
}

/** What the store has taken of it nobody knows: perhaps all, and then no record says any more whose logout it was. So it is kept in any case. */
async function tellAhead(visit: Visit, stored: StoredRecord, record: SsoRecord, isAll: boolean): Promise<void> {
  const { site, req } = visit
  const { secrets, key = '' } = stored
  const { sidHash } = record
  setSignedOut(visit, { of: 'session', key, isAll, sidHash })
  if (!secrets) return
  const logout = logoutOf(secrets.sid, accountOf(record, isAll), deviceOf(req))
  await Promise.all([isLoggedOutThere(site, logout), keepForLater(site, sidHash, logout)])
}

/** Tells the SSO system, now or later. A session that no secret of this process opens is ended by the browser's next landing. */
async function tell(
  visit: Visit,
  { secrets }: StoredRecord,
  { sidHash }: SsoRecord,
  aid: string | undefined,
): Promise<LogoutResult> {
  if (!secrets) {
    setSignedOut(visit, { of: 'anything' })
    return 'pending'
  }
  const logout = logoutOf(secrets.sid, aid, deviceOf(visit.req))
  const isConfirmed = await isLoggedOutThere(visit.site, logout)
  // whoever landed before the SSO system knew of it
  if (aid !== undefined) await endAccount(visit.site, aid)
  if (isConfirmed) return 'confirmed'
  await keepLogout(visit, sidHash, logout)
  return 'pending'
}

/**
 * The token that meets the mark ends its own session: nobody is logged in silently after a logout. A mark of a session that could not be
 * ended comes first, for it may be of all sessions; it stays until the store has been told.
 * @returns true where the mark has fallen
 */
export async function logOutToken(visit: Visit, sid: string): Promise<boolean> {
  const { site, req, browser } = visit
  const wasMarked = browser.signedOut !== undefined
  const isDue = browser.signedOut?.of === 'session' && (await retrySignedOut(visit)) === 'pending'
  const sidHash = shortHash(sid)
  const logout = logoutOf(sid, undefined, deviceOf(req))
  await endHere(site, { sidHash, aid: undefined })
  const isConfirmed = await isLoggedOutThere(site, logout)
  if (isDue) return false
  if (isConfirmed) dropSignedOut(visit)
  else await keepLogout(visit, sidHash, logout)
  return wasMarked && isConfirmed
}

async function keepLogout(visit: Visit, sidHash: string, logout: KeptLogout): Promise<void> {
  const kept = await keepForLater(visit.site, sidHash, logout)
  setSignedOut(visit, kept === 'done' ? { of: 'sso_session', sidHash } : { of: 'anything' })
}

async function isLoggedOutThere(
  { client }: Pick<Site, 'client'>,
  { sid, aid, ipa, uas }: KeptLogout,
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
export async function retrySignedOut(visit: Visit): Promise<SignedOutState> {
  const { signedOut } = visit.browser
  if (signedOut === undefined) return 'no'
  const word = await retryMark(visit, signedOut)
  if (word === 'no') dropSignedOut(visit)
  return word
}

async function retryMark(visit: Visit, signedOut: SignedOut): Promise<SignedOutState> {
  switch (signedOut.of) {
    case 'sso_session':
      return retryKept(visit.site, signedOut.sidHash)
    case 'session':
      return retryUnread(visit, signedOut)
    case 'anything':
      return endBrought(visit)
  }
}

/** A landing that was under way has brought a login meanwhile: it is what the logout was of. */
async function endBrought(visit: Visit): Promise<SignedOutState> {
  const { value } = visit.stored
  if (!isLoggedIn(value)) return 'unknown'
  return (await endStored(visit, visit.stored, value, false)) === 'confirmed' ? 'no' : 'pending'
}

/** Ends the session that Redis did not return to an earlier logout of this browser. */
async function retryUnread(visit: Visit, signedOut: OfSession): Promise<SignedOutState> {
  const { site, req } = visit
  if ((await endUnread(site, { ...signedOut, device: deviceOf(req) })) === 'done')
    return retryKept(site, nameOf(signedOut))
  rememberUnread(visit, signedOut)
  return 'pending'
}

/** The browser may not return. */
function rememberUnread({ site, req }: Visit, signedOut: OfSession): void {
  site.unreadLogouts.add({ ...signedOut, device: deviceOf(req) })
  site.logouts.start()
}

/** Tries one kept logout again, from the beginning. @param name hash of its SSO session, or key of its session */
export async function retryKept(site: Site, name: string): Promise<SignedOutState> {
  const kept = await site.keptLogouts.find(name)
  if (kept === 'unavailable') return 'pending'
  if (kept === 'confirmed') return 'no'
  if (kept === 'gone') await site.keptLogouts.drop(name)
  if (kept === 'gone' || kept === 'unknown') return 'unknown'
  if ((await site.keptLogouts.claim(name)) !== true) return 'pending'
  const isOver = (await endHere(site, { sidHash: shortHash(kept.sid), accountId: kept.aid, aid: kept.aid })) === 'done'
  if (!(isOver && (await isLoggedOutThere(site, kept)))) {
    await site.keptLogouts.release(name)
    return 'pending'
  }
  await site.keptLogouts.confirm(name)
  return 'no'
}
