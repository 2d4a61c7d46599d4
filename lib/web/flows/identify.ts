/** Redirects to Identify, and binds the redirect to the browser, as `state` does in OAuth. Interface: "Identify: browser redirect". */
import { randomBytes } from 'node:crypto'
import { makeStamp } from '../../decide/binding'
import { withFlowParameter } from '../../decide/return-to'
import { LOG_LINES } from '../../log/log-lines'
import type { Context } from '../context'
import { publish } from '../hooks'
import { pathAndQueryOf, queryParameters } from '../http/request-facts'
import { redirect, setCookie } from '../http/response-headers'

/** Returns the value of the binding cookie. Sets the cookie if the browser has none. */
function ensureBinding(ctx: Context): string {
  const { site, res } = ctx
  if (ctx.binding === undefined) {
    ctx.binding = randomBytes(16).toString('base64url')
    setCookie(res, site.config, site.config.cookies.binding, ctx.binding)
  }
  return ctx.binding
}

/** Returns the Identify address for a page. @param page the return address, without the parameter `sso2` */
export function identifyAddress(ctx: Context, page: string): string {
  const { site } = ctx
  const startedAt = ctx.logoutAt ?? site.config.clock.now()
  const parameter = makeStamp(site.macKeys, 'flow', ensureBinding(ctx), startedAt)
  return site.client.identifyUrl(withFlowParameter(page, parameter))
}

/** Redirects a browser without cookies to the page, with a marker. If it keeps the binding cookie, the page redirects to Identify. */
export function redirectWithMarker(ctx: Context, page: string): void {
  const { site, res } = ctx
  ensureBinding(ctx)
  redirect(res, withFlowParameter(page, makeStamp(site.macKeys, 'marker', '', site.config.clock.now())), 303)
}

/** Redirects the browser to Identify. An old marker is renewed first, because the browser may keep no cookies. */
export function sendToIdentify(ctx: Context, page: string, reason: string): void {
  const { site, req, res } = ctx
  if (ctx.marker === 'old') {
    redirectWithMarker(ctx, page)
    return
  }
  site.identifyHealth.noteRedirect()
  publish('identify', { operation: 'identify', outcome: 'redirected', durationMs: 0, reason })
  redirect(res, identifyAddress(ctx, page), req.method === 'GET' ? 302 : 303)
}

/** Every token begins with these letters. Without them, a request is no landing and costs no further test. */
const TOKEN_PREFIX = 't=eyJ'

/** Has the SSO system redirected a browser to the wrong path? Only a valid token proves it, because an attacker cannot forge one. */
export function isMisroutedLanding({ site, req, isMounted }: Context): boolean {
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
