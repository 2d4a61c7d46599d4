/** Decides what a logout does, from the state of the session. Pure. Table: docs/internals/decision-tables.md, "Logout". */
import type { Device, EpochSeconds } from '../protocol/claims'
import { isSignature, type MacKeys, makeSignature } from './binding'
import { isLoggedIn, type SsoRecord, type StoredEntry } from './record'

/**
 * Result of a logout at the SSO system. The browser is logged out of the site in every case. `'confirmed'`: the SSO system has ended the
 * session.
 * `'pending'`: the SSO system has not confirmed the logout, or Redis has not ended every session. The logout is retried for 24 hours.
 * `'no_session'`: there was no session.
 */
export type LogoutResult = 'confirmed' | 'pending' | 'no_session'

/** Facts of a logout. */
export interface LogoutFacts {
  /** Has Redis returned the browser's session, and the session that follows a moved one? */
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
 * that the landing finds. `nothing`: there is no session.
 */
export type LogoutDecision =
  | { readonly action: 'end'; readonly record: SsoRecord; readonly isAll: boolean }
  | { readonly action: 'retry'; readonly isAll: boolean }
  | { readonly action: 'set_cookie'; readonly logoutCookie: LogoutCookie }
  | { readonly action: 'nothing' }

/** Decides a logout. */
export function decideLogout(facts: LogoutFacts): LogoutDecision {
  const { isAvailable, record, key, state, isAll } = facts
  // a login would have removed the cookie, so the session of the cookie is the session to end
  if (!isAvailable && facts.hasLogoutCookie) return { action: 'retry', isAll }
  if (!isAvailable && key !== undefined)
    return { action: 'set_cookie', logoutCookie: { of: 'session', key, isAll, isConfirmed: false } }
  if (record) return { action: 'end', record, isAll }
  if (facts.hasLogoutCookie) return { action: 'retry', isAll }
  const hadSession = !isAvailable || facts.hasUnreadableCookie || (key !== undefined && state !== 'ended')
  return hadSession ? { action: 'set_cookie', logoutCookie: { of: 'next_login' } } : { action: 'nothing' }
}

/** What a logout ends on this site, beside the other sessions of the browser's SSO session. */
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
 * Merges a logout with an earlier logout of the same ID. A logout of all stays a logout of all. A confirmation of a single logout
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
 * Result of a retry. `confirmed`: the SSO system has just confirmed the logout. `finished`: the logout was over before the retry.
 * `pending`: the logout is to be retried again. `not_found`: there is nothing to retry. Redis has no such logout, no secret of this process
 * decrypts it, or the browser has no login.
 */
export type RetryOutcome = 'confirmed' | 'finished' | 'pending' | 'not_found'

/** A logout is retried for so many seconds. */
const RETRIED_SECONDS = 86_400
/** The redirect to Identify that follows a logout ends in so many seconds. A login that the user begins later is another login. */
const RECENT_SECONDS = 30

/** A logout of a session that Redis did not return or did not end, by the session's key in the store. */
export interface SessionLogout {
  readonly of: 'session'
  /** Key of the session in the store. */
  readonly key: string
  readonly isAll: boolean
  /** Has the SSO system confirmed the logout? Then a second Logout all would end newer logins. */
  readonly isConfirmed: boolean
  /** Hash of the session's SSO session, if known. */
  readonly sidHash?: string | undefined
}

/** Returns the ID of the pending logout of such a session. */
export const pendingLogoutId = ({ key, sidHash }: SessionLogout): string => sidHash ?? key

/** The logout that the cookie names. */
export type LogoutCookie =
  /** A pending logout, by the hash of its SSO session. */
  | { readonly of: 'sso_session'; readonly sidHash: string }
  | SessionLogout
  /** Redis has no pending logout of the browser, or the SSO session is not known. The next login that the browser brings ends. */
  | { readonly of: 'next_login' }
  /** The last logout of the browser, with nothing left to retry. A login that a landing finds now is older than the logout, and ends. */
  | { readonly of: 'recent' }

/** Is there a logout left to retry? */
export const isToRetry = (logoutCookie: LogoutCookie | undefined): boolean =>
  logoutCookie !== undefined && logoutCookie.of !== 'recent'

/** Returns how long the browser keeps the cookie, in seconds. */
export const logoutCookieSeconds = ({ of }: LogoutCookie): number =>
  of === 'recent' ? RECENT_SECONDS : RETRIED_SECONDS

/** Begins a subject that is not a hash. */
const ONE = '~'
const ALL = '*'
/** A second Logout of one SSO session does no harm, so only a confirmation of a logout of all is written. */
const CONFIRMED_ALL = '!'
const RECENT = '+'
/** Length of a key. The hash of the SSO session follows. */
const KEY_LENGTH = 43

function subjectOf(logoutCookie: LogoutCookie): string {
  if (logoutCookie.of === 'sso_session') return logoutCookie.sidHash
  if (logoutCookie.of === 'next_login') return ONE
  if (logoutCookie.of === 'recent') return RECENT
  const { key, isAll, isConfirmed, sidHash = '' } = logoutCookie
  const ofAll = isConfirmed ? CONFIRMED_ALL : ALL
  return (isAll ? ofAll : ONE) + key + sidHash
}

/** Returns the text of the cookie. */
export function writeLogoutCookie(logoutCookie: LogoutCookie, keys: MacKeys, now: EpochSeconds): string {
  const subject = subjectOf(logoutCookie)
  return `${subject}.${makeSignature(keys, 'signed-out', subject, now)}`
}

const SHAPE = /^([~*!+]?[\w-]{0,64})\.(\d{1,12}\.[\w-]{22})$/

const signedAtOf = (signature: string): EpochSeconds => Number(signature.split('.')[0])

/** Did the browser log out a moment ago? Only if {@link readLogoutCookie} accepts the cookie. */
export function isRecentLogout(cookie: string | undefined, now: EpochSeconds): boolean {
  const [, , signature] = SHAPE.exec(cookie ?? '') ?? []
  return signature !== undefined && now - signedAtOf(signature) <= RECENT_SECONDS
}

/**
 * Parses the cookie.
 * A cookie whose signature no secret of the process verifies stands for any login. Another process may have the secret, and a
 * logout must stay in force while secrets are rotated.
 */
export function readLogoutCookie(
  cookie: string | undefined,
  keys: MacKeys,
  now: EpochSeconds,
): LogoutCookie | undefined {
  const [, subject, signature] = SHAPE.exec(cookie ?? '') ?? []
  if (subject === undefined || signature === undefined) return undefined
  const seconds = subject === RECENT ? RECENT_SECONDS : RETRIED_SECONDS
  if (now - signedAtOf(signature) > seconds) return undefined
  const isOurs = isSignature(keys, 'signed-out', subject, signature, now, seconds)
  if (subject === RECENT) return { of: isOurs ? 'recent' : 'next_login' }
  const [first = ''] = subject
  const isOfSession = [ONE, ALL, CONFIRMED_ALL].includes(first)
  if (!isOurs || subject === (isOfSession ? first : '')) return { of: 'next_login' }
  if (!isOfSession) return { of: 'sso_session', sidHash: subject }
  const [key, sidHash] = [subject.slice(1, 1 + KEY_LENGTH), subject.slice(1 + KEY_LENGTH)]
  const isConfirmed = first === CONFIRMED_ALL
  return {
    of: 'session',
    key,
    isAll: isConfirmed || first === ALL,
    isConfirmed,
    sidHash: sidHash === '' ? undefined : sidHash,
  }
}
