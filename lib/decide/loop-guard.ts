/**
 * Limits the Identify redirects of a browser, by a cookie that counts its returns. Pure. Each return counts, so no chain reaches the 20 redirects
 * at which browsers give up: a round has three. The browser forgets the cookie after a pause, so no clock of a process matters. The cookie is
 * not signed: processes with different secrets must count together, and whoever changes it stops or loops only the own browser.
 */
import type { DegradedReason } from './record'

const CAUSES = ['', 'token_refused', 'store_unavailable', 'logout_pending', 'identify_loop'] as const

/** Why the last landing failed, or '' if it did not. */
export type LoopCause = (typeof CAUSES)[number]

/** The content of the cookie. */
export interface ReturnCount {
  readonly count: number
  readonly cause: LoopCause
}

const MAX_RETURNS = 5
const WINDOW_SECONDS = 10
/** After a failure the next landing would fail too. Redis, the clock and the secret may be right again soon. */
const PAUSE_SECONDS = 4

/** Reads the text of the cookie. @returns `undefined` for anything else */
export function readReturnCount(text = ''): ReturnCount | undefined {
  const [, count, name] = /^(\d+)\.([a-z_]*)$/.exec(text) ?? []
  const cause = CAUSES.find((known) => known === name)
  return cause === undefined ? undefined : { count: Number(count), cause }
}

/** Returns the text of the cookie, and for how long the browser keeps it, after another return from Identify or from a login page on another site. */
export function countReturn(known: ReturnCount | undefined, cause: LoopCause): { text: string; seconds: number } {
  return { text: `${(known?.count ?? 0) + 1}.${cause}`, seconds: cause === '' ? WINDOW_SECONDS : PAUSE_SECONDS }
}

/** Returns why the page must be served now, without another redirect. */
export function blockReason(known: ReturnCount | undefined): DegradedReason | undefined {
  if (!known) return undefined
  if (known.cause !== '') return known.cause
  return known.count >= MAX_RETURNS ? 'identify_loop' : undefined
}
