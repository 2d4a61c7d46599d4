/** Finds out who visits a page: the record, a status check, or a redirect to Identify. Every page goes this way. */

import { type DegradedReason, type Identity, show } from '../../decide/identity'
import { isVoidedBy, TOLD_SECONDS } from '../../decide/logout-mark'
import { isForPage, isPrefetch } from '../../decide/navigation'
import { isLoggedIn, isOver, isStale } from '../../decide/record'
import { LOG_LINES } from '../../log/log-lines'
import { unlessUnavailable } from '../../storage/site-store'
import type { Context } from '../context'
import { publish } from '../hooks'
import { sendProblem } from '../pages/answers'
import { checkStatus, endSession, showStale } from './check'
import { isMisroutedLanding, sendToIdentify } from './identify'
import { logOut, removeSession } from './log-out'

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
  const identity = await unlessUnavailable(() => findIdentity(ctx, options), 'store_unavailable' as const)
  if (identity === 'answered') return identity
  const shown = identity === 'store_unavailable' ? showStale(ctx, identity) : identity
  if (shown.degraded)
    publish('degraded', { operation: 'visit', outcome: 'served', durationMs: 0, reason: shown.degraded })
  return shown
}

async function findIdentity(ctx: Context, options: VisitOptions): Promise<Identity | 'answered'> {
  const { site, session } = ctx
  if (!session.isAvailable) return show(undefined, 'store_unavailable')
  if (ctx.mark && !(await settleLogout(ctx)) && !(options.isLoginPage && !ctx.record))
    return show(undefined, 'logout_pending')
  if (ctx.record && isOver(ctx.record, site.now(), site.config)) await endSession(ctx)
  if (ctx.record && (options.isFresh || isStale(ctx.record, site.now(), site.config.recheckSeconds))) {
    const shown = await checkStatus(ctx, options.isFresh === true)
    if (shown) return shown
  }
  if (ctx.record || !mayIdentify(ctx, options)) return show(ctx.record)
  if (session.gone?.next && ctx.returns) return show(undefined) // a tab that will have the new cookie with its next request
  const reason = reasonToStay(ctx)
  if (reason) return show(undefined, reason)
  if (isPrefetch(ctx.req))
    await sendProblem(site, ctx.req, ctx.res, 503, 'prefetch') // or the anonymous page is shown after the click
  else sendToIdentify(ctx, ctx.page ?? '', 'no_session')
  return 'answered'
}

/** Log topic of a page that is served without a session after too many Identify redirects. */
export const IDENTIFY_LOOP = 'visit:identify_loop'

/** Returns why a page that may identify is served without another redirect. An outage is no loop, so its health comes first. */
function reasonToStay(ctx: Context): DegradedReason | undefined {
  const { block, site } = ctx
  if (!site.identifyHealth.mayRedirect) return 'sso_unavailable'
  if (block === 'identify_loop') site.config.log.warn(IDENTIFY_LOOP, LOG_LINES.redirectLoop)
  return block
}

/**
 * Ends a session that this browser has logged out of, and looks whether its logout is confirmed.
 * @returns false while the browser must not be redirected to Identify, which would log it in again
 */
async function settleLogout(ctx: Context): Promise<boolean> {
  const { mark, record, site, session } = ctx
  if (!mark) return true
  if (mark.sidHash === '' && session.isEmpty) await removeSession(ctx) // the logout could not reach it
  if (record && isVoidedBy(mark, record)) return (await logOut(ctx, mark.scope, mark)) === 'confirmed'
  if (isLoggedIn(record) || mark.isTold || mark.sidHash === '') return true
  if (await site.pendingLogouts.has(mark.sidHash)) return false
  ctx.setMark({ ...mark, isTold: true }, TOLD_SECONDS)
  return true
}

/** Whoever opens the login page is a person. */
function mayIdentify(ctx: Context, { identify, isLoginPage }: VisitOptions): boolean {
  const { site, req } = ctx
  if (identify === 'never' || isMisroutedLanding(ctx)) return false
  if (identify === 'if_configured' && site.config.identify !== 'always') return false
  return ctx.page !== undefined && (isLoginPage ? isForPage(req) : site.shouldIdentify(req)) // a long address is not carried
}
