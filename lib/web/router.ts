/**
 * lib/web: the Express side of the package. The folder reads requests, runs decisions of lib/decide and writes responses. Rules are not here.
 * This file has `sso.router` and `sso.middleware`. The router handles landing, login, logout and logout of all sessions, and passes on any
 * other request. The middleware sets `req.sso2`.
 * Continue in routes/ for the pages, flows/ for the effects, session/ for `req.session`, and guards.ts for protected pages.
 */
import { Readable } from 'node:stream'
import express, { type NextFunction, type Request, type RequestHandler, type Response } from 'express'
import type { TextCode } from '../config/texts/en'
import { isVoidedBy } from '../decide/logout-mark'
import { isSameOriginPost } from '../decide/navigation'
import { show } from '../decide/record'
import { contextOf } from './context'
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
type Route = readonly [path: string, handle: Handler]

function routesOf({ config }: Site): readonly Route[] {
  const { landing, login, logout, logoutAll } = config.routes
  const rows: [string | false, Handler][] = [
    [landing, handleLanding],
    [login, pageHandler(showLogin, handleLogin)],
    [logout, pageHandler(showLogout('session'), handleLogout('session'))],
    [logoutAll, pageHandler(showLogout('account'), handleLogout('account'))],
  ]
  return rows.filter((row): row is [string, Handler] => row[0] !== false)
}

/** Finds the route of a request as Express does, by the settings `strict routing` and `case sensitive routing`. */
function routeOf(req: Request, routes: readonly Route[]): Handler | undefined {
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
  return (req: Request, res: Response, next: NextFunction) => {
    const handle = routeOf(req, routes)
    if (!handle) return next()
    site.runningOperations.run(() => handle(site, req, res), res).catch(forwardError(next))
  }
}

/** Returns the handler of a page that shows a form and takes it. */
const pageHandler =
  (showForm: Handler, takeForm: Handler): Handler =>
  async (site, req, res) => {
    const { method, headers } = req
    const { log, returnPolicy } = site.config
    if (method === 'POST') {
      if (!isSameOriginPost(req, returnPolicy.origin)) {
        if (headers.origin !== undefined) log.warn('form:origin', 'A form of another origin was refused') // without Origin the sender is no browser
        return refuseRequest(site, req, res, 403, 'cross_origin')
      }
      const status = await readBody(req, res)
      if (status === BODY_CONSUMED) log.warn('body:consumed', 'A form could not be read')
      if (status !== undefined) return refuseRequest(site, req, res, status, 'bad_request')
    } else if (method !== 'GET' && method !== 'HEAD') {
      res.setHeader('allow', 'GET, HEAD, POST')
      return refuseRequest(site, req, res, 405, 'method_not_allowed')
    }
    const ctx = await contextOf(site, req, res)
    const { logoutMark: mark, record } = ctx
    ctx.identity = show(mark && record && isVoidedBy(mark, record) ? undefined : record)
    req.sso2 = new Sso2Request(ctx) // for views of the site
    return method === 'POST' ? takeForm(site, req, res) : showForm(site, req, res)
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

const BODY_LIMIT = 8192
const PARSERS = [
  express.json({ limit: BODY_LIMIT }),
  express.urlencoded({ extended: false, limit: BODY_LIMIT, parameterLimit: 20 }),
]

/** Status if another middleware has consumed the body, which is a fault of the site. */
const BODY_CONSUMED = 500

/**
 * Reads the form or the JSON of a POST into `req.body`, from the connection or from the bytes that another middleware has read.
 * @returns the error status if the body cannot be read, else `undefined`
 */
async function readBody(req: Request, res: Response): Promise<number | undefined> {
  if (isParsed(req.body)) return undefined
  const source = bodySource(req)
  if (source === req && isConsumed(req)) return BODY_CONSUMED
  for (const parser of PARSERS) {
    const error = await new Promise<unknown>((resolve) => parser(source, res, resolve))
    if (error) return bodyErrorStatus(error)
  }
  req.body = source.body
  return lengthOf(req) > 0 && !req.is(['json', 'urlencoded']) ? 415 : undefined
}

const lengthOf = ({ headers }: Request) => Number(headers['content-length'] ?? 0)

/** Has another middleware read the body and left `req.body` empty? An empty JSON body has two bytes: `{}`. */
const isConsumed = (req: Request) => req.readableDidRead && lengthOf(req) > 2

function isParsed(body: unknown): boolean {
  return typeof body === 'object' && body !== null && !isBytes(body) && Object.keys(body).length > 0
}

const isBytes = (body: unknown): body is Uint8Array => body instanceof Uint8Array || Buffer.isBuffer(body)

/** Returns the request, or a stream of its body and headers if `req.body` has bytes or text (serverless-http, `express.raw`). */
function bodySource(req: Request): Request {
  const { body, headers, method } = req
  if (!isBytes(body) && typeof body !== 'string') return req
  const bytes = Buffer.from(body)
  const { 'transfer-encoding': _read, ...others } = headers
  const parts = { headers: { ...others, 'content-length': String(bytes.length) }, method, body: undefined }
  return Object.assign(Readable.from([bytes], { objectMode: false }), parts) as Readable as Request // a parser uses no other member of a request
}

const bodyErrorStatus = (error: unknown) =>
  typeof error === 'object' && error !== null && 'status' in error && typeof error.status === 'number'
    ? error.status
    : 400
