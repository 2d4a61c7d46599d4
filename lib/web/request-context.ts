/** The context of a request: its facts, its login record and the browser's cookies. The outcome of the request is not part of the context. */
import type { Request, Response } from 'express'
import { checkMarker, isBindingValue, type MarkerState } from '../decide/binding'
import { type LogoutCookie, logoutCookieSeconds, readLogoutCookie, writeLogoutCookie } from '../decide/logout'
import { blockReason, pageKey, type RedirectCount, readRedirectCount } from '../decide/loop-guard'
import type { DegradedReason, StatusChecksAtStart } from '../decide/request-decision'
import { flowParameterOf, MAX_RETURN_LENGTH, withoutFlowParameter } from '../decide/return-to'
import { shortHash } from '../storage/site-store'
import { cookiesUnder, isMountedAt, readCookie, requestAddress } from './http/request-facts'
import { dropCookie, setCookie } from './http/response-headers'
import type { Site } from './site'
import { StoredRecord } from './stored-record'

/** The context of one request. */
export interface RequestContext {
  readonly site: Site
  readonly req: Request
  readonly res: Response
  /** The login record of the browser's session, also after the session gets a new ID. */
  readonly stored: StoredRecord
  readonly hasUnreadableCookie: boolean
  /** Is the session the site's own express-session? An attacker on a sibling domain may set its cookie, but not the package's cookie. Threat S1. */
  readonly hasExternalSession: boolean
  /** Has the browser's session moved or ended a moment ago? Then the cookie of the request is outdated. */
  readonly hasSessionJustEnded: boolean
  readonly statusChecksAtStart: StatusChecksAtStart
  /** Is the site mounted in its application at the path of its address? */
  readonly isMounted: boolean
  readonly browser: BrowserState
  readonly running: RunningHooks
}

/** Cookies of the browser, as the response will leave them. Changed only by the action that sets the cookie. */
interface BrowserState {
  binding: string | undefined
  logoutCookie: LogoutCookie | undefined
}

/** Hooks of the site that are running for the request. */
interface RunningHooks {
  onLogout: boolean
}

/** Reads the session and its record. Never throws because of an outage of Redis. */
export async function openRequestContext(site: Site, req: Request, res: Response): Promise<RequestContext> {
  const { key, stored, isUnreadable, isExternal } = await site.sessions.stateOf(req)
  const { config, macKeys, now } = site
  const record = new StoredRecord(site, key, stored)
  const binding = readCookie(req, config.cookies.binding)
  return {
    site,
    req,
    res,
    stored: record,
    hasUnreadableCookie: isUnreadable,
    hasExternalSession: isExternal,
    hasSessionJustEnded: record.hasJustEnded,
    statusChecksAtStart: statusChecksOf(record),
    isMounted: isMountedAt(req, config.mountPath),
    browser: {
      binding: isBindingValue(binding) ? binding : undefined,
      logoutCookie: readLogoutCookie(readCookie(req, config.cookies.logout), macKeys, now()),
    },
    running: { onLogout: false },
  }
}

/** Returns the status checks of a record, as last read. */
export const statusChecksOf = ({ value }: StoredRecord): StatusChecksAtStart => ({
  currentCheckId: value?.currentCheckId,
  lastCheckId: value?.lastCheckId,
})

/** Returns the name of the browser for its anonymous record, with the site's own session only. Only the browser knows the cookie behind the hash. */
export function browserName({ hasExternalSession, browser: { binding } }: RequestContext): string | undefined {
  return hasExternalSession && binding !== undefined ? shortHash(binding) : undefined
}

/** Returns the address of the page without the parameter `sso2`, for the loop guard and as the return address. */
export function pageAddress({ site, req, isMounted }: RequestContext): string | undefined {
  const address = requestAddress(req, site.config, isMounted)
  const page = address === undefined ? undefined : withoutFlowParameter(address)
  return page !== undefined && page.length > MAX_RETURN_LENGTH ? undefined : page
}

/** Checks the marker of a browser without cookies in the address. The marker counts only if the browser has no binding cookie. */
export function markerOf(context: RequestContext): MarkerState {
  const { site, req, browser } = context
  if (browser.binding !== undefined) return 'none'
  const address = requestAddress(req, site.config, context.isMounted) ?? ''
  return checkMarker(site.macKeys, flowParameterOf(address), site.now())
}

/** Returns why the page must be served now, without another Identify redirect. */
export function blockOf(context: RequestContext): DegradedReason | undefined {
  if (markerOf(context) === 'current') return 'cookies_blocked'
  const { site } = context
  const page = pageAddress(context)
  return page === undefined ? undefined : blockReason(redirectCountFor(context, page), site.now())
}

/** May the browser have a redirect count? Few browsers have, so the hash of the page's address is rarely computed. */
export const mayHaveRedirectCounts = ({ site, req }: RequestContext): boolean =>
  req.headers.cookie?.includes(site.config.cookies.loop) === true

/** Reads the browser's count of Identify redirects for a page. @param page address without the parameter `sso2` */
export function redirectCountFor(context: RequestContext, page: string): RedirectCount | undefined {
  if (!mayHaveRedirectCounts(context)) return undefined
  const { site, req } = context
  return readRedirectCount(readCookie(req, redirectCountCookie(site, page)), site.now())
}

/** Has Redis just failed to store a landing of this browser, on a master that still fails? Then another redirect would not bring a session. */
export function isLandingUnstored({ site: { config, records, now }, req }: RequestContext): boolean {
  if (records.failure === undefined) return false
  const counts = [...cookiesUnder(req, config.cookies.loop).values()]
  return counts.some((value) => readRedirectCount(value, now())?.cause === 'a')
}

/** Returns the name of the cookie that counts the Identify redirects of a page. */
export const redirectCountCookie = ({ config }: Site, page: string): string => config.cookies.loop + pageKey(page)

/** Sets the logout cookie. */
export function setLogoutCookie(context: RequestContext, logoutCookie: LogoutCookie): void {
  const { site, res, browser } = context
  browser.logoutCookie = logoutCookie
  const value = writeLogoutCookie(logoutCookie, site.macKeys, site.now())
  setCookie(res, site.config, site.config.cookies.logout, value, logoutCookieSeconds(logoutCookie))
}

/** Drops the logout cookie, after a confirmed logout, a login, or an anonymous status from the SSO system. */
export function dropLogoutCookie({ site, res, browser }: RequestContext): void {
  if (browser.logoutCookie === undefined) return
  browser.logoutCookie = undefined
  dropCookie(res, site.config, site.config.cookies.logout)
}
