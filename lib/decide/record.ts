/**
 * The login record of a session: the tables of its fields, its text, and the functions that make a new record from an old record.
 * Pure.
 * Types, reader and writer follow from the tables. A new field is a new row. lib/storage/records.ts reads, writes and encrypts
 * records in the store.
 * A record is stored in an entry, and a session that has moved or ended leaves a marker there. The rules for requests are in request-decision.ts.
 */
import type { EpochSeconds } from '../protocol/claims'
import { isObject } from '../protocol/json'
import type { SessionToken } from '../protocol/session-token'
import { isYoungerThan } from './timestamps'

/** The user as `loadUser` returned it: JSON with at least `accountId`. Open for declaration merging. */
export interface User {
  /** Never empty, and the same for an account on every site. */
  accountId: string
}

/** Version of written records. The next version is read as well, so that two releases can run side by side. */
export const CURRENT_VERSION = 1
const NEWEST_READABLE = CURRENT_VERSION + 1

type Check<T> = (value: unknown) => value is T
type Checks = Readonly<Record<string, Check<unknown>>>
type Checked<C> = C extends Check<infer T> ? T : never
type OptionalNames<C extends Checks> = {
  [name in keyof C]: undefined extends Checked<C[name]> ? name : never
}[keyof C]

/** The type of the objects that pass a table of checks. */
type Fields<C extends Checks> = { readonly [name in Exclude<keyof C, OptionalNames<C>>]: Checked<C[name]> } & {
  readonly [name in OptionalNames<C>]?: Exclude<Checked<C[name]>, undefined>
}

const isText = (value: unknown): value is string => typeof value === 'string'
const isTrue = (value: unknown): value is true => value === true
const isTime = (value: unknown): value is EpochSeconds => Number.isSafeInteger(value)
const isVersion = (value: unknown): value is number => isTime(value) && value >= 1 && value <= NEWEST_READABLE
const isUser = (value: unknown): value is User =>
  isObject(value) && Object.hasOwn(value, 'accountId') && isText(value['accountId'])
const optional =
  <T>(check: Check<T>): Check<T | undefined> =>
  (value): value is T | undefined =>
    value === undefined || check(value)

/**
 * Claims of the Session Token that the record of a login keeps: none at present. Each response about the login renews them.
 * A row has the check of the stored value. The reader, the type and the writer of the record follow.
 */
export const RECORDED_CLAIMS = {} satisfies { readonly [name in keyof SessionToken]?: Check<SessionToken[name]> }

const COMMON_FIELDS = {
  v: isVersion,
  /** Start of the session on the site. The absolute limit counts from here. */
  since: isTime,
  /** Time of the SSO system's last report of the status. */
  checkedAt: isTime,
  /** Start of the status check in progress. */
  checkBeganAt: optional(isTime),
  /** Name of the status check in progress. */
  currentCheckId: optional(isText),
  /** Name of the last status check that ended, with or without a response. */
  lastCheckId: optional(isText),
  /** Start of the last status check, if the check got no usable response. */
  unansweredAt: optional(isTime),
  /** Short hash of the SSO session ID, for comparing and logging. */
  sidHash: isText,
  /** Encrypted: the SSO session ID and, for a login, the access token. */
  sealedSecrets: isText,
}

const ANONYMOUS_FIELDS = {
  ...COMMON_FIELDS,
  status: (value: unknown): value is 'anon' => value === 'anon',
  /** The SSO system reports a login, but the user could not be loaded yet. */
  pending: optional(isTrue),
  /** A later request checks the status, because the outcome of a login is unknown, or a request could not complete a login. */
  mustCheck: optional(isTrue),
  /** Name of the browser that began the session, if another browser may have the session's cookie. Only for the site's own sessions. */
  browser: optional(isText),
}

const LOGGED_IN_FIELDS = {
  ...COMMON_FIELDS,
  status: (value: unknown): value is 'loggedin' => value === 'loggedin',
  user: isUser,
  /** When the access token expires, if the authorization server said so. */
  accessUntil: optional(isTime),
  /** The REST API refused the access token, and Session Status gave no ticket for another token. Identify gives a ticket. */
  accessRefused: optional(isTrue),
  /** Time at which a ticket for another access token could not be used. */
  accessFailedAt: optional(isTime),
  ...RECORDED_CLAIMS,
}

/** No user is logged in. */
export interface AnonymousRecord extends Fields<typeof ANONYMOUS_FIELDS> {}
/** A user is logged in. */
export interface LoggedInRecord extends Fields<typeof LOGGED_IN_FIELDS> {}
/** The login record that is stored beside a session. Fields of later versions are kept. */
export type SsoRecord = AnonymousRecord | LoggedInRecord

/** Arrays, because a record is parsed at every request. */
const ANONYMOUS_CHECKS = Object.entries(ANONYMOUS_FIELDS)
const LOGGED_IN_CHECKS = Object.entries(LOGGED_IN_FIELDS)

