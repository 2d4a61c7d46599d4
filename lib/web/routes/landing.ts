/**
 * `GET {landing}?t&r`, the callback URL. Every request with a token ends with a redirect to `r`, or to the front page if `r` is not valid.
 * Interface: "Landing page".
 */
import type { Request, Response } from 'express'
import { DOCTOR_HEADER, isDoctorSignature } from '../../decide/doctor-protocol'
import { isTokenVoidedBy, isVoidedBy } from '../../decide/logout-mark'
import type { LoopCause } from '../../decide/loop-guard'
import { isPrefetch } from '../../decide/navigation'
import { isAlive, isLoggedIn } from '../../decide/record'
import { flowParameterOf, MAX_CARRIED_LENGTH, validateReturnTo, withoutFlowParameter } from '../../decide/return-to'
import { redirectStart } from '../../decide/signatures'
import { TokenError } from '../../errors'
import type { EpochMs } from '../../protocol/claims'
import { hasTicket, type SessionToken } from '../../protocol/session-token'
import { tokenSignature } from '../../protocol/token'
import { shortHash, storeUnavailable, unlessUnavailable } from '../../storage/site-store'
import { type Context, contextOf } from '../context'
import { beginAnonymous, hasBegun, logInByTicket } from '../flows/begin-session'
import { logOutBrowser, logOutLandedSession } from '../flows/log-out'
import { publish } from '../hooks'
import { queryParameters } from '../http/request-facts'
import { redirect, setTokenHeaders } from '../http/response-headers'
import { sendProblem } from '../pages/answers'
import type { Site } from '../site'
import { sendDoctorReport } from './doctor'

/** Handles a request for the landing page, of any method. */
export async function handleLanding(site: Site, req: Request, res: Response): Promise<void> {
  setTokenHeaders(res) // for every result
  const query = takeQuery(req)
  if (req.method !== 'GET') {
    res.setHeader('allow', 'GET')
    return sendProblem(site, res, 405, 'method_not_allowed')
  }
  if (isPrefetch(req)) return sendProblem(site, res, 503, 'prefetch')
  if (!query)
    return isDoctorSignature(site.config.macKeys(), req.get(DOCTOR_HEADER), site.now())
      ? sendDoctorReport(site, req, res)
      : sendProblem(site, res, 400, 'bad_request')
  const began = performance.now()
  const ctx = await contextOf(site, req, res)
  const returnTo = validateReturnTo(query.r, site.config.returnPolicy, MAX_CARRIED_LENGTH) ?? `${site.config.siteUrl}/`
  const token = readToken(site, query.t)
  const landed = await answerLanding(ctx, query.t, token, returnTo)
  publish('landing', {
    operation: 'landing',
    outcome: landed.outcome,
    durationMs: performance.now() - began,
    sidHash: token instanceof TokenError ? undefined : token.sid && shortHash(token.sid),
    reason: landed.reason,
  })
}

/**
 * Takes the query, which has the token, out of the request: later handlers and access logs see the path alone. The query parser of the site is
 * not used. Interface: "Landing page".
 * @returns `undefined` unless the query has exactly one `t` and at most one `r`
 */
function takeQuery(req: Request): { readonly t: string; readonly r: string | undefined } | undefined {
  const query = queryParameters(req)
  const withoutQuery = (url: string) => url.replace(/\?.*/s, '')
  req.originalUrl = withoutQuery(req.originalUrl ?? req.url)
  req.url = withoutQuery(req.url)
  // discards the parsed addresses of parseurl and Express 4
  Object.assign(req, { _parsedUrl: undefined, _parsedOriginalUrl: undefined })
  if (Object.hasOwn(req, 'query')) req.query = {}
  const [t, ...moreT] = query.getAll('t')
  const [r, ...moreR] = query.getAll('r')
  return t === undefined || moreT.length + moreR.length > 0 ? undefined : { t, r }
}

function readToken(site: Site, t: string): SessionToken | TokenError {
  try {
    return site.client.readLanding(t)
  } catch (error) {
    if (error instanceof TokenError) return error
    throw error
  }
}

/** What a landing did. `unchanged`: the session stays as it is. `cause`: why the page must not start another redirect at once. */
interface Landed {
  readonly outcome: 'log_in' | 'stay_anonymous' | 'log_out' | 'unchanged'
  readonly reason?: string
  readonly cause?: LoopCause
}

