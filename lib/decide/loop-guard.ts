/**
 * Limits the Identify redirects of a browser, by a signed cookie that counts its returns. Pure. Each return counts, so no chain reaches the
 * 20 redirects at which browsers give up: a round has three. The browser forgets the cookie after a pause, so no clock of a process matters.
 */
import type { DegradedReason } from './identity'

/** Why the last landing failed, or '' if it did not. */
export type LoopCause = '' | 'token_refused' | 'store_unavailable' | 'identify_loop' | 'logout_pending'

/** The content of the cookie. */
export interface ReturnCount {
  readonly count: number
  readonly cause: LoopCause
}

const MAX_RETURNS = 5
const WINDOW_SECONDS = 10
/** After a failure the next landing would fail too. Redis, the clock and the secret may be right again soon. */
const PAUSE_SECONDS = 4

/** Reads the JSON of the cookie. @returns `undefined` for anything else */
export function readReturnCount({ count, cause }: Readonly<Record<string, unknown>>): ReturnCount | undefined {
  return typeof count === 'number' && typeof cause === 'string' ? { count, cause: cause as LoopCause } : undefined
}

/** The count of a process whose secret does not fit. Neither could count the returns to the other, so the first one ends the chain. */
export const FOREIGN_COUNT: ReturnCount = { count: 0, cause: 'identify_loop' }

/** Returns how long the browser keeps a count, in seconds. */
export const returnCountSeconds = ({ cause }: ReturnCount): number => (cause === '' ? WINDOW_SECONDS : PAUSE_SECONDS)

/** Returns why the page must be served now, without another redirect. */
export function blockReason(known: ReturnCount | undefined): DegradedReason | undefined {
  if (!known) return undefined
  if (known.cause !== '') return known.cause
  return known.count >= MAX_RETURNS ? 'identify_loop' : undefined
}

/** Counts another return from Identify, or from a login page on another site. */
export const countReturn = (known: ReturnCount | undefined, cause: LoopCause): ReturnCount => ({
  count: (known?.count ?? 0) + 1,
  cause,
})
