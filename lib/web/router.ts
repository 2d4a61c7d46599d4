/**
 * lib/web: the Express side of the package. The folder reads requests, runs decisions of lib/decide and writes responses. Rules are not here.
 * This file has `sso.router` and `sso.middleware`. The router handles landing, login, logout and logout of all sessions, and passes on any
 * other request. The middleware sets `req.sso2`.
 * Continue in routes/ for the pages, flows/ for the effects, session/ for `req.session`, and guards.ts for protected pages.
 */
import type { NextFunction, Request, RequestHandler, Response } from 'express'
import type { TextCode } from '../config/texts/en'
import { show } from '../decide/identity'
import { isSameOriginPost } from '../decide/navigation'
import { LOG_LINES } from '../log/log-lines'
import { type Context, contextOf } from './context'
import { visit } from './flows/visit'
import { BODY_CONSUMED, bodyReader, type ReadBody } from './http/read-body'
import { comparedPath } from './http/request-facts'
import { forwardError, setTokenHeaders } from './http/response-headers'
import { sendProblem } from './pages/answers'
import { handleLanding, type LandingQuery, removeLandingQuery } from './routes/landing'
import { handleLogin, showLogin } from './routes/login'
import { handleLogout, showLogout } from './routes/logout'
import type { Site } from './site'
import { Sso2Request } from './sso2-request'

type Handler = (site: Site, req: Request, res: Response, query: LandingQuery | undefined) => Promise<void>
type Methods = Readonly<Record<string, Handler>>
type Route = readonly [path: string, methods: Methods]

function routesOf({ config }: Site): readonly Route[] {
  const { landing, login, logout, logoutAll } = config.routes
  const page = (show: Handler, take: Handler): Methods => ({ GET: show, HEAD: show, POST: take })
  const rows: [string | false, Methods][] = [
    [landing, { GET: handleLanding }],
    [login, page(showLogin, handleLogin)],
    [logout, page(showLogout('session'), handleLogout('session'))],
    [logoutAll, page(showLogout('account'), handleLogout('account'))],
  ]
  return rows.filter((row): row is [string, Methods] => row[0] !== false)
}

/** Finds the route of a request as Express does, by the settings `strict routing` and `case sensitive routing`. */
function routeOf(req: Request, routes: readonly Route[]): Methods | undefined {
  const { path, app } = req
  if (path === undefined) return undefined // set by Express: a request of a plain server has no path
  const isStrict = app?.enabled('strict routing') === true
  const normalised = (given: string) =>
    comparedPath(req, !isStrict && given.length > 1 && given.endsWith('/') ? given.slice(0, -1) : given)
  const wanted = normalised(path)
  return routes.findLast(([route]) => normalised(route) === wanted)?.[1]
}

/** The router of one site. */
export function router(site: Site): RequestHandler {
  const routes = routesOf(site)
  const readBody = bodyReader()
  return (req: Request, res: Response, next: NextFunction) => {
    const methods = routeOf(req, routes)
    if (!methods) return next()
    const isLanding = methods['GET'] === handleLanding
    if (isLanding) setTokenHeaders(res) // for every result
    const query = isLanding ? removeLandingQuery(req) : undefined
    routeRequest(site, readBody, methods, req, res, query).catch(forwardError(next))
  }
}

async function routeRequest(
  site: Site,
  readBody: ReadBody,
  methods: Methods,
  req: Request,
  res: Response,
  query: LandingQuery | undefined,
): Promise<void> {
  const handler = Object.hasOwn(methods, req.method) ? methods[req.method] : undefined
  if (!handler) {
    res.setHeader('allow', Object.keys(methods).join(', '))
    return refuseRequest(site, req, res, 405, 'method_not_allowed')
  }
  if (req.method === 'POST') {
    if (!isSameOriginPost(req, site.config.returnPolicy.origin)) {
      if (req.headers.origin !== undefined) site.config.log.warn('form:origin', LOG_LINES.formOfOtherOrigin) // without Origin the sender is no browser
      return refuseRequest(site, req, res, 403, 'cross_origin')
    }
    const status = await readBody(req, res)
    if (status === BODY_CONSUMED) site.config.log.warn('body:consumed', LOG_LINES.bodyConsumed)
    if (status !== undefined) return refuseRequest(site, req, res, status, 'bad_request')
  }
  const hasOwnViews = site.views.login !== undefined || site.views.confirmLogout !== undefined
  if (hasOwnViews && handler !== handleLanding) attachSso2Request(await contextOf(site, req, res)) // for their headers
  await site.runningOperations.run(() => handler(site, req, res, query), res)
}

/** Sets `req.sso2` for a view of the site, with the login as last read. */
function attachSso2Request(ctx: Context): void {
  ctx.identity = show(ctx.record)
  ctx.req.sso2 = new Sso2Request(ctx)
}

/** Refuses a request, and removes a password that a parser of the site may have read. Threat F8. */
function refuseRequest(site: Site, req: Request, res: Response, status: number, code: TextCode): Promise<void> {
  req.body = undefined
  return sendProblem(site, req, res, status, code)
}

/** The middleware of one site. Mount the middleware after the session and the router. */
export function middleware(site: Site): RequestHandler {
  return async (req: Request, res: Response, next: NextFunction) => {
    try {
      if (req.sso2) return next()
      const ctx = await contextOf(site, req, res)
      const identity = await visit(ctx, { identify: 'if_configured' })
      if (identity === 'answered') return
      ctx.identity = identity
      req.sso2 = new Sso2Request(ctx)
      next()
    } catch (error) {
      forwardError(next)(error)
    }
  }
}
