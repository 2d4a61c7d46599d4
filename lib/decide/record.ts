/**
 * The login record, anonymous or logged in: the status of a browser's SSO session on this site, as stored beside the data of `req.session`. Pure.
 * A session ID never changes its user. So a write that comes late can only make a record look older, which costs a status check.
 */
import type { TokenFault } from '../errors'
import type { EpochMs, EpochSeconds } from '../protocol/claims'
import { isObject } from '../protocol/json'
import { hasTicket, type SessionToken, type TicketToken } from '../protocol/session-token'

/** The user as `loadUser` returned it: JSON with at least `accountId`. Open for declaration merging. */
export interface User {
  /** Never empty, and the same for an account on every site. */
  accountId: string
}

interface CommonFields {
  /** Version of the record's form. */
  readonly v: number
  /** Start of the session on the site, in seconds. The absolute limit counts from here. */
  readonly since: EpochSeconds
  /** Time of the SSO system's last report of the status, in seconds. 0: the next request checks the status. */
  readonly checkedAt: EpochSeconds
  /** When the attempt began that led to this record: the Identify redirect, the form or the status check, in milliseconds. */
  readonly startedAt: EpochMs
  /** Short hash of the SSO session ID, for comparing and logging. */
  readonly sidHash: string
  /** Encrypted: the SSO session ID and, for a login, the access token. */
  readonly sealed: string
}

/** No user is logged in. */
export interface AnonymousRecord extends CommonFields {
  readonly status: 'anon'
  /** The SSO system reports a login, but the user could not be loaded yet. */
  readonly pending?: true | undefined
  /** Hash of the binding cookie of the browser that began the session. Only in a site's own express-session, whose cookie may be planted. */
  readonly browser?: string | undefined
}

/** A user is logged in. */
export interface LoginRecord extends CommonFields {
  readonly status: 'loggedin'
  readonly user: User
  /** When the access token expires, in seconds, if the authorization server said so. 0: the REST API refused the token. */
  readonly accessUntil?: EpochSeconds | undefined
}

/** The record of a session. Fields of later versions are kept. */
export type SsoRecord = AnonymousRecord | LoginRecord

/** Fields that may change while the session keeps its ID. */
export type RecordChanges = Partial<
  Pick<LoginRecord, 'checkedAt' | 'sealed' | 'user' | 'accessUntil'> & Pick<AnonymousRecord, 'pending'>
>

/** What a session that has moved or ended leaves under its key, for a few seconds. */
export interface Gone {
  /** Key of the session that follows, '' without such a session. */
  readonly next: string
  /** Hash of the SSO session that the session ended with, or that follows. */
  readonly sidHash: string
  /** Hash of the account, '' if nobody was logged in. */
  readonly account: string
}

/** Everything that a record's key can hold. `empty`: a live session whose SSO session has ended. `unreadable`: of a later version. */
export type Entry =
  | { readonly state: 'none' | 'empty' | 'unreadable' }
  | { readonly state: 'live'; readonly record: SsoRecord }
  | { readonly state: 'gone'; readonly gone: Gone }

/** Has a session a record, or an emptied one? */
export const isAlive = (entry: Entry | 'unavailable'): boolean =>
  entry !== 'unavailable' && (entry.state === 'live' || entry.state === 'empty')

export const RECORD_VERSION = 1
/** The text of a session without an SSO session. It keeps the session's data alive. */
export const EMPTY_RECORD = '{}'

const GONE = /^gone:([\w-]*):([\w-]*):([\w-]*)$/

/** Returns the text that a session leaves. It does not begin with a brace, so no write takes it for a record. */
export const goneText = ({ next, sidHash, account }: Gone): string => `gone:${next}:${sidHash}:${account}`

/** Reads the text under a record's key. */
export function readEntry(text: string | null): Entry {
  if (text === null) return { state: 'none' }
  if (text === EMPTY_RECORD) return { state: 'empty' }
  const [found, next = '', sidHash = '', account = ''] = GONE.exec(text) ?? []
  if (found !== undefined) return { state: 'gone', gone: { next, sidHash, account } }
  try {
    const record: unknown = JSON.parse(text)
    return isRecord(record) ? { state: 'live', record } : { state: 'unreadable' }
  } catch {
    return { state: 'unreadable' }
  }
}

/** The next version is read as well, so that two releases can run side by side. */
function isRecord(record: unknown): record is SsoRecord {
  if (!isObject(record)) return false
  const { v, since, checkedAt, startedAt, sidHash, sealed, status, user } = record
  if (v !== RECORD_VERSION && v !== RECORD_VERSION + 1) return false
  if (!Number.isSafeInteger(since) || !Number.isSafeInteger(checkedAt) || !Number.isSafeInteger(startedAt)) return false
  if (typeof sidHash !== 'string' || typeof sealed !== 'string') return false
  if (status === 'anon') return true
  return status === 'loggedin' && isObject(user) && typeof user['accountId'] === 'string'
}

