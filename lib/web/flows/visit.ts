/**
 * Finds out who visits a page: the record, a status check, or a redirect to Identify. Every page goes this way. All processes share one status
 * check of a session. If the exchange of its ticket outlasts the lock, there may be two checks: one of them logs in.
 * Interface: "POST {sso_url}/sessionstatus".
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { isVoidedBy, type LogoutMark } from '../../decide/logout-mark'
import { isForPage, isForPageOfPerson, isPrefetch } from '../../decide/navigation'
import {
  type DegradedReason,
  decideStatus,
  type Identity,
  isLoggedIn,
  isOver,
  isStale,
  isWithinGrace,
  lifetimeOf,
  needsTicket,
  type SsoRecord,
  show,
} from '../../decide/record'
import { TokenError } from '../../errors'
import type { EpochMs } from '../../protocol/claims'
import type { TicketToken } from '../../protocol/session-token'
import { namesOf } from '../../storage/account-index'
import { RETRIED_SECONDS } from '../../storage/pending-logouts'
import { unlessUnavailable } from '../../storage/site-store'
import type { Context } from '../context'
import { publish, runHook } from '../hooks'
import { deviceOf } from '../http/request-facts'
import { sendProblem } from '../pages/answers'
import { logInByTicket } from './begin-session'
import { logOutBrowser } from './log-out'

const POLL_MS = 50

/** Options of the caller. */
export interface VisitOptions {
  /** May the browser be redirected to Identify? `'if_configured'`: if option `identify` is `'always'`. `'never'`: the caller cannot redirect. */
  readonly identify: 'always' | 'if_configured' | 'never'
  /** Is only a status check accepted that begins now? */
  readonly isFresh?: boolean
  /** Only the login page redirects to Identify while a logout is pending. */
  readonly isLoginPage?: boolean
}

/** Finds the identity to show. @returns `'answered'` if the request has been answered: redirected to Identify, or a prefetch refused */
export async function visit(ctx: Context, options: VisitOptions): Promise<Identity | 'answered'> {
  const found = await unlessUnavailable(() => findIdentity(ctx, options))
  const identity = found === 'unavailable' ? showStale(ctx, 'store_unavailable') : found
  const reason = identity === 'answered' ? undefined : identity.degraded
  if (reason) publish('degraded', { operation: 'visit', outcome: 'served', sidHash: ctx.record?.sidHash, reason })
  return identity
}

async function findIdentity(ctx: Context, options: VisitOptions): Promise<Identity | 'answered'> {
  const { site, session, req, res } = ctx
  const { recheckSeconds, log } = site.config
  const { isFresh = false, isLoginPage = false } = options
  if (!session.isAvailable) return show(undefined, 'store_unavailable')
  const isLogoutPending = ctx.logoutMark && !(await finishLogout(ctx, ctx.logoutMark))
  if (isLogoutPending && (ctx.record || !isLoginPage)) return show(undefined, 'logout_pending')
  if (ctx.record && isOver(ctx.record, site.now(), site.config)) await endSession(ctx)
  if (ctx.record && (isFresh || isStale(ctx.record, site.now(), recheckSeconds))) {
    if ((await checkStatus(ctx, isFresh)) === 'no_answer') return showStale(ctx, 'sso_unavailable')
  }
  if (ctx.record || !(await mayIdentify(ctx, options))) return show(ctx.record)
  if (session.gone?.next && ctx.returnCount) return show(undefined) // a tab that will have the new cookie with its next request
  const reason = ctx.identifyProblem
  if (reason === 'identify_loop' && ctx.returnCount?.cause === '') log.warn('visit:identify_loop', 'Redirect loop')
  if (reason) return show(undefined, reason)
  if (isPrefetch(req))
    await sendProblem(site, res, 503, 'prefetch') // or the anonymous page is shown after the click
  else ctx.sendToIdentify(ctx.page ?? '', 'no_session')
  return 'answered'
}

/**
 * Ends a session that this browser has logged out of. A newer login stays.
 * @returns false while a logout is to be confirmed: a redirect to Identify would log the browser in again
 */
async function finishLogout(ctx: Context, mark: LogoutMark): Promise<boolean> {
  const { record, site } = ctx
  if (record && isVoidedBy(mark, record)) return (await logOutBrowser(ctx, mark)) === 'confirmed'
  if (isLoggedIn(record) || mark.isConfirmed || mark.sidHash === '') return true
  if (await site.pendingLogouts.find(mark.sidHash)) return false
  // the timer has sent it. Or Redis has lost it: then the next landing sends it, for as long as the timer would have
  ctx.setLogoutMark({ ...mark, isConfirmed: true }, RETRIED_SECONDS)
  return true
}

/** Whoever opens the login page is a person. */
async function mayIdentify(ctx: Context, { identify, isLoginPage }: VisitOptions): Promise<boolean> {
  const { site, req } = ctx
  const { shouldIdentify, config } = site
  if (identify === 'never') return false
  if (identify === 'if_configured' && config.identify !== 'always') return false
  if (ctx.page === undefined) return false // a long address is not carried
  if (isLoginPage) return isForPage(req)
  if (!shouldIdentify) return isForPageOfPerson(req)
  return Boolean(await runHook('shouldIdentify', async () => shouldIdentify(req)))
}

