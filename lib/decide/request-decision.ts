/**
 * Decides the action of a request, from its facts, its login record and the health of the systems. Pure. Table:
 * docs/internals/decision-tables.md, "Request".
 */
import type { EpochSeconds } from '../protocol/claims'
import type { RetryOutcome } from './logout'
import { isLoggedIn, isStale, type SsoRecord, type User } from './record'
import { ageOf, isNear, isYoungerThan } from './timestamps'

/**
 * Why the status could not be fully verified.
 * `sso_unavailable`: the SSO system does not answer correctly.
 * `store_unavailable`: Redis does not answer.
 * `user_unknown`: logged in, but the ticket or the user could not be fetched.
 * `logout_pending`: a logout on this site is not confirmed yet.
 * `identify_loop`: too many Identify redirects, or too many new sessions of one address.
 * `cookies_blocked`: the browser keeps no cookies.
 * `token_refused`: landing tokens fail a check, which the log names.
 */
export type DegradedReason =
  | 'sso_unavailable'
  | 'store_unavailable'
  | 'user_unknown'
  | 'logout_pending'
  | 'identify_loop'
  | 'cookies_blocked'
  | 'token_refused'

/** The record that a page may show, if any, and the reason why the record could not be fully verified. */
export interface Identity {
  readonly record: SsoRecord | undefined
  readonly degraded: DegradedReason | undefined
}

/** No user, and no failure. */
export const ANONYMOUS: Identity = Object.freeze({ record: undefined, degraded: undefined })

/**
 * State of the logout that the browser's cookie names, or `no_cookie`. Before a retry, `retry_always`: the logout is retried,
 * because the session may still exist on the site. `retry_if_anonymous`: the logout is retried only if the browser has no session.
 */
export type LogoutCookieState = 'no_cookie' | 'retry_if_anonymous' | 'retry_always' | RetryOutcome

/** The status checks in progress, and the last ended check, at the start of a request. Their responses are not fresh for the request. */
export interface StatusChecksAtStart {
  readonly currentCheckId: string | undefined
  readonly lastCheckId: string | undefined
}

/** Facts of a request. */
export interface RequestFacts {
  readonly now: EpochSeconds
  readonly record: SsoRecord | undefined
  readonly isStoreAvailable: boolean
  /** Is the circuit breaker of the SSO system closed? */
  readonly isSsoAvailable: boolean
  /** Does Identify fail, although the other operations may work? */
  readonly isIdentifyBroken: boolean
  /** May the request be redirected? Only a request of a person for a page may be redirected, where the site identifies. */
  readonly mayIdentify: boolean
  /** Does the browser load the page in advance? A redirect would consume something, and a page without user would be shown after the click. */
  readonly isPrefetch: boolean
  /** Reason of the loop guard or the marker of a browser without cookies to serve the page now. */
  readonly blocked: DegradedReason | undefined
  readonly logoutCookie: LogoutCookieState
  readonly isLoginPage: boolean
  /** Does the page need the response to a Session Status call that began after this request? */
  readonly fresh: StatusChecksAtStart | undefined
  /** Has the request reached its maximum wait for the check of another request? */
  readonly hasWaited: boolean
}

/** Time limits, all in seconds. */
export interface TimeLimits {
  readonly recheckSeconds: number
  /** How much longer a stale login is served while the SSO system does not respond. */
  readonly graceSeconds: number
  readonly absoluteSeconds: number
  /** Seconds until the lock of a status check expires. */
  readonly lockSeconds: number
}

type IdentifyReason = 'no_session' | 'access_expired' | 'signed_out'

/** Decision of a request. `show` has the record that may be shown. */
export type RequestDecision =
  | ({ readonly action: 'show' } & Identity)
  | { readonly action: 'identify'; readonly reason: IdentifyReason }
  | { readonly action: 'refuse_prefetch' }
  | { readonly action: 'end_session'; readonly reason: 'absolute_limit' }
  | { readonly action: 'check_status'; readonly record: SsoRecord; readonly reason: 'stale' | 'fresh' }
  | { readonly action: 'wait_for_check' }
  | { readonly action: 'retry_logout' }

