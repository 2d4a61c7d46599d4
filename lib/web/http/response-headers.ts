/** No shared cache may keep an answer that sets one of our cookies, whatever the page says of itself: it would hand one reader's session to the next. Threat R10. */
import type { NextFunction, Response } from 'express'
import onHeaders from 'on-headers'
import type { Config } from '../../config'

const PRIVATE = Symbol('express-sso2: private')
const STRICT = /(?:^|[\s,])(?:private|no-store)(?:[\s,=]|$)/i
const NO_TRANSFORM = /(?:^|[\s,])no-transform(?:[\s,]|$)/i
/** Headers that some shared caches follow instead of Cache-Control: nginx, Akamai, Fastly, and every CDN with a `…-Cache-Control` of its own. */
const SHARED_CACHE_HEADER = /^(?:x-accel-expires|edge-control|surrogate-control|.+-cache-control)$/i

interface Marked extends Response {
  [PRIVATE]?: true
}

/** Runs when the head of an answer is about to be written; not where there is no answer, as on an upgrade. */
export function beforeHeaders(res: Response, run: () => void): void {
  if (typeof res.writeHead === 'function') onHeaders(res, run)
}

/** For an answer that sets a cookie: looks at its head when it is written, after the page has had its say. */
export function keepPrivate(res: Marked): void {
  if (res[PRIVATE]) return
  res[PRIVATE] = true
  beforeHeaders(res, () => makePrivate(res))
}

/** At once: for an answer whose head is being written. Who compresses keeps the page's `no-transform`. */
export function makePrivate(res: Response): void {
  const said = String(res.getHeader('cache-control') ?? '')
  if (!STRICT.test(said))
    res.setHeader('cache-control', `${NO_TRANSFORM.test(said) ? 'no-transform, ' : ''}private, no-store`)
  removeSharedCacheHeaders(res)
}

/** Removes what would let a shared cache keep a private response, whoever has set it. A header that forbids it stays. */
export function removeSharedCacheHeaders(res: Response): void {
  res.removeHeader('expires') // a cache that does not know Cache-Control follows it
  for (const name of res.getHeaderNames()) {
    if (!SHARED_CACHE_HEADER.test(name)) continue
    const value = String(res.getHeader(name)).trim()
    if (!STRICT.test(value) && value !== '0') res.removeHeader(name)
  }
}

/** What lets a cache that many share keep an answer. */
const SHARED = /^(?:public|s-maxage|proxy-revalidate)\b/i

/**
 * For a page that not everybody may see: whatever a handler says of it, or a backend that the handler passes on, a browser may keep it
 * and no shared cache.
 */
export function keepFromOthers(res: Response): void {
  if (!res.hasHeader('cache-control')) res.setHeader('cache-control', 'private, no-store')
  beforeHeaders(res, () => {
    const said = String(res.getHeader('cache-control') ?? '')
    const kept = said.split(',').filter((word) => word.trim() !== '' && !SHARED.test(word.trim()))
    if (!STRICT.test(said)) res.setHeader('cache-control', ['private', ...kept.map((word) => word.trim())].join(', '))
    removeSharedCacheHeaders(res)
  })
}

/** Sets a helper cookie: HttpOnly, SameSite=Lax, Path=/, Secure over https. @param maxAge seconds; absent: until the browser closes */
export function setCookie(res: Response, config: Config, name: string, value: string, maxAge?: number): void {
  if (typeof res.setHeader !== 'function' || res.headersSent) return // an upgrade, or too late: nobody can be told
  keepPrivate(res)
  const age = maxAge === undefined ? '' : `; Max-Age=${maxAge}`
  appendCookie(res, name, `${name}=${value}; Path=/; HttpOnly; SameSite=Lax${age}${config.isSecure ? '; Secure' : ''}`)
}

/** Expires a helper cookie. */
export function dropCookie(res: Response, config: Config, name: string): void {
  setCookie(res, config, name, '', 0)
}

/** Adds a line of `Set-Cookie`; replaces what this answer already says about the name. */
export function appendCookie(res: Response, name: string, line: string): void {
  const others = [res.getHeader('set-cookie') ?? []]
    .flat()
    .map(String)
    .filter((other) => !other.startsWith(`${name}=`))
  res.setHeader('set-cookie', [...others, line])
}

/** No cache may keep this response, whatever a handler in front of `sso` has set. */
export function setNoStore(res: Response): void {
  res.setHeader('cache-control', 'no-store')
  removeSharedCacheHeaders(res)
}

/** For an answer that carries or follows a token: nobody keeps it, and no other site learns its address. */
export function setTokenHeaders(res: Response): void {
  setNoStore(res)
  res.setHeader('referrer-policy', 'no-referrer')
}

/** Redirects without Express rewriting the address. @param status 302 for a GET, 303 after a POST */
export function redirect(res: Response, address: string, status: 302 | 303): void {
  setTokenHeaders(res)
  res.statusCode = status
  res.setHeader('location', address)
  res.end()
}

/** For `catch`. */
export const failing = (next: NextFunction) => (cause: unknown) =>
  next(cause || new Error('express-sso2: A hook or view failed without an error. See "TypeError" in docs/errors.md.'))
