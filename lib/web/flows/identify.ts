/** Redirects to Identify, and binds the redirect to the browser, as `state` does in OAuth. Interface: "Identify: browser redirect". */
import { randomBytes } from 'node:crypto'
import { makeStamp } from '../../decide/binding'
import { withFlowParameter } from '../../decide/return-to'
import type { Context } from '../context'
import { publish } from '../hooks'
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
  const parameter = makeStamp(site.config.macKeys(), 'flow', ensureBinding(ctx), startedAt)
  return site.client.identifyUrl(withFlowParameter(page, parameter))
}

/** Redirects a browser without cookies to the page, with a marker. If it keeps the binding cookie, the page redirects to Identify. */
export function redirectWithMarker(ctx: Context, page: string): void {
  const { site, res } = ctx
  ensureBinding(ctx)
  redirect(res, withFlowParameter(page, makeStamp(site.config.macKeys(), 'marker', '', site.config.clock.now())), 303)
}

/** Redirects the browser to Identify. */
export function sendToIdentify(ctx: Context, page: string, reason: string): void {
  const { site, req, res } = ctx
  site.identifyHealth.noteRedirect()
  publish('identify', { operation: 'identify', outcome: 'redirected', durationMs: 0, reason })
  redirect(res, identifyAddress(ctx, page), req.method === 'GET' ? 302 : 303)
}
