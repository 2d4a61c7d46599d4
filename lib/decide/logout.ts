/** What a logout has to do, by what is known of the session. Pure. Table: docs/internals/decision-tables.md, "logout". */

import type { LogoutCookie } from './logout-cookie'
import type { SsoRecord } from './record'
import type { StoredEntry } from './stored-entry'

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
  readonly state: StoredEntry['state']
  readonly hasUnreadableCookie: boolean
  /** Does the browser carry the mark of an earlier logout? */
  readonly hasLogoutCookie: boolean
  readonly isAll: boolean
}

/**
 * One decision. `mark`: nobody knows which session of the SSO system it is, so the browser is marked, and whatever login
 * its next landing brings ends there.
 */
export type LogoutDecision =
  | { readonly action: 'end'; readonly record: SsoRecord; readonly isAll: boolean }
  | { readonly action: 'retry' }
  | { readonly action: 'mark'; readonly logoutCookie: LogoutCookie; readonly result: 'pending' | 'no_session' }

/** Decides one logout. */
export function decideLogout(facts: LogoutFacts): LogoutDecision {
  const { isAvailable, record, key = '', state, isAll } = facts
  // a login would have taken the mark away: what it stands for is the session that matters
  if (!isAvailable && facts.hasLogoutCookie) return { action: 'retry' }
  if (!isAvailable) return { action: 'mark', logoutCookie: { of: 'session', key, isAll }, result: 'pending' }
  if (record) return { action: 'end', record, isAll }
  if (facts.hasLogoutCookie) return { action: 'retry' }
  const hadSession = facts.hasUnreadableCookie || (facts.key !== undefined && state !== 'ended')
  return { action: 'mark', logoutCookie: { of: 'anything' }, result: hadSession ? 'pending' : 'no_session' }
}
