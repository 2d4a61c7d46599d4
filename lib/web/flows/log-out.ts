/**
 * Logout. The browser is logged out of this site at once, whoever does not answer. A logout that the SSO system has not confirmed is retried.
 * From the outside in: `logOut…` logs out what its name says, `endEverywhere` ends it here (`end…`) and then at the SSO system (`sendLogout`). The
 * order of steps is part of the promise that a logout is final: docs/internals/architecture.md, "Logout". Threats S16, S17, F12.
 */
import {
  CONFIRMED_SECONDS,
  type LogoutMark,
  type LogoutResult,
  type LogoutScope,
  newMark,
} from '../../decide/logout-mark'
import { isLoggedIn, isStale, type SsoRecord } from '../../decide/record'
import { accountName, namesOf } from '../../storage/account-index'
import { type PendingLogout, RETRIED_SECONDS } from '../../storage/pending-logouts'
import type { NamedSession } from '../../storage/records'
import { shortHash, unlessUnavailable } from '../../storage/site-store'
import type { Context } from '../context'
import { callListener, publish } from '../hooks'
import { deviceOf } from '../http/request-facts'
import type { Site } from '../site'

/** Logs out on request of the user or the site. Tells the hook and the event channel. */
export async function logOut(ctx: Context, scope: LogoutScope): Promise<LogoutResult> {
  const { site, session, req } = ctx
  const { config, onLogout } = site
  const began = performance.now()
  const sidHash = ctx.record?.sidHash
  ctx.logoutAt = config.clock.now()
  const result = await logOutBrowser(ctx, newMark(ctx.logoutAt, scope, ctx.logoutMark, session.lastRecord?.sidHash))
  const operation = scope === 'account' ? 'logoutall' : 'logout'
  publish('logout', { operation, outcome: result, durationMs: performance.now() - began, sidHash })
  if (onLogout && !ctx.isInOnLogout) {
    ctx.isInOnLogout = true
    await callListener('onLogout', config.log, () => onLogout(req, result))
    ctx.isInOnLogout = false
  }
  return result
}

/** Logs the browser out, as a mark says. @param mark becomes the browser's. One that it carries repeats its logout */
export async function logOutBrowser(ctx: Context, mark: LogoutMark): Promise<LogoutResult> {
  const { session, site } = ctx
  const mayHaveSession = session.hadCookie || ctx.logoutMark?.isConfirmed === false
  const leftKey = session.isAvailable ? undefined : session.key
  ctx.setLogoutMark({ ...mark, leftKey }, site.config.idleSeconds) // before anything can fail. It lives as long as the session could
  if (!session.isAvailable) return 'pending' // the next page with Redis ends the session, so the browser keeps its cookie
  const result = await unlessUnavailable(async () => {
    const target = await targetOfRequest(ctx)
    if (target) {
      const isConfirmed = await logOutTarget(ctx, target, mark)
      await session.leave('drop_cookie')
      return isConfirmed ? 'confirmed' : 'pending'
    }
    // an earlier logout may be pending, or the SSO session still logged in: then the next landing ends it, because the mark names no SSO session
    ctx.setLogoutMark(mark, mayHaveSession ? RETRIED_SECONDS : CONFIRMED_SECONDS)
    if (!mayHaveSession) return 'no_session'
    await ctx.leaveData('drop_cookie') // if Redis fails, no browser shows the data any more
    return 'pending'
  })
  if (result !== 'unavailable') return result
  await session.leave('keep_cookie') // the page shows nothing of the session, and the next one ends it
  return 'pending'
}

/**
 * Logs out the SSO session of a landing token, because this browser has logged out. Otherwise the landing would undo the logout.
 * @returns whether the SSO system has confirmed it
 */
export async function logOutLandedSession(ctx: Context, mark: LogoutMark, sid: string): Promise<boolean> {
  const target = targetOfSid(sid)
  const scope = mark.isConfirmed ? 'session' : mark.scope // a confirmed Logout all is never sent twice
  const again: LogoutMark = { ...mark, scope, sidHash: target.sidHash, isConfirmed: false }
  if (ctx.record?.sidHash === target.sidHash) return (await logOutBrowser(ctx, again)) === 'confirmed'
  return unlessUnavailable(() => logOutTarget(ctx, target, again), false)
}

/** Logs out an SSO session that has no session here. The browser's mark stays. @returns whether the SSO system has confirmed it */
export const logOutSsoSession = (ctx: Context, sid: string): Promise<boolean> =>
  endEverywhere(ctx, targetOfSid(sid), { scope: 'session', isConfirmed: false })

/** What a logout ends: a session here and its SSO session. The key is '' without a session. */
interface Target extends NamedSession {
  /** SSO session ID. `undefined` if only its hash is known. */
  readonly sid?: string | undefined
  readonly accountId?: string | undefined
}

/** Returns the session of the request, or the one that has followed it a moment ago. */
async function targetOfRequest({ session, site }: Context): Promise<Target | undefined> {
  const { lastRecord, gone, key = '' } = session
  if (lastRecord) return targetOfRecord(site, key, lastRecord)
  if (!gone) return undefined
  const next = gone.next === '' ? undefined : await site.records.readEntry(gone.next)
  if (next?.state === 'live') return targetOfRecord(site, gone.next, next.record)
  return { key: gone.next, sidHash: gone.sidHash, account: gone.account }
}

