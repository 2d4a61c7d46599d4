/**
 * lib/web: the Express side of the package. The folder reads requests, runs decisions of lib/decide and writes responses. Rules are not here.
 * This file has `sso.router` and `sso.middleware`. The router handles landing, login, logout and logout of all sessions, and passes on any
 * other request. The middleware sets `req.sso2`.
 * Continue in routes/ for the pages, flows/ for the effects, session/ for `req.session`, and guards.ts for protected pages.
 */
import querystring from 'node:querystring'
import { isUint8Array } from 'node:util/types'
import express, { type NextFunction, type Request, type RequestHandler, type Response } from 'express'
import { isVoidedBy } from '../decide/logout-mark'
import { isSameOriginPost } from '../decide/navigation'
import { show } from '../decide/record'
import { isObject, readJsonObject } from '../protocol/json'
import { type Context, contextOf } from './context'
import { visit } from './flows/visit'
import { comparedPath } from './http/request-facts'
import { forwardError } from './http/response-headers'
import { sendProblem } from './pages/answers'
import { handleLanding } from './routes/landing'
import { handleLogin, showLogin } from './routes/login'
import { handleLogout, showLogout } from './routes/logout'
import type { Site } from './site'
import { Sso2Request } from './sso2-request'

type Handler = (site: Site, req: Request, res: Response) => Promise<void>
/** The fields of a form, or of its JSON. */
type Form = Readonly<Record<string, unknown>>

/** The router of one site. Finds the route of a request as Express does, by the settings of the application. */
export function router(site: Site): RequestHandler {
  const { landing, login, logout, logoutAll } = site.config.routes
  const routes: readonly (readonly [path: string | false, handle: Handler])[] = [
    [landing, handleLanding],
    [login, formPage(showLogin, handleLogin)],
    [logout, formPage(showLogout('session'), handleLogout('session'))],
    [logoutAll, formPage(showLogout('account'), handleLogout('account'))],
  ]
  return (req: Request, res: Response, next: NextFunction) => {
    if (req.path === undefined) return next() // set by Express: a request of a plain server has no path
    const wanted = comparedPath(req, req.path)
    const route = routes.find(([path]) => path !== false && comparedPath(req, path) === wanted)
    if (!route) return next()
    site.runningOperations.run(() => route[1](site, req, res), res).catch(forwardError(next))
  }
}

/** Returns the handler of a page that shows a form and takes it. */
const formPage =
  (showForm: (ctx: Context) => Promise<void>, takeForm: (ctx: Context, form: Form) => Promise<void>): Handler =>
  async (site, req, res) => {
    const { method, headers } = req
    const { log, returnPolicy } = site.config
    const given = takeBody(req)
    if (method !== 'POST' && method !== 'GET' && method !== 'HEAD') {
      res.setHeader('allow', 'GET, HEAD, POST')
      return sendProblem(site, res, 405, 'method_not_allowed')
    }
    if (method === 'POST' && !isSameOriginPost(req, returnPolicy.origin)) {
      if (headers.origin !== undefined) log.warn('form:origin', 'A form of another origin was refused') // without Origin the sender is no browser
      return sendProblem(site, res, 403, 'cross_origin')
    }
    const form = method === 'POST' ? await readForm(given, req, res) : {}
    if (form === BODY_CONSUMED) log.warn('body:consumed', 'A form could not be read')
    if (typeof form === 'number') return sendProblem(site, res, form, 'bad_request')
    const ctx = await contextOf(site, req, res)
    const { logoutMark: mark, record } = ctx
    ctx.identity = show(mark && record && isVoidedBy(mark, record) ? undefined : record)
    req.sso2 = new Sso2Request(ctx) // for views of the site
    return method === 'POST' ? takeForm(ctx, form) : showForm(ctx)
  }

/** Takes the body out of the request, so that nothing that runs later sees a password. Threat F8. */
function takeBody(req: Request): unknown {
  const { body } = req
  req.body = undefined
  return body
}

const BODY_LIMIT = 8192
const PARSERS = [
  express.json({ limit: BODY_LIMIT }),
  express.urlencoded({ extended: false, limit: BODY_LIMIT, parameterLimit: 20 }),
]

/** Status if another middleware has consumed the body, which is a fault of the site. */
const BODY_CONSUMED = 500

/**
 * Reads the form or the JSON of a POST.
 * @param given the body as another middleware has read it: fields, or text or bytes (serverless-http, `express.raw`)
 * @returns the fields, or the status of the refusal
 */
async function readForm(given: unknown, req: Request, res: Response): Promise<Form | number> {
  const bytes = typeof given === 'string' || isUint8Array(given) ? Buffer.from(given) : undefined
  if (!bytes && Object.keys(Object(given)).length > 0) return isObject(given) ? given : {}
  const length = Number(req.headers['content-length'] ?? 0)
  if (length > 0 && !req.is(['json', 'urlencoded'])) return 415
  if (bytes?.length === 0) return {}
  if (bytes) return req.is('json') ? (readJsonObject(bytes) ?? 400) : querystring.parse(bytes.toString())
  if (req.readableDidRead && length > 2) return BODY_CONSUMED // an empty JSON body has two bytes: `{}`
  for (const parser of PARSERS) {
    const error = await new Promise<{ status?: number } | undefined>((resolve) => parser(req, res, resolve))
    if (error) return error.status ?? 400
  }
  const body = takeBody(req)
  return isObject(body) ? body : {}
}

/** The middleware of one site. Mount the middleware after the session and the router. */
export function middleware(site: Site): RequestHandler {
  return async (req: Request, res: Response, next: NextFunction) => {
    try {
      if (req.sso2) {
        Sso2Request.contextOf(site, req) // mounted twice, or mounted after other code that set the property
        return next()
      }
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