/** Returns the record with the claims of a token. A claim that the token lacks is removed. */
export function withRecordedClaims(record: LoggedInRecord, token: SessionToken): LoggedInRecord {
  const next = { ...record }
  for (const name of Object.keys(RECORDED_CLAIMS)) {
    const value: unknown = Reflect.get(token, name)
    if (value === undefined) Reflect.deleteProperty(next, name)
    else Reflect.set(next, name, value)
  }
  return next
}

/** A pending login is checked again after this many seconds. */
const PENDING_RECHECK_SECONDS = 30

/** Returns the text of a record. */
export function serialiseRecord(record: SsoRecord): string {
  return JSON.stringify(record)
}

/** Parses a stored text. @returns `undefined` for anything but a record of this version or the next */
export function parseRecord(text: string | null): SsoRecord | undefined {
  if (!text?.startsWith('{')) return undefined
  try {
    const record: unknown = JSON.parse(text)
    return isObject(record) && isSsoRecord(record) ? record : undefined
  } catch {
    return undefined
  }
}

function isSsoRecord(
  record: Readonly<Record<string, unknown>>,
): record is Readonly<Record<string, unknown>> & SsoRecord {
  const checks = record['status'] === 'loggedin' ? LOGGED_IN_CHECKS : ANONYMOUS_CHECKS
  for (const [name, isValid] of checks) if (!isValid(record[name])) return false
  return true
}

/** Is a user logged in? */
export function isLoggedIn(record: SsoRecord | undefined): record is LoggedInRecord {
  return record?.status === 'loggedin'
}

/** Could the SSO session be logged in, as far as the record tells? Session Status then does not tell of another login. */
export function couldBeLoggedIn(record: SsoRecord | undefined): boolean {
  return isLoggedIn(record) || record?.pending === true || record?.mustCheck === true
}

/**
 * Has another browser begun the anonymous session? A login would log in the other browser's SSO session.
 * @param browser name of the browser that sends the request
 */
export function isBegunByOtherBrowser(record: SsoRecord | undefined, browser: string | undefined): boolean {
  return record?.status === 'anon' && record.browser !== undefined && record.browser !== browser
}

/** Returns the age in seconds from which a record must be checked. */
export function staleAfter(record: SsoRecord, recheckSeconds: number): number {
  if (record.status === 'anon' && record.mustCheck) return 0
  return record.status === 'anon' && record.pending ? Math.min(PENDING_RECHECK_SECONDS, recheckSeconds) : recheckSeconds
}

/** Must the status be checked, because the last report of the SSO system is too old? */
export function isStale(record: SsoRecord, now: EpochSeconds, recheckSeconds: number): boolean {
  return !isYoungerThan(record.checkedAt, now, staleAfter(record, recheckSeconds))
}

/** Returns the lifetime of an unused record, in seconds: the idle time, but not beyond the absolute limit. */
export function lifetimeOf(record: SsoRecord, now: EpochSeconds, lives: SessionLives): number {
  return Math.max(1, Math.min(idleOf(record, lives), record.since + lives.absoluteSeconds - now))
}

const idleOf = (record: SsoRecord, lives: SessionLives) =>
  record.status === 'loggedin' ? lives.idleSeconds : lives.anonymousIdleSeconds

/** Seconds between renewals of a used session's index entry. Shorter for a short idle time: a tenth of the idle time. */
const INDEX_EVERY_SECONDS = 3600
const indexPeriod = (record: SsoRecord, lives: SessionLives) =>
  Math.max(1, Math.min(INDEX_EVERY_SECONDS, Math.floor(idleOf(record, lives) / 10)))

/**
 * Returns the lifetime of a session's index entry, in seconds. The entry outlives the session, although the entry is renewed less
 * often.
 */
export function indexLifeOf(record: SsoRecord, now: EpochSeconds, lives: SessionLives): number {
  return lifetimeOf(record, now, lives) + 2 * indexPeriod(record, lives)
}

/** Has another period of the session begun since its last status check? The check then renews the session's index entries. */
export function mustRenewIndex(record: SsoRecord, now: EpochSeconds, lives: SessionLives): boolean {
  const periodAt = (moment: EpochSeconds) => Math.floor((moment - record.since) / indexPeriod(record, lives))
  return periodAt(now) !== periodAt(record.unansweredAt ?? record.checkedAt)
}

/** Lifetimes of sessions, in seconds. */
export interface SessionLives {
  readonly idleSeconds: number
  readonly anonymousIdleSeconds: number
  readonly absoluteSeconds: number
}

/** Does the record need a ticket, to load the user, or because its access token expires before the next check? */
export function needsNewAccessToken(record: SsoRecord, now: EpochSeconds, recheckSeconds: number): boolean {
  if (record.status === 'anon') return true
  return record.accessRefused === true || (record.accessUntil ?? Number.POSITIVE_INFINITY) <= now + recheckSeconds
}

/** Returns the record of a login whose access token the REST API refuses. */
export function withoutAccessToken(record: LoggedInRecord): LoggedInRecord {
  return { ...record, accessRefused: true }
}