/**
 * Checks the status of the session.
 * @param isFresh makes a call of its own, at any age of the last one, also after that of this request
 * @returns `'no_answer'` if the record may only be shown within the grace period
 */
async function checkStatus(ctx: Context, isFresh: boolean): Promise<'done' | 'no_answer'> {
  const { site, session } = ctx
  const { clock, timeoutMs } = site.config
  if (!site.client.isAvailable) return 'no_answer'
  const turn = isFresh ? 'ours' : await awaitTurn(ctx)
  if (turn !== 'ours') return turn === 'failed' ? 'no_answer' : 'done'
  const { record } = ctx
  const sid = record && site.records.open(record)?.sid
  if (!record || sid === undefined) {
    await endSession(ctx) // no secret of this process fits
    return 'done'
  }
  const startedAt = clock.now()
  const began = performance.now()
  const decision = decideStatus(record, await site.runningOperations.run(() => askStatus(ctx, record, sid)))
  publish('check', {
    operation: 'sessionstatus',
    outcome: decision.action,
    durationMs: performance.now() - began,
    sidHash: record.sidHash,
    reason: 'reason' in decision ? decision.reason : undefined,
  })
  switch (decision.action) {
    case 'no_answer':
      if (!isFresh) await site.locks.failCheck(session.key ?? '', record.checkedAt, timeoutMs)
      return 'no_answer'
    case 'keep':
      await saveStatus(ctx)
      break
    case 'log_in':
      await useTicket(ctx, record, decision.token, startedAt)
      break
    case 'over':
      await endSession(ctx)
  }
  return 'done'
}

/**
 * Takes the status check, or waits for that of another request or process. Within the grace period nobody waits.
 * @returns `'ours'`: this request makes the call. `'theirs'`: another makes it or has made it, so the record is shown. `'failed'`: it got no answer
 */
async function awaitTurn(ctx: Context): Promise<'ours' | 'theirs' | 'failed'> {
  const { site, session } = ctx
  const { recheckSeconds, graceSeconds, timeoutMs } = site.config
  while (ctx.record && isStale(ctx.record, site.now(), recheckSeconds)) {
    const turn = await site.locks.takeCheck(session.key ?? '', ctx.record.checkedAt, timeoutMs)
    if (turn !== 'theirs' || isWithinGrace(ctx.record, site.now(), recheckSeconds, graceSeconds)) return turn
    await sleep(POLL_MS)
    await ctx.reread()
  }
  return 'theirs'
}

/** @returns the response, or the reason why it was refused. `undefined` without a response */
async function askStatus({ site, req }: Context, record: SsoRecord, sid: string) {
  const lks = needsTicket(record, site.now(), site.config.recheckSeconds) ? 'anon' : 'loggedin' // with `anon` a login comes with a ticket
  try {
    return await site.client.sessionStatus({ sid, lks, ...deviceOf(req) })
  } catch (error) {
    return error instanceof TokenError ? error.reason : undefined
  }
}

/** Saves the status. The lock of the check is for the status before, so it needs no end. */
const saveStatus = (ctx: Context) => ctx.update({ checkedAt: ctx.site.now(), pending: undefined })

/** Uses the ticket of a check, to load the user or to renew the access token. After the headers are sent, the session ID cannot change. */
async function useTicket(ctx: Context, record: SsoRecord, token: TicketToken, startedAt: EpochMs): Promise<void> {
  if (!isLoggedIn(record) && ctx.res.headersSent !== false) {
    await ctx.update({ checkedAt: 0 }) // the next request checks the status
    return
  }
  const outcome = await logInByTicket(ctx, token, startedAt)
  if (outcome === 'not_renewed') await saveStatus(ctx)
  if (outcome === 'too_late') await endSession(ctx)
}

/** Ends the browser's session on this site, because the SSO session is over: no logout. An anonymous session keeps its data, and an empty record. Threat S7. */
export async function endSession(ctx: Context): Promise<void> {
  const { site, session, record } = ctx
  const { key } = session
  if (key === undefined || !record) return
  if (isLoggedIn(record)) {
    await site.records.end(namesOf(key, record))
    return session.leave('drop_cookie')
  }
  await ctx.reread()
  if (ctx.record?.sidHash !== record.sidHash) return // a newer session has begun in its place
  await site.records.empty(key, lifetimeOf(undefined, site.now(), site.config))
  session.entry = { state: 'empty' }
}

/** Shows a record without a usable response: a login within the grace period, an anonymous session always. */
function showStale(ctx: Context, reason: DegradedReason): Identity {
  const { record, site } = ctx
  const { recheckSeconds, graceSeconds } = site.config
  const isShown = record && (!isLoggedIn(record) || isWithinGrace(record, site.now(), recheckSeconds, graceSeconds))
  return show(isShown ? record : undefined, reason)
}
