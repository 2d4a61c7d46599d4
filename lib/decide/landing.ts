/** Decides what a landing does, from its binding, its Session Token and the session of the browser. Pure. Interface: "Landing page". */
import type { TokenFault } from '../errors'
import type { SessionToken } from '../protocol/session-token'
import type { LogoutCookie } from './logout'
import { couldBeLoggedIn, isLoggedIn, type SsoRecord } from './record'

/** Result of comparing `r` with the binding cookie. */
export type BindingFinding = 'bound' | 'unbound' | 'no_cookies'

/** Facts of a landing (callback). */
export interface LandingFacts {
  readonly binding: BindingFinding
  /** The verified Session Token, or the reason why it was refused. */
  readonly token: SessionToken | TokenFault
  readonly isReplayed: boolean
  readonly isSsoSessionRevoked: boolean
  readonly isStoreAvailable: boolean
  readonly logoutCookie: LogoutCookie | undefined
  readonly record: SsoRecord | undefined
  /** The session that follows the browser's session, if the session has just moved. */
  readonly successor: SsoRecord | undefined
  /** Has the visitor's network reached its limit of anonymous sessions? */
  readonly isLandingLimitReached: boolean
  readonly sidHash: string | undefined
  /** Our clock minus the SSO system's, in seconds. */
  readonly clockOffset: number
}

/** Why a landing fails, so that the page starts no other Identify redirect. */
export type GiveUpReason = 'clock' | 'secret_or_issuer' | 'undocumented' | 'too_many_landings'

/** Decision of a landing. Each decision ends with a redirect to the return address. */
export type LandingDecision =
  | { readonly action: 'sign_in'; readonly token: SessionToken }
  | { readonly action: 'stay_anonymous'; readonly token: SessionToken }
  /** The user logged out, but the SSO system has not confirmed the logout. The token's SSO session is ended now. */
  | { readonly action: 'log_out'; readonly token: SessionToken; readonly reason: 'signed_out' }
  /** Another request of the browser has already created the session of the token. */
  | { readonly action: 'adopt'; readonly reason: 'session_moved' }
  /** Another request of the browser has begun an anonymous session, which becomes the session of the token. */
  | { readonly action: 'go_on'; readonly token: SessionToken; readonly reason: 'session_moved' }
  | {
      readonly action: 'as_it_is'
      readonly reason: 'same_token_again' | 'store_unavailable' | 'logged_in_since' | 'newer_session'
    }
  | { readonly action: 'start_anew'; readonly reason: 'unbound' | 'replayed' | 'clock' }
  | { readonly action: 'mark_cookieless'; readonly reason: 'no_cookies' }
  | { readonly action: 'give_up'; readonly reason: GiveUpReason }

/** Decides a landing. Table: docs/internals/decision-tables.md, "Landing". */
export function decideLanding(facts: LandingFacts): LandingDecision {
  const { binding, token } = facts
  if (binding === 'no_cookies') return { action: 'mark_cookieless', reason: 'no_cookies' }
  if (binding === 'unbound') return { action: 'start_anew', reason: 'unbound' }
  if (typeof token === 'string') return decideRefused(token)
  if (isLoggedOut(facts, token)) return { action: 'log_out', token, reason: 'signed_out' }
  if (!facts.isStoreAvailable) return { action: 'as_it_is', reason: 'store_unavailable' }
  if (facts.isReplayed) return decideReplay(facts)
  if (token.err !== undefined) return { action: 'give_up', reason: 'undocumented' }
  if (facts.isSsoSessionRevoked) return { action: 'log_out', token, reason: 'signed_out' }
  if (isAlreadyCreated(facts, token)) return { action: 'adopt', reason: 'session_moved' }
  return token.sts === 'anon' ? decideAnonymous(facts, token) : { action: 'sign_in', token }
}

/** Did the browser log out? An anonymous SSO session ends only if the cookie names it. Otherwise the retry would end a login that begins in it. */
function isLoggedOut({ logoutCookie, sidHash }: LandingFacts, token: SessionToken): boolean {
  if (logoutCookie === undefined) return false
  const isNamed = 'sidHash' in logoutCookie && logoutCookie.sidHash !== undefined && logoutCookie.sidHash === sidHash
  return token.sts === 'loggedin' || isNamed
}

/**
 * Has another request created the session already?
 * Two sessions of a browser would replace each other, in the order of the responses. Only a request with a login gets another
 * session.
 */
function isAlreadyCreated({ successor, sidHash }: LandingFacts, token: SessionToken): boolean {
  return (
    successor !== undefined && successor.sidHash === sidHash && isLoggedIn(successor) === (token.sts === 'loggedin')
  )
}

/** Would the landing begin an anonymous session? */
export function isNewVisitor(token: SessionToken, record: SsoRecord | undefined): boolean {
  return token.sts === 'anon' && record === undefined
}

/** Decides an anonymous landing. A browser with a session keeps the session, regardless of the limit of its network. */
function decideAnonymous(facts: LandingFacts, token: SessionToken): LandingDecision {
  const { record, successor, sidHash, isLandingLimitReached } = facts
  const issuedAt = token.iat + facts.clockOffset
  // an SSO session never becomes anonymous again, and the login is newer than the token
  const isOlder = [record, successor].some(
    (login) =>
      (couldBeLoggedIn(login) && login?.sidHash === sidHash) || (isLoggedIn(login) && issuedAt <= login.checkedAt),
  )
  if (isOlder) return { action: 'as_it_is', reason: 'logged_in_since' }
  // on a first visit with several tabs each tab gets a session of the SSO system, and the browser keeps only the last cookie
  const isNewer = (known: SsoRecord | undefined) => known && known.sidHash !== sidHash && issuedAt < known.checkedAt
  if (isNewer(record)) return { action: 'as_it_is', reason: 'newer_session' }
  if (isNewer(successor)) return { action: 'adopt', reason: 'session_moved' }
  // Identify creates a session for each of two tabs that arrive at the same time. Two sessions here would lose the site's data in
  // one of them
  if (record === undefined && successor?.status === 'anon') return { action: 'go_on', token, reason: 'session_moved' }
  const isRefused = isLandingLimitReached && record === undefined
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
