/** What a logout has to do, by what is known of the session. Pure. Table: docs/internals/decision-tables.md, "logout". */
import type { SsoRecord } from './record'
import type { SignedOut } from './signed-out'
import type { Stored } from './stored'

/**
 * What a logout came to at the SSO system; here it is done in any case. `'confirmed'`: it knows. `'pending'`: it is told again and again
 * until it does. `'no_session'`: there was no session.
 */
export type LogoutResult = 'confirmed' | 'pending' | 'no_session'

/** Everything a logout's decision depends on. */
export interface LogoutFacts {
  /** Could the store be read? */
  readonly isAvailable: boolean
  readonly record: SsoRecord | undefined
  /** Key of the session that the browser names, if it names one. */
  readonly key: string | undefined
  readonly state: Stored['state']
  readonly hasUnreadableCookie: boolean
  /** Does the browser carry the mark of an earlier logout? */
  readonly isSignedOut: boolean
  readonly isAll: boolean
}

/**
 * One decision. `mark`: nobody knows which session of the SSO system it is, so the browser is marked, and whatever login
 * its next landing brings ends there.
 */
export type LogoutDecision =
  | { readonly do: 'end'; readonly record: SsoRecord; readonly isAll: boolean }
  | { readonly do: 'retry' }
  | { readonly do: 'mark'; readonly signedOut: SignedOut; readonly result: 'pending' | 'no_session' }

/** Decides one logout. */
export function decideLogout(facts: LogoutFacts): LogoutDecision {
  const { isAvailable, record, key = '', state, isAll } = facts
  // a login would have taken the mark away: what it stands for is the session that matters
  if (!isAvailable && facts.isSignedOut) return { do: 'retry' }
  if (!isAvailable) return { do: 'mark', signedOut: { of: 'session', key, isAll }, result: 'pending' }
  if (record) return { do: 'end', record, isAll }
  if (facts.isSignedOut) return { do: 'retry' }
  const hadSession = facts.hasUnreadableCookie || (facts.key !== undefined && state !== 'ended')
  return { do: 'mark', signedOut: { of: 'anything' }, result: hadSession ? 'pending' : 'no_session' }
}
