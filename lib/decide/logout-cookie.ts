/** The logout cookie of a browser whose logout the SSO system or Redis could not confirm. Pure. */
import type { EpochSeconds } from '../protocol/claims'
import { isSignature, type MacKeys, makeSignature } from './binding'

/** The cookie is valid as long as a logout is retried, in seconds. */
export const LOGOUT_COOKIE_SECONDS = 86_400

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

/** Returns the name of the pending logout of such a session. */
export const pendingLogoutName = ({ key, sidHash }: SessionLogout): string => sidHash ?? key

/** The logout that the cookie names. */
export type LogoutCookie =
  /** A pending logout, by the hash of its SSO session. */
  | { readonly of: 'sso_session'; readonly sidHash: string }
  | SessionLogout
  /** Any login of the browser, because the session of the logout is not known. */
  | { readonly of: 'any_login' }

/** Begins a subject that is not a hash. */
const ONE = '~'
const ALL = '*'
/** A second Logout of one SSO session does no harm, so only a confirmation of a logout of all is written. */
const CONFIRMED_ALL = '!'
/** Length of a key. The hash of the SSO session follows. */
const KEY_LENGTH = 43

function subjectOf(logoutCookie: LogoutCookie): string {
  if (logoutCookie.of === 'sso_session') return logoutCookie.sidHash
  if (logoutCookie.of === 'any_login') return ONE
  const { key, isAll, isConfirmed, sidHash = '' } = logoutCookie
  const ofAll = isConfirmed ? CONFIRMED_ALL : ALL
  return (isAll ? ofAll : ONE) + key + sidHash
}

/** Returns the text of the cookie. */
export function writeLogoutCookie(logoutCookie: LogoutCookie, keys: MacKeys, now: EpochSeconds): string {
  const subject = subjectOf(logoutCookie)
  return `${subject}.${makeSignature(keys, 'signed-out', subject, now)}`
}

const SHAPE = /^([~*!]?[\w-]{0,64})\.(\d{1,12}\.[\w-]{22})$/

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
  const [, subject, mark] = SHAPE.exec(cookie ?? '') ?? []
  if (subject === undefined || mark === undefined) return undefined
  if (now - Number(mark.split('.')[0]) > LOGOUT_COOKIE_SECONDS) return undefined
  const isOurs = isSignature(keys, 'signed-out', subject, mark, now, LOGOUT_COOKIE_SECONDS)
  const [first = ''] = subject
  const isOfSession = [ONE, ALL, CONFIRMED_ALL].includes(first)
  if (!isOurs || subject === (isOfSession ? first : '')) return { of: 'any_login' }
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
