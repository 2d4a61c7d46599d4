/** Guards for single routes: `requireLogin` and `identify`. Contract, section 1. */
import type { NextFunction, Request, RequestHandler, Response } from 'express'
import { sendJson, sendProblem } from './answers'
import { isNavigation, pageOf } from './facts'
import { loginUrl } from './login'
import { settleVisit } from './middleware'
import { redirect } from './redirect'
import { visitOf } from './request'
import type { Site } from './site'

/** Options of `requireLogin`. */
export interface RequireLoginOptions {
  /** Asks Session Status now: for sensitive pages. */
  readonly fresh?: boolean
}

/** Lets logged-in users pass, to a page that nobody keeps unless the site says otherwise: navigations go to the login page and come back, everything else gets 401 JSON. */
export function requireLogin(site: Site, { fresh = false }: RequireLoginOptions = {}): RequestHandler {
  return guarded(async (req, res, next) => {
    const visit = visitOf(req)
    if (visit.site !== site)
      throw new Error('express-sso2: requireLogin belongs to another sso2() than the one mounted here')
    const { served } = visit
    if (served?.status === 'loggedin' && (fresh || served.accessRefused)) {
      if ((await settleVisit(visit, { mustIdentify: true, fresh })) === 'answered') return
      if (visit.degraded === 'sso_unavailable' || visit.degraded === 'store_unavailable')
        return sendProblem(site, req, res, 503, 'unavailable')
    }
    if (visit.served?.status === 'loggedin') {
      if (!res.hasHeader('cache-control')) res.setHeader('cache-control', 'private, no-store')
      return next()
    }
    const url = loginUrl(site, pageOf(req, site.config) ?? `${site.config.siteUrl}/`)
    if (isNavigation(req)) return redirect(res, url, 302)
    sendJson(res, 401, { error: 'login_required', loginUrl: url })
  })
}

/** Identifies the visitor of one route where `identify` is `'on-demand'`. */
export function identifyGuard(): RequestHandler {
  return guarded(async (req, _res, next) => {
    const visit = visitOf(req)
    const isSettled = visit.served !== undefined || visit.degraded !== undefined
    if (isSettled || (await settleVisit(visit, { mustIdentify: true, fresh: false })) === 'go_on') next()
  })
}

function guarded(handle: (req: Request, res: Response, next: NextFunction) => Promise<void>): RequestHandler {
  return (req, res, next) => {
    handle(req, res, next).catch(next)
  }
}
