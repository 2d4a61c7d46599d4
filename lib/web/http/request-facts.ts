/** What a request says of itself, read once and strictly. */
import { isIP } from 'node:net'
import type { Request } from 'express'
import { createIsbotFromList, list } from 'isbot'
import type { Config } from '../../config'
import { isDocumentNavigation, isPrefetch, type RequestShape } from '../../decide/navigation'
import { MAX_CARRIED_LENGTH, validateReturnTo, withoutFlowParameter } from '../../decide/return-to'
import type { Device } from '../../protocol/claims'

const MAX_USER_AGENT = 512

function header(req: Request, name: string): string | undefined {
  const value = req.headers[name]
  return Array.isArray(value) ? value.join(', ') : value
}

/** The headers that tell whether a redirect can be followed. */
function shapeOf(req: Request): RequestShape {
  const purpose = [header(req, 'sec-purpose'), header(req, 'purpose'), header(req, 'x-moz')].filter(Boolean).join(' ')
  return {
    method: req.method,
    accept: header(req, 'accept'),
    secFetchDest: header(req, 'sec-fetch-dest'),
    purpose: purpose || undefined,
  }
}

/** Is this request a prefetch? */
export const isPrefetchRequest = (req: Request): boolean => isPrefetch(shapeOf(req))
/** Is this a navigation of a top-level document? */
export const isNavigation = (req: Request): boolean => isDocumentNavigation(shapeOf(req))

/** What is no bot though the list of bots has it: browsers that a test drives, which keep cookies and walk the login as people do. */
const DRIVEN: ReadonlySet<string> = new Set(['headless', 'cypress/', 'playwright', 'selenium', 'phantomjs'])
const isBot = createIsbotFromList(list.filter((pattern) => !DRIVEN.has(pattern)))

/** The default of `shouldIdentify`: a navigation, not by a known bot. */
export function isNavigationByPerson(req: Request): boolean {
  return isNavigation(req) && !isBot(req.headers['user-agent'])
}

const isBlank = (sign: string | undefined) => sign === ' ' || sign === '\t'

/** Without the blanks at both ends; by hand, for a pattern looks at many blanks within it once for each of them. */
function withoutBlanks(text: string): string {
  let [from, to] = [0, text.length]
  while (from < to && isBlank(text[from])) from += 1
  while (to > from && isBlank(text[to - 1])) to -= 1
  return text.slice(from, to)
}

/** Names and values of a Cookie header where a text is in them; only space and tab are trimmed, as the standard says. */
function pairsWith(header: string, text: string): [name: string, value: string][] {
  const pairs: [string, string][] = []
  for (const pair of header.split(';')) {
    if (!pair.includes(text)) continue
    const mark = pair.indexOf('=')
    if (mark > 0) pairs.push([withoutBlanks(pair.slice(0, mark)), withoutBlanks(pair.slice(mark + 1))])
  }
  return pairs
}

/** The cookie's value, read strictly; two of one name are none, for one of them is not ours. Threats S1, S2. */
export function readCookie(req: Request, name: string): string | undefined {
  const values = cookieValues(req, name)
  return values.length === 1 ? values[0] : undefined
}

/** Every value that came under this name. */
export function cookieValues({ headers: { cookie } }: Request, name: string): string[] {
  if (!cookie?.includes(name)) return []
  return pairsWith(cookie, name).flatMap(([found, value]) => (found === name ? [value] : []))
}

/** Every cookie whose name begins so, by its name. */
export function cookiesUnder({ headers: { cookie = '' } }: Request, prefix: string): Map<string, string> {
  return new Map(pairsWith(cookie, prefix).filter(([name]) => name.startsWith(prefix)))
}

/** The request target as it came; a raw request of Node.js has no `originalUrl`. */
const targetOf = (req: Request): string => req.originalUrl ?? req.url

/** The query as it was written: the site's own query parser is not asked, and a question mark in it is no end. */
export function queryOf(req: Request): URLSearchParams {
  const target = targetOf(req)
  const mark = target.indexOf('?')
  return new URLSearchParams(mark < 0 ? '' : target.slice(mark + 1))
}

/** Is the site mounted in its application at the path that its address has? Asked where `sso` stands, not in a router below. */
export function isMountedAt(req: Request, mountPath: string): boolean {
  const baseUrl = req.baseUrl ?? ''
  return mountPath === '' || baseUrl === mountPath || baseUrl.startsWith(`${mountPath}/`)
}

/** The page's own public address with everything the visitor wrote; `undefined` where no address of ours can be made of it. */
export function addressOf(req: Request, { siteUrl, returnPolicy }: Config, isMounted: boolean): string | undefined {
  const given = targetOf(req)
  const target = given.startsWith('/') ? given : '/'
  return validateReturnTo(
    (isMounted ? returnPolicy.origin : siteUrl) + target.replace(/#.*$/, ''),
    returnPolicy,
    MAX_CARRIED_LENGTH,
  )
}

/** Address and User-Agent for the SSO system: `req.ip` under the site's own `trust proxy`, text without control characters. */
export function deviceOf(req: Request): Device {
  const ip = withoutPort(req.ip ?? req.socket?.remoteAddress ?? '').replace(/^::ffff:(?=\d+\.)/, '')
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is removed
  const agent = (req.headers['user-agent'] ?? '').replace(/[\u0000-\u001f\u007f]/g, '')
  return { ipa: isIP(ip) ? ip : '0.0.0.0', uas: agent.slice(0, MAX_USER_AGENT) || 'unknown' }
}

/** Some proxies add the port to the address that they forward. */
const withoutPort = (address: string) =>
  address.replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, '$1').replace(/^\[([^\]]+)\](?::\d+)?$/, '$1')

/** The return address of a form or a query; anything that is not ours leads to the front page. */
export function returnToOf(config: Config, value: unknown): string {
  return withoutFlowParameter(validateReturnTo(value, config.returnPolicy) ?? `${config.siteUrl}/`)
}

/** Returns the address of the login page, with one return address. @param loginPage its absolute address, built-in or custom */
export function loginUrl(loginPage: string, returnTo: string, notice?: 'session_ended'): string {
  const [head = '', ...fragment] = loginPage.split('#')
  const more = notice ? `&notice=${notice}` : ''
  const query = `${head.includes('?') ? '&' : '?'}return_to=${encodeURIComponent(returnTo)}${more}`
  return [head + query, ...fragment].join('#')
}
