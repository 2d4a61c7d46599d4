/** What to do with one request: facts + record + health in, one decision with its reason out. Pure. Table: docs/internals/decision-tables.md, "visit". */
import type { EpochSeconds } from '../protocol/claims'
import { isLoggedIn, isStale, type SsoRecord, type User } from './record'
import { ageOf, isYoungerThan } from './timestamps'

/**
 * Why less is known than should be. `sso_unavailable`: the SSO system does not answer as it should. `store_unavailable`: Redis is away.
 * `user_unknown`: logged in, but ticket or user could not be fetched. `logout_pending`: a logout here is not confirmed yet. `identify_loop`:
 * too many trips through Identify, or too many new sessions of one address. `cookies_blocked`: the browser keeps no cookies.
 * `token_refused`: landing tokens do not verify; the operator is told why.
 */
export type DegradedReason =
  | 'sso_unavailable'
  | 'store_unavailable'
  | 'user_unknown'
  | 'logout_pending'
  | 'identify_loop'
  | 'cookies_blocked'
  | 'token_refused'

/** What a page may show: the record, or nobody, and why less is known than should be. */
export interface Identity {
  readonly record: SsoRecord | undefined
  readonly degraded: DegradedReason | undefined
}

/** Nobody, and nothing is wrong. */
export const ANONYMOUS: Identity = Object.freeze({ record: undefined, degraded: undefined })

/**
 * What the browser's signed-out mark says: not tried yet, not confirmed, or of a session that nobody can tell any more. `due`: not tried
 * yet, and the session may still live here: the store was not told, or a landing under way has brought a login since.
 */
export type LogoutCookieState = 'no' | 'untried' | 'due' | 'pending' | 'unknown'

/** The questions that were under way, or had ended, when a request began: an answer to one of them is not fresh for it. */
export interface ChecksAtStart {
  readonly asking: string | undefined
  readonly asked: string | undefined
}

/** Everything a visit's decision depends on. */
export interface RequestFacts {
  readonly now: EpochSeconds
  /** What the session's record says; `undefined` when there is none. */
  readonly record: SsoRecord | undefined
  /** Did Redis answer? */
  readonly storeAvailable: boolean
  /** Is the circuit to the SSO system closed? */
  readonly ssoAvailable: boolean
  /** Is Identify known to be broken, whatever the other operations do? */
  readonly identifyBroken: boolean
  /** May this request be redirected: a navigation by a person, on a page that identifies? */
  readonly mayIdentify: boolean
  /** The loop guard or the cookie-less marker says: serve the page now. */
  readonly blocked: DegradedReason | undefined
  readonly logoutCookie: LogoutCookieState
  /** Does somebody press "log in"? */
  readonly wantsLogin: boolean
  /** The page asks for a word of the SSO system that was asked for after this request began. */
  readonly fresh: ChecksAtStart | undefined
  /** Has this request waited for somebody else's answer as long as it may? */
  readonly hasWaited: boolean
}

/** The time rules. All in seconds. */
export interface RequestPolicy {
  readonly recheckSeconds: number
  readonly graceSeconds: number
  readonly absoluteSeconds: number
  /** How long a claim "I am asking" holds. */
  readonly lockSeconds: number
}

/** Why a browser is sent through Identify. */
type IdentifyReason = 'no_session' | 'access_expired' | 'signed_out'

/** One decision. `show` has what may be shown. */
export type RequestDecision =
  | ({ readonly action: 'show' } & Identity)
  | { readonly action: 'identify'; readonly reason: IdentifyReason }
  | { readonly action: 'end_session'; readonly reason: 'absolute_limit' }
  | { readonly action: 'ask_status'; readonly record: SsoRecord; readonly reason: 'stale' | 'fresh' }
  | { readonly action: 'wait_for_answer' }
  | { readonly action: 'retry_logout' }

/** After a status check that failed, a session is not checked again for so many seconds from its beginning. */
const CHECK_PAUSE_SECONDS = 4
/** A session whose access ran out and cannot be renewed is shown without it for so many seconds before the next trip. */
const ACCESS_PAUSE_SECONDS = 60

const anonymous = (degraded: DegradedReason | undefined): RequestDecision => ({
  action: 'show',
  record: undefined,
  degraded,
})

/** Decides one visit. */
export function decideRequest(facts: RequestFacts, policy: RequestPolicy): RequestDecision {
  if (!facts.storeAvailable) return anonymous('store_unavailable')
  const { record, now } = facts
  if (facts.logoutCookie === 'due') return { action: 'retry_logout' }
  if (record && facts.logoutCookie === 'pending') return anonymous('logout_pending')
  if (!record) return facts.logoutCookie === 'no' ? decideUnknownVisitor(facts, 'no_session') : decideLoggedOut(facts)
  if (ageOf(record.since, now) >= policy.absoluteSeconds && record.since <= now)
    return { action: 'end_session', reason: 'absolute_limit' }
  return facts.fresh ? decideFresh(facts, record, facts.fresh, policy) : decideKnown(facts, record, policy)
}

const canIdentify = ({ ssoAvailable, identifyBroken }: RequestFacts) => ssoAvailable && !identifyBroken