/** Seconds from the beginning of a failed check in which the session is not checked again. */
const CHECK_PAUSE_SECONDS = 4
/** Seconds in which a login with an expired access token is shown without the token, before the next Identify redirect. */
const ACCESS_PAUSE_SECONDS = 60

const anonymous = (degraded: DegradedReason | undefined): RequestDecision => ({
  action: 'show',
  record: undefined,
  degraded,
})

/** Decides a request. */
export function decideRequest(facts: RequestFacts, timeLimits: TimeLimits): RequestDecision {
  if (!facts.isStoreAvailable) return anonymous('store_unavailable')
  const { record, now } = facts
  if (facts.logoutCookie === 'retry_always') return { action: 'retry_logout' }
  if (record && facts.logoutCookie === 'pending') return anonymous('logout_pending')
  if (!record) return hasNoLogout(facts) ? decideUnknownVisitor(facts, 'no_session') : decideLoggedOut(facts)
  if (ageOf(record.since, now) >= timeLimits.absoluteSeconds && record.since <= now)
    return { action: 'end_session', reason: 'absolute_limit' }
  return facts.fresh ? decideFresh(facts, record, facts.fresh, timeLimits) : decideKnown(facts, record, timeLimits)
}

const hasNoLogout = ({ logoutCookie }: RequestFacts) => ['no_cookie', 'finished', 'confirmed'].includes(logoutCookie)
const canIdentify = ({ isSsoAvailable, isIdentifyBroken }: RequestFacts) => isSsoAvailable && !isIdentifyBroken

function decideUnknownVisitor(facts: RequestFacts, reason: IdentifyReason): RequestDecision {
  const { blocked } = facts
  if (blocked !== undefined && blocked !== 'identify_loop') return anonymous(blocked)
  if (!facts.mayIdentify) return anonymous(blocked)
  if (!canIdentify(facts)) return anonymous('sso_unavailable')
  return blocked ? anonymous(blocked) : identify(facts, reason)
}

const identify = ({ isPrefetch }: RequestFacts, reason: IdentifyReason): RequestDecision =>
  isPrefetch ? { action: 'refuse_prefetch' } : { action: 'identify', reason }

/**
 * Decides a request of a browser that has logged out. The browser is not redirected to Identify until the logout is confirmed.
 * If the logout's session is not known any more, a click on "log in" redirects to Identify. The landing page then ends the login
 * that the logout cookie stands for.
 */
function decideLoggedOut(facts: RequestFacts): RequestDecision {
  if (facts.logoutCookie === 'retry_if_anonymous') return { action: 'retry_logout' }
  if (facts.logoutCookie === 'pending' || !facts.isLoginPage) return anonymous('logout_pending')
  const decision = decideUnknownVisitor(facts, 'signed_out')
  return decision.action === 'show' ? anonymous('logout_pending') : decision
}

function decideFresh(
  facts: RequestFacts,
  record: SsoRecord,
  statusChecksAtStart: StatusChecksAtStart,
  timeLimits: TimeLimits,
): RequestDecision {
  const { lastCheckId } = record
  if (
    lastCheckId !== undefined &&
    lastCheckId !== statusChecksAtStart.lastCheckId &&
    lastCheckId !== statusChecksAtStart.currentCheckId
  )
    return record.unansweredAt === undefined ? showRecord(record) : showStaleRecord(facts, record, timeLimits)
  if (!facts.isSsoAvailable) return showStaleRecord(facts, record, timeLimits)
  if (isBeingChecked(facts, record, timeLimits)) return { action: 'wait_for_check' }
  if (isPaused(facts, record, timeLimits)) return showStaleRecord(facts, record, timeLimits)
  return { action: 'check_status', record, reason: 'fresh' }
}

