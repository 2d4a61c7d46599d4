/** `sso.router`: landing, login, logout, logout-all, each on its exact path; any other request goes on. */
import express, { type NextFunction, type Request, type RequestHandler, type Response } from 'express'
import { isSameOriginPost } from '../decide/same-origin'
import { StoreUnavailableError } from '../storage/unavailable'
import { sendProblem } from './answers'
import { handleLanding, takeQuery } from './landing'
import { showLogin, takeLogin } from './login'
import { showLogout, takeLogout } from './logout'
import type { Site } from './site'

type Handler = (site: Site, req: Request, res: Response) => Promise<void>
type Methods = Readonly<Record<string, Handler>>

const BODY_LIMIT = 8192

function tableOf({ config }: Site): ReadonlyMap<string, Methods> {
  const { landing, login, logout, logoutAll } = config.routes
  const page = (show: Handler, take: Handler): Methods => ({ GET: show, HEAD: show, POST: take })
  const rows: [string | false, Methods][] = [
    [landing, { GET: handleLanding }],
    [login, page(showLogin, takeLogin)],
    [
      logout,
      page(
        (...args) => showLogout(...args, false),
        (...args) => takeLogout(...args, false),
      ),
    ],
    [
      logoutAll,
      page(
        (...args) => showLogout(...args, true),
        (...args) => takeLogout(...args, true),
      ),
    ],
  ]
  return new Map(rows.filter((row): row is [string, Methods] => row[0] !== false))
}

/** The router of one site. */
export function router(site: Site): RequestHandler {
  const table = tableOf(site)
  const parsers = [
    express.json({ limit: BODY_LIMIT }),
    express.urlencoded({ extended: false, limit: BODY_LIMIT, parameterLimit: 20 }),
  ]
  return (req: Request, res: Response, next: NextFunction) => {
    const methods = table.get(req.path)
    if (!methods) return next()
    if (req.path === site.config.routes.landing) takeQuery(req)
    route(site, methods, parsers, req, res).catch(async (error: unknown) => {
      if (!(error instanceof StoreUnavailableError) || res.headersSent) return next(error)
      await sendProblem(site, req, res, 503, 'unavailable')
    })
  }
}

async function route(
  site: Site,
  methods: Methods,
  parsers: RequestHandler[],
  req: Request,
  res: Response,
): Promise<void> {
  const handler = Object.hasOwn(methods, req.method) ? methods[req.method] : undefined
  if (!handler) {
    res.setHeader('allow', Object.keys(methods).join(', '))
    return refuse(site, req, res, 405, 'method_not_allowed')
  }
  if (req.method === 'POST') {
    const { origin } = req.headers
    if (!isSameOriginPost({ secFetchSite: req.get('sec-fetch-site'), origin }, site.config.returnPolicy.origin)) {
      return refuse(site, req, res, 403, 'cross_origin')
    }
    const status = await readBody(parsers, req, res)
    if (status !== undefined) return refuse(site, req, res, status, 'bad_request')
  }
  await handler(site, req, res)
}

/** A password that a parser of the site's own has read does not stay on a request that is refused. Threat F8. */
function refuse(site: Site, req: Request, res: Response, status: number, code: string): Promise<void> {
  req.body = undefined
  return sendProblem(site, req, res, status, code)
}

/** Reads a form or JSON unless the site has done so. @returns the status of a body that cannot be read */
async function readBody(parsers: RequestHandler[], req: Request, res: Response): Promise<number | undefined> {
  if (typeof req.body === 'object' && req.body !== null && Object.keys(req.body).length > 0) return undefined
  for (const parser of parsers) {
    const error = await new Promise<unknown>((resolve) => parser(req, res, resolve))
    if (error)
      return typeof error === 'object' && 'status' in error && typeof error.status === 'number' ? error.status : 400
  }
  const hasBody = Number(req.headers['content-length'] ?? 0) > 0
  return hasBody && !req.is(['json', 'urlencoded']) ? 415 : undefined
}
