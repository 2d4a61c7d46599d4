/** The SSO record of one local session: a union by status, its text, and the functions that make a new one of an old one. Pure. */
import type { EpochSeconds } from '../protocol/claims'
import { isObject } from '../protocol/json'
import { isYoungerThan } from './timestamps'

/** The user as `loadUser` returned it: JSON with at least `accountId`. Open for declaration merging. */
export interface User {
  /** Never empty; the same for one account on every site. */
  accountId: string
}

interface Common {
  /** Version of the schema; {@link CURRENT_VERSION} where a record is made here. */
  readonly v: number
  /** When this local session began; the absolute limit counts from here. */
  readonly since: EpochSeconds
  /** When the SSO system last said what the status is. */
  readonly checkedAt: EpochSeconds
  /** Somebody is asking Session Status since this moment. */
  readonly askingAt?: EpochSeconds
  /** Name of the question that is under way. */
  readonly asking?: string
  /** Name of the last question that came to an end, with an answer or without one. */
  readonly asked?: string
  /** The last status check got no usable response. It began at this moment. */
  readonly unansweredAt?: EpochSeconds
  /** Short hash of the SSO session ID: enough to compare and to log. */
  readonly sidHash: string
  /** Sealed: the SSO session ID and, when logged in, the access token. */
  readonly box: string
}

/** Nobody is logged in. `pending`: the SSO system says logged in, but the user could not be named yet. */
export interface AnonymousRecord extends Common {
  readonly status: 'anon'
  readonly pending?: true
  /** The next request asks: this one could not make the login that it learnt of. */
  readonly due?: true
  /** Name of the browser that brought it, where another's cookie may lead here: in a session of the site's own. */
  readonly browser?: string
}

/** A user is logged in. */
export interface LoggedInRecord extends Common {
  readonly status: 'loggedin'
  readonly user: User
  /** End of the access token's life, where the authorization server told. */
  readonly accessUntil?: EpochSeconds
  /** The REST API refused the access token, and no ticket came for another one: Identify brings one. */
  readonly accessRefused?: true
  /** A ticket came for another access token and could not be used, at this moment. */
  readonly accessFailedAt?: EpochSeconds
}

/** What is stored beside a session. Fields of later versions are kept as they are. */
export type SsoRecord = AnonymousRecord | LoggedInRecord

/** Version that is written. The next one is read as well, so that two releases can run side by side. */
export const CURRENT_VERSION = 1
const NEWEST_READABLE = CURRENT_VERSION + 1

/** A pending login is asked about again after this many seconds. */
const PENDING_RECHECK_SECONDS = 30

/** Text of a record. */
export function serialiseRecord(record: SsoRecord): string {
  return JSON.stringify(record)
}

/** Reads a stored text; garbage, tombstones and versions after the next are `undefined`. */
export function parseRecord(text: string | null): SsoRecord | undefined {
  if (!text?.startsWith('{')) return undefined
  try {
    const record: unknown = JSON.parse(text)
    return isObject(record) && isRecord(record) ? record : undefined
  } catch {
    return undefined
  }
}

const isTime = (value: unknown) => Number.isSafeInteger(value)
const isTimeOrNone = (value: unknown) => value === undefined || isTime(value)
const isTextOrNone = (value: unknown) => value === undefined || typeof value === 'string'
const isTrueOrNone = (value: unknown) => value === undefined || value === true
const isVersion = (value: unknown) => isTime(value) && Number(value) >= 1 && Number(value) <= NEWEST_READABLE

/** By hand, for it is done at every request: own fields of the right types; what is not known here stays. */
function isRecord(record: Readonly<Record<string, unknown>>): record is Readonly<Record<string, unknown>> & SsoRecord {
  const { v, status, since, checkedAt, askingAt, unansweredAt, asking, asked, sidHash, box, user, pending } = record
  if (!isVersion(v) || typeof sidHash !== 'string' || typeof box !== 'string') return false
  if (!isTime(since) || !isTime(checkedAt) || !isTimeOrNone(askingAt) || !isTimeOrNone(unansweredAt)) return false
  if (!isTextOrNone(asking) || !isTextOrNone(asked)) return false
  if (status === 'anon') return isTrueOrNone(pending) && isTrueOrNone(record['due']) && isTextOrNone(record['browser'])
  if (status !== 'loggedin') return false
  const isUser = isObject(user) && Object.hasOwn(user, 'accountId') && typeof user['accountId'] === 'string'
  const areTimes = isTimeOrNone(record['accessUntil']) && isTimeOrNone(record['accessFailedAt'])
  return isUser && areTimes && isTrueOrNone(record['accessRefused'])
}

