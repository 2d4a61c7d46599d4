/**
 * The site's own data in the store: the text, the lifetime, and the merge of two versions. Pure.
 * The metadata of this package is in `cookie`, where express-session keeps its cookie. The metadata comes first, so that it can be
 * read without the data.
 */
import type { EpochSeconds } from '../protocol/claims'
import { isObject, parseForeignJson } from '../protocol/json'
import { hasJustEnded, isLoggedIn, lifetimeOf, recordIn, type SessionLives, type StoredEntry } from './record'
import { isYoungerThan } from './timestamps'

/** Content of `req.session`. */
export type SiteData = Readonly<Record<string, unknown>>

/** Metadata of a session's data. */
export interface SessionMetadata {
  /** When the session began. The absolute limit counts from here. */
  readonly since: EpochSeconds
  readonly isLoggedIn: boolean
  /** Lifetime of unused data in milliseconds, if the site has set a lifetime. */
  readonly maxAge?: number | undefined
}

/** Data as read. */
export interface StoredData extends SessionMetadata {
  readonly data: SiteData
}

/** Returns the text of a session's data. */
export function writeData({ since, isLoggedIn, maxAge }: SessionMetadata, data: SiteData): string {
  const origin = JSON.stringify({ since, isLoggedIn: isLoggedIn || undefined, maxAge })
  const rest = JSON.stringify(data).slice(1)
  return `{"cookie":${origin}${rest === '}' ? '' : ','}${rest}`
}

/** Parses a stored text. @returns `undefined` for a text that is not a session's data */
export function readData(text: string | null): StoredData | undefined {
  try {
    const stored: unknown = parseForeignJson(text ?? '')
    if (!isObject(stored)) return undefined
    const { cookie, ...data } = stored
    if (!isObject(cookie)) return undefined
    const { since, isLoggedIn, maxAge } = cookie
    if (typeof since !== 'number') return undefined
    return { since, isLoggedIn: isLoggedIn === true, ...(typeof maxAge === 'number' ? { maxAge } : {}), data }
  } catch {
    return undefined
  }
}

const METADATA = /^\{"cookie":\{"since":(\d{1,12})(,"isLoggedIn":true)?(?:,"maxAge":(-?\d{1,15}))?\}/

/** Parses the metadata, without the data. @returns `undefined` for a text that does not begin with metadata */
export function readMetadata(text: string): SessionMetadata | undefined {
  const [found, since, loginFlag, maxAge] = METADATA.exec(text) ?? []
  if (found === undefined) return undefined
  return { since: Number(since), isLoggedIn: loginFlag !== undefined, ...(maxAge ? { maxAge: Number(maxAge) } : {}) }
}

/**
 * Returns stored data within the absolute limit. Data of a lost login are not returned, because the data must not reach the next
 * account.
 */
export function usableData(
  text: string | null,
  isIn: boolean,
  now: EpochSeconds,
  { absoluteSeconds }: SessionLives,
): StoredData | undefined {
  const found = readData(text)
  if (!found || now - found.since >= absoluteSeconds || (found.isLoggedIn && !isIn)) return undefined
  return found
}

/** Returns the lifetime of unused data, in seconds. 0 or less: the data are not stored. */
export function dataLife(
  { since, isLoggedIn, maxAge }: SessionMetadata,
  now: EpochSeconds,
  lives: SessionLives,
): number {
  const idle = isLoggedIn ? lives.idleSeconds : lives.anonymousIdleSeconds
  const wanted = maxAge === undefined ? idle : Math.ceil(maxAge / 1000)
  return Math.min(wanted, Math.max(1, since + lives.absoluteSeconds - now))
}

/** Times of a session's cookie, and the clocks that they are read from. */
export interface CookieTimes {
  /** Start of the session, in seconds since 1970. */
  readonly since: EpochSeconds
  /** The end that the site has set, in milliseconds since 1970, by the system's clock. */
  readonly wanted: number | undefined
  readonly now: EpochSeconds
  /** The system's clock in milliseconds since 1970. A test may give the site another clock. */
  readonly systemNow: number
}

/** Returns the end of a new session's cookie, in milliseconds since 1970: the end that the site has set, but not after the session's own end. */
export function cookieEnd({ since, wanted, now, systemNow }: CookieTimes, { absoluteSeconds }: SessionLives): number {
  const end = (since + absoluteSeconds) * 1000
  if (wanted === undefined) return end
  const ahead = now * 1000 - systemNow
  return Math.min(end, Math.abs(ahead) < 1000 ? wanted : wanted + ahead)
}

/** Returns how long record and data live from now on, in seconds. */
export function remainingLives(stored: StoredEntry, text: string | null, now: EpochSeconds, lives: SessionLives) {
  const origin = (text === null ? undefined : readMetadata(text)) ?? { since: now, isLoggedIn: belongsToLogin(stored) }
  const data = Math.max(1, dataLife(origin, now, lives))
  return { data, record: stored.state === 'live' ? lifetimeOf(stored.record, now, lives) : data }
}

/** Share of its lifetime by which a session may end too early, so that its expiry is renewed less often. */
const SPARE_LIFE = 0.1

/** Must the expiry of the session be renewed? The last status check has also renewed the expiry. */
export function mustRenewExpiry(
  stored: StoredEntry,
  lives: { data: number; record: number },
  now: EpochSeconds,
): boolean {
  const { checkedAt } = recordIn(stored) ?? {}
  return !isYoungerThan(checkedAt, now, SPARE_LIFE * Math.min(lives.data, lives.record))
}

/**
 * Phase of a session. `live`: has a record. `data_only`: has no record. `new`: has not begun. `just_ended`: has just ended, and no other
 * session replaces the ended session.
 */
export type SessionPhase = 'live' | 'data_only' | 'new' | 'just_ended'

/** Returns the phase of a session, by its record and data. A record of a later version keeps its session as well. */
export function sessionPhaseOf(stored: StoredEntry, data: string | null, now: EpochSeconds): SessionPhase {
  if (stored.state === 'live' || (stored.state === 'unreadable' && stored.raw.startsWith('{'))) return 'live'
  if (stored.state === 'none') return data === null ? 'new' : 'data_only'
  return hasJustEnded(stored, now) ? 'just_ended' : 'new'
}

/** Is a user logged in, as far as the current version can read the record? */
export function belongsToLogin(stored: StoredEntry): boolean {
  if (stored.state === 'unreadable') return stored.raw.includes('"status":"loggedin"')
  return isLoggedIn(recordIn(stored))
}

/** Applies the changes between `before` and `now` to `under`, by names of the top level. */
export function withChanges(before: SiteData, now: SiteData, under: SiteData): SiteData {
  const result = new Map(Object.entries(under))
  for (const name of new Set([...Object.keys(before), ...Object.keys(now)])) {
    if (dataText(before, name) === dataText(now, name)) continue
    if (Object.hasOwn(now, name)) result.set(name, now[name])
    else result.delete(name)
  }
  return Object.fromEntries(result)
}

const dataText = (data: SiteData, name: string) => (Object.hasOwn(data, name) ? JSON.stringify(data[name]) : undefined)
