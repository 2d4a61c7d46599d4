/**
 * lib/web/actions: the effects of a request, for example login, logout and status check. The decisions are pure functions in lib/decide.
 * This file resolves the user of a request. A loop of decisions and effects ends with an identity to show, or with a sent response.
 * Continue in exchange-ticket.ts and sign-in.ts for logins, and in log-out.ts for logouts.
 */

import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { LOG_LINES } from '../../decide/log-lines'
import { isToRetry } from '../../decide/logout'
import { hasMovedOrEnded, isLoggedIn, needsNewAccessToken, type SsoRecord } from '../../decide/record'
import {
  decideRequest,
  type Identity,
  type LogoutCookieState,
  type RequestDecision,
  type RequestFacts,
  type StatusChecksAtStart,
  showRecord,
  showStaleRecord,
} from '../../decide/request-decision'
import {
  afterFailedCheck,
  afterUnchangedCheck,
  afterUnusableLogin,
  decideStatus,
  withCheckLock,
} from '../../decide/status-check'
import { TokenError, type TokenFault } from '../../errors'
import type { SessionToken } from '../../protocol/session-token'
import type { LoginStart } from '../../storage/session-index'
import { shortHash } from '../../storage/site-store'
import { publish } from '../hooks'
import { deviceOf, isForPage, isPageLoad, isPrefetchRequest } from '../http/request-facts'
import { sendProblem } from '../pages/answers'
import { blockOf, pageAddress, type RequestContext } from '../request-context'
import type { StoredRecord } from '../stored-record'
import { exchangeTicketForUser } from './exchange-ticket'
import { isMisroutedLanding, recordPageShown, sendToIdentify } from './identify'
import { retryLogoutFromCookie } from './log-out'
import { removeFromIndex, renewIndexEntries } from './sign-in'

/** Options of the caller for a request. */
export interface ResolveOptions {
  /** May the browser be redirected to Identify? `'if_configured'`: if option `identify` is `'always'`. `'never'`: the caller cannot redirect. */
  readonly identify: 'always' | 'if_configured' | 'never'
  readonly isLoginPage?: boolean
  /** Status checks that began too early to count. Set if only a status check during the request is accepted. */
  readonly fresh?: StatusChecksAtStart | undefined
}

/** The outcome of a request: the identity to show, or `'answered'` if a response has been sent already. */
type ResolveOutcome = Identity | 'answered'

const STORE_UNAVAILABLE: Identity = Object.freeze({ record: undefined, degraded: 'store_unavailable' })

/** Limit of the loop, beside the steps that wait for another check. No order of events needs so many steps. */
const MAX_STEPS = 200
const POLL_MS = 25

interface Progress {
  /** Result of the retried logout, `undefined` before the retry. */
  logoutCookie: LogoutCookieState | undefined
  hasWaited: boolean
  /** Has the request called Session Status? */
  hasChecked: boolean
}

/** Resolves the user of a request. */
export async function resolveUser(context: RequestContext, options: ResolveOptions): Promise<ResolveOutcome> {
  const progress: Progress = { logoutCookie: undefined, hasWaited: false, hasChecked: false }
  const waitMs = context.site.timeLimits.lockSeconds * 1000
  const deadline = performance.now() + waitMs
  const maxSteps = MAX_STEPS + waitMs / POLL_MS
  const { value } = context.stored
  if (value) context.site.identifyHealth.noteReturnFromIdentify(value.since) // another process may have begun the session
  const wasIn = isLoggedIn(value)
  for (let steps = 0; steps < maxSteps; steps += 1) {
    const decision = decideRequest(factsOf(context, options, progress), context.site.timeLimits)
    const outcome = decision.action === 'show' ? decision : await applyDecision(context, decision, progress)
    if (outcome === 'answered') return outcome
    if (outcome !== 'again') return withDegradedLogged(context, options, outcome)
    if (hasSessionEnded(context.stored, wasIn)) context.site.sessions.detach(context.req)
    progress.hasWaited = performance.now() > deadline
  }
  return withDegradedLogged(context, options, { record: undefined, degraded: 'sso_unavailable' })
}

/** Has another request ended the session, or has Redis lost the session of a user? An anonymous session continues without its record. */
function hasSessionEnded(stored: RequestContext['stored'], wasIn: boolean): boolean {
  return hasMovedOrEnded(stored) || (wasIn && stored.key !== undefined && stored.isUnwritten)
}

/** Returns the identity, after logging the reason why it could not be verified, if any. */
function withDegradedLogged(context: RequestContext, options: ResolveOptions, identity: Identity): Identity {
  const { degraded: reason } = identity
  if (reason) publish('degraded', { operation: 'visit', outcome: 'served', durationMs: 0, reason })
  // for every reason, also a pending logout: only the loop guard has kept the page from a redirect
  if (reason && blockOf(context) && mayIdentify(context, options)) recordPageShown(context)
  if (reason === 'identify_loop') context.site.config.log.warn(IDENTIFY_LOOP, LOG_LINES.redirectLoop)
  return identity
}

