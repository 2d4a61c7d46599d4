/** Guards for single routes: `requireLogin` and `identify`. */
import type { NextFunction, Request, Response } from 'express'
import type { Config } from '../config'
import { isForPage, readerOf } from '../decide/navigation'
import { ANONYMOUS, type DegradedReason, isVerified, type User, userOf } from '../decide/record'
import { validateReferer } from '../decide/return-to'
import { Sso2SetupError } from '../errors'
import type { Context } from './context'
import { type VisitOptions, visit } from './flows/visit'
import { runHook } from './hooks'
import { isLoginPage, loginUrl } from './http/request-facts'
import { forwardError, keepPrivate, redirect } from './http/response-headers'
import { reasonCode, sendProblem } from './pages/answers'
import { logoutUrl } from './pages/views'
import type { Site } from './site'
import { Sso2Request } from './sso2-request'

/** Options of `requireLogin`. */
export interface RequireLoginOptions {
  /** Lets a user pass only after a Session Status call that begins after the request, for sensitive pages. Without a response: 503. Default: false. */
  readonly fresh?: boolean
  /** Decides whether a logged-in user may see the page. Unless the result is `true`: 403, as page or JSON. An error goes to the error handler. Default: every user. */
  readonly allow?: (user: User, req: Request) => boolean | Promise<boolean>
  /** Answers a request that may not pass, in place of the package. An error goes to the error handler. Default: redirect, page or JSON. */
  readonly onDenied?: (req: Request, res: Response, reason: DenialReason) => void | Promise<void>
}

/** Why a request may not pass. `login_required`: no user. `not_allowed`: `allow` refused the user. `unverified`: the status could not be checked. */
export type DenialReason = 'login_required' | 'not_allowed' | 'unverified'

/** Answers a denied request: `onDenied` of the site, or the answer of the package. */
type Deny = (reason: DenialReason, answer: () => Promise<void> | void) => Promise<void> | void

/** A guard for routes. Request and response have no narrower type, so that Express infers the route parameters of the next handler. */
export type Guard = (req: object, res: object, next: NextFunction) => void

/**
 * Lets logged-in users pass. No shared cache may keep the page, and browsers may keep the page only if the handler says `private`. Page loads are
 * redirected to the login page and return after the login. Any other request gets 401, as its reader needs it (pages/answers.ts).
 */
export function requireLogin(site: Site, options: RequireLoginOptions = {}): Guard {
  const { fresh = false, allow, onDenied } = checkedOptions(options)
  return guarded(async (req, res, next) => {
    const ctx = Sso2Request.contextOf(site, req)
    const deny: Deny = (reason, answer) => (onDenied ? onDenied(req, res, reason) : answer())
    const mustCheck = fresh && userOf(ctx.identity) !== undefined
    if (mustCheck && !(await visitAgain(ctx, { identify: 'always', isFresh: true }))) return
    keepPrivate(res) // also for the answer of `onDenied`, and for the error page, if `allow` fails
    if (mustCheck && !isVerified(ctx.identity))
      return deny('unverified', () => sendProblem(site, res, 503, 'page_unavailable'))
    // a custom login page cannot identify visitors for the package, and on another site it may have logged the user in
    if (!userOf(ctx.identity) && isForPage(req) && site.config.routes.login === false)
      if (!(await visitAgain(ctx, { identify: 'always', isFresh: isLoginElsewhere(site.config) }))) return
    const user = userOf(ctx.identity)
    if (!user && readerOf(req) === 'page') return redirectToLogin(ctx, deny)
    if (!user) return deny('login_required', () => refuse(ctx))
    if (allow && !(await isAllowed(allow, user, req))) {
      const otherAccountUrl = logoutUrl(site.config, returnPage(ctx))
      return deny('not_allowed', () => sendProblem(site, res, 403, 'not_allowed', { otherAccountUrl }))
    }
    next()
  })
}

const OPTION_TYPES = new Map(Object.entries({ fresh: 'boolean', allow: 'function', onDenied: 'function' }))
const USAGE = 'Write sso.requireLogin(). It takes { fresh (a boolean), allow (a function), onDenied (a function) }'

