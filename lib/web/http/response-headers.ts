/**
 * Sets response headers: cookies, redirects, caching. No shared cache may keep a response with a cookie of the package. The cache
 * would send the session of a user to other users. Threats R5, R10, R11, S1, S2.
 */
import type { NextFunction, Response } from 'express'
import onHeaders from 'on-headers'
import type { Config } from '../../config'

/** Finds `private` and `no-store`. `private="a-field"` does not count, because a shared cache may keep the rest of the response. */
const STRICT = /(?:^|[\s,])(?:private|no-store)(?:[\s,]|$)/i
const NO_TRANSFORM = /(?:^|[\s,])no-transform(?:[\s,]|$)/i
/** Headers that some shared caches follow instead of Cache-Control: nginx, Akamai, Fastly, and CDNs with their own `…-Cache-Control`. */
const SHARED_CACHE_HEADER = /^(?:x-accel-expires|edge-control|surrogate-control|.+-cache-control)$/i

/** Runs just before the response headers are written. An upgrade has no response. */
export function beforeHeaders(res: Response, run: () => void): void {
  if (typeof res.writeHead === 'function') onHeaders(res, run)
}

/** Makes a response private just before its headers are written, so after the handler, or a backend behind it, has set its own headers. */
export function keepPrivate(res: Response): void {
  beforeHeaders(res, () => makePrivate(res))
}

/** Makes a response private at once, while its headers are being written. The page's `no-transform` stays, for compression. */
export function makePrivate(res: Response): void {
  const said = String(res.getHeader('cache-control') ?? '')
  if (!STRICT.test(said))
    res.setHeader('cache-control', `${NO_TRANSFORM.test(said) ? 'no-transform, ' : ''}private, no-store`)
  removeSharedCacheHeaders(res)
}

/** Removes headers by which a shared cache may keep a private response. A header against caching stays. */
function removeSharedCacheHeaders(res: Response): void {
  res.removeHeader('expires') // caches that do not know Cache-Control use this header
  for (const name of res.getHeaderNames()) {
    if (!SHARED_CACHE_HEADER.test(name)) continue
    const value = String(res.getHeader(name)).trim()
    if (!STRICT.test(value) && value !== '0') res.removeHeader(name)
  }
}

/** Sets a helper cookie. @param maxAge in seconds, default until the browser closes; 0 drops the cookie */
export function setCookie(res: Response, config: Config, name: string, value: string, maxAge?: number): void {
  if (typeof res.setHeader !== 'function' || res.headersSent) return // an upgrade, or too late for a cookie
  keepPrivate(res)
  writeCookie(res, config, name, value, maxAge)
}

/** Writes a cookie in place of an earlier one of this response: HttpOnly, SameSite=Lax, Path=/, Secure over https. */
export function writeCookie(res: Response, config: Config, name: string, value: string, maxAge?: number): void {
  takeCookie(res, name)
  const age = maxAge === undefined ? '' : `; Max-Age=${maxAge}`
  const line = `${name}=${value}; Path=/; HttpOnly; SameSite=Lax${age}${config.isSecure ? '; Secure' : ''}`
  res.setHeader('set-cookie', [...cookieLines(res), line])
}

/** Takes a cookie out of a response. @returns its value as sent */
export function takeCookie(res: Response, name: string): string | undefined {
  const lines = cookieLines(res)
  const line = lines.find((other) => other.startsWith(`${name}=`))
  if (line === undefined) return undefined
  res.setHeader(
    'set-cookie',
    lines.filter((other) => other !== line),
  )
  return line.slice(name.length + 1).split(';', 1)[0]
}

const cookieLines = (res: Response): string[] => [res.getHeader('set-cookie') ?? []].flat().map(String)

/** Forbids all caches to keep this response. Overrides headers of earlier handlers. */
export function setNoStore(res: Response): void {
  res.setHeader('cache-control', 'no-store')
  removeSharedCacheHeaders(res)
}

/** Forbids caching and a Referer, for a response whose address or target has a token. */
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

/** Passes an error to the site's error handler. `next()` takes `undefined` and `'route'` for no error, and would run what a guard protects. */
export const forwardError = (next: NextFunction) => (cause: unknown) =>
  next(
    typeof cause === 'object' && cause !== null
      ? cause
      : new Error(
          'express-sso2: A hook or view failed without an error. See "TypeError" in node_modules/express-sso2/docs/troubleshooting.md.',
          { cause },
        ),
  )
