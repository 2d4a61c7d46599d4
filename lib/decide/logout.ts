/** Decides what a logout does, from the state of the session. Pure. Table: docs/internals/decision-tables.md, "Logout". */
import type { Device } from '../protocol/claims'
import type { LogoutCookie } from './logout-cookie'
import { isLoggedIn, type SsoRecord } from './record'
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
  const { isAvailable, record, key, state, isAll } = facts
  // a login would have removed the cookie, so the session of the cookie is the session to end
  if (!isAvailable && facts.hasLogoutCookie) return { action: 'retry', isAll }
  if (!isAvailable && key !== undefined)
    return { action: 'set_cookie', logoutCookie: { of: 'session', key, isAll, isConfirmed: false }, result: 'pending' }
  if (record) return { action: 'end', record, isAll }
  if (facts.hasLogoutCookie) return { action: 'retry', isAll }
  const hadSession = !isAvailable || facts.hasUnreadableCookie || (key !== undefined && state !== 'ended')
  return { action: 'set_cookie', logoutCookie: { of: 'any_login' }, result: hadSession ? 'pending' : 'no_session' }
}

/** What a logout ends, beside the SSO session of the browser. */
export interface LogoutScope {
  /** Key of the browser's session, which may be missing in the index. */
  readonly key: string | undefined
  /** Account of the login. `undefined` if the browser was not logged in, or if the account is not known. */
  readonly accountId: string | undefined
  /** Do all sessions of the account end? */
  readonly isAll: boolean
}

/** Returns what a logout ends. A logout of all in an anonymous session ends that session only. */
export function scopeOf(key: string | undefined, record: SsoRecord, isAll: boolean): LogoutScope {
  const accountId = isLoggedIn(record) ? record.user.accountId : undefined
  return { key, accountId, isAll: isAll && accountId !== undefined }
}

/** Returns the account whose sessions all end, if any. */
export const accountOfAll = ({ accountId, isAll }: LogoutScope): string | undefined => (isAll ? accountId : undefined)

/** A logout that is not finished: the SSO system has not confirmed the logout, or Redis has not ended all its sessions. */
export interface PendingLogout extends LogoutScope, Device {
  readonly sid: string
  /** Has the SSO system confirmed the logout? Then a second Logout All would end newer logins. */
  readonly isConfirmed: boolean
}

/**
 * Merges a logout with an earlier logout of the same name. A logout of all stays a logout of all. A confirmation of a single logout
 * does not confirm a logout of all.
 */
export function mergeLogouts<Logout extends PendingLogout>(known: PendingLogout | undefined, logout: Logout): Logout {
  if (!known) return logout
  const key = logout.key ?? known.key
  if (!known.isAll) return { ...logout, key, accountId: logout.accountId ?? known.accountId }
  if (logout.isAll) return { ...logout, key, isConfirmed: known.isConfirmed || logout.isConfirmed }
  return { ...logout, key, accountId: known.accountId, isAll: true, isConfirmed: known.isConfirmed }
}

/**
 * Result of a retry. `confirmed`: the SSO system has just confirmed the logout. `over`: no logout is pending.
 * `pending`: the logout is to be retried again. `unknown`: Redis has no such logout, or no secret of this process decrypts it.
 */
export type RetryOutcome = 'confirmed' | 'over' | 'pending' | 'unknown'
