/** The SSO record of one local session: a union by status, its age, and the functions that make a new one of an old one. Pure. */
import type { EpochSeconds } from '../protocol/claims'
import { isObject } from '../protocol/json'

/** The user as `identifyUser` returned it: JSON with at least `accountId`. Open for declaration merging. */
export interface User {
  accountId: string
}

interface Common {
  /** When this local session began; the absolute limit counts from here. */
  readonly since: EpochSeconds
  /** When the SSO system last said what the status is. */
  readonly checkedAt: EpochSeconds
  /** Somebody is asking Session Status since this moment. */
  readonly askingAt?: EpochSeconds
  /** The last question got no usable answer, at this moment. */
  readonly unansweredAt?: EpochSeconds
  /** Short hash of the SSO session ID: enough to compare and to log. */
  readonly sidHash: string
  /** Sealed: the SSO session ID and, when logged in, the access token. */
  readonly box: string
}

/** Nobody is logged in. `pending`: the SSO system says logged in, but the user could not be named yet. */
export interface AnonRecord extends Common {
  readonly status: 'anon'
  readonly pending?: true
}

/** A user is logged in. */
export interface LoggedInRecord extends Common {
  readonly status: 'loggedin'
  readonly user: User
  /** End of the access token's life, where the authorization server told. */
  readonly accessUntil?: EpochSeconds
  /** The REST API refused the access token, and no ticket came for another one: Identify brings one. */
  readonly accessRefused?: true
}

/** What is stored beside a session. */
export type SsoRecord = AnonRecord | LoggedInRecord

/** A pending login is asked about again after this many seconds. */
export const PENDING_RECHECK_SECONDS = 30

/** Text of a record, with the schema's version. */
export function serialiseRecord(record: SsoRecord): string {
  return JSON.stringify({ v: 1, ...record })
}

/** Reads a stored text; garbage, tombstones and other versions are `undefined`: the visitor simply begins anew. */
export function parseRecord(text: string | null | undefined): SsoRecord | undefined {
  if (!text?.startsWith('{')) return undefined
  try {
    const { v, ...record } = JSON.parse(text)
    return v === 1 && isRecord(record) ? record : undefined
  } catch {
    return undefined
  }
}

const COMMON = ['since', 'checkedAt', 'askingAt', 'unansweredAt', 'sidHash', 'box', 'status']
const FIELDS: Readonly<Record<SsoRecord['status'], ReadonlySet<string>>> = {
  anon: new Set([...COMMON, 'pending']),
  loggedin: new Set([...COMMON, 'user', 'accessUntil', 'accessRefused']),
}
const isTime = (value: unknown) => Number.isSafeInteger(value)
const isTimeOrNone = (value: unknown) => value === undefined || isTime(value)
const isTrueOrNone = (value: unknown) => value === undefined || value === true

/** By hand, for it is done at every request: own fields of the right types, and no others. */
function isRecord(record: Readonly<Record<string, unknown>>): record is Readonly<Record<string, unknown>> & SsoRecord {
  const { status, since, checkedAt, askingAt, unansweredAt, sidHash, box, user, pending } = record
  if (status !== 'anon' && status !== 'loggedin') return false
  for (const name in record) if (!FIELDS[status].has(name)) return false
  if (!isTime(since) || !isTime(checkedAt) || !isTimeOrNone(askingAt) || !isTimeOrNone(unansweredAt)) return false
  if (typeof sidHash !== 'string' || typeof box !== 'string') return false
  if (status === 'anon') return isTrueOrNone(pending)
  const isUser = isObject(user) && Object.hasOwn(user, 'accountId') && typeof user['accountId'] === 'string'
  return isUser && isTimeOrNone(record['accessUntil']) && isTrueOrNone(record['accessRefused'])
}

/** Age in seconds at which a record must be checked. */
export function staleAfter(record: SsoRecord, recheckSeconds: number): number {
  return record.status === 'anon' && record.pending ? Math.min(PENDING_RECHECK_SECONDS, recheckSeconds) : recheckSeconds
}

/** The record with the claim "I am asking Session Status now". */
export function claimed(record: SsoRecord, now: EpochSeconds): SsoRecord {
  return { ...record, askingAt: now }
}

/** The record after a question that got no usable answer: nobody asks again for a moment. */
export function unanswered(record: SsoRecord, now: EpochSeconds): SsoRecord {
  const { askingAt: _asked, ...kept } = record
  return { ...kept, unansweredAt: now }
}

/** The record after an answer that changed nothing: checked now, nobody asking, nothing pending. */
export function confirmed(record: SsoRecord, now: EpochSeconds): SsoRecord {
  const { askingAt: _asked, unansweredAt: _unanswered, ...kept } = record
  if (kept.status === 'loggedin') return { ...kept, checkedAt: now }
  const { pending: _pending, ...anonymous } = kept
  return { ...anonymous, checkedAt: now }
}

/** Does this record need a ticket from Session Status: to name a user, or because its access token ends before the next check? */
export function wantsTicket(record: SsoRecord, now: EpochSeconds, recheckSeconds: number): boolean {
  if (record.status === 'anon') return true
  return record.accessRefused === true || (record.accessUntil ?? Number.POSITIVE_INFINITY) <= now + recheckSeconds
}

/** The record of a login whose access token is of no use any more. */
export function withoutAccess(record: LoggedInRecord): LoggedInRecord {
  return { ...record, accessRefused: true }
}
