/**
 * Logout. The browser is logged out of this site at once, whoever does not answer. A logout that the SSO system has not confirmed is retried.
 * The order of steps is part of the promise that a logout is final: docs/internals/architecture.md, "Logout". Threats S16, S17, F12.
 */
import { type LogoutMark, type LogoutResult, type LogoutScope, newMark, TOLD_SECONDS } from '../../decide/logout-mark'
import { type Entry, isLoggedIn, isStale } from '../../decide/record'
import { accountName, type IndexedSession } from '../../storage/account-index'
import { type PendingLogout, RETRIED_SECONDS } from '../../storage/pending-logouts'
import { shortHash, unlessUnavailable } from '../../storage/site-store'
import type { Context } from '../context'
import { callListener, publish } from '../hooks'
import { deviceOf } from '../http/request-facts'
import type { Site } from '../site'

/** Logs out on request of the user or the site. Tells the hook and the event channel. */
export async function logOutOnRequest(ctx: Context, scope: LogoutScope): Promise<LogoutResult> {
  const { site, req } = ctx
  const began = performance.now()
  const sidHash = ctx.record?.sidHash
  ctx.logoutAt = site.config.clock.now()
  const result = await logOut(ctx, scope)
  const operation = scope === 'account' ? 'logoutall' : 'logout'
  publish('logout', { operation, outcome: result, durationMs: performance.now() - began, sidHash })
  const { onLogout, config } = site
  if (onLogout && !ctx.isInOnLogout) {
    ctx.isInOnLogout = true
    await callListener('onLogout', config.log, () => onLogout(req, result))
    ctx.isInOnLogout = false
  }
  return result
}

/** What a logout ends. */
interface Target {
  readonly key: string
  readonly sidHash: string
  /** SSO session ID. `undefined` if only its hash is known. */
  readonly sid: string | undefined
  readonly accountId: string | undefined
  /** Name of the account in the index, '' if nobody was logged in. */
  readonly account: string
}

/** Ends the browser's session, or all of the account's. @param carried the mark of an earlier logout, which is repeated */
export async function logOut(ctx: Context, scope: LogoutScope, carried?: LogoutMark): Promise<LogoutResult> {
  const { session, site } = ctx
  const mark = carried ?? newMark(site.config.clock.now(), scope, ctx.mark)
  if (!session.isAvailable) {
    ctx.setMark(mark, lastingSeconds(ctx)) // the next page with Redis ends the session, so the browser keeps its cookie
    return 'pending'
  }
  const target = await unlessUnavailable(() => targetOf(ctx))
  if (target === undefined) return logOutUnknown(ctx, mark)
  const named = target === 'unavailable' ? mark : { ...mark, sidHash: target.sidHash }
  ctx.setMark(named, lastingSeconds(ctx)) // before anything can fail
  const isTold = target !== 'unavailable' && (await unlessUnavailable(() => endEverywhere(ctx, scope, target, named)))
  if (target === 'unavailable' || isTold === 'unavailable') {
    await session.leave('keep_cookie') // the page shows nothing of the session, and the next one ends it
    return 'pending'
  }
  ctx.setMark({ ...named, isTold }, isTold ? TOLD_SECONDS : RETRIED_SECONDS)
  await session.leave('drop_cookie')
  return isTold ? 'confirmed' : 'pending'
}

/** The mark lives as long as the session could. */
const lastingSeconds = ({ site }: Context) => site.config.idleSeconds

/**
 * A browser without a known session. An earlier logout may be pending, or the SSO session may still be logged in: then the next landing ends
 * it, because the mark names no SSO session.
 */
async function logOutUnknown(ctx: Context, mark: LogoutMark): Promise<LogoutResult> {
  const { session } = ctx
  const isPending = session.hadCookie || ctx.mark?.isTold === false
  ctx.setMark(mark, isPending ? RETRIED_SECONDS : TOLD_SECONDS)
  if (!isPending) return 'no_session'
  if (session.gone) await session.leave('drop_cookie')
  else await unlessUnavailable(() => removeSession(ctx))
  return 'pending'
}

/** Removes a session without an SSO session, and its data. */
async function removeSession({ session, site }: Context): Promise<void> {
  const { key } = session
  await session.leave('drop_cookie')
  if (key !== undefined) await site.records.remove(key)
}

/** Returns the session to end: that of the request, or the one that has followed it a moment ago. */
async function targetOf({ session, site, record }: Context): Promise<Target | undefined> {
  if (record) return targetIn(site, session.key ?? '', session.entry)
  const { gone } = session
  if (!gone) return undefined
  const next = gone.next === '' ? undefined : targetIn(site, gone.next, await site.records.readEntry(gone.next))
  return next ?? { key: gone.next, sidHash: gone.sidHash, sid: undefined, accountId: undefined, account: gone.account }
}

function targetIn(site: Site, key: string, entry: Entry | 'unavailable'): Target | undefined {
  if (entry === 'unavailable' || entry.state !== 'live') return undefined
  const { record } = entry
  const accountId = isLoggedIn(record) ? record.user.accountId : undefined
  const account = accountId === undefined ? '' : accountName(accountId)
  return { key, sidHash: record.sidHash, sid: site.records.open(record)?.sid, accountId, account }
}

