/**
 * Logout. The browser is logged out of this site at once, whoever does not answer. A logout that the SSO system has not confirmed is retried.
 * The order of steps is part of the promise that a logout is final: docs/internals/architecture.md, "Logout". Threats S16, S17, F12.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import {
  CONFIRMED_SECONDS,
  type LogoutMark,
  type LogoutResult,
  type LogoutScope,
  newMark,
} from '../../decide/logout-mark'
import { isLoggedIn, isStale, type SsoRecord } from '../../decide/record'
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
  readonly sid?: string | undefined
  readonly accountId?: string | undefined
  /** Name of the account in the index, '' if nobody was logged in. */
  readonly account: string
}

/** Ends the browser's session, or all of the account's. @param carried the mark of an earlier logout, which is repeated */
export async function logOut(ctx: Context, scope: LogoutScope, carried?: LogoutMark): Promise<LogoutResult> {
  const { session, site } = ctx
  const mark = carried ?? newMark(site.config.clock.now(), scope, ctx.logoutMark, session.lastRecord?.sidHash)
  const wasPending = session.hadCookie || ctx.logoutMark?.isConfirmed === false
  ctx.setLogoutMark(mark, site.config.idleSeconds) // before anything can fail. It lives as long as the session could
  if (!session.isAvailable) return 'pending' // the next page with Redis ends the session, so the browser keeps its cookie
  const result = await unlessUnavailable(async () => {
    const target = await targetOf(ctx)
    return target ? logOutTarget(ctx, carried ? scope : mark.scope, target, mark) : logOutUnknown(ctx, mark, wasPending)
  })
  if (result !== 'unavailable') return result
  await session.leave('keep_cookie') // the page shows nothing of the session, and the next one ends it
  return 'pending'
}

async function logOutTarget(ctx: Context, scope: LogoutScope, target: Target, mark: LogoutMark): Promise<LogoutResult> {
  const named = { ...mark, sidHash: target.sidHash }
  ctx.setLogoutMark(named, ctx.site.config.idleSeconds)
  const isConfirmed = await endEverywhere(ctx, scope, target, named)
  setMarkAfterCall(ctx, named, isConfirmed)
  await ctx.session.leave('drop_cookie')
  return isConfirmed ? 'confirmed' : 'pending'
}

const setMarkAfterCall = (ctx: Context, mark: LogoutMark, isConfirmed: boolean) =>
  ctx.setLogoutMark({ ...mark, isConfirmed }, isConfirmed ? CONFIRMED_SECONDS : RETRIED_SECONDS)

/**
 * A browser without a known session. An earlier logout may be pending, or the SSO session may still be logged in: then the next landing ends
 * it, because the mark names no SSO session.
 */
async function logOutUnknown(ctx: Context, mark: LogoutMark, wasPending: boolean): Promise<LogoutResult> {
  const { session, site } = ctx
  ctx.setLogoutMark(mark, wasPending ? RETRIED_SECONDS : CONFIRMED_SECONDS)
  if (!wasPending) return 'no_session'
  if (session.key !== undefined) await site.records.remove(session.key)
  await session.leave('drop_cookie')
  return 'pending'
}

/** Returns the session to end: that of the request, or the one that has followed it a moment ago. */
async function targetOf({ session, site }: Context): Promise<Target | undefined> {
  const { lastRecord } = session
  if (lastRecord) return targetIn(site, session.key ?? '', lastRecord)
  const { gone } = session
  if (!gone) return undefined
  const next = gone.next === '' ? undefined : await site.records.readEntry(gone.next)
  if (next?.state === 'live') return targetIn(site, gone.next, next.record)
  return { key: gone.next, sidHash: gone.sidHash, account: gone.account }
}

function targetIn(site: Site, key: string, record: SsoRecord): Target {
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
  const { isConfirmed } = mark
  const isAll = scope === 'account' && account !== '' && sid !== undefined // or no confirmation would ever let the account log in again
  const device = deviceOf(req)
  const [pending] = await Promise.all([
    sid === undefined || isConfirmed
      ? undefined
      : site.pendingLogouts.add({ sid, scope: isAll ? scope : 'session', accountId, since: site.now(), ...device }),
    site.accounts.markSession(sidHash),
  ])
  if (isAll && !isConfirmed) await site.accounts.markAccount(account) // not before the logout is noted, whose retry closes the mark
  await Promise.all([
    endOwn(site, target),
    endIndexed(site, account, ({ sidHash: other }) => isAll || other === sidHash, target.key),
  ])
  if (!pending) return isConfirmed
  const isChecked = await checkBefore(ctx, pending)
  if (isChecked && !(await site.pendingLogouts.has(sidHash))) return true // another process has sent it meanwhile
  return sendLogout(site, pending)
}

