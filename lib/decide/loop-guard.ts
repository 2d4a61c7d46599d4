/** At most three trips for one page, each within ten seconds of the last, whatever happens. The counts live in a small cookie. Pure. */
import { createHash } from 'node:crypto'
import type { EpochSeconds } from '../protocol/claims'
import type { DegradedReason } from './visit'

const WINDOW_SECONDS = 10
const BLOCK_SECONDS = 60
const MAX_TRIPS = 3
const MAX_PAGES = 8

/** What went wrong on the last landing for a page: `c` the clock, `r` refused. */
type Cause = '' | 'c' | 'r'

interface Trip {
  readonly page: string
  /** The last trip. */
  readonly since: EpochSeconds
  readonly count: number
  readonly cause: Cause
}

/** Trips of this browser, newest first. */
export type Trips = readonly Trip[]

const SHAPE = /^([A-Za-z0-9_-]{8})\.(\d{1,12})\.([0-9])([cr]?)$/

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
    const [, page = '', since, count, cause = ''] = match
    const age = now - Number(since)
    return age < -BLOCK_SECONDS || age >= BLOCK_SECONDS
      ? []
      : [{ page, since: Number(since), count: Number(count), cause: cause as Cause }]
  })
}

/** The cookie's text. */
export function writeTrips(trips: Trips): string {
  return trips
    .slice(0, MAX_PAGES)
    .map(({ page, since, count, cause }) => `${page}.${since}.${count}${cause}`)
    .join('~')
}

/** Must the page be served now, without another trip, and why? */
export function blockedBy(trips: Trips, page: string): DegradedReason | undefined {
  const trip = trips.find((candidate) => candidate.page === page)
  if (!trip) return undefined
  if (trip.cause === 'r' || (trip.cause === 'c' && trip.count >= 2)) return 'token_refused'
  return trip.count >= MAX_TRIPS ? 'identify_loop' : undefined
}

/** Counts one more trip for the page. */
export function countTrip(trips: Trips, page: string, now: EpochSeconds): Trips {
  const trip = trips.find((candidate) => candidate.page === page)
  const others = forgetTrip(trips, page)
  if (!trip || now - trip.since >= WINDOW_SECONDS) return [{ page, since: now, count: 1, cause: '' }, ...others]
  return [{ ...trip, since: now, count: trip.count + 1 }, ...others]
}

/** How many trips there were for the page, each within the window of the one before. */
export function tripsFor(trips: Trips, page: string, now: EpochSeconds): number {
  const trip = trips.find((candidate) => candidate.page === page)
  return !trip || now - trip.since >= WINDOW_SECONDS ? 0 : trip.count
}

/** Notes why the page's landing failed. */
export function noteCause(trips: Trips, page: string, cause: 'c' | 'r', now: EpochSeconds): Trips {
  const trip = trips.find((candidate) => candidate.page === page) ?? { page, since: now, count: 1, cause: '' as const }
  return [{ ...trip, cause }, ...forgetTrip(trips, page)]
}

/** No further trip for the page, though nothing was wrong with the last one. */
export function stopTrips(trips: Trips, page: string, now: EpochSeconds): Trips {
  return [{ page, since: now, count: MAX_TRIPS, cause: '' }, ...forgetTrip(trips, page)]
}

/** The page's landing went well: nothing is wrong with it, but the count stays, for the session may not. */
export function landedWell(trips: Trips, page: string): Trips {
  return trips.map((trip) => (trip.page === page ? { ...trip, cause: '' } : trip))
}

/** Forgets the page: it was served with the session that its last trip brought. */
export function forgetTrip(trips: Trips, page: string): Trips {
  return trips.filter((candidate) => candidate.page !== page)
}

/** Was there a trip for the page? */
export function hasTrip(trips: Trips, page: string): boolean {
  return trips.some((candidate) => candidate.page === page)
}
