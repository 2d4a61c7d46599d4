/** Finds out who visits a page: the record, a status check, or a redirect to Identify. Every page goes this way. */

import { type Identity, show } from '../../decide/identity'
import { isVoidedBy, type LogoutMark } from '../../decide/logout-mark'
import { isForPage, isForPageOfPerson, isPrefetch } from '../../decide/navigation'
import { isLoggedIn, isOver, isStale } from '../../decide/record'
import { RETRIED_SECONDS } from '../../storage/pending-logouts'
import { unlessUnavailable } from '../../storage/site-store'
import type { Context } from '../context'
import { HOOKS_MS, publish, runHook } from '../hooks'
import { sendProblem } from '../pages/answers'
import { checkStatus, dropSessionOfOtherBrowser, endSession, showStale } from './check'
import { sendToIdentify } from './identify'
import { logOut } from './log-out'

/** Options of the caller. */
export interface VisitOptions {
  /** May the browser be redirected to Identify? `'if_configured'`: if option `identify` is `'always'`. `'never'`: the caller cannot redirect. */
  readonly identify: 'always' | 'if_configured' | 'never'
  /** Is only a status check accepted that begins now? */
  readonly isFresh?: boolean
  /** Only the login page redirects to Identify while a logout is pending. */
  readonly isLoginPage?: boolean
}

/** Finds the identity to show. @returns `'answered'` if the browser was redirected to Identify */
export async function visit(ctx: Context, options: VisitOptions): Promise<Identity | 'answered'> {
  const found = await unlessUnavailable(() => findIdentity(ctx, options))
  const identity = found === 'unavailable' ? showStale(ctx, 'store_unavailable') : found
  if (identity !== 'answered' && identity.degraded)
    publish('degraded', { operation: 'visit', outcome: 'served', durationMs: 0, reason: identity.degraded })
  return identity
}

async function findIdentity(ctx: Context, options: VisitOptions): Promise<Identity | 'answered'> {
  const { site, session, req, res } = ctx
  const { recheckSeconds, log } = site.config
  const { isFresh = false, isLoginPage = false } = options
  if (!session.isAvailable) return show(undefined, 'store_unavailable')
  if (ctx.logoutMark && !(await settleLogout(ctx, ctx.logoutMark)) && !(isLoginPage && !ctx.record))
    return show(undefined, 'logout_pending')
  if (ctx.record && isOver(ctx.record, site.now(), site.config)) await endSession(ctx)
  if (ctx.record && (isFresh || isStale(ctx.record, site.now(), recheckSeconds))) {
    await dropSessionOfOtherBrowser(ctx)
    if (ctx.record && (await checkStatus(ctx, isFresh)) === 'no_answer') return showStale(ctx, 'sso_unavailable')
  }
  if (ctx.record || !(await mayIdentify(ctx, options))) return show(ctx.record)
  if (session.gone?.next && ctx.returns) return show(undefined) // a tab that will have the new cookie with its next request
  const reason = site.identifyHealth.mayRedirect ? ctx.block : 'sso_unavailable' // an outage is no loop
  if (reason === 'identify_loop') log.warn('visit:identify_loop', 'Redirect loop')
  if (reason) return show(undefined, reason)
  if (isPrefetch(req))
    await sendProblem(site, req, res, 503, 'prefetch') // or the anonymous page is shown after the click
  else sendToIdentify(ctx, ctx.page ?? '', 'no_session')
  return 'answered'
}

/**
 * Ends a session that this browser has logged out of, and looks whether its logout is confirmed.
 * @returns false while the browser must not be redirected to Identify, which would log it in again
 */
async function settleLogout(ctx: Context, mark: LogoutMark): Promise<boolean> {
  const { record, site } = ctx
  if (record && isVoidedBy(mark, record)) return (await logOut(ctx, mark.scope, mark)) === 'confirmed'
  if (isLoggedIn(record) || mark.isConfirmed || mark.sidHash === '') return true
  if (await site.pendingLogouts.has(mark.sidHash)) return false
  ctx.setLogoutMark({ ...mark, isConfirmed: true }, RETRIED_SECONDS) // Redis may have lost the logout: then the next landing runs it
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
  return Boolean(await runHook('shouldIdentify', AbortSignal.timeout(HOOKS_MS), async () => shouldIdentify(req)))
}
