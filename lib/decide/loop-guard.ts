/**
 * Limits the Identify redirects of a page. Each page has its own small cookie with the count, because tabs would overwrite a common
 * cookie. Pure.
 * A chain of redirects ends when a page is shown. Until then a page makes at most two redirects, so that no browser gives up.
 * Afterwards, each page load may begin another redirect every five seconds, so that the guard ends with its cause.
 * A page never makes more than three redirects in ten seconds.
 */
import { createHash } from 'node:crypto'
import type { EpochSeconds } from '../protocol/claims'
import type { DegradedReason } from './request-decision'
import { isYoungerThan } from './timestamps'

const MAX_REDIRECTS = 2
/** Counted further for a login page of another site, because its visitors return from there. */
const MAX_COUNTED = 3
const WINDOW_SECONDS = 10
/**
 * After a refused token the next token is refused too, unless the clock is wrong. If Redis did not store a landing, the next landing would
 * fail too.
 */
const MAX_FAILED_REDIRECTS = 1
const PAUSE_SECONDS = 5
/** Pages work again five seconds after the recovery of Redis, so the pause is shorter. */
const STORE_PAUSE_SECONDS = 4
/** Seconds until the count of a page expires, since the page's last redirect. */
export const REDIRECT_COUNT_SECONDS = 60
/** Maximum of pages whose counts a browser keeps. More tabs are not opened at once. */
const MAX_PAGES = 32
/** Maximum of cookies that a response deletes, because a response has no space for more. */
const MAX_DROPPED_COOKIES = 8

/** The last landing of a page: none yet, `b` came back, or failed: `c` the clock, `r` a refused token, `a` Redis did not answer. */
type Cause = '' | 'b' | 'c' | 'r' | 'a'

/** Identify redirects of a browser for a page. */
export interface RedirectCount {
  readonly since: EpochSeconds
  /** Number of redirects of the chain, up to a maximum. */
  readonly count: number
  readonly cause: Cause
  /** Was the page shown without another redirect? Then the chain has ended. */
  readonly isShown: boolean
}

const SHAPE = /^(\d{1,12})\.([0-9])([abcr]?)(s?)$/

/** Returns the name of a page in its cookie's name. @param address without the parameter `sso2` */
export function pageKey(address: string): string {
  return createHash('sha256').update(address).digest('hex').slice(0, 8)
}

/** Is the text the name of a page? */
export const isPageKey = (text: string): boolean => /^[0-9a-f]{8}$/.test(text)

/**
 * Parses a cookie. The browser deletes the cookie after {@link REDIRECT_COUNT_SECONDS}. The time in the cookie does not expire a count,
 * because two processes whose clocks differ would then redirect a browser without end.
 * @returns `undefined` for another text
 */
export function readRedirectCount(cookie: string | undefined, now: EpochSeconds): RedirectCount | undefined {
  const match = SHAPE.exec(cookie ?? '')
  if (!match) return undefined
  const [, since, count, cause = '', shown] = match
  return {
    since: Math.min(Number(since), now),
    count: Number(count),
    cause: cause as Cause,
    isShown: shown === 's',
  }
}

/** Returns the text of the cookie. */
export function writeRedirectCount({ since, count, cause, isShown }: RedirectCount): string {
  return `${since}.${count}${cause}${isShown ? 's' : ''}`
}

/**
 * Returns the pages whose counts are deleted when another page is counted: unreadable counts, then ended chains, then the oldest
 * counts.
 * @param others by name
 */
export function surplusPages(others: ReadonlyMap<string, RedirectCount | undefined>): string[] {
  const keepPriority = (redirects: RedirectCount | undefined) =>
    redirects ? redirects.since - (redirects.isShown ? REDIRECT_COUNT_SECONDS : 0) : 0
  const newestFirst = [...others].sort(([, one], [, other]) => keepPriority(other) - keepPriority(one))
  const surplus = newestFirst.flatMap(([name, redirects], index) => (redirects && index < MAX_PAGES - 1 ? [] : [name]))
  return surplus.slice(-MAX_DROPPED_COOKIES)
}

const limitOf = ({ cause }: RedirectCount) => (cause === 'r' || cause === 'a' ? MAX_FAILED_REDIRECTS : MAX_REDIRECTS)

const redirectPause = ({ cause }: RedirectCount) => (cause === 'a' ? STORE_PAUSE_SECONDS : PAUSE_SECONDS)

const REASONS: Readonly<Record<Cause, DegradedReason>> = {
  '': 'sso_unavailable', // the browser has never come back, so this is no loop
  b: 'identify_loop',
  a: 'store_unavailable',
  c: 'token_refused',
  r: 'token_refused',
}

/** Returns why the page must be served now without another redirect. */
export function blockReason(redirects: RedirectCount | undefined, now: EpochSeconds): DegradedReason | undefined {
  if (!redirects || redirects.count < limitOf(redirects)) return undefined
  if (redirects.isShown && !isYoungerThan(redirects.since, now, redirectPause(redirects))) return undefined
  return REASONS[redirects.cause]
}

/** Counts another redirect. */
export function countRedirect(redirects: RedirectCount | undefined, now: EpochSeconds): RedirectCount {
  const { count = 0, cause = '' } = redirects ?? {}
  return { since: now, count: Math.min(count + 1, MAX_COUNTED), cause, isShown: false }
}

/** Is the redirect the last of its chain? The `sso2` parameter says so too, because the response to another tab may lower the count. */
export const isLastRedirect = ({ count }: RedirectCount): boolean => count >= MAX_REDIRECTS

/** Returns the count at the landing page, to which the browser has come back. @param isLast as its `sso2` parameter says */
export function redirectCountAtLanding(
  redirects: RedirectCount | undefined,
  isLast: boolean,
  now: EpochSeconds,
): RedirectCount | undefined {
  const counted = isLast && (!redirects || !isLastRedirect(redirects)) ? blockRedirects(now) : redirects
  return counted?.cause === '' ? { ...counted, cause: 'b' } : counted
}

/** Returns the number of redirects, each within the window of the previous redirect. */
export function recentRedirects(redirects: RedirectCount | undefined, now: EpochSeconds): number {
  return !redirects || now - redirects.since >= WINDOW_SECONDS ? 0 : redirects.count
}

/** Notes why the landing failed. */
export function withLandingFailure(
  redirects: RedirectCount | undefined,
  cause: Exclude<Cause, '' | 'b'>,
  now: EpochSeconds,
): RedirectCount {
  return { ...(redirects ?? { since: now, count: 1, isShown: false }), cause }
}

/** Allows no further redirect now, although the last landing succeeded. */
export function blockRedirects(now: EpochSeconds): RedirectCount {
  return { since: now, count: MAX_REDIRECTS, cause: 'b', isShown: false }
}

/** Records that the page is shown. The pause counts from the last redirect, with a correct clock. */
export function withPageShown(redirects: RedirectCount, now: EpochSeconds): RedirectCount {
  return { ...redirects, since: Math.min(redirects.since, now), isShown: true }
}

/** Records that the landing succeeded. The count stays, because the session may not be stored. */
export function clearFailure(redirects: RedirectCount | undefined): RedirectCount | undefined {
  return redirects && { ...redirects, cause: 'b' }
}

/** Subtracts the last redirect, which ended a pending logout. The redirect happens only once, so it does not count. */
export function uncountRedirect(redirects: RedirectCount | undefined): RedirectCount | undefined {
  return redirects && { ...redirects, count: Math.max(0, Math.min(redirects.count, MAX_REDIRECTS) - 1) }
}
