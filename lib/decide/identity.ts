/** What a page shows of a visitor: the login record, and why it could not be verified. Pure. */
import { isLoggedIn, type SsoRecord, type User } from './record'

/**
 * Why the status could not be fully verified.
 * `sso_unavailable`: the SSO system does not answer correctly.
 * `store_unavailable`: Redis does not answer.
 * `user_unknown`: logged in, but the ticket or the user could not be fetched.
 * `logout_pending`: a logout on this site is not confirmed yet.
 * `identify_loop`: too many Identify redirects.
 * `cookies_blocked`: the browser keeps no cookies.
 * `token_refused`: landing tokens fail a check, which the log names.
 */
export type DegradedReason =
  | 'sso_unavailable'
  | 'store_unavailable'
  | 'user_unknown'
  | 'logout_pending'
  | 'identify_loop'
  | 'cookies_blocked'
  | 'token_refused'

/** The record that a page may show, if any, and the reason why it could not be verified. */
export interface Identity {
  readonly record: SsoRecord | undefined
  readonly degraded: DegradedReason | undefined
}

/** No user, and no failure. */
export const ANONYMOUS: Identity = Object.freeze({ record: undefined, degraded: undefined })

/** Shows a record. The user of a pending login is not known yet. @param degraded default: as the record says */
export function show(record: SsoRecord | undefined, degraded?: DegradedReason): Identity {
  const isPending = record?.status === 'anon' && record.pending === true
  return { record, degraded: degraded ?? (isPending ? 'user_unknown' : undefined) }
}

/** Returns the user that is shown as logged in, if any. */
export const userOf = ({ record }: Identity): User | undefined => (isLoggedIn(record) ? record.user : undefined)

const VERIFIED: ReadonlySet<DegradedReason | undefined> = new Set([undefined, 'user_unknown', 'logout_pending'])

/** Was the status verified? If not, a sensitive page can be neither shown nor refused. */
export const isVerified = ({ degraded }: Identity): boolean => VERIFIED.has(degraded)
