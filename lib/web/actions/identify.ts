/** Redirects to Identify, binds the redirect to the browser (as `state` does in OAuth), and counts redirects to stop loops. */

import { randomBytes } from 'node:crypto'
import { flowStart, makeBinding, makeMarker } from '../../decide/binding'
import type { BindingFinding } from '../../decide/landing'
import { LOG_LINES } from '../../decide/log-lines'
import {
  countRedirect,
  isLastRedirect,
  isPageKey,
  REDIRECT_COUNT_SECONDS,
  type RedirectCount,
  readRedirectCount,
  surplusPages,
  withPageShown,
  writeRedirectCount,
} from '../../decide/loop-guard'
import { flowParameterOf, withFlowParameter } from '../../decide/return-to'
import { publish } from '../hooks'
import { cookiesUnder, pathAndQueryOf, queryParameters } from '../http/request-facts'
import { beforeHeaders, dropCookie, makePrivate, redirect, setCookie } from '../http/response-headers'
import {
  markerOf,
  mayHaveRedirectCounts,
  pageAddress,
  type RequestContext,
  redirectCountCookie,
  redirectCountFor,
} from '../request-context'

/** Returns the value of the binding cookie. Sets the cookie if the browser has none. */
function ensureBinding({ site, res, browser }: RequestContext): string {
  if (browser.binding === undefined) {
    browser.binding = randomBytes(16).toString('base64url')
    setCookie(res, site.config, site.config.cookies.binding, browser.binding)
  }
  return browser.binding
}

/** Returns the Identify address for a page. Sets the binding cookie if the browser has none. @param redirects count with this redirect, if counted */
export function identifyAddress(context: RequestContext, page: string, redirects?: RedirectCount): string {
  const { site } = context
  const isLast = redirects && isLastRedirect(redirects)
  const parameter = makeBinding(site.macKeys, ensureBinding(context), site.now(), isLast)
  return site.client.identifyUrl(withFlowParameter(page, parameter))
}

/** Redirects a browser without cookies to the page, with a marker. If the browser keeps the binding cookie, the page redirects to Identify. */
export function redirectWithMarker(context: RequestContext, page: string): void {
  const { site, res } = context
  ensureBinding(context)
  redirect(res, withFlowParameter(page, makeMarker(site.macKeys, site.now())), 303)
}

/**
 * Redirects the browser to Identify, and counts the redirect. An old marker is renewed first, because the browser may keep no cookies.
 * @param page the return address, without the parameter `sso2`
 */
export function sendToIdentify(context: RequestContext, page: string, reason: string): void {
  const { site, req, res } = context
  if (markerOf(context) === 'old') {
    redirectWithMarker(context, page)
    return
  }
  const redirects = countRedirect(redirectCountFor(context, page), site.now())
  setRedirectCount(context, page, redirects)
  site.identifyHealth.noteRedirect()
  publish('identify', { operation: 'identify', outcome: 'redirected', durationMs: 0, reason })
  redirect(res, identifyAddress(context, page, redirects), req.method === 'GET' ? 302 : 303)
}

/** Notes that a browser returned from Identify with a valid token. The time of the redirect is known only from a return address that the site signed. */
export function recordReturn(
  { site: { identifyHealth: front, now } }: RequestContext,
  binding: BindingFinding,
  returnTo: string,
): void {
  front.noteCookies(binding !== 'no_cookies')
  front.noteReturnFromIdentify((binding === 'bound' ? flowStart(flowParameterOf(returnTo)) : undefined) ?? now())
}

/** Sets the count of Identify redirects for a page, if the count has changed. @param redirects `undefined`: deletes the count */
export function setRedirectCount(context: RequestContext, page: string, redirects: RedirectCount | undefined): void {
  const { site, res } = context
  const { config } = site
  const before = redirectCountFor(context, page)
  const name = redirectCountCookie(site, page)
  if (redirects === undefined) {
    if (before) dropCookie(res, config, name)
    return
  }
  if (before && writeRedirectCount(before) === writeRedirectCount(redirects)) return
  setCookie(res, config, name, writeRedirectCount(redirects), REDIRECT_COUNT_SECONDS)
  if (!before) dropOldestCounts(context, name)
}

function dropOldestCounts({ site: { config, now }, req, res }: RequestContext, newest: string): void {
  const prefix = config.cookies.loop
  const isOther = (name: string) => name !== newest && isPageKey(name.slice(prefix.length))
  const others = [...cookiesUnder(req, prefix)].filter(([name]) => isOther(name))
  const counts = new Map(others.map(([name, value]) => [name, readRedirectCount(value, now())]))
  for (const name of surplusPages(counts)) dropCookie(res, config, name)
}

/** Deletes the count when the page is served with a session. `isServed` is called when the response headers are sent. */
export function dropRedirectCountWhenServed(context: RequestContext, isServed: () => boolean): void {
  setRedirectCountBeforeHeaders(context, (redirects) => (isServed() ? undefined : redirects))
}

/** Notes that the page is shown, which ends the chain of redirects. A response that redirects does not end the chain. */
export function recordPageShown(context: RequestContext): void {
  const { site, res } = context
  setRedirectCountBeforeHeaders(context, (redirects) =>
    res.hasHeader('location') ? redirects : withPageShown(redirects, site.now()),
  )
}

function setRedirectCountBeforeHeaders(
  context: RequestContext,
  change: (redirects: RedirectCount) => RedirectCount | undefined,
): void {
  const page = mayHaveRedirectCounts(context) ? pageAddress(context) : undefined
  const redirects = page === undefined ? undefined : redirectCountFor(context, page)
  if (page === undefined || redirects === undefined) return
  beforeHeaders(context.res, () => {
    const changed = change(redirects)
    if (changed && writeRedirectCount(changed) === writeRedirectCount(redirects)) return
    setRedirectCount(context, page, changed)
    makePrivate(context.res)
  })
}

/** Every token begins with these letters. Without them, a request is no landing and costs no further test. */
const TOKEN_PREFIX = 't=eyJ'

/** Has the SSO system redirected a browser to the wrong path? Only a valid token proves it, because an attacker cannot forge a token. */
export function isMisroutedLanding({ site, req, isMounted }: RequestContext): boolean {
  const { config } = site
  const target = req.originalUrl ?? req.url
  if (!target.includes(TOKEN_PREFIX)) return false
  try {
    site.client.readLanding(queryParameters(req).get('t'))
  } catch {
    return false
  }
  const { landing } = config.routes
  if (landing === false) return true
  const path = (pathAndQueryOf(req).split('?', 1)[0] ?? '').slice(0, 200)
  const expectedPath = (isMounted ? config.mountPath : '') + landing
  const { landingUnrouted, landingElsewhere } = LOG_LINES
  const found = `The SSO system redirects browsers to ${path}`
  const line =
    path === expectedPath
      ? { ...landingUnrouted, happened: `${found}, the landing page, but no router handles it` }
      : { ...landingElsewhere, happened: `${found}, but the landing page of this site is ${expectedPath}` }
  config.log.warn(path === expectedPath ? 'landing:router' : 'landing:path', line)
  return true
}