/** Checks the options, because a guard must not be weaker than its author believes. @throws {Sso2SetupError} if one is unknown, wrong or `undefined` */
function checkedOptions(options: RequireLoginOptions): RequireLoginOptions {
  const isRight = ([name, value]: [string, unknown]) => typeof value === OPTION_TYPES.get(name)
  if (typeof options !== 'object' || options === null || !Object.entries(options).every(isRight))
    throw new Sso2SetupError(USAGE)
  return options
}

/** Calls `allow` of the site. Only `true` lets the user pass. */
async function isAllowed(allow: NonNullable<RequireLoginOptions['allow']>, user: User, req: Request): Promise<boolean> {
  const answer = await runHook('allow', async () => allow(user, req))
  return answer === true
}

/**
 * Refuses a request that is no page load, and tells htmx and Turbo the login page. After the login, the user returns to the page that sent the
 * request: the API's own answer would be no page. A link that htmx follows in place of the browser leads to its own page.
 */
function refuse(ctx: Context): Promise<void> {
  const { req, res, site } = ctx
  const { loginPage, returnPolicy, siteUrl } = site.config
  const isLink = req.method === 'GET' && req.headers['hx-boosted'] === 'true'
  const page = isLink ? returnPage(ctx) : (validateReferer(req.headers.referer, returnPolicy) ?? `${siteUrl}/`)
  const address = loginPage && loginUrl(loginPage, page)
  if (address !== undefined && req.headers['hx-request'] === 'true') res.setHeader('hx-redirect', address)
  if (address !== undefined && req.headers['turbo-frame'] !== undefined) res.setHeader('turbo-location', address)
  const text = readerOf(req) === 'form' ? 'login_required_form' : 'login_required'
  return sendProblem(site, res, 401, 'login_required', { text, loginUrl: address })
}

const returnPage = ({ page, site }: Context) => page ?? `${site.config.siteUrl}/`

const isLoginElsewhere = ({ loginPage, returnPolicy }: Config) =>
  loginPage !== undefined && new URL(loginPage).origin !== returnPolicy.origin

/** After so many returns from a login page on another site, Identify shows which SSO session the browser has. */
const RETURNS_BEFORE_IDENTIFY = 2

/**
 * Sends a page load without a login to the login page. A login page on another site may see a login and redirect straight back: such redirects
 * count like those of Identify. Table: docs/internals/decision-tables.md, "Login redirect".
 */
function redirectToLogin(ctx: Context, deny: Deny): Promise<void> | void {
  const { site, res, identity } = ctx
  const { loginPage } = site.config
  const unavailable = (reason: DegradedReason) =>
    deny('unverified', () => sendProblem(site, res, 503, reasonCode(reason, 'page_unavailable')))
  if (loginPage === undefined) {
    if (identity.degraded && !isVerified(identity)) return unavailable(identity.degraded)
    return deny('login_required', () => sendProblem(site, res, 401, 'login_required'))
  }
  const page = returnPage(ctx)
  if (isLoginPage(site.config, page))
    throw new Sso2SetupError('A requireLogin() guards the login page (routes.login): mount the page before the guard')
  const address = loginUrl(loginPage, page)
  if (!isLoginElsewhere(site.config)) return deny('login_required', () => redirect(res, address, 302))
  const reason = identity.degraded ?? ctx.browserProblem
  if (reason) return unavailable(reason)
  if (ctx.returnCount?.count === RETURNS_BEFORE_IDENTIFY && site.identifyHealth.mayRedirect)
    return ctx.sendToIdentify(page, 'login_elsewhere')
  return deny('login_required', () => {
    ctx.addReturn('')
    redirect(res, address, 302)
  })
}

/** Identifies the visitor of a single route, if option `identify` is `'on-demand'`. */
export function identifyGuard(site: Site): Guard {
  return guarded(async (req, _res, next) => {
    if (await visitAgain(Sso2Request.contextOf(site, req), { identify: 'always' })) next()
  })
}

/** Visits the page again, by other rules. @returns false if this has answered the request. Then it stays anonymous */
async function visitAgain(ctx: Context, options: VisitOptions): Promise<boolean> {
  ctx.identity = ANONYMOUS
  const identity = await visit(ctx, options)
  if (identity !== 'answered') ctx.identity = identity
  return identity !== 'answered'
}

function guarded(handle: (req: Request, res: Response, next: NextFunction) => Promise<void>): Guard {
  return (req, res, next) => {
    handle(req as Request, res as Response, next).catch(forwardError(next))
  }
}
