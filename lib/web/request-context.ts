/** One request on its way: what was read of it, and the record that it may change. What a visit comes to is no field of it. */
import type { Request, Response } from 'express'
import { isBindingValue, isSignature, MARKER_SECONDS } from '../decide/binding'
import { LOGOUT_COOKIE_SECONDS, type LogoutCookie, readLogoutCookie, writeLogoutCookie } from '../decide/logout-cookie'
import { blockReason, pageKey, type RedirectCount, readRedirectCount } from '../decide/loop-guard'
import type { ChecksAtStart, DegradedReason } from '../decide/request-decision'
import { flowParameterOf, MAX_RETURN_LENGTH, withoutFlowParameter } from '../decide/return-to'
import { isLateFor } from '../decide/stored-entry'
import { shortHash } from '../storage/keys'
import { addressOf, isMountedAt, readCookie } from './http/request-facts'
import { dropCookie, setCookie } from './http/response-headers'
import type { Site } from './site'
import { StoredRecord } from './stored-record'

/** @see the head of the file */
export interface RequestContext {
  readonly site: Site
  readonly req: Request
  readonly res: Response
  /** The record of the browser's session; it follows when the session gets another ID. */
  readonly stored: StoredRecord
  /** A session cookie came that this process cannot read. */
  readonly hasUnreadableCookie: boolean
  /** The session is one of the site's own: a sister domain may be able to set its cookie, as it cannot with ours. Threat S1. */
  readonly hasExternalSession: boolean
  /** The browser's session has moved or ended a moment ago: whoever comes with its cookie is late. */
  readonly isLate: boolean
  /** The status checks of the record when the request began. */
  readonly checksAtStart: ChecksAtStart
  /** Is the site mounted in its application at the path of its address? */
  readonly isMounted: boolean
  readonly browser: BrowserState
}

/** What the browser carries, as this answer leaves it: read when it is asked for, and changed by the one action that sets its cookie. */
class BrowserState {
  readonly #site: Site
  readonly #req: Request
  #binding: string | undefined | null = null
  #signedOut: LogoutCookie | undefined | null = null

  constructor(site: Site, req: Request) {
    this.#site = site
    this.#req = req
  }

  /** Value of the binding cookie. */
  get binding(): string | undefined {
    if (this.#binding !== null) return this.#binding
    const value = readCookie(this.#req, this.#site.config.cookies.binding)
    this.#binding = isBindingValue(value) ? value : undefined
    return this.#binding
  }
  set binding(value: string | undefined) {
    this.#binding = value
  }

  /** The mark of a logout that is not confirmed. */
  get logoutCookie(): LogoutCookie | undefined {
    if (this.#signedOut !== null) return this.#signedOut
    const { config, macKeys, now } = this.#site
    this.#signedOut = readLogoutCookie(readCookie(this.#req, config.cookies.signedOut), macKeys, now())
    return this.#signedOut
  }
  set logoutCookie(value: LogoutCookie | undefined) {
    this.#signedOut = value
  }
}

/** Reads the session and its record; never throws for a store that does not answer. */
export async function openRequestContext(site: Site, req: Request, res: Response): Promise<RequestContext> {
  const { key, stored, isUnreadable, isExternal: isForeign } = await site.sessions.stateOf(req)
  const record = new StoredRecord(site, key, stored)
  return {
    site,
    req,
    res,
    stored: record,
    hasUnreadableCookie: isUnreadable,
    hasExternalSession: isForeign,
    isLate: stored !== 'unavailable' && isLateFor(stored, site.now()),
    checksAtStart: { asking: record.value?.asking, asked: record.value?.asked },
    isMounted: isMountedAt(req, site.config.mountPath),
    browser: new BrowserState(site, req),
  }
}

/** Name of this browser in its anonymous record, where that is needed: nobody but the browser knows what it is made of. */
export function browserName({ hasExternalSession, browser: { binding } }: RequestContext): string | undefined {
  return hasExternalSession && binding !== undefined ? shortHash(binding) : undefined
}

/** The address without our parameter: the page's name for the loop guard and the end of the flow. */
export function pageOf({ site, req, isMounted }: RequestContext): string | undefined {
  const address = addressOf(req, site.config, isMounted)
  const page = address === undefined ? undefined : withoutFlowParameter(address)
  return page !== undefined && page.length > MAX_RETURN_LENGTH ? undefined : page
}

/** Must this page be served now, without another trip? The marker counts only where our cookie did not come back. */
export function blockOf(context: RequestContext): DegradedReason | undefined {
  const { site, req, browser } = context
  const address = addressOf(req, site.config, context.isMounted) ?? ''
  const isMarked = isSignature(site.macKeys, 'marker', '', flowParameterOf(address), site.now(), MARKER_SECONDS)
  if (isMarked && browser.binding === undefined) return 'cookies_blocked'
  const page = pageOf(context)
  return page === undefined ? undefined : blockReason(redirectCountFor(context, page), site.now())
}

/** May this browser have made a trip within the last minute? Nearly none has, and the name of a page costs a hash. */
export const mayHaveRedirectCounts = ({ site, req }: RequestContext): boolean =>
  req.headers.cookie?.includes(site.config.cookies.loop) === true

/** This browser's trips through Identify for a page, as its cookie tells them. @param page without our parameter */
export function redirectCountFor(context: RequestContext, page: string): RedirectCount | undefined {
  if (!mayHaveRedirectCounts(context)) return undefined
  const { site, req } = context
  return readRedirectCount(readCookie(req, redirectCountCookie(site, page)), site.now())
}

/** Name of the cookie that counts a page's trips. */
export const redirectCountCookie = ({ config }: Site, page: string): string => config.cookies.loop + pageKey(page)

/** Marks the browser. */
export function setLogoutCookie(context: RequestContext, logoutCookie: LogoutCookie): void {
  const { site, res, browser } = context
  browser.logoutCookie = logoutCookie
  const value = writeLogoutCookie(logoutCookie, site.macKeys, site.now())
  setCookie(res, site.config, site.config.cookies.signedOut, value, LOGOUT_COOKIE_SECONDS)
}

/** The logout is confirmed, or the SSO system itself says that this browser is anonymous, or somebody has logged in here. */
export function dropLogoutCookie({ site, res, browser }: RequestContext): void {
  if (browser.logoutCookie === undefined) return
  browser.logoutCookie = undefined
  dropCookie(res, site.config, site.config.cookies.signedOut)
}
