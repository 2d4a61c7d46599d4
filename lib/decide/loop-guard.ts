/**
 * How many trips through Identify a page may cost; the count lives in a small cookie for each page, for two tabs would write over one for all. Pure.
 * A chain of redirects ends where an answer is shown. Until then there are two trips at most, however long each of them takes,
 * so that no browser gives up on the way. After that one more may begin every five seconds, each by a page load of the
 * reader's: so the guard ends with its fault, and there are never more than three trips in ten seconds.
 */
import { createHash } from 'node:crypto'
import type { EpochSeconds } from '../protocol/claims'
import type { DegradedReason } from './request-decision'
import { isYoungerThan } from './timestamps'

const MAX_REDIRECTS = 2
/** Counted further than that for `lead`, whose visitor does not come back from Identify but from a login page. */
const MAX_COUNTED = 3
const WINDOW_SECONDS = 10
/** A refused token is refused again, but for its time; and a store that did not take a landing would not take the next one. */
const MAX_FAILED_REDIRECTS = 1
const PAUSE_SECONDS = 5
/** A store that did not take a landing is back in a moment, and then all is to be as ever within five seconds. */
const STORE_PAUSE_SECONDS = 4
/** A page is forgotten so long after its last trip. */
export const REDIRECT_COUNT_SECONDS = 60
/** The browser keeps the count of so many pages: more tabs than that are not opened at once. */
const MAX_PAGES = 32
/** So many cookies are dropped at once: an answer has room for no more. */
const MAX_DROPPED_COOKIES = 8

/** What went wrong on the last landing for a page: `c` the clock, `r` refused, `a` the store was away. */
type Cause = '' | 'c' | 'r' | 'a'

/** Trips of this browser for one page. */
export interface RedirectCount {
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
export function readRedirectCount(cookie: string | undefined, now: EpochSeconds): RedirectCount | undefined {
  const match = SHAPE.exec(cookie ?? '')
  if (!match) return undefined
  const [, since, count, cause = '', identity] = match
  const redirects = { since: Number(since), count: Number(count), cause: cause as Cause, isShown: identity === 's' }
  return isYoungerThan(redirects.since, now, REDIRECT_COUNT_SECONDS) ? redirects : undefined
}

/** The cookie's text. */
export function writeRedirectCount({ since, count, cause, isShown }: RedirectCount): string {
  return `${since}.${count}${cause}${isShown ? 's' : ''}`
}

/** Which pages are forgotten where one more is counted: the oldest of too many, and those whose cookie says nothing; before them those whose chain has ended. @param others by name */
export function surplusPages(others: ReadonlyMap<string, RedirectCount | undefined>): string[] {
  const worth = (redirects: RedirectCount | undefined) =>
    redirects ? redirects.since - (redirects.isShown ? REDIRECT_COUNT_SECONDS : 0) : 0
  const newestFirst = [...others].sort(([, one], [, other]) => worth(other) - worth(one))
  const surplus = newestFirst.flatMap(([name, redirects], index) => (redirects && index < MAX_PAGES - 1 ? [] : [name]))
  return surplus.slice(-MAX_DROPPED_COOKIES)
}

const limitOf = ({ cause }: RedirectCount) => (cause === 'r' || cause === 'a' ? MAX_FAILED_REDIRECTS : MAX_REDIRECTS)

const pauseOf = ({ cause }: RedirectCount) => (cause === 'a' ? STORE_PAUSE_SECONDS : PAUSE_SECONDS)

const REASONS: Readonly<Record<Cause, DegradedReason>> = {
  '': 'identify_loop',
  a: 'store_unavailable',
  c: 'token_refused',
  r: 'token_refused',
}

/** Must the page be served now, without another trip, and why? */
export function blockReason(redirects: RedirectCount | undefined, now: EpochSeconds): DegradedReason | undefined {
  if (!redirects || redirects.count < limitOf(redirects)) return undefined
  if (redirects.isShown && !isYoungerThan(redirects.since, now, pauseOf(redirects))) return undefined
  return REASONS[redirects.cause]
}

/** Counts one more trip. */
export function countRedirect(redirects: RedirectCount | undefined, now: EpochSeconds): RedirectCount {
  const { count = 0, cause = '' } = redirects ?? {}
  return { since: now, count: Math.min(count + 1, MAX_COUNTED), cause, isShown: false }
}

/** Is this the last trip of its chain? Its way through Identify says so too, for another tab's answer may set the count back meanwhile. */
export const isLastRedirect = ({ count }: RedirectCount): boolean => count >= MAX_REDIRECTS

/** The trip as it came back to the landing page. @param isLast as its way says */
export function redirectCountAtLanding(
  redirects: RedirectCount | undefined,
  isLast: boolean,
  now: EpochSeconds,
): RedirectCount | undefined {
  return isLast && (!redirects || !isLastRedirect(redirects)) ? blockRedirects(now) : redirects
}

/** How many trips there were, each within the window of the one before. */
export function recentRedirects(redirects: RedirectCount | undefined, now: EpochSeconds): number {
  return !redirects || now - redirects.since >= WINDOW_SECONDS ? 0 : redirects.count
}

/** Notes why the landing failed. */
export function withLandingFailure(
  redirects: RedirectCount | undefined,
  cause: Exclude<Cause, ''>,
  now: EpochSeconds,
): RedirectCount {
  return { ...(redirects ?? { since: now, count: 1, isShown: false }), cause }
}

/** No further trip now, though nothing was wrong with the last one. */
export function blockRedirects(now: EpochSeconds): RedirectCount {
  return { since: now, count: MAX_REDIRECTS, cause: '', isShown: false }
}

/** The page is shown without another trip. The pause counts from the last trip, on a clock that is right. */
export function withPageShown(redirects: RedirectCount, now: EpochSeconds): RedirectCount {
  return { ...redirects, since: Math.min(redirects.since, now), isShown: true }
}

/** The landing went well: nothing is wrong with it, but the count stays, for the session may not. */
export function clearFailure(redirects: RedirectCount | undefined): RedirectCount | undefined {
  return redirects && { ...redirects, cause: '' }
}

/** The last trip has ended what a logout had left over: that happens once, so that it does not count. */
export function uncountRedirect(redirects: RedirectCount | undefined): RedirectCount | undefined {
  return redirects && { ...redirects, count: Math.max(0, Math.min(redirects.count, MAX_REDIRECTS) - 1) }
}
