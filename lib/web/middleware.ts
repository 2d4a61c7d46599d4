/** `sso.middleware`: gathers the facts, has the decision made, carries it out. It never thinks. */
import type { NextFunction, Request, RequestHandler, Response } from 'express'
import { dropRedirectCountWhenServed } from './actions/identify'
import { resolveUser } from './actions/resolve-user'
import { openRequestContext } from './request-context'
import type { Site } from './site'
import { attach } from './sso2-request'

/** The middleware of one site. Mount it after the session and the router. */
export function middleware(site: Site): RequestHandler {
  return async (req: Request, res: Response, next: NextFunction) => {
    try {
      if (req.sso2) return next()
      const context = await openRequestContext(site, req, res)
      const outcome = await resolveUser(context, { identify: 'if_configured' })
      if (outcome.action === 'answered') return
      const holder = attach(context, outcome.identity)
      if (outcome.identity.record) dropRedirectCountWhenServed(context, () => holder.identity.record !== undefined)
      next()
    } catch (error) {
      next(error)
    }
  }
}
