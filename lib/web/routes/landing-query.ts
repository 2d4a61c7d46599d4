/** The query of a landing: read once, and taken off the request. Threats O7, R6. */
import type { Request } from 'express'
import { queryOf } from '../http/request-facts'

/** What a landing page is given. Interface: "Landing page". */
export interface LandingQuery {
  readonly t: string
  readonly r: string | undefined
}

const isToken = (name: string) => new URLSearchParams(name).has('t')

const hidden = (pair: string) => {
  const [name = ''] = pair.split('=', 1)
  return name.length < pair.length && isToken(name) ? 't=***' : pair
}

/** Pair by pair, as the query is read: a pattern would begin anew at each question mark. */
function hide(url: string): string {
  const [path = ''] = url.split('?', 1)
  if (path.length === url.length) return url
  const pairs = url.slice(path.length + 1).split('&')
  return `${path}?${pairs.map(hidden).join('&')}`
}

/**
 * Takes the query off a request for the landing page, whatever its method and whatever becomes of it: later handlers and
 * access logs see that there was a token, never which. Names are case-sensitive, and the query parser of the site is not asked.
 * @returns nothing unless there was exactly one `t` and at most one `r`
 */
export function removeLandingQuery(req: Request): LandingQuery | undefined {
  const query = queryOf(req)
  req.originalUrl = hide(req.originalUrl ?? req.url)
  req.url = hide(req.url)
  // what parseurl and Express 4 have read from the address before
  Object.assign(req, { _parsedUrl: undefined, _parsedOriginalUrl: undefined })
  if (Object.hasOwn(req, 'query') && req.query['t'] !== undefined) req.query['t'] = '***'
  const [t, ...moreT] = query.getAll('t')
  const [r, ...moreR] = query.getAll('r')
  return t === undefined || moreT.length + moreR.length > 0 ? undefined : { t, r }
}