/** Log topic of a page that is served without a session after too many Identify redirects. */
export const IDENTIFY_LOOP = 'visit:identify_loop'

/** Returns the state of the logout cookie. A login drops the cookie. A login that still has the cookie began before the logout, and must end. */
function logoutCookieState({ browser: { logoutCookie }, stored: { value } }: RequestContext): LogoutCookieState {
  if (logoutCookie === undefined) return 'no_cookie'
  const { of } = logoutCookie
  if (of === 'session' || (of !== 'sso_session' && isLoggedIn(value))) return 'retry_always'
  return isToRetry(logoutCookie) ? 'retry_if_anonymous' : 'no_cookie'
}

/** Returns the facts of a decision. A costly fact is computed only when the decision reads it. */
function factsOf(
  context: RequestContext,
  options: ResolveOptions,
  { logoutCookie, hasWaited }: Progress,
): RequestFacts {
  const { site, stored } = context
  return {
    now: site.now(),
    record: stored.value,
    isStoreAvailable: stored.hasBeenRead,
    isLoginPage: options.isLoginPage === true,
    fresh: options.fresh,
    hasWaited,
    get isSsoAvailable() {
      return site.client.isAvailable
    },
    get isIdentifyBroken() {
      return !site.identifyHealth.mayRedirect
    },
    get mayIdentify() {
      return mayIdentify(context, options)
    },
    get isPrefetch() {
      return isPrefetchRequest(context.req)
    },
    get blocked() {
      return blockOf(context)
    },
    get logoutCookie() {
      return logoutCookie ?? logoutCookieState(context)
    },
  }
}

/** Whoever opens the login page is a person. */
function mayIdentify(context: RequestContext, { identify, isLoginPage }: ResolveOptions): boolean {
  const { site, req } = context
  if (isMisroutedLanding(context)) return false
  if (identify === 'never' || (identify === 'if_configured' && site.config.identify !== 'always')) return false
  if (pageAddress(context) !== undefined) return isLoginPage ? isForPage(req) : site.shouldIdentify(req)
  if (isPageLoad(req)) site.config.log.info('visit:address', LOG_LINES.longAddress)
  return false
}

async function applyDecision(
  context: RequestContext,
  decision: Exclude<RequestDecision, Identity>,
  progress: Progress,
): Promise<ResolveOutcome | 'again'> {
  switch (decision.action) {
    case 'identify':
      sendToIdentify(context, pageAddress(context) ?? '', decision.reason)
      return 'answered'
    case 'refuse_prefetch':
      await sendProblem(context.site, context.req, context.res, 503, 'prefetch')
      return 'answered'
    case 'end_session':
      return endRecord(context, context.stored.value?.sidHash ?? '')
    case 'check_status':
      if (progress.hasChecked) return showChecked(context, decision.record)
      return context.site.runningOperations.run(() => checkSession(context, decision.record, progress))
    case 'wait_for_check':
      return waitForOtherCheck(context)
    case 'retry_logout':
      progress.logoutCookie = (await retryLogoutFromCookie(context)).outcome
      return continueAfterLogout(context)
  }
}

/**
 * Exchanges the ticket of a status check, to load the user or to renew the access token. After the response headers are sent, the
 * session ID cannot change. Then the login is checked again soon, and a session of another account ends.
 */
async function acceptLogin(
  context: RequestContext,
  token: SessionToken,
  start: LoginStart,
  checkId: string,
): Promise<CheckResult> {
  const { site, stored, res } = context
  if (res.headersSent !== false && !isLoggedIn(stored.value))
    return writeCheckResult(context, (found) => afterUnusableLogin(found, checkId))
  const { outcome } = await exchangeTicketForUser(context, token, start, checkId)
  if (outcome === 'unavailable') return STORE_UNAVAILABLE
  // the login is of another account by now, and the next page load begins its session
  if (outcome === 'too_late') return endRecord(context, shortHash(token.sid ?? ''))
  if (outcome !== 'user_unknown' || !isLoggedIn(stored.value)) return 'again'
  return writeCheckResult(context, (found) => afterUnchangedCheck(found, token, site.now(), checkId))
}

/** Reads the session again, because the retried logout may have ended the session of the request. */
async function continueAfterLogout({ site, req, stored }: RequestContext): Promise<CheckResult> {
  if (stored.value === undefined) return 'again'
  if ((await stored.reread()) === 'unavailable') return STORE_UNAVAILABLE
  if (stored.value !== undefined) return 'again'
  stored.forget()
  await site.sessions.replaceWithEmptySession(req)
  return 'again'
}

