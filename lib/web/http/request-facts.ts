/**
 * Reads facts of a request strictly: cookies, address, device, return address. Kinds of navigation: lib/decide/navigation.ts.
 * This folder decides nothing (lib/decide) and sends no page (lib/web/pages).
 * Cookies, redirects and caching of a response: response-headers.ts. Body of a POST: lib/web/router.ts.
 */
import { isIP } from 'node:net'
import type { Request } from 'express'
import type { Config } from '../../config'
import { MAX_CARRIED_LENGTH, MAX_RETURN_LENGTH, validateReturnTo, withoutFlowParameter } from '../../decide/return-to'
import type { Device } from '../../protocol/claims'

const MAX_USER_AGENT = 512

/** Returns a cookie's value. Two cookies of the same name count as none, because the package did not set both. Threats S1, S2. */
export function readCookie(req: Request, name: string): string | undefined {
  const values = cookieValues(req, name)
  return values.length === 1 ? values[0] : undefined
}

/** Returns the values of all cookies of a name. Only spaces and tabs may stand before a name: browsers let any site set other blanks. */
export function cookieValues({ headers: { cookie } }: Request, name: string): string[] {
  const values: string[] = []
  if (!cookie?.includes(name)) return values
  for (const part of cookie.split(';')) {
    const pair = part.replace(/^[ \t]+/, '')
    if (pair.startsWith(`${name}=`)) values.push(pair.slice(name.length + 1))
  }
  return values
}

/** Returns the query as the browser sent it, without the site's query parser. A question mark within the query is part of the query. */
export function queryParameters(req: Request): URLSearchParams {
  const [, ...query] = pathAndQueryOf(req).split('?')
  return new URLSearchParams(query.join('?'))
}

/**
 * Returns path and query of the request target as sent, and `/` for a target without a path. Some proxies send the absolute form
 * (`GET http://host/path`), whose host anybody can choose. A request of plain Node.js has no `originalUrl`.
 */
export function pathAndQueryOf(req: Request): string {
  const target = (req.originalUrl ?? req.url).replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, '')
  if (target.startsWith('/')) return target
  return target.startsWith('?') ? `/${target}` : '/'
}

/** Returns a path as the application compares paths, by its settings `case sensitive routing` and `strict routing`. */
export function comparedPath({ app }: Request, path: string): string {
  const written = app?.enabled('case sensitive routing') ? path : path.toLowerCase()
  return written.length > 1 && written.endsWith('/') && !app?.enabled('strict routing') ? written.slice(0, -1) : written
}

/**
 * Returns the page's public address with path and query as the browser sent them, or `undefined` if the address is no valid return address.
 * A path that does not begin with the path of `siteUrl` has lost it to a proxy.
 */
export function requestAddress(req: Request, { siteUrl, mountPath, returnPolicy }: Config): string | undefined {
  const target = pathAndQueryOf(req).replace(/#.*$/, '')
  const [path = ''] = target.split('?')
  const isWhole = `${comparedPath(req, path)}/`.startsWith(`${comparedPath(req, mountPath)}/`)
  const base = isWhole ? returnPolicy.origin : siteUrl
  return validateReturnTo(base + target, returnPolicy, MAX_CARRIED_LENGTH)
}

/** Address of a visitor whose address the application does not know, as behind a Unix socket. */
export const UNKNOWN_ADDRESS = '0.0.0.0'

/** Returns IP address (by the site's `trust proxy`) and User-Agent (without control characters) for the SSO system. */
export function deviceOf(req: Request): Device {
  const address = req.ip ?? req.socket?.remoteAddress ?? ''
  const ip = address
    .replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, '$1') // some proxies add the port to the address that they forward
    .replace(/^\[([^\]]+)\](?::\d+)?$/, '$1')
    .replace(/^::ffff:(?=\d+\.)/, '')
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is removed
  const agent = (req.headers['user-agent'] ?? '').replace(/[\u0000-\u001f\u007f]/g, '')
  return { ipa: isIP(ip) ? ip : UNKNOWN_ADDRESS, uas: agent.slice(0, MAX_USER_AGENT) || 'unknown' }
}

/** Returns the return address of a form or a query. If the value is not on the site or a trusted origin, returns the front page's address. */
export function returnToOf(config: Config, value: unknown): string {
  return withoutFlowParameter(validateReturnTo(value, config.returnPolicy) ?? `${config.siteUrl}/`)
}

/**
 * Returns the address of the login page with a return address, if there is room for it. A page of the same origin is named by its path.
 * @param loginPage absolute address of the page, built-in or custom
 */
export function loginUrl(loginPage: string, returnTo: string, notice?: 'session_ended'): string {
  const url = new URL(loginPage)
  const isPath = returnTo.startsWith(`${url.origin}/`) && !returnTo.startsWith(`${url.origin}//`) // browsers take `//` for another host
  const back = `return_to=${encodeURIComponent(isPath ? returnTo.slice(url.origin.length) : returnTo)}`
  const fields = [url.search.slice(1), back, notice ? `notice=${notice}` : ''].filter(Boolean)
  url.search = fields.join('&')
  // Identify leads to no longer address
  if (url.href.length > MAX_RETURN_LENGTH) url.search = fields.filter((field) => field !== back).join('&')
  return url.href
}

/** Is this an address of the login page, built-in or custom, with any query? Compares as Express compares paths by default. */
export function isLoginPage({ loginPage }: Config, address: string): boolean {
  const pageOf = (url: string) => url.replace(/\/?(?:[?#].*)?$/s, '').toLowerCase()
  return loginPage !== undefined && pageOf(address) === pageOf(loginPage)
}
