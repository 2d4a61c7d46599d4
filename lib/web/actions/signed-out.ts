/** The browser's mark of a logout that is not confirmed: set, tried again, dropped. Threats S12, S17. */
import { SIGNED_OUT_SECONDS, type SignedOut, writeSignedOut } from '../../decide/signed-out'
import { dropCookie, setCookie } from '../http/cookies'
import type { Visit } from '../visit'

/** Marks the browser. */
export function setSignedOut(visit: Visit, signedOut: SignedOut): void {
  const { site, res, browser } = visit
  browser.signedOut = signedOut
  const value = writeSignedOut(signedOut, site.macKeys, site.now())
  setCookie(res, site.config, site.config.cookies.signedOut, value, SIGNED_OUT_SECONDS)
}

/** The logout is confirmed, or the SSO system itself says that this browser is anonymous, or somebody has logged in here. */
export function dropSignedOut({ site, res, browser }: Visit): void {
  if (browser.signedOut === undefined) return
  browser.signedOut = undefined
  dropCookie(res, site.config, site.config.cookies.signedOut)
}
