/** No shared cache may keep an answer that sets one of our cookies, whatever the page says of itself: it would hand one reader's session to the next. Threat R10. */
import type { Response } from 'express'
import onHeaders from 'on-headers'

const watched = new WeakSet<Response>()
const marked = new WeakSet<Response>()
const STRICT = /(?:^|[\s,])(?:private|no-store)(?:[\s,=]|$)/i
/** What some caches heed instead of Cache-Control. */
const OTHER_HEADERS = ['cdn-cache-control', 'surrogate-control', 'expires']

/** Looks at the head of this answer when it is written. Listeners run last one first: register before those that set cookies. */
export function watchCookies(res: Response, names: readonly string[]): void {
  if (watched.has(res)) return
  watched.add(res)
  onHeaders(res, () => {
    if (marked.has(res) || setsOneOf(res, names)) makePrivate(res)
  })
}

/** This answer sets a session cookie that is not of our making. */
export function markPrivate(res: Response): void {
  marked.add(res)
}

function setsOneOf(res: Response, names: readonly string[]): boolean {
  const lines = [res.getHeader('set-cookie') ?? []].flat().map(String)
  return lines.some((line) => names.some((name) => line.startsWith(`${name}=`)))
}

function makePrivate(res: Response): void {
  if (!STRICT.test(String(res.getHeader('cache-control') ?? ''))) res.setHeader('cache-control', 'private, no-store')
  for (const name of OTHER_HEADERS) res.removeHeader(name)
}