/** Is somebody logged in? */
export function isLoggedIn(record: SsoRecord | undefined): record is LoggedInRecord {
  return record?.status === 'loggedin'
}

/**
 * Did another browser bring this anonymous session? Whoever logs in with it would log in that one's session of the SSO system. One that
 * does not say whose it is may be anybody's. @param browser name of the browser that comes with it
 */
export function isOfAnother(record: SsoRecord | undefined, browser: string | undefined): boolean {
  return record?.status === 'anon' && record.browser !== undefined && record.browser !== browser
}

/** Age in seconds at which a record must be checked. */
export function staleAfter(record: SsoRecord, recheckSeconds: number): number {
  if (record.status === 'anon' && record.due) return 0
  return record.status === 'anon' && record.pending ? Math.min(PENDING_RECHECK_SECONDS, recheckSeconds) : recheckSeconds
}

/** Is the SSO system's last word too old to go by? */
export function isStale(record: SsoRecord, now: EpochSeconds, recheckSeconds: number): boolean {
  return !isYoungerThan(record.checkedAt, now, staleAfter(record, recheckSeconds))
}

/** How long a record lives unused, in seconds: its idle time, and never beyond the absolute limit. */
export function lifetimeOf(record: SsoRecord, now: EpochSeconds, lives: SessionLives): number {
  return Math.max(1, Math.min(idleOf(record, lives), record.since + lives.absoluteSeconds - now))
}

const idleOf = (record: SsoRecord, lives: SessionLives) =>
  record.status === 'loggedin' ? lives.idleSeconds : lives.anonymousIdleSeconds

/** An index renews the entry of a session that is in use so often, in seconds, or ten times in the session's idle time. */
const INDEX_EVERY_SECONDS = 3600
const indexPeriod = (record: SsoRecord, lives: SessionLives) =>
  Math.max(1, Math.min(INDEX_EVERY_SECONDS, Math.floor(idleOf(record, lives) / 10)))

/** How long an index keeps the entry of a session, in seconds: no shorter than the session lives, although it is renewed less often. */
export function indexLifeOf(record: SsoRecord, now: EpochSeconds, lives: SessionLives): number {
  return lifetimeOf(record, now, lives) + 2 * indexPeriod(record, lives)
}

/** Has another period of the session begun since its last status check? Then this check renews its entries in the indexes. */
export function isIndexDue(record: SsoRecord, now: EpochSeconds, lives: SessionLives): boolean {
  const periodAt = (moment: EpochSeconds) => Math.floor((moment - record.since) / indexPeriod(record, lives))
  return periodAt(now) !== periodAt(record.unansweredAt ?? record.checkedAt)
}

/** How long sessions live, in seconds. */
export interface SessionLives {
  readonly idleSeconds: number
  readonly anonymousIdleSeconds: number
  readonly absoluteSeconds: number
}

/** Does this record need a ticket from Session Status: to name a user, or because its access token ends before the next check? */
export function wantsTicket(record: SsoRecord, now: EpochSeconds, recheckSeconds: number): boolean {
  if (record.status === 'anon') return true
  return record.accessRefused === true || (record.accessUntil ?? Number.POSITIVE_INFINITY) <= now + recheckSeconds
}

/** The record of a login whose access token is of no use any more. */
export function withoutAccessToken(record: LoggedInRecord): LoggedInRecord {
  return { ...record, accessRefused: true }
}

/** The record of a login whose new ticket could not be used. */
export function withFailedRenewal(record: LoggedInRecord, now: EpochSeconds): LoggedInRecord {
  return { ...record, accessFailedAt: now }
}

/** When the session that follows on a record began: with that one, unless it is another account's. @param accountId who logs in, if anybody */
export function beginningOf(
  before: SsoRecord | undefined,
  accountId: string | undefined,
  now: EpochSeconds,
): EpochSeconds {
  const isOther = accountId !== undefined && isLoggedIn(before) && before.user.accountId !== accountId
  return before === undefined || isOther ? now : Math.min(before.since, now)
}

/** Is it the same person in the same session of the SSO system? Then a new word about it changes the record in its place. */
export function isSameStanding(record: SsoRecord | undefined, next: SsoRecord): boolean {
  if (!isLoggedIn(record) || !isLoggedIn(next)) return record?.status === next.status
  return record.user.accountId === next.user.accountId && record.sidHash === next.sidHash
}

/** Is somebody else logged in there than in `next`? Then nothing of the site's data may move along. */
export function isOtherAccount(record: SsoRecord | undefined, next: SsoRecord): boolean {
  return isLoggedIn(record) && !(isLoggedIn(next) && next.user.accountId === record.user.accountId)
}
