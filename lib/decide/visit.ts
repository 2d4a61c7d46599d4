/** What to do with one request: facts + record + health in, one decision with its reason out. Pure. Table: docs/internals/decision-tables.md, "visit". */
import type { EpochSeconds } from '../protocol/claims'
import { ageOf, isYounger } from './age'
import { isLoggedIn, isStale, type SsoRecord, type User } from './record'

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
export interface Shown {
  readonly record: SsoRecord | undefined
  readonly degraded: DegradedReason | undefined
}

/** Nobody, and nothing is wrong. */
export const NOBODY: Shown = Object.freeze({ record: undefined, degraded: undefined })

/**
 * What the browser's signed-out mark says: not tried yet, not confirmed, or of a session that nobody can tell any more. `due`: not tried
 * yet, and the session may still live here: the store was not told, or a landing under way has brought a login since.
 */
export type SignedOutState = 'no' | 'untried' | 'due' | 'pending' | 'unknown'

/** The questions that were under way, or had ended, when a request began: an answer to one of them is not fresh for it. */
export interface Baseline {
  readonly asking: string | undefined
  readonly asked: string | undefined
}

/** Everything a visit's decision depends on. */
export interface VisitFacts {
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
  readonly signedOut: SignedOutState
  /** Does somebody press "log in"? */
  readonly wantsLogin: boolean
  /** The page asks for a word of the SSO system that was asked for after this request began. */
  readonly fresh: Baseline | undefined
  /** Has this request waited for somebody else's answer as long as it may? */
  readonly hasWaited: boolean
}

/** The time rules. All in seconds. */
export interface VisitPolicy {
  readonly recheckSeconds: number
  readonly graceSeconds: number
  readonly absoluteSeconds: number
  /** How long a claim "I am asking" holds. */
  readonly claimSeconds: number
}

/** Why a browser is sent through Identify. */
type IdentifyReason = 'no_session' | 'access_expired' | 'signed_out'

/** One decision. `show` has what may be shown. */
export type VisitDecision =
  | ({ readonly do: 'show' } & Shown)
  | { readonly do: 'identify'; readonly because: IdentifyReason }
  | { readonly do: 'end_session'; readonly because: 'absolute_limit' }
  | { readonly do: 'ask_status'; readonly record: SsoRecord; readonly because: 'stale' | 'fresh' }
  | { readonly do: 'wait_for_answer' }
  | { readonly do: 'retry_logout' }

/** After a status check that failed, a session is not checked again for so many seconds from its beginning. */
const CHECK_PAUSE_SECONDS = 4
/** A session whose access ran out and cannot be renewed is shown without it for so many seconds before the next trip. */
const ACCESS_PAUSE_SECONDS = 60

const nobody = (degraded: DegradedReason | undefined): VisitDecision => ({ do: 'show', record: undefined, degraded })

/** Decides one visit. */
export function decideVisit(facts: VisitFacts, policy: VisitPolicy): VisitDecision {
  if (!facts.storeAvailable) return nobody('store_unavailable')
  const { record, now } = facts
  if (facts.signedOut === 'due') return { do: 'retry_logout' }
  if (record && facts.signedOut === 'pending') return nobody('logout_pending')
  if (!record) return facts.signedOut === 'no' ? decideStranger(facts, 'no_session') : decideSignedOut(facts)
  if (ageOf(record.since, now) >= policy.absoluteSeconds && record.since <= now)
    return { do: 'end_session', because: 'absolute_limit' }
  return facts.fresh ? decideFresh(facts, record, facts.fresh, policy) : decideKnown(facts, record, policy)
}

const canIdentify = ({ ssoAvailable, identifyBroken }: VisitFacts) => ssoAvailable && !identifyBroken

function decideStranger(facts: VisitFacts, because: IdentifyReason): VisitDecision {
  if (facts.blocked) return nobody(facts.blocked)
  if (!facts.mayIdentify) return nobody(undefined)
  return canIdentify(facts) ? { do: 'identify', because } : nobody('sso_unavailable')
}

/**
 * Nobody is sent to Identify who has logged out, until that is confirmed. Where nobody can tell any more whose logout it was, pressing
 * "log in" is the way out: the mark is still there at the landing, and ends whatever login that brings.
 */
function decideSignedOut(facts: VisitFacts): VisitDecision {
  if (facts.signedOut === 'untried') return { do: 'retry_logout' }
  if (facts.signedOut === 'pending' || !facts.wantsLogin) return nobody('logout_pending')
  const decision = decideStranger(facts, 'signed_out')
  return decision.do === 'identify' ? decision : nobody('logout_pending')
}

