/**
 * The logout mark: a signed cookie that says when this browser logged out, and of what. A login whose attempt began before is void. Pure.
 * Together with the marks in Redis it holds the promise that a logout is final. Order of steps: docs/internals/architecture.md.
 */
import type { EpochMs } from '../protocol/claims'
import { isLoggedIn, type SsoRecord } from './record'

/**
 * Result of a logout at the SSO system. The browser is logged out of the site in every case. `'confirmed'`: the SSO system has ended the
 * session. `'pending'`: the logout is retried for 24 hours, or by the next page if Redis does not answer. `'no_session'`: there was no session.
 */
export type LogoutResult = 'confirmed' | 'pending' | 'no_session'

/** What a logout ends: the browser's SSO session, or all sessions of the account. */
export type LogoutScope = 'session' | 'account'

/** The content of the cookie. */
export interface LogoutMark {
  /** Time of the logout, in milliseconds. */
  readonly at: EpochMs
  readonly scope: LogoutScope
  /** Hash of the SSO session, '' if it is not known. */
  readonly sidHash: string
  /** Has the SSO system confirmed the logout? A confirmed Logout all is never sent twice. */
  readonly isConfirmed: boolean
  /** Key of the session that this browser has left without Redis. The next request removes its data. */
  readonly leftKey?: string | undefined
}

/**
 * Returns the mark of a logout whose SSO session is not known yet. An earlier logout of all that is not confirmed stays one of all.
 * @param sidHash hash of the SSO session that the browser has, if known. A logout of another one has nothing to do with it
 */
export function newMark(at: EpochMs, scope: LogoutScope, earlier: LogoutMark | undefined, sidHash = ''): LogoutMark {
  const isSame = earlier?.sidHash === '' || sidHash === '' || earlier?.sidHash === sidHash
  const isAll = scope === 'account' || (isSame && earlier?.isConfirmed === false && earlier.scope === 'account')
  return { at, scope: isAll ? 'account' : 'session', sidHash: '', isConfirmed: false }
}

/** Lifetime of the cookie after a confirmed logout, in seconds. It outlives the redirects that were in progress. */
export const CONFIRMED_SECONDS = 60

/** Reads the JSON of the cookie. @returns `undefined` for anything else */
export function readLogoutMark(value: Readonly<Record<string, unknown>> = {}): LogoutMark | undefined {
  const { at, scope, sidHash, isConfirmed, leftKey } = value
  if (typeof at !== 'number' || (scope !== 'session' && scope !== 'account')) return undefined
  if (typeof sidHash !== 'string' || typeof isConfirmed !== 'boolean') return undefined
  return { at, scope, sidHash, isConfirmed, leftKey: typeof leftKey === 'string' ? leftKey : undefined }
}

/**
 * Must the session end, because this browser logged out of it? A login whose attempt began before the logout is void, and so is a session of
 * the SSO session that the mark names. A newer login stays.
 */
export function isVoidedBy(mark: LogoutMark, record: SsoRecord): boolean {
  const isNamed = record.sidHash === mark.sidHash
  if (isLoggedIn(record)) return isNamed || record.startedAt <= mark.at
  return !mark.isConfirmed && (isNamed || record.startedAt <= mark.at)
}

/**
 * Must the SSO session of a landing token end? The landing has the last word: a mark without an SSO session stands for any login, and so does
 * a mark that is newer than the redirect.
 * @param token `startedAt`: when the Identify redirect began
 */
export function isTokenVoidedBy(
  mark: LogoutMark,
  token: { readonly status: 'anon' | 'loggedin'; readonly sidHash: string; readonly startedAt: EpochMs },
): boolean {
  const { status, sidHash, startedAt } = token
  if (mark.sidHash === sidHash) return true
  if (status === 'anon') return mark.sidHash === '' && startedAt < mark.at // somebody may have logged in between redirect and logout
  return mark.sidHash === '' || startedAt <= mark.at
}

/** Clocks of processes agree within this many milliseconds. */
const CLOCK_SPREAD_MS = 2000

/**
 * Is a login void because of a logout of all sessions of its account?
 * @param confirmedAt when the SSO system confirmed it, `'open'` if it has not yet @param isOwnClock is that time by the clock of this process?
 */
export const isVoidedByLogoutOfAll = (
  confirmedAt: EpochMs | 'open',
  startedAt: EpochMs,
  isOwnClock: boolean,
): boolean => confirmedAt === 'open' || confirmedAt + (isOwnClock ? 0 : CLOCK_SPREAD_MS) >= startedAt