/**
 * Ends sessions here, then at the SSO system.
 * @returns whether the SSO system has confirmed it
 * @throws {Sso2UnavailableError} if Redis does not answer
 */
async function endEverywhere(ctx: Context, scope: LogoutScope, target: Target, mark: LogoutMark): Promise<boolean> {
  const { site, req } = ctx
  const { sid, sidHash, accountId, account } = target
  const isAll = scope === 'account' && account !== '' && sid !== undefined // or no confirmation would ever let the account log in again
  const logout: PendingLogout | undefined =
    sid === undefined
      ? undefined
      : { sid, scope: isAll ? 'account' : 'session', accountId, since: site.now(), ...deviceOf(req) }
  const [pending] = await Promise.all([
    logout && !mark.isTold ? site.pendingLogouts.add(logout) : undefined,
    site.accounts.markSession(sidHash),
    isAll && !mark.isTold && site.accounts.markAccount(account),
  ])
  await Promise.all([
    endOwn(site, target),
    endIndexed(site, account, ({ sidHash: other }) => isAll || other === sidHash),
  ])
  if (!pending) return mark.isTold
  const isAsked = await checkBefore(ctx, sidHash, pending)
  if (isAsked && !(await site.pendingLogouts.has(sidHash))) return true // another process has sent it meanwhile
  return sendLogout(site, pending)
}

/**
 * The interface asks for a status check before Logout, if the last one is old. The logout follows whatever the answer.
 * @returns whether a status check was made
 */
async function checkBefore({ site, session, record, req }: Context, sidHash: string, { sid }: PendingLogout) {
  const { client, config, locks } = site
  if (record?.sidHash !== sidHash || !isStale(record, site.now(), config.recheckSeconds) || !client.isAvailable)
    return false
  const taken = await locks.takeCheck(session.key ?? '', record.checkedAt, config.timeoutMs, config.clock.now())
  if (taken !== 'taken') return false // a page has just asked
  await client.sessionStatus({ sid, lks: record.status, ...deviceOf(req) }).catch(() => undefined)
  return true
}

/** Ends a session, and once the session that has followed it in the meantime. */
async function endOwn(site: Site, { key, sidHash, account }: Target): Promise<void> {
  if (key === '') return
  const { entry } = await site.records.end(key, { next: '', sidHash, account })
  const next = entry.state === 'gone' ? entry.gone.next : ''
  if (next !== '') await site.records.end(next, { next: '', sidHash, account })
}

const AT_ONCE = 50

/** Ends sessions of an account's index. */
export async function endIndexed(
  site: Site,
  account: string,
  isEnded: (session: IndexedSession) => boolean,
): Promise<void> {
  if (account === '') return
  const sessions = (await site.accounts.list(account)).filter(isEnded)
  for (let from = 0; from < sessions.length; from += AT_ONCE) {
    const batch = sessions.slice(from, from + AT_ONCE)
    await Promise.all(batch.map(({ key, sidHash }) => site.records.end(key, { next: '', sidHash, account })))
    site.accounts.remove(account, batch).catch(() => {}) // a name that stays costs the next logout a command
  }
}

/** Sends a pending logout, and removes it once the SSO system has confirmed it. @returns whether it has */
export async function sendLogout(site: Site, pending: PendingLogout): Promise<boolean> {
  const isTold = await callLogout(site, pending)
  if (isTold) await confirm(site, pending)
  return isTold
}

/** Calls Logout or Logout all. Interface: "POST {sso_url}/logout", "POST {sso_url}/logoutall". @returns false without a confirmation */
async function callLogout({ client }: Site, { sid, scope, accountId, ipa, uas }: PendingLogout): Promise<boolean> {
  try {
    const isAll = scope === 'account' && accountId !== undefined
    const answer = isAll ? await client.logoutAll({ aid: accountId, ipa, uas }) : await client.logout({ sid, ipa, uas })
    return answer.err === undefined || answer.err === 'session_not_found'
  } catch {
    return false
  }
}

async function confirm(
  { accounts, pendingLogouts, config }: Site,
  { sid, scope, accountId }: PendingLogout,
): Promise<void> {
  const account = scope === 'account' && accountId !== undefined ? accountName(accountId) : undefined
  await Promise.all([
    pendingLogouts.remove(shortHash(sid)),
    account !== undefined && accounts.markAccount(account, config.clock.now()),
  ])
}

/**
 * Logs out the SSO session of a landing token, because this browser has logged out. Otherwise the landing would undo the logout.
 * @returns false while the logout is pending
 */
export async function logOutLanding(ctx: Context, mark: LogoutMark, sid: string, sidHash: string): Promise<boolean> {
  const named = { ...mark, sidHash, isTold: false }
  if (ctx.record?.sidHash === sidHash) {
    const scope = mark.isTold ? 'session' : mark.scope // a confirmed Logout all is never sent twice
    return (await logOut(ctx, scope, named)) === 'confirmed'
  }
  const target = { key: '', sid, sidHash, accountId: undefined, account: '' }
  const isTold = await unlessUnavailable(() => endEverywhere(ctx, 'session', target, named), false)
  ctx.setMark({ ...named, isTold }, isTold ? TOLD_SECONDS : RETRIED_SECONDS)
  return isTold
}
