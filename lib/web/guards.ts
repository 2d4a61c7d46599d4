/** Guards for single routes: `requireLogin` and `identify`. */
import type { NextFunction, Request, RequestHandler, Response } from 'express'
import { judgeReferer } from '../decide/return-to'
import { isKnownForSure, NOBODY, needsAccess, shownUser } from '../decide/visit'
import { settle, type Wishes } from './actions/settle'
import { keepFromOthers } from './http/caching'
import { redirect } from './http/redirect'
import { isNavigation } from './http/request-facts'
import { loginUrl } from './http/return-urls'
import { sendJson, sendProblem } from './pages/answers'
import type { Site } from './site'
import { type Holder, holderOf } from './sso2-request'
import { pageOf } from './visit'

/** Options of `requireLogin`. */
export interface RequireLoginOptions {
  /** Asks Session Status now: for sensitive pages. */
  readonly fresh?: boolean
}

/** Lets logged-in users pass, to a page that no shared cache keeps, and no browser unless the site says so; navigations go to the login page and come back, everything else gets 401 JSON. */
export function requireLogin(site: Site, { fresh = false }: RequireLoginOptions = {}): RequestHandler {
  return guarded(async (req, res, next) => {
    const holder = holderOf(req)
    const { visit } = holder
    if (visit.site !== site)
      throw new Error('express-sso2: requireLogin belongs to another sso2() than the one mounted here')
    const mustAsk = shownUser(holder.shown) !== undefined && (fresh || needsAccess(holder.shown))
    if (mustAsk && !(await isSettled(holder, { identify: 'always', ...(fresh ? { fresh: visit.baseline } : {}) })))
      return
    if (mustAsk && !isKnownForSure(holder.shown)) return sendProblem(site, req, res, 503, 'unavailable')
    if (shownUser(holder.shown)) {
      keepFromOthers(res)
      return next()
    }
    const own = pageOf(visit) ?? `${site.config.siteUrl}/`
    if (isNavigation(req)) return redirect(res, loginUrl(site.config, own), 302)
    // who logs in because a script was refused comes back to the page that it runs in, not to what it wanted
    const page = judgeReferer(req.headers.referer, site.config.returnPolicy) ?? own
    sendJson(res, 401, { error: 'login_required', loginUrl: loginUrl(site.config, page) })
  })
}

/** Identifies the visitor of one route where `identify` is `'on-demand'`. */
export function identifyGuard(): RequestHandler {
  return guarded(async (req, _res, next) => {
    const holder = holderOf(req)
    const isKnown = holder.shown.record !== undefined || holder.shown.degraded !== undefined
    if (isKnown || (await isSettled(holder, { identify: 'always' }))) next()
  })
}

/** False when the browser is on its way through Identify: then nobody was shown. */
async function isSettled(holder: Holder, wishes: Wishes): Promise<boolean> {
  holder.shown = NOBODY
  const outcome = await settle(holder.visit, wishes)
  if (outcome.do === 'show') holder.shown = outcome.shown
  return outcome.do === 'show'
}

function guarded(handle: (req: Request, res: Response, next: NextFunction) => Promise<void>): RequestHandler {
  return (req, res, next) => {
    handle(req, res, next).catch(next)
  }
}
