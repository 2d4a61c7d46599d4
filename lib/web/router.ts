/**
 * lib/web: the Express side of the package. The folder reads requests, runs decisions of lib/decide and writes responses. Rules are not here.
 * This file has `sso.router` and `sso.middleware`. The router handles landing, login, logout and logout of all sessions, and passes on any
 * other request. The middleware sets `req.sso2`.
 * Continue in routes/ for the pages, actions/ for the effects, session/ for `req.session`, and guards.ts for protected pages.
 */
import type { NextFunction, Request, RequestHandler, Response } from 'express'
import type { TextCode } from '../config/texts/en'
import { LOG_LINES } from '../decide/log-lines'
import { isSameOriginPost } from '../decide/navigation'
import { dropRedirectCountWhenServed } from './actions/identify'
import { resolveUser } from './actions/resolve-user'
import { BODY_CONSUMED, bodyReader, type ReadBody } from './http/read-body'
import { forwardError, setTokenHeaders } from './http/response-headers'
import { sendProblem } from './pages/answers'
import { openRequestContext } from './request-context'
import { handleLanding, type LandingQuery, removeLandingQuery } from './routes/landing'
import { handleLogin, showLogin } from './routes/login'
import { handleLogout, showLogout } from './routes/logout'
import type { Site } from './site'
import { attach } from './sso2-request'

type Handler = (site: Site, req: Request, res: Response, query: LandingQuery | undefined) => Promise<void>
type Methods = Readonly<Record<string, Handler>>

function tableOf({ config }: Site): ReadonlyMap<string, Methods> {
  const { landing, login, logout, logoutAll } = config.routes
  const page = (show: Handler, take: Handler): Methods => ({ GET: show, HEAD: show, POST: take })
  const rows: [string | false, Methods][] = [
    [landing, { GET: handleLanding }],
    [login, page(showLogin, handleLogin)],
    [
      logout,
      page(
        (site, req, res) => showLogout(site, req, res, false),
        (site, req, res) => handleLogout(site, req, res, false),
      ),
    ],
    [
      logoutAll,
      page(
        (site, req, res) => showLogout(site, req, res, true),
        (site, req, res) => handleLogout(site, req, res, true),
      ),
    ],
  ]
  return new Map(rows.filter((row): row is [string, Methods] => row[0] !== false))
}

/** Finds a route as Express does, for each combination of the settings `strict routing` and `case sensitive routing`. */
function routeFinder(site: Site): (req: Request) => Methods | undefined {
  const rows = [...tableOf(site)]
  const bySettings = new Map(
    [0, 1, 2, 3].map((settings) => [
      settings,
      new Map(rows.map(([path, methods]) => [named(path, settings), methods])),
    ]),
  )
  return (req) => {
    const path: string | undefined = req.path // set by Express: a request of a plain server has no path
    if (path === undefined) return undefined
    const settings =
      (req.app?.enabled('strict routing') ? STRICT : 0) + (req.app?.enabled('case sensitive routing') ? SENSITIVE : 0)
    return bySettings.get(settings)?.get(named(path, settings))
  }
}

const STRICT = 1
const SENSITIVE = 2

/** Normalises a path as Express does: without a final slash and in lower case, unless the settings say otherwise. */
function named(path: string, settings: number): string {
  const bare = (settings & STRICT) === 0 && path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path
  return (settings & SENSITIVE) === 0 ? bare.toLowerCase() : bare
}

/** The router of one site. */
export function router(site: Site): RequestHandler {
  const find = routeFinder(site)
  const readBody = bodyReader()
  return (req: Request, res: Response, next: NextFunction) => {
    const methods = find(req)
    if (!methods) return next()
    const isLanding = methods['GET'] === handleLanding
    if (isLanding) setTokenHeaders(res) // for every result
    const query = isLanding ? removeLandingQuery(req) : undefined
    const handler = Object.hasOwn(methods, req.method) ? methods[req.method] : undefined
    routeRequest(
      site,
      readBody,
      req,
      res,
      handler && ((...args) => handler(...args, query)),
      Object.keys(methods),
    ).catch(forwardError(next))
  }
}

async function routeRequest(
  site: Site,
  readBody: ReadBody,
  req: Request,
  res: Response,
  handler: ((site: Site, req: Request, res: Response) => Promise<void>) | undefined,
  allowed: readonly string[],
): Promise<void> {
  if (!handler) {
    res.setHeader('allow', allowed.join(', '))
    return refuseRequest(site, req, res, 405, 'method_not_allowed')
  }
  if (req.method === 'POST') {
    const { origin } = req.headers
    if (!isSameOriginPost({ secFetchSite: req.get('sec-fetch-site'), origin }, site.config.returnPolicy.origin)) {
      return refuseRequest(site, req, res, 403, 'cross_origin')
    }
    const status = await readBody(req, res)
    if (status === BODY_CONSUMED) site.config.log.warn('body:consumed', LOG_LINES.bodyConsumed)
    if (status !== undefined) return refuseRequest(site, req, res, status, 'bad_request')
  }
  await site.runningOperations.run(() => handler(site, req, res), res)
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
      const context = await openRequestContext(site, req, res)
      const identity = await resolveUser(context, { identify: 'if_configured' })
      if (identity === 'answered') return
      const holder = attach(context, identity)
      if (identity.record) dropRedirectCountWhenServed(context, () => holder.identity.record !== undefined)
      next()
    } catch (error) {
      next(error)
    }
  }
}