/** The interface asks for a status check before Logout, if the last one is old. The logout follows whatever the answer. */
async function checkBefore({ site, session, record }: Context, { sid, ipa, uas }: PendingLogout): Promise<boolean> {
  const { client, config, locks } = site
  const isOld = record?.sidHash === shortHash(sid) && isStale(record, site.now(), config.recheckSeconds)
  if (!isOld || !client.isAvailable) return false
  const check = await locks.takeCheck(session.key ?? '', record.checkedAt, config.timeoutMs)
  if (check !== 'taken') return false // a page has just asked
  await client.sessionStatus({ sid, lks: record.status, ipa, uas }).catch(() => undefined)
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

/** Ends sessions of an account's index. @param ownKey a session that the caller ends */
async function endIndexed(
  site: Site,
  account: string,
  isEnded: (session: IndexedSession) => boolean,
  ownKey?: string,
): Promise<void> {
  if (account === '') return
  const sessions = (await site.accounts.list(account)).filter(isEnded)
  for (let from = 0; from < sessions.length; from += AT_ONCE) {
    const batch = sessions.slice(from, from + AT_ONCE)
    const others = batch.filter(({ key }) => key !== ownKey)
    await Promise.all(others.map(({ key, sidHash }) => site.records.end(key, { next: '', sidHash, account })))
    site.accounts.remove(account, batch).catch(() => {}) // a name that stays costs the next logout a command
  }
}

/** Calls Logout or Logout all, and removes the pending logout once it is confirmed. @returns whether it is */
export async function sendLogout(site: Site, { sid, scope, accountId, ipa, uas }: PendingLogout): Promise<boolean> {
  const { client, accounts, pendingLogouts, config } = site
  const aid = scope === 'account' ? accountId : undefined
  const call = aid === undefined ? client.logout({ sid, ipa, uas }) : client.logoutAll({ aid, ipa, uas })
  const answer = await call.catch(() => undefined)
  if (!answer || (answer.err !== undefined && answer.err !== 'session_not_found')) return false
  if (aid !== undefined) await accounts.markAccount(accountName(aid), config.clock.now())
  await pendingLogouts.remove(shortHash(sid)) // last: without a retry, nobody would close the mark of the account
  return true
}

/**
 * Logs out the SSO session of a landing token, because this browser has logged out. Otherwise the landing would undo the logout.
 * @returns false while the logout is pending
 */
export async function logOutLanding(ctx: Context, mark: LogoutMark, sid: string, sidHash: string): Promise<boolean> {
  const named = { ...mark, sidHash, isConfirmed: false }
  if (ctx.record?.sidHash === sidHash) {
    const scope = mark.isConfirmed ? 'session' : mark.scope // a confirmed Logout all is never sent twice
    return (await logOut(ctx, scope, named)) === 'confirmed'
  }
  const target = { key: '', sid, sidHash, account: '' }
  const isConfirmed = await unlessUnavailable(() => endEverywhere(ctx, 'session', target, named), false)
  setMarkAfterCall(ctx, named, isConfirmed)
  return isConfirmed
}

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
  const ids = client.isAvailable ? await pendingLogouts.due(now(), IN_ROUND) : []
  if (ids.length > 0) await pendingLogouts.inRound(() => Promise.all(ids.map((id) => retry(site, id))))
}

/** Ends the sessions of a logout again, because a process may have died in between, and calls Logout. */
async function retry(site: Site, id: string): Promise<void> {
  const { pendingLogouts, now } = site
  const logout = await pendingLogouts.find(id)
  if (!logout && (await pendingLogouts.has(id))) return pendingLogouts.postpone(id, { since: 0 }, now()) // another process may have its secret
  if (!logout) return pendingLogouts.remove(id)
  const began = performance.now()
  const account = logout.accountId === undefined ? '' : accountName(logout.accountId)
  const isAll = logout.scope === 'account'
  await endIndexed(site, account, ({ sidHash }) => isAll || sidHash === id)
  const isConfirmed = await sendLogout(site, logout)
  const outcome = isConfirmed ? 'confirmed' : 'pending'
  publish('logout', { operation: 'retry', outcome, durationMs: performance.now() - began, sidHash: id })
  if (!isConfirmed) await pendingLogouts.postpone(id, logout, now())
}
