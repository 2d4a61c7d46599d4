/** What to do with one landing: binding + token + record in, decision with reason out. Pure. Interface: "Landing page". */
import type { TokenFault } from '../errors'
import type { SessionToken } from '../protocol/session-token'
import { isLoggedIn, type SsoRecord } from './record'

/** How `r` and the binding cookie fit. */
export type BindingFinding = 'bound' | 'unbound' | 'no_cookies'

/** Everything a landing's decision depends on. */
export interface LandingFacts {
  readonly binding: BindingFinding
  /** The verified token, or why it was refused. */
  readonly token: SessionToken | TokenFault
  /** Was this token taken before? */
  readonly replayed: boolean
  /** Did this site log the token's SSO session out? */
  readonly sidEnded: boolean
  readonly storeAvailable: boolean
  /** Does the browser carry the mark of a logout that is not confirmed? */
  readonly hasLogoutCookie: boolean
  readonly record: SsoRecord | undefined
  /** The session that followed on the browser's, where that has moved a moment ago. */
  readonly successor: SsoRecord | undefined
  /** Has the visitor's network begun its share of anonymous sessions? */
  readonly isShareSpent: boolean
  /** Short hash of the token's session ID. */
  readonly sidHash: string | undefined
  /** Our clock minus the SSO system's, in seconds. */
  readonly clockOffset: number
}

/** Why a landing is given up: no further Identify for this page. */
export type GiveUpReason = 'clock' | 'secret_or_issuer' | 'undocumented' | 'too_many_landings'

/** One decision; every one ends with a redirect to the return address. */
export type LandingDecision =
  | { readonly action: 'sign_in'; readonly token: SessionToken }
  | { readonly action: 'stay_anonymous'; readonly token: SessionToken }
  /** The reader logged out, and the SSO system does not know it: its session ends now, whoever it is. */
  | { readonly action: 'log_out'; readonly token: SessionToken; readonly reason: 'signed_out' }
  /** Another request of this browser has made the session already that this token is about. */
  | { readonly action: 'adopt'; readonly reason: 'session_moved' }
  /** Another request of this browser has begun an anonymous session: it goes on, as the one that this token is about. */
  | { readonly action: 'go_on'; readonly token: SessionToken; readonly reason: 'session_moved' }
  | {
      readonly action: 'as_it_is'
      readonly reason: 'same_token_again' | 'store_unavailable' | 'logged_in_since' | 'newer_session'
    }
  | { readonly action: 'start_anew'; readonly reason: 'unbound' | 'replayed' | 'clock' }
  | { readonly action: 'mark_cookieless'; readonly reason: 'no_cookies' }
  | { readonly action: 'give_up'; readonly reason: GiveUpReason }

/** Decides one landing. Table: docs/internals/decision-tables.md, "landing". */
export function decideLanding(facts: LandingFacts): LandingDecision {
  const { binding, token } = facts
  if (binding === 'no_cookies') return { action: 'mark_cookieless', reason: 'no_cookies' }
  if (binding === 'unbound') return { action: 'start_anew', reason: 'unbound' }
  if (typeof token === 'string') return decideRefused(token)
  if (facts.hasLogoutCookie && token.sts === 'loggedin') return { action: 'log_out', token, reason: 'signed_out' }
  if (!facts.storeAvailable) return { action: 'as_it_is', reason: 'store_unavailable' }
  if (facts.replayed) return decideReplay(facts)
  if (token.err !== undefined) return { action: 'give_up', reason: 'undocumented' }
  if (token.sts === 'loggedin' && facts.sidEnded) return { action: 'log_out', token, reason: 'signed_out' }
  if (isMadeAlready(facts, token)) return { action: 'adopt', reason: 'session_moved' }
  return token.sts === 'anon' ? decideAnonymous(facts, token) : { action: 'sign_in', token }
}

/** Two sessions of one browser would take turns, whichever answer comes last. A login is handed to nobody but who brings one. */
function isMadeAlready({ successor, sidHash }: LandingFacts, token: SessionToken): boolean {
  return (
    successor !== undefined && successor.sidHash === sidHash && isLoggedIn(successor) === (token.sts === 'loggedin')
  )
}

/** Would this landing begin an anonymous session? */
export function isNewVisitor(token: SessionToken, record: SsoRecord | undefined): boolean {
  return token.sts === 'anon' && record === undefined
}

/** Whoever has a session already goes on with it, however many others came from there. */
function decideAnonymous(facts: LandingFacts, token: SessionToken): LandingDecision {
  const { record, successor, sidHash, isShareSpent } = facts
  const issuedAt = token.iat + facts.clockOffset
  // no session of the SSO system becomes anonymous again; and of the login it has said so since it made this token
  const isOlder = [record, successor].some(
    (login) => isLoggedIn(login) && (login.sidHash === sidHash || issuedAt <= login.checkedAt),
  )
  if (isOlder) return { action: 'as_it_is', reason: 'logged_in_since' }
  // of several tabs on a first visit each gets a session of the SSO system, and the browser keeps the last one's cookie there
  const isNewer = (known: SsoRecord | undefined) => known && known.sidHash !== sidHash && issuedAt < known.checkedAt
  if (isNewer(record)) return { action: 'as_it_is', reason: 'newer_session' }
  if (isNewer(successor)) return { action: 'adopt', reason: 'session_moved' }
  // Identify makes a session for each of two tabs that come to it at once: two sessions here would lose what the site has kept in one
  if (record === undefined && successor?.status === 'anon') return { action: 'go_on', token, reason: 'session_moved' }
  const isRefused = isShareSpent && record === undefined
  return isRefused ? { action: 'give_up', reason: 'too_many_landings' } : { action: 'stay_anonymous', token }
}

function decideReplay({ record, sidHash }: LandingFacts): LandingDecision {
  const isOwn = record !== undefined && record.sidHash === sidHash
  return isOwn ? { action: 'as_it_is', reason: 'same_token_again' } : { action: 'start_anew', reason: 'replayed' }
}

function decideRefused(fault: TokenFault): LandingDecision {
  if (fault === 'expired' || fault === 'not_yet_valid') return { action: 'start_anew', reason: 'clock' }
  return { action: 'give_up', reason: fault === 'claims' ? 'undocumented' : 'secret_or_issuer' }
}
