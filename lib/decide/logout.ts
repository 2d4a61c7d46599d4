/** Decides what a logout does, from the state of the session. Pure. Table: docs/internals/decision-tables.md, "Logout". */

import type { LogoutCookie } from './logout-cookie'
import type { SsoRecord } from './record'
import type { StoredEntry } from './stored-entry'

/**
 * Result of a logout at the SSO system. On this site the session is ended in every case. `'confirmed'`: the SSO system has ended the session.
 * `'pending'`: the logout is retried until the SSO system confirms it. `'no_session'`: there was no session.
 */
export type LogoutResult = 'confirmed' | 'pending' | 'no_session'

/** Facts of a logout. */
export interface LogoutFacts {
  /** Could Redis be read? */
  readonly isAvailable: boolean
  readonly record: SsoRecord | undefined
  /** Key of the session in the browser's cookie, if it has one. */
  readonly key: string | undefined
  readonly state: StoredEntry['state']
  readonly hasUnreadableCookie: boolean
  /** Has the browser the cookie of an earlier logout? */
  readonly hasLogoutCookie: boolean
  readonly isAll: boolean
}

/** Decision of a logout. `mark`: the SSO session is not known. The browser gets the logout cookie, and a login that its next landing finds is ended. */
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