/** A request makes one status check at most. What it can still show: an anonymous session as it is, a login within the grace period. */
function showChecked({ site }: RequestContext, record: SsoRecord): Identity {
  return isLoggedIn(record) ? showStaleRecord({ now: site.now() }, record, site.timeLimits) : showRecord(record)
}

/** Waits for the status check of another request or process, then reads the record again. */
async function waitForOtherCheck({ stored }: RequestContext): Promise<CheckResult> {
  await sleep(POLL_MS)
  return (await stored.reread()) === 'done' ? 'again' : STORE_UNAVAILABLE
}

/** `'again'`: the record has changed, or another request checks it, so decide again. Otherwise the identity to show, because Redis takes no writes. */
export type CheckResult = 'again' | Identity

/** Acquires the lock of the status check, then calls Session Status. */
async function checkSession(context: RequestContext, record: SsoRecord, progress: Progress): Promise<CheckResult> {
  const { site, stored } = context
  const checkId = randomUUID()
  const locked = withCheckLock(record, checkId, site.now())
  const start = site.sessionIndex.startNow()
  const written = await stored.replace(locked, site.sessions.dataLifeOf(context.req))
  if (written === 'changed') return 'again'
  if (written === 'unavailable')
    return showStaleRecord({ now: site.now() }, record, site.timeLimits, 'store_unavailable')
  renewIndexEntries(site, stored.key, record)
  const { secrets } = stored
  if (!secrets) return endWithSsoSession(context, record.sidHash)
  progress.hasChecked = true
  const started = performance.now()
  const answer = await askSessionStatus(context, record, secrets.sid)
  const decision = decideStatus(record, answer)
  publish('check', {
    operation: 'sessionstatus',
    outcome: decision.action,
    durationMs: performance.now() - started,
    sidHash: record.sidHash,
    reason: 'reason' in decision ? decision.reason : undefined,
  })
  switch (decision.action) {
    case 'keep':
      return writeCheckResult(context, (found) => afterUnchangedCheck(found, decision.token, site.now(), checkId))
    case 'sign_in':
      return acceptLogin(context, decision.token, start, checkId)
    case 'identify':
      return endWithSsoSession(context, record.sidHash)
    case 'keep_for_now':
      return writeCheckResult(context, (found) => afterFailedCheck(found, site.now(), checkId))
  }
}

/** @returns the response, or the reason why the response was refused. `undefined` without a response */
async function askSessionStatus(
  context: RequestContext,
  record: SsoRecord,
  sid: string,
): Promise<SessionToken | TokenFault | undefined> {
  const { site, req } = context
  try {
    // the last known status: with `anon`, the SSO system sends a ticket for a login
    const lks = needsNewAccessToken(record, site.now(), site.timeLimits.recheckSeconds) ? 'anon' : 'loggedin'
    return await site.client.sessionStatus({ sid, lks, ...deviceOf(req) })
  } catch (error) {
    return error instanceof TokenError ? error.reason : undefined
  }
}

/**
 * Writes the result of the status check. If Redis takes no writes, only this request uses the result. If the SSO system did not answer either,
 * the grace period applies.
 */
async function writeCheckResult(
  { site, stored }: RequestContext,
  next: (found: SsoRecord) => SsoRecord,
): Promise<CheckResult> {
  const written = await stored.update(next)
  if (written !== 'unavailable' || stored.value === undefined) return 'again'
  return showStaleRecord({ now: site.now() }, next(stored.value), site.timeLimits, 'store_unavailable')
}

/** Ends the local session, because the SSO session has ended or is not known. An anonymous session keeps its data, and loses its record only. */
export async function endWithSsoSession(context: RequestContext, sidHash: string): Promise<CheckResult> {
  const dropped = await context.stored.drop(({ value }) => value?.sidHash === sidHash && !isLoggedIn(value))
  if (dropped === 'changed') return endRecord(context, sidHash) // a login, or changed by another request
  return dropped === 'done' ? 'again' : STORE_UNAVAILABLE
}

/** Ends the local session and its data. Concurrent changes of the record do not prevent the end. */
async function endRecord({ stored, site, req }: RequestContext, sidHash: string): Promise<CheckResult> {
  const { key } = stored
  let { value } = stored
  const isIt = (found: StoredRecord) => {
    value = found.value
    return value?.sidHash === sidHash
  }
  const revoked = await stored.writeMarker(isIt, 'ended')
  if (revoked.outcome === 'unavailable') return STORE_UNAVAILABLE
  if (revoked.outcome === 'changed' && value?.sidHash !== sidHash) return 'again' // the record belongs to another SSO session now
  if (revoked.outcome === 'done') await removeFromIndex(site, key, value)
  await site.sessions.replaceWithEmptySession(req)
  stored.forget()
  return 'again'
}