function targetOfRecord(site: Site, key: string, record: SsoRecord): Target {
  const accountId = isLoggedIn(record) ? record.user.accountId : undefined
  return { ...namesOf(key, record), sid: site.records.open(record)?.sid, accountId }
}

const targetOfSid = (sid: string): Target => ({ key: '', sid, sidHash: shortHash(sid), account: '' })

/** Ends a target, and lets the browser's mark name it. @returns whether the SSO system has confirmed it, as the mark then says */
async function logOutTarget(ctx: Context, target: Target, mark: LogoutMark): Promise<boolean> {
  const named = { ...mark, sidHash: target.sidHash }
  ctx.setLogoutMark(named, ctx.site.config.idleSeconds)
  const isConfirmed = await endEverywhere(ctx, target, named)
  ctx.setLogoutMark({ ...named, isConfirmed }, isConfirmed ? CONFIRMED_SECONDS : RETRIED_SECONDS)
  return isConfirmed
}

type LogoutState = Pick<LogoutMark, 'scope' | 'isConfirmed'>

/**
 * Ends sessions here, then at the SSO system.
 * @returns whether the SSO system has confirmed it
 * @throws {Sso2UnavailableError} if Redis does not answer
 */
async function endEverywhere(ctx: Context, target: Target, mark: LogoutState): Promise<boolean> {
  const pending = await endHere(ctx, target, mark)
  if (!pending) return mark.isConfirmed
  await checkOldStatus(ctx, pending)
  return sendLogout(ctx.site, pending)
}

/** Ends sessions here, after the marks. @returns the logout to send. `undefined` if confirmed, or if the SSO session is known by its hash alone */
async function endHere({ site, req }: Context, target: Target, mark: LogoutState): Promise<PendingLogout | undefined> {
  const { sid, sidHash, accountId, account } = target
  const scope = account === '' ? 'session' : mark.scope
  const [pending] = await Promise.all([
    sid === undefined || mark.isConfirmed
      ? undefined
      : site.pendingLogouts.add({ sid, scope, accountId, since: site.now(), ...deviceOf(req) }),
    site.accounts.markSession(sidHash),
  ])
  if (scope === 'account' && pending) await site.accounts.markAccount(account) // not before the logout is noted, whose retry closes the mark
  await Promise.all([endOwnSession(site, target), endOtherSessions(site, target, scope)])
  return pending
}

/** Ends a session, and once the session that has followed it in the meantime. */
async function endOwnSession({ records }: Site, target: Target): Promise<void> {
  if (target.key === '') return
  const { entry } = await records.end(target)
  if (entry.state === 'gone' && entry.gone.next !== '') await records.end({ ...target, key: entry.gone.next })
}

const AT_ONCE = 50

/** Ends the other sessions of the account: all, or those of the SSO session. */
export async function endOtherSessions(site: Site, target: Target, scope: LogoutScope): Promise<void> {
  const { sidHash, account } = target
  if (account === '') return
  const all = await site.accounts.list(account)
  const sessions = scope === 'account' ? all : all.filter((session) => session.sidHash === sidHash)
  for (let from = 0; from < sessions.length; from += AT_ONCE) {
    const batch = sessions.slice(from, from + AT_ONCE)
    const others = batch.filter(({ key }) => key !== target.key)
    await Promise.all(others.map((other) => site.records.end(other)))
    site.accounts.remove(account, batch).catch(() => {}) // a name that stays costs the next logout a command
  }
}

/** Asks Session Status before a logout, as the interface wants, unless a page has just asked. The logout follows whatever the answer. */
async function checkOldStatus({ site, session, req, record }: Context, { sid }: PendingLogout): Promise<void> {
  const { client, config, locks, now } = site
  if (record?.sidHash !== shortHash(sid) || !isStale(record, now(), config.recheckSeconds)) return
  if (!client.isAvailable) return
  const turn = await locks.takeCheck(session.key ?? '', record.checkedAt, config.timeoutMs)
  if (turn === 'ours') await client.sessionStatus({ sid, lks: record.status, ...deviceOf(req) }).catch(() => {})
}

/** Calls Logout or Logout all, and removes the pending logout once it is confirmed. @returns whether it is */
export async function sendLogout(site: Site, { sid, scope, accountId, ipa, uas }: PendingLogout): Promise<boolean> {
  const { client, accounts, pendingLogouts, config } = site
  const aid = scope === 'account' ? accountId : undefined
  const call = aid === undefined ? client.logout({ sid, ipa, uas }) : client.logoutAll({ aid, ipa, uas })
  const answer = await call.catch(() => undefined)
  if (!answer || (answer.err !== undefined && answer.err !== 'session_not_found')) return false
  if (aid !== undefined) await accounts.markAccount(accountName(aid), config.clock.now())
  pendingLogouts.remove(shortHash(sid)) // last: without a retry, nobody would close the mark of the account
  return true
}
