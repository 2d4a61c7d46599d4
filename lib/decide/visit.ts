/** What to do with one request: facts + record + health in, one decision with its reason out. Pure. */
import type { EpochSeconds } from '../protocol/claims'
import { type SsoRecord, staleAfter } from './record'

/** Why less is known than should be. */
export type DegradedReason =
  | 'sso_unavailable'
  | 'store_unavailable'
  | 'user_unknown'
  | 'logout_pending'
  | 'identify_loop'
  | 'cookies_blocked'
  | 'token_refused'

/** Everything a visit's decision depends on. */
export interface VisitFacts {
  readonly now: EpochSeconds
  /** What the session's record says; `undefined` when there is none. */
  readonly record: SsoRecord | undefined
  /** Did Redis answer? */
  readonly storeAvailable: boolean
  /** Is the circuit to the SSO system closed? */
  readonly ssoAvailable: boolean
  /** May this request be redirected: a navigation by a person, on a page that identifies? */
  readonly mayIdentify: boolean
  /** The loop guard or the cookie-less marker says: serve the page now. */
  readonly blocked: DegradedReason | undefined
  /** The browser carries a signed-out cookie whose logout is not confirmed. */
  readonly signedOut: boolean
  /** The page asks for a word of the SSO system newer than the record. */
  readonly fresh: boolean
}

/** The time rules. All in seconds. */
export interface VisitPolicy {
  readonly recheckSeconds: number
  readonly graceSeconds: number
  readonly absoluteSeconds: number
  /** How long a claim "I am asking" holds. */
  readonly claimSeconds: number
}

/** One decision. `serve` has the record that may be shown, or none. */
export type VisitDecision =
  | { readonly do: 'serve'; readonly record: SsoRecord | undefined; readonly degraded: DegradedReason | undefined }
  | { readonly do: 'identify'; readonly because: 'no_session' | 'access_expired' }
  | { readonly do: 'end_session'; readonly because: 'absolute_limit' }
  | { readonly do: 'ask_status'; readonly record: SsoRecord; readonly because: 'stale' | 'fresh' }
  | { readonly do: 'wait_for_answer'; readonly record: SsoRecord }
  | { readonly do: 'retry_logout' }

const none = (degraded: DegradedReason | undefined): VisitDecision => ({ do: 'serve', record: undefined, degraded })

/** Decides one visit. Design, section 3, "visit". */
export function decideVisit(facts: VisitFacts, policy: VisitPolicy): VisitDecision {
  if (!facts.storeAvailable) return none('store_unavailable')
  if (facts.signedOut && !facts.record) return { do: 'retry_logout' }
  const { record, now } = facts
  if (!record) return decideStranger(facts)
  if (now - record.since >= policy.absoluteSeconds) return { do: 'end_session', because: 'absolute_limit' }
  return decideKnown(facts, record, policy)
}

function decideStranger(facts: VisitFacts): VisitDecision {
  if (facts.blocked) return none(facts.blocked)
  if (!facts.mayIdentify) return none(undefined)
  return facts.ssoAvailable ? { do: 'identify', because: 'no_session' } : none('sso_unavailable')
}

function decideKnown(facts: VisitFacts, record: SsoRecord, policy: VisitPolicy): VisitDecision {
  const age = facts.now - record.checkedAt
  const isStale = age >= staleAfter(record, policy.recheckSeconds)
  if (!isStale && !facts.fresh) return needsNewAccess(facts, record) ? identifyForAccess : serveKnown(record)
  if (!facts.ssoAvailable) return facts.fresh ? none('sso_unavailable') : tolerate(facts, record, policy)
  if (facts.fresh) return { do: 'ask_status', record, because: 'fresh' }
  const isRecent = (moment: EpochSeconds | undefined) =>
    moment !== undefined && facts.now - moment < policy.claimSeconds
  if (isRecent(record.askingAt)) {
    return isWithinGrace(facts.now, record, policy)
      ? serveWhileAsked(facts, record, policy)
      : { do: 'wait_for_answer', record }
  }
  return isRecent(record.unansweredAt)
    ? tolerate(facts, record, policy)
    : { do: 'ask_status', record, because: 'stale' }
}

/** Somebody is asking: the record is good enough meanwhile, and says so where the last question got no answer. */
export function serveWhileAsked(
  facts: { readonly now: EpochSeconds },
  record: SsoRecord,
  policy: VisitPolicy,
): Extract<VisitDecision, { do: 'serve' }> {
  return record.unansweredAt === undefined ? serveKnown(record) : tolerate(facts, record, policy)
}

const identifyForAccess: VisitDecision = { do: 'identify', because: 'access_expired' }

/** The last way to a new access token: a trip that the reader does not notice. */
function needsNewAccess({ mayIdentify, ssoAvailable, blocked }: VisitFacts, record: SsoRecord): boolean {
  return record.status === 'loggedin' && record.accessRefused === true && mayIdentify && ssoAvailable && !blocked
}

/** Serves a record as it is; a pending login says that its user is not known yet. */
export function serveKnown(record: SsoRecord): Extract<VisitDecision, { do: 'serve' }> {
  return { do: 'serve', record, degraded: record.status === 'anon' && record.pending ? 'user_unknown' : undefined }
}

/** No usable answer: a login is served within the grace, an anonymous visitor always; the record stays. */
export function tolerate(
  { now }: { readonly now: EpochSeconds },
  record: SsoRecord,
  policy: VisitPolicy,
): Extract<VisitDecision, { do: 'serve' }> {
  const served = record.status === 'anon' || isWithinGrace(now, record, policy) ? record : undefined
  return { do: 'serve', record: served, degraded: 'sso_unavailable' }
}

function isWithinGrace(now: EpochSeconds, record: SsoRecord, policy: VisitPolicy): boolean {
  return now - record.checkedAt < policy.recheckSeconds + policy.graceSeconds
}
