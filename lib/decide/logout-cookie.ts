/** The mark of a browser that logged out while the SSO system or the store could not confirm it. Pure. */
import type { EpochSeconds } from '../protocol/claims'
import { isSignature, type MacKeys, makeSignature } from './binding'

/** The mark holds as long as a logout is retried, in seconds. */
export const LOGOUT_COOKIE_SECONDS = 86_400

/** A session that could not be read or ended, by its key in the store. */
export interface SessionLogout {
  readonly of: 'session'
  readonly key: string
  readonly isAll: boolean
  /** Hash of its SSO session, once that is known: then its logout is kept under it. */
  readonly sidHash?: string
}

/** What the mark stands for. */
export type LogoutCookie =
  /** A logout that is kept under the hash of its SSO session. */
  | { readonly of: 'sso_session'; readonly sidHash: string }
  | SessionLogout
  /** Whatever the browser is logged in as: nobody can tell any more. */
  | { readonly of: 'anything' }

/** No hash begins so. */
const ONE = '~'
const ALL = '*'
/** Every key is so long: what follows it is the hash of the SSO session. */
const KEY_LENGTH = 43

function subjectOf(logoutCookie: LogoutCookie): string {
  if (logoutCookie.of === 'sso_session') return logoutCookie.sidHash
  if (logoutCookie.of === 'anything') return ONE
  const { key, isAll, sidHash = '' } = logoutCookie
  return (isAll ? ALL : ONE) + key + sidHash
}

/** The cookie's text. */
export function writeLogoutCookie(logoutCookie: LogoutCookie, keys: MacKeys, now: EpochSeconds): string {
  const subject = subjectOf(logoutCookie)
  return `${subject}.${makeSignature(keys, 'signed-out', subject, now)}`
}

const SHAPE = /^([~*]?[\w-]{0,64})\.(\d{1,12}\.[\w-]{22})$/

/**
 * Reads the cookie. One of our shape that no secret of this process has signed stands for anything: another process may
 * know it, and a logout must hold while secrets are rotated.
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
  if (!isOurs || subject === ONE || subject === ALL || subject === '') return { of: 'anything' }
  const isAll = subject.startsWith(ALL)
  if (isAll || subject.startsWith(ONE)) {
    const [key, sidHash] = [subject.slice(1, 1 + KEY_LENGTH), subject.slice(1 + KEY_LENGTH)]
    return { of: 'session', key, isAll, ...(sidHash === '' ? {} : { sidHash }) }
  }
  return { of: 'sso_session', sidHash: subject }
}
