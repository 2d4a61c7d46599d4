/** The logout pages. `GET` shows a confirmation form and changes nothing. `POST {logout}` and `POST {logoutAll}` log out, then redirect to Identify. */
import type { Request, Response } from 'express'
import { identifyAddress } from '../actions/identify'
import { logOut } from '../actions/log-out'
import { queryParameters, returnToOf } from '../http/request-facts'
import { redirect } from '../http/response-headers'
import { sendJson, sendPage, sendProblem, wantsJson } from '../pages/answers'
import { openRequestContext } from '../request-context'
import type { Site } from '../site'

/** Shows the confirmation form. */
export const showLogout = (isAll: boolean) => async (site: Site, req: Request, res: Response) => {
  const query = queryParameters(req)
  const returnTo = returnToOf(site.config, query.get('return_to') ?? undefined)
  const { siteUrl, routes } = site.config
  const action = siteUrl + (isAll ? routes.logoutAll : routes.logout)
  await sendPage(site, res, 200, 'confirmLogout', { action, returnTo, isAll })
}

/** Logs the browser out of the site at once. While the logout is pending, the browser is not redirected to Identify. */
export const handleLogout = (isAll: boolean) => async (site: Site, req: Request, res: Response) => {
  const body: unknown = req.body
  const context = await openRequestContext(site, req, res)
  const returnTo = returnToOf(
    site.config,
    typeof body === 'object' && body !== null && 'return_to' in body ? body.return_to : undefined,
  )
  const result = await logOut(context, isAll)
  const canIdentify = site.identifyHealth.isAvailable
  if (result === 'no_session' && !canIdentify)
    return sendProblem(site, req, res, 503, 'unavailable', 'logout_unavailable')
  if (wantsJson(req)) return sendJson(res, 200, { status: 'none', logout: result })
  redirect(res, result === 'pending' || !canIdentify ? returnTo : identifyAddress(context, returnTo), 303)
}