/** Returns the record of a login whose new ticket could not be used. */
export function withFailedRenewal(record: LoggedInRecord, now: EpochSeconds): LoggedInRecord {
  return { ...record, accessFailedAt: now }
}

/** Returns when the session after a record began: with the record's, unless another account logs in. @param accountId of the login, if any */
export function sessionStart(
  before: SsoRecord | undefined,
  accountId: string | undefined,
  now: EpochSeconds,
): EpochSeconds {
  const isOther = accountId !== undefined && isLoggedIn(before) && before.user.accountId !== accountId
  return before === undefined || isOther ? now : Math.min(before.since, now)
}

/** Have both records the same user and SSO session? The next record then replaces the record under the same session ID. */
export function isSameLogin(record: SsoRecord | undefined, next: SsoRecord): boolean {
  if (!isLoggedIn(record) || !isLoggedIn(next)) return record?.status === next.status
  return record.user.accountId === next.user.accountId && record.sidHash === next.sidHash
}

/** Has the record a user whom `next` has not? Then none of the site's data may move to the next session. */
export function isOtherAccount(record: SsoRecord | undefined, next: SsoRecord): boolean {
  return isLoggedIn(record) && !(isLoggedIn(next) && next.user.accountId === record.user.accountId)
}

/** Session Status, exchange of the ticket and loading the user take at most so long, in milliseconds. */
const RENEWAL_MS = 8000
/** Time between the lock of a renewal and the record that shows it, in milliseconds. */
const LOCK_MS = 500

/** Has the access token expired, as far as the authorization server said? */
export function isAccessTokenExpired({ accessUntil }: LoggedInRecord, now: EpochSeconds): boolean {
  return accessUntil !== undefined && accessUntil <= now
}

/** May a request that has waited for `waitedMs` continue to wait for another request's renewal of the access token? */
export function mayStillBeRenewed(record: SsoRecord | undefined, waitedMs: number): boolean {
  if (waitedMs > RENEWAL_MS) return false
  return waitedMs < LOCK_MS || record?.checkBeganAt !== undefined
}

/** Reason why a session ID is no longer valid: the session has another ID, or has ended. */
export type SessionMarker = 'moved' | 'ended'

/** An entry as read. A compare-and-set compares with `raw`. */
export type StoredEntry =
  | { readonly state: 'none'; readonly raw: null }
  | { readonly state: 'live'; readonly raw: string; readonly record: SsoRecord }
  /** A record that this version or the process's secrets cannot read. */
  | { readonly state: 'unreadable'; readonly raw: string }
  | {
      readonly state: SessionMarker
      readonly raw: string
      readonly since: EpochSeconds
      /** Encrypted session ID of the session that follows. */
      readonly successor: string
    }

/** The entry of a session without a record. */
export const NO_ENTRY: StoredEntry = Object.freeze({ state: 'none', raw: null })

const MARKER = /^(moved|ended)\.(\d{1,12})(?:\.([\w-]+))?$/

/** Reads a stored text. */
export function readEntry(raw: string | null): StoredEntry {
  if (raw === null) return NO_ENTRY
  const record = parseRecord(raw)
  if (record) return { state: 'live', raw, record }
  const [, word, since, successor = ''] = MARKER.exec(raw) ?? []
  if (word !== 'moved' && word !== 'ended') return { state: 'unreadable', raw }
  return { state: word, raw, since: Number(since), successor }
}

/** Returns the text of a marker. @param successor encrypted session ID of the session that follows */
export function markerText(word: SessionMarker, now: EpochSeconds, successor = ''): string {
  return `${word}.${now}${successor === '' ? '' : `.${successor}`}`
}

/** Returns the record of an entry, if the entry has a readable record. */
export function recordIn(stored: StoredEntry): SsoRecord | undefined {
  return stored.state === 'live' ? stored.record : undefined
}

/** Has the session moved or ended? */
export function hasMovedOrEnded({ state }: Pick<StoredEntry, 'state'>): boolean {
  return state === 'moved' || state === 'ended'
}

/** May the entry be a live session? An unreadable entry may be live. */
export function mayBeAlive({ state }: Pick<StoredEntry, 'state'>): boolean {
  return state === 'live' || state === 'unreadable'
}

/** May another session replace the session? If the session had a record, the record must still exist. */
export function mayBeReplaced({ state }: Pick<StoredEntry, 'state'>, hadRecord: boolean): boolean {
  return state === 'live' || (!hadRecord && !hasMovedOrEnded({ state }))
}

/** May the session get another session ID? */
export function mayMove({ state }: Pick<StoredEntry, 'state'>): boolean {
  return state === 'live' || state === 'none'
}

/** Seconds in which a browser may still send the ID of an ended session. */
const JUST_ENDED_SECONDS = 60

/** Has the session just ended? Its browser then gets no session in its place. */
export function hasJustEnded(stored: StoredEntry, now: EpochSeconds): boolean {
  return (stored.state === 'moved' || stored.state === 'ended') && isYoungerThan(stored.since, now, JUST_ENDED_SECONDS)
}