function decideUnknownVisitor(facts: RequestFacts, reason: IdentifyReason): RequestDecision {
  if (facts.blocked) return anonymous(facts.blocked)
  if (!facts.mayIdentify) return anonymous(undefined)
  return canIdentify(facts) ? { action: 'identify', reason } : anonymous('sso_unavailable')
}

/**
 * Nobody is sent to Identify who has logged out, until that is confirmed. Where nobody can tell any more whose logout it was, pressing
 * "log in" is the way out: the mark is still there at the landing, and ends whatever login that brings.
 */
function decideLoggedOut(facts: RequestFacts): RequestDecision {
  if (facts.logoutCookie === 'untried') return { action: 'retry_logout' }
  if (facts.logoutCookie === 'pending' || !facts.wantsLogin) return anonymous('logout_pending')
  const decision = decideUnknownVisitor(facts, 'signed_out')
  return decision.action === 'identify' ? decision : anonymous('logout_pending')
}

/** Only an answer to a question that was asked after the request began will do. */
function decideFresh(
  facts: RequestFacts,
  record: SsoRecord,
  checksAtStart: ChecksAtStart,
  policy: RequestPolicy,
): RequestDecision {
  const { asked } = record
  if (asked !== undefined && asked !== checksAtStart.asked && asked !== checksAtStart.asking)
    return record.unansweredAt === undefined ? useRecord(record) : useStaleRecord(facts, record, policy)
  if (!facts.ssoAvailable) return useStaleRecord(facts, record, policy)
  if (isBeingAsked(facts, record, policy)) return { action: 'wait_for_answer' }
  if (isPaused(facts, record, policy)) return useStaleRecord(facts, record, policy)
  return { action: 'ask_status', record, reason: 'fresh' }
}

function decideKnown(facts: RequestFacts, record: SsoRecord, policy: RequestPolicy): RequestDecision {
  if (!isStale(record, facts.now, policy.recheckSeconds))
    return needsNewAccess(facts, record) ? { action: 'identify', reason: 'access_expired' } : useRecord(record)
  if (!facts.ssoAvailable) return useStaleRecord(facts, record, policy)
  if (isBeingAsked(facts, record, policy)) return decideWhileAsked(facts, record, policy)
  if (isPaused(facts, record, policy)) return useStaleRecord(facts, record, policy)
  return { action: 'ask_status', record, reason: 'stale' }
}

/** Has a check of this session failed a moment ago? */
function isPaused({ now }: RequestFacts, { unansweredAt }: SsoRecord, { lockSeconds }: RequestPolicy): boolean {
  return isYoungerThan(unansweredAt, now, Math.max(CHECK_PAUSE_SECONDS, lockSeconds))
}

function isBeingAsked({ now, hasWaited }: RequestFacts, record: SsoRecord, { lockSeconds }: RequestPolicy): boolean {
  return !hasWaited && isYoungerThan(record.askingAt, now, lockSeconds)
}

/** Another request checks the status: this one is served from the record within the grace period, and says so if the last check failed. */
function decideWhileAsked(facts: RequestFacts, record: SsoRecord, policy: RequestPolicy): RequestDecision {
  if (!isWithinGrace(facts.now, record, policy)) return { action: 'wait_for_answer' }
  return record.unansweredAt === undefined ? useRecord(record) : useStaleRecord(facts, record, policy)
}

/** The last way to a new access token: a trip that the reader does not notice. */
function needsNewAccess(facts: RequestFacts, record: SsoRecord): boolean {
  if (record.status !== 'loggedin' || record.accessRefused !== true) return false
  if (isYoungerThan(record.accessFailedAt, facts.now, ACCESS_PAUSE_SECONDS)) return false
  return canIdentify(facts) && facts.mayIdentify && !facts.blocked
}

type ShowDecision = Extract<RequestDecision, { action: 'show' }>

/** Shows a record as it is; a pending login says that its user is not known yet. */
export function useRecord(record: SsoRecord): ShowDecision {
  return { action: 'show', record, degraded: record.status === 'anon' && record.pending ? 'user_unknown' : undefined }
}

/** No usable answer: a login is shown within the grace, an anonymous visitor always; the record stays. */
export function useStaleRecord(
  { now }: Pick<RequestFacts, 'now'>,
  record: SsoRecord,
  policy: RequestPolicy,
  degraded: DegradedReason = 'sso_unavailable',
): ShowDecision {
  const identity = record.status === 'anon' || isWithinGrace(now, record, policy) ? record : undefined
  return { action: 'show', record: identity, degraded }
}

function isWithinGrace(now: EpochSeconds, record: SsoRecord, policy: RequestPolicy): boolean {
  return isYoungerThan(record.checkedAt, now, policy.recheckSeconds + policy.graceSeconds)
}

/** Who is shown as logged in, if anybody. */
export function identifiedUser({ record }: Identity): User | undefined {
  return isLoggedIn(record) ? record.user : undefined
}

const VERIFIED: ReadonlySet<DegradedReason | undefined> = new Set([undefined, 'user_unknown', 'logout_pending'])

/** Was everything asked that had to be asked? Else a sensitive page can be neither shown nor refused. */
export function isVerified({ degraded }: Identity): boolean {
  return VERIFIED.has(degraded)
}

/** Has the REST API refused the access token that is shown? */
export function needsAccessToken({ record }: Identity): boolean {
  return isLoggedIn(record) && record.accessRefused === true
}
