/**
 * lib/web/routes: the handlers of the package's own routes. A handler reads the request, calls an action and sends the response. Rules of a
 * login are not here, but in lib/decide. Continue in login.ts, logout.ts and lib/web/actions.
 * This file handles `GET {landing}?t&r`, the callback URL. Except for a prefetch, a request with a token ends with a redirect to `r`, or to the
 * front page if `r` is not valid. Interface: "Landing page".
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Request, Response } from 'express'
import { isBound, isBoundAsLast } from '../../decide/binding'
import { tokenAdvice } from '../../decide/failure-advice'
import {
  type BindingFinding,
  decideLanding,
  type GiveUpReason,
  isNewVisitor,
  type LandingDecision,
} from '../../decide/landing'
import { LOG_LINES } from '../../decide/log-lines'
import {
  blockRedirects,
  clearFailure,
  isLastRedirect,
  type RedirectCount,
  redirectCountAtLanding,
  uncountRedirect,
  withLandingFailure,
} from '../../decide/loop-guard'
import { isLoggedIn } from '../../decide/record'
import { flowParameterOf, MAX_CARRIED_LENGTH, validateReturnTo, withoutFlowParameter } from '../../decide/return-to'
import { TokenError } from '../../errors'
import type { SessionToken } from '../../protocol/session-token'
import { tokenSignature } from '../../protocol/token'
import type { LoginStart } from '../../storage/session-index'
import { shortHash } from '../../storage/site-store'
import { exchangeTicketForUser, recordFailedRedirect } from '../actions/exchange-ticket'
import { recordReturn, redirectWithMarker, setRedirectCount } from '../actions/identify'
import { isNamedLogoutPending, logOutLandedToken } from '../actions/log-out'
import { IDENTIFY_LOOP } from '../actions/resolve-user'
import { beginAnonymousSession } from '../actions/sign-in'
import { publish } from '../hooks'
import { isPrefetchRequest, limitedAddress, queryParameters } from '../http/request-facts'
import { redirect } from '../http/response-headers'
import { sendProblem } from '../pages/answers'
import {
  browserName,
  dropLogoutCookie,
  openRequestContext,
  type RequestContext,
  redirectCountFor,
} from '../request-context'
import type { Site } from '../site'
import type { Successor } from '../stored-record'
import { isDoctorRequest, sendDoctorReport } from './doctor-report'

/** Handles a request for the landing page. */
export async function handleLanding(
  site: Site,
  req: Request,
  res: Response,
  query: LandingQuery | undefined,
): Promise<void> {
  const started = performance.now()
  if (isPrefetchRequest(req)) return sendProblem(site, req, res, 503, 'prefetch')
  if (!query && isDoctorRequest(site, req)) return sendDoctorReport(site, req, res)
  if (!query) return sendProblem(site, req, res, 400, 'bad_request')
  const context = await openRequestContext(site, req, res)
  const returnTo = validateReturnTo(query.r, site.config.returnPolicy, MAX_CARRIED_LENGTH) ?? `${site.config.siteUrl}/`
  const token = readLandingToken(site, query.t)
  const decided = await decideFor(context, query.t, token, returnTo)
  const { decision } = decided
  await applyLandingDecision(context, decided, returnTo)
  publish('landing', {
    operation: 'landing',
    outcome: decision.action,
    durationMs: performance.now() - started,
    sidHash: token instanceof TokenError ? undefined : token.sid && shortHash(token.sid),
    reason: token instanceof TokenError ? token.reason : 'reason' in decision ? decision.reason : undefined,
  })
}

function readLandingToken(site: Site, t: string): SessionToken | TokenError {
  try {
    return site.client.readLanding(t)
  } catch (error) {
    if (error instanceof TokenError) return error
    throw error
  }
}

interface DecidedLanding {
  readonly decision: LandingDecision
  readonly start: LoginStart
  readonly successor: Successor | undefined
}

