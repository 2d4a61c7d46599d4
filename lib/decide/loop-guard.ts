/**
 * How many trips through Identify a page may cost; the counts live in a small cookie. Pure.
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
const MAX_PAGES = 8

/** What went wrong on the last landing for a page: `c` the clock, `r` refused, `a` the store was away. */
type Cause = '' | 'c' | 'r' | 'a'

interface Trip {
  readonly page: string
  /** The last trip. */
  readonly since: EpochSeconds
  /** Trips of this chain, as far as they are counted. */
  readonly count: number
  readonly cause: Cause
  /** The page was shown without another trip: the chain has ended, and what follows is a page load of its own. */
  readonly isShown: boolean
}

/** Trips of this browser, newest first. */
export type Trips = readonly Trip[]

const SHAPE = /^([A-Za-z0-9_-]{8})\.(\d{1,12})\.([0-9])([acr]?)(s?)$/

/** Name of a page in the cookie. @param address without our parameter */
export function pageKey(address: string): string {
  return createHash('sha256').update(address).digest('base64url').slice(0, 8)
}

/** Reads the cookie; whatever is not ours or too old is dropped. */
export function readTrips(cookie: string | undefined, now: EpochSeconds): Trips {
  if (cookie === undefined) return []
  const entries = cookie
    .split('~')
    .slice(0, MAX_PAGES)
    .map((entry) => SHAPE.exec(entry))
  return entries.flatMap((match) => {
    if (!match) return []
    const [, page = '', since, count, cause = '', shown] = match
    const trip = { page, since: Number(since), count: Number(count), cause: cause as Cause, isShown: shown === 's' }
    return isYounger(trip.since, now, TRIPS_SECONDS) ? [trip] : []
  })
}

/** The cookie's text. */
export function writeTrips(trips: Trips): string {
  return trips
    .slice(0, MAX_PAGES)
    .map(({ page, since, count, cause, isShown }) => `${page}.${since}.${count}${cause}${isShown ? 's' : ''}`)
    .join('~')
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
export function blockedBy(trips: Trips, page: string, now: EpochSeconds): DegradedReason | undefined {
  const trip = trips.find((candidate) => candidate.page === page)
  if (!trip || trip.count < limitOf(trip)) return undefined
  if (trip.isShown && !isYounger(trip.since, now, pauseOf(trip))) return undefined
  return REASONS[trip.cause]
}

/** Counts one more trip for the page. */
export function countTrip(trips: Trips, page: string, now: EpochSeconds): Trips {
  const { count = 0, cause = '' } = trips.find((candidate) => candidate.page === page) ?? {}
  const counted = { page, since: now, count: Math.min(count + 1, MOST_COUNTED), cause, isShown: false }
  return [counted, ...forgetTrip(trips, page)]
}

/** How many trips there were for the page, each within the window of the one before. */
export function tripsFor(trips: Trips, page: string, now: EpochSeconds): number {
  const trip = trips.find((candidate) => candidate.page === page)
  return !trip || now - trip.since >= WINDOW_SECONDS ? 0 : trip.count
}

/** Notes why the page's landing failed. */
export function noteCause(trips: Trips, page: string, cause: Exclude<Cause, ''>, now: EpochSeconds): Trips {
  const trip = trips.find((candidate) => candidate.page === page) ?? { page, since: now, count: 1, isShown: false }
  return [{ ...trip, cause }, ...forgetTrip(trips, page)]
}

/** No further trip for the page now, though nothing was wrong with the last one. */
export function stopTrips(trips: Trips, page: string, now: EpochSeconds): Trips {
  return [{ page, since: now, count: MOST_TRIPS, cause: '', isShown: false }, ...forgetTrip(trips, page)]
}

/** The page is shown without another trip. The pause counts from the last trip, on a clock that is right. */
export function noteShown(trips: Trips, page: string, now: EpochSeconds): Trips {
  return trips.map((trip) => (trip.page === page ? { ...trip, since: Math.min(trip.since, now), isShown: true } : trip))
}

/** The page's landing went well: nothing is wrong with it, but the count stays, for the session may not. */
export function landedWell(trips: Trips, page: string): Trips {
  return trips.map((trip) => (trip.page === page ? { ...trip, cause: '' } : trip))
}

/** The page's last trip has ended what a logout had left over: that happens once, so that it does not count. */
export function discountTrip(trips: Trips, page: string): Trips {
  return trips.map((trip) =>
    trip.page === page ? { ...trip, count: Math.max(0, Math.min(trip.count, MOST_TRIPS) - 1) } : trip,
  )
}

/** Forgets the page: it was served with the session that its last trip brought. */
export function forgetTrip(trips: Trips, page: string): Trips {
  return trips.filter((candidate) => candidate.page !== page)
}

/** Was there a trip for the page? */
export function hasTrip(trips: Trips, page: string): boolean {
  return trips.some((candidate) => candidate.page === page)
}
