/** `GET {logout}` asks and changes nothing; `POST {logout}` and `POST {logoutAll}` log out and go through Identify. Contract, section 4. */
import type { Request, Response } from 'express'
import { sendJson, sendPage, wantsJson } from './answers'
import { endSession } from './end-session'
import { queryOf } from './facts'
import { returnToOf } from './login'
import { identifyAddress, redirect } from './redirect'
import { attach } from './request'
import type { Site } from './site'
import { openVisit } from './visit'

/** Shows the confirmation form. */
export async function showLogout(site: Site, req: Request, res: Response, isAll: boolean): Promise<void> {
  const query = queryOf(req)
  const returnTo = returnToOf(site, query.get('return_to') ?? undefined)
  const { siteUrl, routes } = site.config
  const action = siteUrl + (isAll ? routes.logoutAll : routes.logout)
  await sendPage(site, res, 200, site.views.confirmLogout({ action, returnTo, isAll }))
}

/** Logs out here at once. While the SSO system has not confirmed it, the browser is not sent to Identify. */
export async function takeLogout(site: Site, req: Request, res: Response, isAll: boolean): Promise<void> {
  const visit = await openVisit(site, req, res)
  attach(visit)
  const body: unknown = req.body
  const returnTo = returnToOf(
    site,
    typeof body === 'object' && body !== null && 'return_to' in body ? body.return_to : undefined,
  )
  const result = await endSession(visit, isAll)
  if (wantsJson(req)) return sendJson(res, 200, { status: 'none', logout: result })
  redirect(res, result === 'pending' ? returnTo : identifyAddress(visit, returnTo), 303)
}
