/** The browser's mark of a logout that is not confirmed: set, tried again, dropped. Threats S12, S17. */
import { LOGOUT_COOKIE_SECONDS, type LogoutCookie, writeLogoutCookie } from '../../decide/logout-cookie'
import { dropCookie, setCookie } from '../http/response-headers'
import type { RequestContext } from '../request-context'

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
