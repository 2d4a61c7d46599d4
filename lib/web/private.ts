/** No shared cache may keep an answer that sets one of our cookies, whatever the page says of itself: it would hand one reader's session to the next. Threat R10. */
import type { Response } from 'express'
import onHeaders from 'on-headers'

const watched = new WeakSet<Response>()
const STRICT = /(?:^|[\s,])(?:private|no-store)(?:[\s,=]|$)/i
/** What some caches heed instead of Cache-Control. */
const OTHER_HEADERS = ['cdn-cache-control', 'surrogate-control', 'expires']

/** For an answer that sets a cookie: looks at its head when it is written, after the page has had its say. */
export function keepPrivate(res: Response): void {
  if (watched.has(res)) return
  watched.add(res)
  onHeaders(res, () => makePrivate(res))
}

/** For an answer that may yet set one. @param isSetting asked when the head is written */
export function keepPrivateIf(res: Response, isSetting: () => boolean): void {
  onHeaders(res, () => {
    if (isSetting()) makePrivate(res)
  })
}

function makePrivate(res: Response): void {
  if (!STRICT.test(String(res.getHeader('cache-control') ?? ''))) res.setHeader('cache-control', 'private, no-store')
  for (const name of OTHER_HEADERS) res.removeHeader(name)
}