/** Only an answer to a question that was asked after the request began will do. */
function decideFresh(facts: VisitFacts, record: SsoRecord, baseline: Baseline, policy: VisitPolicy): VisitDecision {
  const { asked } = record
  if (asked !== undefined && asked !== baseline.asked && asked !== baseline.asking)
    return record.unansweredAt === undefined ? showKnown(record) : showUnchecked(facts, record, policy)
  if (!facts.ssoAvailable) return showUnchecked(facts, record, policy)
  if (isBeingAsked(facts, record, policy)) return { do: 'wait_for_answer' }
  if (isPaused(facts, record, policy)) return showUnchecked(facts, record, policy)
  return { do: 'ask_status', record, because: 'fresh' }
}

function decideKnown(facts: VisitFacts, record: SsoRecord, policy: VisitPolicy): VisitDecision {
  if (!isStale(record, facts.now, policy.recheckSeconds))
    return needsNewAccess(facts, record) ? { do: 'identify', because: 'access_expired' } : showKnown(record)
  if (!facts.ssoAvailable) return showUnchecked(facts, record, policy)
  if (isBeingAsked(facts, record, policy)) return decideWhileAsked(facts, record, policy)
  if (isPaused(facts, record, policy)) return showUnchecked(facts, record, policy)
  return { do: 'ask_status', record, because: 'stale' }
}

/** Has a check of this session failed a moment ago? */
function isPaused({ now }: VisitFacts, { unansweredAt }: SsoRecord, { claimSeconds }: VisitPolicy): boolean {
  return isYounger(unansweredAt, now, Math.max(CHECK_PAUSE_SECONDS, claimSeconds))
}

function isBeingAsked({ now, hasWaited }: VisitFacts, record: SsoRecord, { claimSeconds }: VisitPolicy): boolean {
  return !hasWaited && isYounger(record.askingAt, now, claimSeconds)
}

/** Another request checks the status: this one is served from the record within the grace period, and says so if the last check failed. */
function decideWhileAsked(facts: VisitFacts, record: SsoRecord, policy: VisitPolicy): VisitDecision {
  if (!isWithinGrace(facts.now, record, policy)) return { do: 'wait_for_answer' }
  return record.unansweredAt === undefined ? showKnown(record) : showUnchecked(facts, record, policy)
}

/** The last way to a new access token: a trip that the reader does not notice. */
function needsNewAccess(facts: VisitFacts, record: SsoRecord): boolean {
  if (record.status !== 'loggedin' || record.accessRefused !== true) return false
  if (isYounger(record.accessFailedAt, facts.now, ACCESS_PAUSE_SECONDS)) return false
  return canIdentify(facts) && facts.mayIdentify && !facts.blocked
}

type ShowDecision = Extract<VisitDecision, { do: 'show' }>

/** Shows a record as it is; a pending login says that its user is not known yet. */
export function showKnown(record: SsoRecord): ShowDecision {
  return { do: 'show', record, degraded: record.status === 'anon' && record.pending ? 'user_unknown' : undefined }
}

/** No usable answer: a login is shown within the grace, an anonymous visitor always; the record stays. */
export function showUnchecked(
  { now }: Pick<VisitFacts, 'now'>,
  record: SsoRecord,
  policy: VisitPolicy,
  degraded: DegradedReason = 'sso_unavailable',
): ShowDecision {
  const shown = record.status === 'anon' || isWithinGrace(now, record, policy) ? record : undefined
  return { do: 'show', record: shown, degraded }
}

function isWithinGrace(now: EpochSeconds, record: SsoRecord, policy: VisitPolicy): boolean {
  return isYounger(record.checkedAt, now, policy.recheckSeconds + policy.graceSeconds)
}

/** Who is shown as logged in, if anybody. */
export function shownUser({ record }: Shown): User | undefined {
  return isLoggedIn(record) ? record.user : undefined
}

const FOR_SURE: ReadonlySet<DegradedReason | undefined> = new Set([undefined, 'user_unknown', 'logout_pending'])

/** Was everything asked that had to be asked? Else a sensitive page can be neither shown nor refused. */
export function isKnownForSure({ degraded }: Shown): boolean {
  return FOR_SURE.has(degraded)
}

/** Has the REST API refused the access token that is shown? */
export function needsAccess({ record }: Shown): boolean {
  return isLoggedIn(record) && record.accessRefused === true
}
