/** Decides what a logout does, from the state of the session. Pure. Table: docs/internals/decision-tables.md, "Logout". */

import type { LogoutCookie } from './logout-cookie'
import type { SsoRecord } from './record'
import type { StoredEntry } from './stored-entry'

/**
 * Result of a logout at the SSO system. The browser is logged out of the site in every case. `'confirmed'`: the SSO system has ended the
 * session.
 * `'pending'`: the logout is retried until the SSO system confirms the logout. `'no_session'`: there was no session.
 */
export type LogoutResult = 'confirmed' | 'pending' | 'no_session'

/** Facts of a logout. */
export interface LogoutFacts {
  readonly isAvailable: boolean
  readonly record: SsoRecord | undefined
  /** Key of the session in the browser's cookie, if any. */
  readonly key: string | undefined
  readonly state: StoredEntry['state']
  readonly hasUnreadableCookie: boolean
  readonly hasLogoutCookie: boolean
  readonly isAll: boolean
}

/**
 * Decision of a logout. `set_cookie`: the SSO session is not known. The browser gets the logout cookie. The next landing ends a login
 * that the landing finds.
 */
export type LogoutDecision =
  | { readonly action: 'end'; readonly record: SsoRecord; readonly isAll: boolean }
  | { readonly action: 'retry'; readonly isAll: boolean }
  | { readonly action: 'set_cookie'; readonly logoutCookie: LogoutCookie; readonly result: 'pending' | 'no_session' }

/** Decides a logout. */
export function decideLogout(facts: LogoutFacts): LogoutDecision {
  const { isAvailable, record, key = '', state, isAll } = facts
  // a login would have removed the cookie, so the session of the cookie is the session to end
  if (!isAvailable && facts.hasLogoutCookie) return { action: 'retry', isAll }
  if (!isAvailable) return { action: 'set_cookie', logoutCookie: { of: 'session', key, isAll }, result: 'pending' }
  if (record) return { action: 'end', record, isAll }
  if (facts.hasLogoutCookie) return { action: 'retry', isAll }
  const hadSession = facts.hasUnreadableCookie || (facts.key !== undefined && state !== 'ended')
  return { action: 'set_cookie', logoutCookie: { of: 'anything' }, result: hadSession ? 'pending' : 'no_session' }
}
