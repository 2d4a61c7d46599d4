/**
 * The site's own data as it is stored: which session it belongs to, how long it lives, and how two versions of it become one. Pure.
 * Under `cookie`, where express-session keeps its cookie, stands what we must know of it; it comes first, so that it can be read alone.
 */
import type { EpochSeconds } from '../protocol/claims'
import { isObject } from '../protocol/json'
import { isLoggedIn, lifetimeOf, type SessionLives } from './record'
import { isLateFor, recordIn, type StoredEntry } from './stored-entry'
import { isYoungerThan } from './timestamps'

/** What the site keeps in `req.session`. */
export type SiteData = Readonly<Record<string, unknown>>

/** What must be known of a session's data. */
export interface SessionMetadata {
  /** When the session began; the absolute limit counts from here. */
  readonly since: EpochSeconds
  /** Does the data belong to a login? */
  readonly isLoggedIn: boolean
  /** How long it lives unused, in milliseconds, where the site said so. */
  readonly maxAge?: number | undefined
}

/** Data as read. */
export interface StoredData extends SessionMetadata {
  readonly data: SiteData
}

/** Text of a session's data. */
export function writeData({ since, isLoggedIn, maxAge }: SessionMetadata, data: SiteData): string {
  const origin = JSON.stringify({ since, isLoggedIn: isLoggedIn || undefined, maxAge })
  const rest = JSON.stringify(data).slice(1)
  return `{"cookie":${origin}${rest === '}' ? '' : ','}${rest}`
}

/** Reads a stored text; garbage is `undefined`. */
export function readData(text: string | null): StoredData | undefined {
  try {
    const stored: unknown = JSON.parse(text ?? '')
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

/** Reads what stands before the data, without the data; `undefined` where the text does not begin as ours do. */
export function readMetadata(text: string): SessionMetadata | undefined {
  const [found, since, mark, maxAge] = METADATA.exec(text) ?? []
  if (found === undefined) return undefined
  return { since: Number(since), isLoggedIn: mark !== undefined, ...(maxAge ? { maxAge: Number(maxAge) } : {}) }
}

/** Stored data that a session may have: within the absolute limit, and of no login that has been lost, for it must not reach the next account. */
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

/** How long data lives unused, in seconds; nothing or less: not at all. */
export function dataLife(
  { since, isLoggedIn, maxAge }: SessionMetadata,
  now: EpochSeconds,
  lives: SessionLives,
): number {
  const idle = isLoggedIn ? lives.idleSeconds : lives.anonymousIdleSeconds
  const wanted = maxAge === undefined ? idle : Math.ceil(maxAge / 1000)
  return Math.min(wanted, Math.max(1, since + lives.absoluteSeconds - now))
}

/** Times of a session's cookie, and the clocks that they are told by. */
export interface CookieTimes {
  /** Start of the session, in seconds since 1970. */
  readonly since: EpochSeconds
  /** The end that the site has set, in milliseconds since 1970, by the system's clock. */
  readonly wanted: number | undefined
  readonly now: EpochSeconds
  /** The system's clock in milliseconds since 1970. A test may run the site by another one. */
  readonly systemNow: number
}

/** Returns the end of a new session's cookie, in milliseconds since 1970: the end that the site has set, but not after the session's own. */
export function cookieEnd({ since, wanted, now, systemNow }: CookieTimes, { absoluteSeconds }: SessionLives): number {
  const end = (since + absoluteSeconds) * 1000
  if (wanted === undefined) return end
  const ahead = now * 1000 - systemNow
  return Math.min(end, Math.abs(ahead) < 1000 ? wanted : wanted + ahead)
}

/** Lives of record and data, in seconds, each from now on. */
export function livesFrom(stored: StoredEntry, text: string | null, now: EpochSeconds, lives: SessionLives) {
  const origin = (text === null ? undefined : readMetadata(text)) ?? { since: now, isLoggedIn: belongsToLogin(stored) }
  const data = Math.max(1, dataLife(origin, now, lives))
  return { data, record: stored.state === 'live' ? lifetimeOf(stored.record, now, lives) : data }
}

/** A session may end so much of its life too early, for its expiry to be renewed less often. */
const SPARE_LIFE = 0.1

/** Must the expiry of this session be renewed, which was renewed when its record was last checked? */
export function isDueToRenew(stored: StoredEntry, lives: { data: number; record: number }, now: EpochSeconds): boolean {
  const { checkedAt } = recordIn(stored) ?? {}
  return !isYoungerThan(checkedAt, now, SPARE_LIFE * Math.min(lives.data, lives.record))
}

/**
 * What keeps a session: its record (`live`), its data alone (`data`), or nothing: it is yet to begin (`fresh`), or was given up
 * a moment ago (`late`): then no other begins in its place.
 */
export type SessionPhase = 'live' | 'data' | 'fresh' | 'late'

/** Where the session stands whose record and data were read. A record of a later version keeps its session as well. */
export function sessionPhaseOf(stored: StoredEntry, data: string | null, now: EpochSeconds): SessionPhase {
  if (stored.state === 'live' || (stored.state === 'unreadable' && stored.raw.startsWith('{'))) return 'live'
  if (stored.state === 'none') return data === null ? 'fresh' : 'data'
  return isLateFor(stored, now) ? 'late' : 'fresh'
}

/** Is somebody logged in there, as far as this version can tell? */
export function belongsToLogin(stored: StoredEntry): boolean {
  if (stored.state === 'unreadable') return stored.raw.includes('"status":"loggedin"')
  return isLoggedIn(recordIn(stored))
}

/** What somebody changed between `before` and `now` is laid over `under`, name by name at the top level. */
export function withChanges(before: SiteData, now: SiteData, under: SiteData): SiteData {
  const result = new Map(Object.entries(under))
  for (const name of new Set([...Object.keys(before), ...Object.keys(now)])) {
    if (textOf(before, name) === textOf(now, name)) continue
    if (Object.hasOwn(now, name)) result.set(name, now[name])
    else result.delete(name)
  }
  return Object.fromEntries(result)
}

const textOf = (data: SiteData, name: string) => (Object.hasOwn(data, name) ? JSON.stringify(data[name]) : undefined)