async function decideFor(
  context: RequestContext,
  t: string,
  token: SessionToken | TokenError,
  returnTo: string,
): Promise<DecidedLanding> {
  const { stored, browser } = context
  const binding = findBinding(context, returnTo)
  const known = token instanceof TokenError ? token.reason : token
  if (!(token instanceof TokenError)) recordReturn(context, binding, returnTo)
  else if (binding === 'bound') logRefusedToken(context.site, token)
  const isGood = binding === 'bound' && !(token instanceof TokenError)
  const start = context.site.sessionIndex.startNow()
  const tokenState = isGood && stored.hasBeenRead ? await consumeToken(context, t, token) : NO_TOKEN_STATE
  const successor = isGood && context.hasSessionJustEnded ? await stored.writtenSuccessor() : undefined
  const decision = decideLanding({
    binding,
    token: known,
    record: stored.value,
    successor: successor?.stored.value,
    sidHash: token instanceof TokenError || token.sid === undefined ? undefined : shortHash(token.sid),
    clockOffset: context.site.client.clockOffsetSeconds ?? 0,
    logoutCookie: browser.logoutCookie,
    ...tokenState,
    isStoreAvailable: stored.hasBeenRead && tokenState.isStoreAvailable,
  })
  return { decision, start, successor }
}

/** Compares the binding cookie with the return address. Without a binding cookie, the browser blocks cookies or never began a redirect here. */
function findBinding({ site, browser }: RequestContext, returnTo: string): BindingFinding {
  if (browser.binding === undefined) return 'no_cookies'
  return isBound(site.macKeys, browser.binding, flowParameterOf(returnTo), site.now()) ? 'bound' : 'unbound'
}

const NO_TOKEN_STATE = {
  isReplayed: false,
  isSsoSessionRevoked: false,
  isLandingLimitReached: false,
  isStoreAvailable: true,
}

/** Uses the token. From now on, another landing with the same token is a replay, even if the landing fails. */
async function consumeToken({ site, req, stored }: RequestContext, t: string, token: SessionToken) {
  const [tokenState, isLandingLimitReached] = await Promise.all([
    site.sessionIndex.useToken(tokenSignature(t), shortHash(token.sid ?? '')),
    isNewVisitor(token, stored.value) && site.limits.isLandingRefused(limitedAddress(req, site.config)),
  ])
  if (tokenState === 'unavailable') return { ...NO_TOKEN_STATE, isStoreAvailable: false }
  return {
    isReplayed: !tokenState.isFirst,
    isSsoSessionRevoked: tokenState.isSsoSessionRevoked,
    isLandingLimitReached,
    isStoreAvailable: true,
  }
}

async function applyLandingDecision(
  context: RequestContext,
  { decision, ...basis }: DecidedLanding,
  returnTo: string,
): Promise<void> {
  const { site, res, browser } = context
  const page = withoutFlowParameter(returnTo)
  if (decision.action === 'mark_cookieless') {
    redirectWithMarker(context, page)
    return
  }
  const isLast = isBoundAsLast(site.macKeys, browser.binding, flowParameterOf(returnTo), site.now())
  const redirects = redirectCountAtLanding(redirectCountFor(context, page), isLast, site.now())
  setRedirectCount(context, page, await storeLanding(context, decision, basis, redirects))
  redirect(res, page, 303)
}

/**
 * The SSO system gives two tabs of a browser the same token within a second. While the landing of one tab is slow, the other tab has no session
 * and uses up its redirects. After this pause in milliseconds, the browser has the session cookie from the landing of the first tab.
 */
const OTHER_TAB_MS = 1000

async function storeLanding(
  context: RequestContext,
  decision: Exclude<LandingDecision, { action: 'mark_cookieless' }>,
  { start, successor }: Omit<DecidedLanding, 'decision'>,
  redirects: RedirectCount | undefined,
): Promise<RedirectCount | undefined> {
  const { site, req } = context
  switch (decision.action) {
    case 'sign_in': {
      const { outcome } = await exchangeTicketForUser(context, decision.token, start)
      if (outcome === 'user_unknown') await recordFailedRedirect(context, decision.token.sid ?? '')
      return countAfterStore(context, redirects, outcome)
    }
    case 'go_on':
      return successor ? continueInSuccessor(context, successor, decision.token, redirects) : redirects
    case 'stay_anonymous':
      return countAfterStore(context, redirects, await keepAnonymous(context, decision.token))
    case 'adopt':
      if (successor) await site.sessions.adopt(req, successor.sessionId)
      return redirects
    case 'log_out':
      return (await logOutLandedToken(context, decision.token.sid ?? '')) ? uncountRedirect(redirects) : redirects
    case 'give_up':
      logGivenUp(site, decision.reason)
      return decision.reason === 'too_many_landings'
        ? blockRedirects(site.now())
        : withLandingFailure(redirects, 'r', site.now())
    case 'start_anew':
      if (decision.reason === 'replayed' && redirects && isLastRedirect(redirects)) await sleep(OTHER_TAB_MS)
      return decision.reason === 'clock' ? withLandingFailure(redirects, 'c', site.now()) : redirects
    case 'as_it_is':
      return decision.reason === 'store_unavailable' ? countAfterStore(context, redirects, 'unavailable') : redirects
  }
}

