/** What to do with one landing: binding + token + record in, decision with reason out. Pure. Interface: "Landing page". */
import type { TokenFault } from '../errors'
import type { SessionToken } from '../protocol/session-token'
import type { SsoRecord } from './record'

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
  readonly record: SsoRecord | undefined
  /** Has the visitor's network begun its share of anonymous sessions? */
  readonly isShareSpent: boolean
  /** Short hash of the token's session ID. */
  readonly sidHash: string | undefined
}

/** Why a landing is given up: no further Identify for this page. */
export type GiveUpReason = 'clock' | 'secret_or_issuer' | 'undocumented' | 'too_many_landings'

/** One decision; every one ends with a redirect to the return address. */
export type LandingDecision =
  | { readonly do: 'sign_in'; readonly token: SessionToken }
  | { readonly do: 'stay_anonymous'; readonly token: SessionToken }
  | { readonly do: 'as_it_is'; readonly because: 'same_token_again' | 'store_unavailable' }
  | { readonly do: 'start_anew'; readonly because: 'unbound' | 'replayed' | 'clock' | 'signed_out' }
  | { readonly do: 'mark_cookieless'; readonly because: 'no_cookies' }
  | { readonly do: 'give_up'; readonly because: GiveUpReason }

/** Decides one landing. Design, section 3, "landing". */
export function decideLanding(facts: LandingFacts): LandingDecision {
  if (facts.binding === 'no_cookies') return { do: 'mark_cookieless', because: 'no_cookies' }
  if (facts.binding === 'unbound') return { do: 'start_anew', because: 'unbound' }
  if (typeof facts.token === 'string') return decideRefused(facts.token)
  if (!facts.storeAvailable) return { do: 'as_it_is', because: 'store_unavailable' }
  if (facts.replayed) return decideReplay(facts)
  if (facts.token.err !== undefined) return { do: 'give_up', because: 'undocumented' }
  if (facts.token.sts === 'anon') return decideAnonymous(facts, facts.token)
  return facts.sidEnded ? { do: 'start_anew', because: 'signed_out' } : { do: 'sign_in', token: facts.token }
}

/** Whoever has a session already goes on with it, however many others came from there. */
function decideAnonymous({ record, isShareSpent }: LandingFacts, token: SessionToken): LandingDecision {
  const isRefused = isShareSpent && record === undefined
  return isRefused ? { do: 'give_up', because: 'too_many_landings' } : { do: 'stay_anonymous', token }
}

function decideReplay({ record, sidHash }: LandingFacts): LandingDecision {
  const isOwn = record !== undefined && record.sidHash === sidHash
  return isOwn ? { do: 'as_it_is', because: 'same_token_again' } : { do: 'start_anew', because: 'replayed' }
}

function decideRefused(fault: TokenFault): LandingDecision {
  if (fault === 'expired' || fault === 'not_yet_valid') return { do: 'start_anew', because: 'clock' }
  return { do: 'give_up', because: fault === 'claims' ? 'undocumented' : 'secret_or_issuer' }
}
