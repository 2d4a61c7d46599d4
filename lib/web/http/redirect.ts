/** Redirects: the Location is exactly what was computed, the body is empty, nothing is cached. Threats R5, R10, R11. */
import type { Response } from 'express'
import { removeSharedCacheHeaders } from './caching'

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