const unchanged = (reason: string, cause: LoopCause = ''): Landed => ({ outcome: 'unchanged', reason, cause })

async function answerLanding(ctx: Context, t: string, token: SessionToken | TokenError, returnTo: string) {
  const { site, res, binding } = ctx
  const page = withoutFlowParameter(returnTo)
  if (!(token instanceof TokenError)) site.identifyHealth.noteReturn(binding !== undefined)
  if (binding === undefined) {
    ctx.redirectWithMarker(page)
    return unchanged('no_cookies')
  }
  const startedAt = redirectStart(site.config.macKeys(), binding, flowParameterOf(returnTo), site.config.clock.now())
  const landed = await unlessUnavailable(
    () => land(ctx, t, token, startedAt),
    unchanged('store_unavailable', 'store_unavailable'),
  )
  ctx.addReturn(landed.cause ?? '')
  redirect(res, page, 303)
  return landed
}

/** @param startedAt when this browser began the redirect. `undefined`: it did not */
async function land(
  ctx: Context,
  t: string,
  token: SessionToken | TokenError,
  startedAt: EpochMs | undefined,
): Promise<Landed> {
  const { site, session, logoutMark: mark } = ctx
  if (startedAt === undefined) return unchanged('unbound')
  if (token instanceof TokenError) return refuseToken(site, token)
  const { sid } = token
  if (token.err !== undefined || sid === undefined) return refuseToken(site, new TokenError('claims', token.err))
  const sidHash = shortHash(sid)
  const status = token.sts === 'loggedin' ? 'loggedin' : 'anon'
  if (mark && isTokenVoidedBy(mark, { status, sidHash, startedAt }))
    return loggedOut(await logOutLandedSession(ctx, mark, sid))
  if (!session.isAvailable) throw storeUnavailable()
  if (mark && ctx.record && isVoidedBy(mark, ctx.record))
    return loggedOut((await logOutBrowser(ctx, mark)) === 'confirmed')
  const signature = tokenSignature(t)
  const used = site.locks.useToken(signature)
  const isNewVisitor = status === 'anon' && !isAlive(session.entry)
  const [isFirst, isAdmitted] = await Promise.all([used, !isNewVisitor || site.limits.admitLanding(ctx.req, used)])
  if (!isFirst) return unchanged('replayed')
  if (!isAdmitted) {
    await site.locks.forgetToken(signature)
    site.config.log.warn('landing:limit', 'Too many new visitors from one address')
    return unchanged('too_many_landings', 'identify_loop')
  }
  if (session.gone?.next) return unchanged('session_moved') // the browser's cookie is outdated
  const { record } = ctx
  const isNewer = record !== undefined && record.startedAt >= startedAt
  const isSame = record?.sidHash === sidHash
  if (hasTicket(token)) {
    if (isLoggedIn(record) && isSame && isNewer) return unchanged('logged_in_already')
    const outcome = await logInByTicket(ctx, token, startedAt)
    if (outcome === 'voided') return loggedOut(false)
    if (outcome === 'user_unknown') return { outcome: 'stay_anonymous', reason: outcome }
    return hasBegun(outcome) ? { outcome: 'log_in' } : unchanged(outcome)
  }
  // a newer session stays, and so does a login of the same SSO session, which never becomes anonymous again
  const hasLogin = isLoggedIn(record) || record?.pending === true
  if (isNewer || (hasLogin && isSame)) return unchanged(hasLogin ? 'logged_in_since' : 'newer_session')
  if (hasBegun(await beginAnonymous(ctx, sid, { startedAt }))) ctx.dropLogoutMark()
  return { outcome: 'stay_anonymous' }
}

const loggedOut = (isConfirmed: boolean): Landed => ({
  outcome: 'log_out',
  reason: 'logged_out',
  cause: isConfirmed ? '' : 'logout_pending',
})

function refuseToken({ config: { log } }: Site, { reason, part, offsetSeconds }: TokenError): Landed {
  const why = offsetSeconds === undefined ? (part ?? '') : clockDifference(offsetSeconds)
  log.warn(`landing:${reason}`, 'Landing tokens are refused', { detail: why ? `${reason} (${why})` : reason })
  return unchanged(reason, 'token_refused')
}

const clockDifference = (seconds: number) =>
  `this machine's clock is ${Math.abs(seconds)} s ${seconds < 0 ? 'behind' : 'ahead of'} the SSO system`