function decideKnown(facts: RequestFacts, record: SsoRecord, timeLimits: TimeLimits): RequestDecision {
  if (!isStale(record, facts.now, timeLimits.recheckSeconds))
    return needsNewAccess(facts, record) ? identify(facts, 'access_expired') : showRecord(record)
  if (!facts.isSsoAvailable) return showStaleRecord(facts, record, timeLimits)
  if (isBeingChecked(facts, record, timeLimits)) return decideWhileChecked(facts, record, timeLimits)
  if (isPaused(facts, record, timeLimits)) return showStaleRecord(facts, record, timeLimits)
  return { action: 'check_status', record, reason: 'stale' }
}

const pauseSeconds = ({ lockSeconds }: TimeLimits) => Math.max(CHECK_PAUSE_SECONDS, lockSeconds)

function isPaused({ now }: RequestFacts, { unansweredAt }: SsoRecord, timeLimits: TimeLimits): boolean {
  return isNear(unansweredAt, now, pauseSeconds(timeLimits))
}

function isBeingChecked({ now, hasWaited }: RequestFacts, record: SsoRecord, { lockSeconds }: TimeLimits): boolean {
  return !hasWaited && isNear(record.checkBeganAt, now, lockSeconds)
}

/**
 * Decides while another request checks the status. Within the grace period, the request is served from the record, with the failure
 * of the last check, if the check or the pause after the failure was due. A `fresh` page may have failed before.
 */
function decideWhileChecked(facts: RequestFacts, record: SsoRecord, timeLimits: TimeLimits): RequestDecision {
  if (!isWithinGrace(facts.now, record, timeLimits)) return { action: 'wait_for_check' }
  const { unansweredAt } = record
  const hasFailed =
    unansweredAt !== undefined && isStale(record, unansweredAt + pauseSeconds(timeLimits), timeLimits.recheckSeconds)
  return hasFailed ? showStaleRecord(facts, record, timeLimits) : showRecord(record)
}

/** May Identify bring a new access token? The user does not notice the redirect. */
function needsNewAccess(facts: RequestFacts, record: SsoRecord): boolean {
  if (record.status !== 'loggedin' || record.accessRefused !== true) return false
  if (isNear(record.accessFailedAt, facts.now, ACCESS_PAUSE_SECONDS)) return false
  return canIdentify(facts) && facts.mayIdentify && !facts.blocked
}

type ShowDecision = Extract<RequestDecision, { action: 'show' }>

/** Shows a record unchanged. The user of a pending login is not known yet. */
export function showRecord(record: SsoRecord): ShowDecision {
  return { action: 'show', record, degraded: record.status === 'anon' && record.pending ? 'user_unknown' : undefined }
}

/** Shows a record without a usable response: a login within the grace period, an anonymous session always. */
export function showStaleRecord(
  { now }: Pick<RequestFacts, 'now'>,
  record: SsoRecord,
  timeLimits: TimeLimits,
  degraded: DegradedReason = 'sso_unavailable',
): ShowDecision {
  const shown = record.status === 'anon' || isWithinGrace(now, record, timeLimits) ? record : undefined
  return { action: 'show', record: shown, degraded }
}

function isWithinGrace(now: EpochSeconds, record: SsoRecord, timeLimits: TimeLimits): boolean {
  return isYoungerThan(record.checkedAt, now, timeLimits.recheckSeconds + timeLimits.graceSeconds)
}

/** Returns the user that is shown as logged in, if any. */
export function userOfLogin({ record }: Identity): User | undefined {
  return isLoggedIn(record) ? record.user : undefined
}

const VERIFIED: ReadonlySet<DegradedReason | undefined> = new Set([undefined, 'user_unknown', 'logout_pending'])

/** Was the status verified? If not, a sensitive page can be neither shown nor refused. */
export function isVerified({ degraded }: Identity): boolean {
  return VERIFIED.has(degraded)
}

/** Has the REST API refused the access token of the login? */
export function isAccessTokenRefused({ record }: Identity): boolean {
  return isLoggedIn(record) && record.accessRefused === true
}
