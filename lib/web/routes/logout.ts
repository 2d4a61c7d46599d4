/** The logout pages. `GET` shows a confirmation form and changes nothing. `POST {logout}` and `POST {logoutAll}` log out, then redirect to Identify. */
import type { LogoutScope } from '../../decide/logout-mark'
import type { Context } from '../context'
import { logOut } from '../flows/log-out'
import { queryParameters, returnToOf } from '../http/request-facts'
import { redirect } from '../http/response-headers'
import { sendJson, sendPage, sendProblem, wantsJson } from '../pages/answers'

/** Shows the confirmation form. */
export const showLogout =
  (scope: LogoutScope) =>
  async ({ site, req, res }: Context) => {
    const returnTo = returnToOf(site.config, queryParameters(req).get('return_to'))
    const { siteUrl, routes } = site.config
    const action = siteUrl + (scope === 'account' ? routes.logoutAll : routes.logout)
    await sendPage(site, res, 200, 'confirmLogout', { action, returnTo, isAll: scope === 'account' })
  }

/** Logs the browser out of the site at once. While the logout is pending, the browser is not redirected to Identify. */
export const handleLogout = (scope: LogoutScope) => async (ctx: Context, form: { readonly return_to?: unknown }) => {
  const { site, req, res } = ctx
  const returnTo = returnToOf(site.config, form.return_to)
  const result = await logOut(ctx, scope)
  const canIdentify = site.identifyHealth.isAvailable
  if (result === 'no_session' && !canIdentify)
    return sendProblem(site, res, 503, 'unavailable', { text: 'logout_unavailable' })
  if (wantsJson(req)) return sendJson(res, 200, { status: 'none', logout: result })
  if (result === 'pending' || !canIdentify) return redirect(res, returnTo, 303)
  ctx.sendToIdentify(returnTo, 'logged_out')
}
