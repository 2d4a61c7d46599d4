/** `sso.middleware`: gathers the facts, has the decision made, carries it out. It never thinks. */
import type { NextFunction, Request, RequestHandler, Response } from 'express'
import { forgetTripWhenServed } from './actions/identify'
import { settle } from './actions/settle'
import type { Site } from './site'
import { attach } from './sso2-request'
import { openVisit } from './visit'

/** The middleware of one site. Mount it after the session and the router. */
export function middleware(site: Site): RequestHandler {
  return async (req: Request, res: Response, next: NextFunction) => {
    try {
      if (req.sso2) return next()
      const visit = await openVisit(site, req, res)
      const outcome = await settle(visit, { identify: 'if_configured' })
      if (outcome.do === 'answered') return
      const holder = attach(visit, outcome.shown)
      if (outcome.shown.record) forgetTripWhenServed(visit, () => holder.shown.record !== undefined)
      next()
    } catch (error) {
      next(error)
    }
  }
}
