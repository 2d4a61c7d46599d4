/**
 * How many trips through Identify a page may cost; the count lives in a small cookie for each page, for two tabs would write over one for all. Pure.
 * A chain of redirects ends where an answer is shown. Until then there are two trips at most, however long each of them takes,
 * so that no browser gives up on the way. After that one more may begin every five seconds, each by a page load of the
 * reader's: so the guard ends with its fault, and there are never more than three trips in ten seconds.
 */
import { createHash } from 'node:crypto'
import type { EpochSeconds } from '../protocol/claims'
import { isYounger } from './age'
import type { DegradedReason } from './visit'

const MOST_TRIPS = 2
/** Counted further than that for `lead`, whose visitor does not come back from Identify but from a login page. */
const MOST_COUNTED = 3
const WINDOW_SECONDS = 10
/** A refused token is refused again, but for its time; and a store that did not take a landing would not take the next one. */
const MOST_IN_VAIN = 1
const PAUSE_SECONDS = 5
/** A store that did not take a landing is back in a moment, and then all is to be as ever within five seconds. */
const STORE_PAUSE_SECONDS = 4
/** A page is forgotten so long after its last trip. */
export const TRIPS_SECONDS = 60
/** The browser keeps the count of so many pages: more tabs than that are not opened at once. */
const MOST_PAGES = 32
/** So many cookies are dropped at once: an answer has room for no more. */
const MOST_DROPPED = 8

/** What went wrong on the last landing for a page: `c` the clock, `r` refused, `a` the store was away. */
type Cause = '' | 'c' | 'r' | 'a'

/** Trips of this browser for one page. */
export interface Trip {
  /** The last trip. */
  readonly since: EpochSeconds
  /** Trips of this chain, as far as they are counted. */
  readonly count: number
  readonly cause: Cause
  /** The page was shown without another trip: the chain has ended, and what follows is a page load of its own. */
  readonly isShown: boolean
}

const SHAPE = /^(\d{1,12})\.([0-9])([acr]?)(s?)$/

/** Name of a page in its cookie's name. @param address without our parameter */
export function pageKey(address: string): string {
  return createHash('sha256').update(address).digest('hex').slice(0, 8)
}

/** Is this the name of a page? */
export const isPageKey = (text: string): boolean => /^[0-9a-f]{8}$/.test(text)

/** Reads a cookie; whatever is not ours or too old is none. */
export function readTrip(cookie: string | undefined, now: EpochSeconds): Trip | undefined {
  const match = SHAPE.exec(cookie ?? '')
  if (!match) return undefined
  const [, since, count, cause = '', shown] = match
  const trip = { since: Number(since), count: Number(count), cause: cause as Cause, isShown: shown === 's' }
  return isYounger(trip.since, now, TRIPS_SECONDS) ? trip : undefined
}

/** The cookie's text. */
export function writeTrip({ since, count, cause, isShown }: Trip): string {
  return `${since}.${count}${cause}${isShown ? 's' : ''}`
}

/** Which pages are forgotten where one more is counted: the oldest of too many, and those whose cookie says nothing; before them those whose chain has ended. @param others by name */
export function supernumerary(others: ReadonlyMap<string, Trip | undefined>): string[] {
  const worth = (trip: Trip | undefined) => (trip ? trip.since - (trip.isShown ? TRIPS_SECONDS : 0) : 0)
  const newestFirst = [...others].sort(([, one], [, other]) => worth(other) - worth(one))
  const surplus = newestFirst.flatMap(([name, trip], index) => (trip && index < MOST_PAGES - 1 ? [] : [name]))
  return surplus.slice(-MOST_DROPPED)
}

const limitOf = ({ cause }: Trip) => (cause === 'r' || cause === 'a' ? MOST_IN_VAIN : MOST_TRIPS)

const pauseOf = ({ cause }: Trip) => (cause === 'a' ? STORE_PAUSE_SECONDS : PAUSE_SECONDS)

const REASONS: Readonly<Record<Cause, DegradedReason>> = {
  '': 'identify_loop',
  a: 'store_unavailable',
  c: 'token_refused',
  r: 'token_refused',
}

/** Must the page be served now, without another trip, and why? */
export function blockedBy(trip: Trip | undefined, now: EpochSeconds): DegradedReason | undefined {
  if (!trip || trip.count < limitOf(trip)) return undefined
  if (trip.isShown && !isYounger(trip.since, now, pauseOf(trip))) return undefined
  return REASONS[trip.cause]
}

/** Counts one more trip. */
export function countTrip(trip: Trip | undefined, now: EpochSeconds): Trip {
  const { count = 0, cause = '' } = trip ?? {}
  return { since: now, count: Math.min(count + 1, MOST_COUNTED), cause, isShown: false }
}

/** Is this the last trip of its chain? Its way through Identify says so too, for another tab's answer may set the count back meanwhile. */
export const isLastTrip = ({ count }: Trip): boolean => count >= MOST_TRIPS

/** The trip as it came back to the landing page. @param isLast as its way says */
export function tripBack(trip: Trip | undefined, isLast: boolean, now: EpochSeconds): Trip | undefined {
  return isLast && (!trip || !isLastTrip(trip)) ? stopTrips(now) : trip
}

/** How many trips there were, each within the window of the one before. */
export function tripsSoFar(trip: Trip | undefined, now: EpochSeconds): number {
  return !trip || now - trip.since >= WINDOW_SECONDS ? 0 : trip.count
}

/** Notes why the landing failed. */
export function noteCause(trip: Trip | undefined, cause: Exclude<Cause, ''>, now: EpochSeconds): Trip {
  return { ...(trip ?? { since: now, count: 1, isShown: false }), cause }
}

/** No further trip now, though nothing was wrong with the last one. */
export function stopTrips(now: EpochSeconds): Trip {
  return { since: now, count: MOST_TRIPS, cause: '', isShown: false }
}

/** The page is shown without another trip. The pause counts from the last trip, on a clock that is right. */
export function noteShown(trip: Trip, now: EpochSeconds): Trip {
  return { ...trip, since: Math.min(trip.since, now), isShown: true }
}

/** The landing went well: nothing is wrong with it, but the count stays, for the session may not. */
export function landedWell(trip: Trip | undefined): Trip | undefined {
  return trip && { ...trip, cause: '' }
}

/** The last trip has ended what a logout had left over: that happens once, so that it does not count. */
export function discountTrip(trip: Trip | undefined): Trip | undefined {
  return trip && { ...trip, count: Math.max(0, Math.min(trip.count, MOST_TRIPS) - 1) }
}