async function keepAnonymous(context: RequestContext, { sid = '', iat }: SessionToken) {
  const { site } = context
  const checkedAt = Math.min(site.now(), iat + (site.client.clockOffsetSeconds ?? 0))
  const outcome = await beginAnonymousSession(context, { sid, checkedAt, browser: browserName(context) })
  if (outcome === 'done' && !(await isNamedLogoutPending(context))) dropLogoutCookie(context)
  return outcome
}

/** Switches to the session that followed. If a login has moved the session since, the browser keeps the cookie of the login. */
async function continueInSuccessor(
  context: RequestContext,
  { sessionId }: Successor,
  token: SessionToken,
  redirects: RedirectCount | undefined,
) {
  const { site, req, stored } = context
  await stored.switchTo(sessionId)
  if (stored.value === undefined || isLoggedIn(stored.value)) return redirects
  const outcome = await keepAnonymous(context, token)
  if (outcome === 'done') await site.sessions.adopt(req, sessionId)
  return countAfterStore(context, redirects, outcome)
}

/** Returns the redirect count after a landing. If Redis did not store the session, another redirect would fail too. */
const countAfterStore = ({ site }: RequestContext, redirects: RedirectCount | undefined, outcome: string) =>
  outcome === 'unavailable' ? withLandingFailure(redirects, 'a', site.now()) : clearFailure(redirects)

/** Logs why a landing was given up. A refused token is already logged with its reason. */
function logGivenUp({ config: { log } }: Site, reason: GiveUpReason): void {
  if (reason === 'undocumented') log.warn('landing:claims', LOG_LINES.landingClaims)
  // the redirect loop after the landing has the same topic, so its line is not printed too
  if (reason === 'too_many_landings') log.warn(IDENTIFY_LOOP, LOG_LINES.tooManyVisitors)
}

/** Logs why a token was refused, and the offset of the clock. */
function logRefusedToken({ config: { log } }: Site, { reason, offsetSeconds }: TokenError): void {
  const { landingRefused, landingClock } = LOG_LINES
  if (offsetSeconds === undefined) {
    const happened = `${landingRefused.happened} (${reason})`
    log.warn(`landing:${reason}`, { ...landingRefused, happened, check: tokenAdvice(reason) })
    return
  }
  const direction = offsetSeconds < 0 ? 'behind' : 'ahead of'
  const clock = `this machine's clock is ${Math.abs(offsetSeconds)} s ${direction} the SSO system`
  log.warn('landing:clock', { ...landingClock, happened: `${landingRefused.happened}, because ${clock}` })
}

/** The query of the landing page. Interface: "Landing page". */
export interface LandingQuery {
  readonly t: string
  readonly r: string | undefined
}

/** The token in a query, by a name that `URLSearchParams` reads as `t`. */
const TOKEN = /(^\??|&)(?:t|%74)=[^&]*/g

/** Hides the token in an address. */
function hide(url: string): string {
  const queryStart = url.indexOf('?') + 1
  return queryStart === 0 ? url : url.slice(0, queryStart) + url.slice(queryStart).replace(TOKEN, '$1t=***')
}

/**
 * Hides the token in a request for the landing page, for every method and result. Later handlers and access logs see `t=***` instead of the
 * token. Parameter names are case-sensitive. The query parser of the site is not used.
 * @returns `undefined` unless a GET has exactly one `t` and at most one `r`
 */
export function removeLandingQuery(req: Request): LandingQuery | undefined {
  const query = req.method === 'GET' ? queryParameters(req) : new URLSearchParams()
  req.originalUrl = hide(req.originalUrl ?? req.url)
  req.url = hide(req.url)
  // discards the parsed addresses of parseurl and Express 4
  Object.assign(req, { _parsedUrl: undefined, _parsedOriginalUrl: undefined })
  if (Object.hasOwn(req, 'query') && req.query['t'] !== undefined) req.query['t'] = '***'
  const [t, ...moreT] = query.getAll('t')
  const [r, ...moreR] = query.getAll('r')
  return t === undefined || moreT.length + moreR.length > 0 ? undefined : { t, r }
}