/** Is a user logged in? */
export function isLoggedIn(record: SsoRecord | undefined): record is LoginRecord {
  return record?.status === 'loggedin'
}

/** Could the SSO session be logged in, as far as the record tells? Session Status then says nothing of another login. */
export function couldBeLoggedIn(record: SsoRecord): boolean {
  return isLoggedIn(record) || record.pending === true || record.checkedAt === 0
}

/** Timestamps further in the future were written with a wrong clock, and are ignored. In seconds. */
const MAX_SKEW_SECONDS = 60

/** Returns the age of a timestamp in seconds. Infinite if the timestamp is far in the future. */
export const ageOf = (moment: EpochSeconds, now: EpochSeconds): number =>
  moment - now > MAX_SKEW_SECONDS ? Number.POSITIVE_INFINITY : Math.max(0, now - moment)

/** A login whose user could not be loaded is checked again after this many seconds. */
const PENDING_SECONDS = 30

/** Must the status be checked, because the last report of the SSO system is too old? */
export function isStale(record: SsoRecord, now: EpochSeconds, recheckSeconds: number): boolean {
  const isPending = record.status === 'anon' && record.pending === true
  return ageOf(record.checkedAt, now) >= (isPending ? Math.min(PENDING_SECONDS, recheckSeconds) : recheckSeconds)
}

/** May a login be shown although its status could not be checked? */
export function isWithinGrace(record: SsoRecord, now: EpochSeconds, recheckSeconds: number, graceSeconds: number) {
  return ageOf(record.checkedAt, now) < recheckSeconds + graceSeconds
}

/** Time limits of sessions, in seconds. */
export interface SessionLives {
  readonly idleSeconds: number
  readonly anonymousIdleSeconds: number
  readonly absoluteSeconds: number
}

/** Has the session reached its absolute limit? */
export const isOver = (record: SsoRecord, now: EpochSeconds, { absoluteSeconds }: SessionLives): boolean =>
  now - record.since >= absoluteSeconds

/** Returns the lifetime of an unused session, in seconds: the idle time, but not beyond the absolute limit. */
export function lifetimeOf(record: SsoRecord | undefined, now: EpochSeconds, lives: SessionLives): number {
  const idle = isLoggedIn(record) ? lives.idleSeconds : lives.anonymousIdleSeconds
  return record ? Math.max(1, Math.min(idle, record.since + lives.absoluteSeconds - now)) : idle
}

/** Do both logins have the same account and SSO session? Then the session keeps its ID. */
export const isSameLogin = (record: SsoRecord | undefined, sidHash: string, accountId: string): boolean =>
  isLoggedIn(record) && record.sidHash === sidHash && record.user.accountId === accountId

/** Does the record need a ticket, to load the user, or because its access token expires before the next check? */
export function needsTicket(record: SsoRecord, now: EpochSeconds, recheckSeconds: number): boolean {
  return !isLoggedIn(record) || (record.accessUntil ?? Number.POSITIVE_INFINITY) <= now + recheckSeconds
}

/** `over`: the SSO session has ended, or is another one. `no_answer`: the record stays as it is, for the grace period. */
export type StatusDecision =
  | { readonly action: 'keep' }
  | { readonly action: 'log_in'; readonly token: TicketToken }
  | { readonly action: 'over'; readonly reason: 'terminated' | 'session_not_found' | 'no_ticket' | 'changed_back' }
  | { readonly action: 'no_answer'; readonly reason: 'no_answer' | 'refused' | TokenFault }

/**
 * @param record before the call
 * @param answer the Session Token, the reason why the token was refused, or `undefined` without a response
 */
export function decideStatus(record: SsoRecord, answer: SessionToken | TokenFault | undefined): StatusDecision {
  if (typeof answer === 'string') return { action: 'no_answer', reason: answer }
  if (!answer) return { action: 'no_answer', reason: 'no_answer' }
  if (answer.err === 'session_not_found') return { action: 'over', reason: 'session_not_found' }
  if (answer.err !== undefined) return { action: 'no_answer', reason: 'refused' }
  if (answer.sts === 'terminated') return { action: 'over', reason: 'terminated' }
  if (answer.sts === 'anon')
    return record.status === 'anon' ? { action: 'keep' } : { action: 'over', reason: 'changed_back' }
  if (hasTicket(answer)) return { action: 'log_in', token: answer }
  return record.status === 'loggedin' ? { action: 'keep' } : { action: 'over', reason: 'no_ticket' }
}

/**
 * Why the page may show less than the SSO system knows.
 * `sso_unavailable`: the SSO system does not answer correctly.
 * `store_unavailable`: Redis does not answer.
 * `user_unknown`: logged in, but the ticket or the user could not be fetched.
 * `logout_pending`: a logout on this site is not confirmed yet.
 * `identify_loop`: too many Identify redirects, or too many new visitors from one address.
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
