/** Guards for single routes: `requireLogin` and `identify`. */
import { IncomingMessage } from 'node:http'
import type { NextFunction, Request, Response } from 'express'
import { ANONYMOUS, isVerified, userOf } from '../decide/identity'
import { decideLoginRedirect, isOnOtherSite } from '../decide/login-redirect'
import { isForPage, isPageLoad } from '../decide/navigation'
import type { User } from '../decide/record'
import { validateReferer } from '../decide/return-to'
import { Sso2SetupError } from '../errors'
import type { Context } from './context'
import { sendToIdentify } from './flows/identify'
import { type VisitOptions, visit } from './flows/visit'
import { HOOKS_MS, runHook } from './hooks'
import { loginUrl } from './http/request-facts'
import { forbidSharedCaches, forwardError, redirect } from './http/response-headers'
import { reasonCode, sendLoginRequired, sendNotAllowed, sendProblem } from './pages/answers'
import type { Site } from './site'
import { visitedContext } from './sso2-request'

/** Options of `requireLogin`. */
export interface RequireLoginOptions {
  /** Lets a user pass only after a Session Status call that begins after the request, for sensitive pages. Without a response: 503. Default: false. */
  readonly fresh?: boolean | undefined
  /** Decides whether a logged-in user may see the page. If not: 403, as page or JSON. An error goes to the error handler. Default: every user. */
  readonly allow?: ((user: User, req: Request) => boolean | Promise<boolean>) | undefined
  /** Answers a request that may not pass, in place of the package. An error goes to the error handler. Default: redirect, page or JSON. */
  readonly onDenied?: ((req: Request, res: Response, reason: DenialReason) => void | Promise<void>) | undefined
}

/**
 * Why a guard lets a request not pass. `login_required`: no user. `not_allowed`: `allow` refused the user. `unverified`: the status could not
 * be checked.
 */
type DenialReason = 'login_required' | 'not_allowed' | 'unverified'

/** Answers a denied request: `onDenied` of the site, or the answer of the package. */
type Deny = (reason: DenialReason, answer: () => Promise<void> | void) => Promise<void> | void

/**
 * A guard for routes. `first` and `second` are request and response. Under `app.ws()` of express-ws they are socket and request.
 * They have no narrower type, so that Express infers the route parameters of the next handler from the path.
 */
export type Guard = (first: object, second: object, next: NextFunction) => void

/**
 * Lets logged-in users pass. No shared cache may keep the page, and browsers may keep the page only if the site says so. Page loads are
 * redirected to the login page and return after the login. Any other request gets 401, as its reader needs it (pages/answers.ts).
 */
export function requireLogin(site: Site, options: RequireLoginOptions = {}): Guard {
  const { fresh = false, allow, onDenied } = checkedOptions(options)
  return guarded(async (req, res, next) => {
    const ctx = visitedContext(req)
    if (ctx.site !== site)
      throw new Sso2SetupError('This requireLogin() belongs to another sso2() than the one mounted here')
    const deny: Deny = (reason, answer) => (onDenied ? onDenied(req, res, reason) : answer())
    const mustCheck = fresh && userOf(ctx.identity) !== undefined
    if (mustCheck && !(await visitAgain(ctx, { identify: 'always', isFresh: true }))) return
    forbidSharedCaches(res) // also for the answer of `onDenied`, and for the error page, if `allow` fails
    if (mustCheck && !isVerified(ctx.identity))
      return deny('unverified', () => sendProblem(site, req, res, 503, 'page_unavailable'))
    if (!userOf(ctx.identity) && isForPage(req) && !(await identifyBeforeLoginPage(ctx))) return
    const user = userOf(ctx.identity)
    if (!user) return isPageLoad(req) ? redirectToLogin(ctx, deny) : deny('login_required', () => refuse(ctx))
    if (allow && !(await isAllowed(allow, user, req)))
      return deny('not_allowed', () => sendNotAllowed(site, req, res, user, returnPage(ctx)))
    next()
  })
}

const OPTIONS: { readonly [name in keyof RequireLoginOptions]-?: 'boolean' | 'function' } = {
  fresh: 'boolean',
  allow: 'function',
  onDenied: 'function',
}
const OPTION_TYPES: ReadonlyMap<string, string> = new Map(Object.entries(OPTIONS))
const OPTION_NAMES = [...OPTION_TYPES.keys()].join(', ')

/** Checks the options, because a guard must not be weaker than its author believes. @throws {Sso2SetupError} if an option is unknown or wrong */
function checkedOptions(options: RequireLoginOptions): RequireLoginOptions {
  if (options instanceof IncomingMessage)
    throw new Sso2SetupError('requireLogin is no guard. Write sso.requireLogin(), with brackets')
  if (typeof options !== 'object' || options === null || Array.isArray(options))
    throw new Sso2SetupError(`The options of requireLogin() must be an object: { ${OPTION_NAMES} }`)
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined) continue
    const type = OPTION_TYPES.get(name)
    if (!type) throw new Sso2SetupError(`The guard requireLogin() has no option ${name}. Its options: ${OPTION_NAMES}`)
    if (typeof value !== type) throw new Sso2SetupError(`Option ${name} of requireLogin() must be a ${type}`)
  }
  return options
}

/** Calls `allow` of the site. Only a promise needs a time limit. @throws {TypeError} if the result is neither a boolean nor empty */
async function isAllowed(allow: NonNullable<RequireLoginOptions['allow']>, user: User, req: Request): Promise<boolean> {
  const given: unknown = allow(user, req)
  const isPromise = given instanceof Promise
  const answer = isPromise ? await runHook('allow', AbortSignal.timeout(HOOKS_MS), () => given) : given
  if (typeof answer !== 'boolean' && answer !== undefined && answer !== null)
    throw new TypeError(
      'express-sso2: Option allow of requireLogin() must return true or false. See "TypeError" in docs/troubleshooting.md.',
    )
  return answer === true
}

/**
 * Refuses a request that is no page load. After the login, the user returns to the page that sent the request: the API's own answer would be
 * no page. A link that htmx follows in place of the browser leads to its own page.
 */
function refuse(ctx: Context): Promise<void> {
  const { req, res, site } = ctx
  const { loginPage, returnPolicy, siteUrl } = site.config
  const isLink = req.method === 'GET' && req.headers['hx-boosted'] === 'true'
  const page = isLink ? returnPage(ctx) : (validateReferer(req.headers.referer, returnPolicy) ?? `${siteUrl}/`)
  return sendLoginRequired(site, req, res, loginPage && loginUrl(loginPage, page))
}

const returnPage = ({ page, site }: Context) => page ?? `${site.config.siteUrl}/`

/**
 * Identifies the visitor before a redirect to a custom login page, because a custom page cannot identify visitors for the package. If the page
 * is on another site, the user may have logged in there since the last status check.
 * @returns false if the browser is redirected to Identify
 */
async function identifyBeforeLoginPage(ctx: Context): Promise<boolean> {
  const { identity } = ctx
  const { routes, loginPage, returnPolicy } = ctx.site.config
  if (routes.login !== false) return true
  if (loginPage !== undefined && isOnOtherSite(loginPage, returnPolicy.origin))
    return visitAgain(ctx, { identify: 'always', isFresh: true })
  return identity.record !== undefined || identity.degraded !== undefined || visitAgain(ctx, { identify: 'always' })
}

/** Redirects a browser without a login to the login page. */
function redirectToLogin(ctx: Context, deny: Deny): Promise<void> | void {
  const { site, req, res, identity } = ctx
  const { loginPage, returnPolicy } = site.config
  const page = returnPage(ctx)
  const decision = decideLoginRedirect({
    page: page.replace(/[?#].*$/, ''),
    loginPage,
    origin: returnPolicy.origin,
    degraded: identity.degraded,
    canIdentify: site.identifyHealth.mayRedirect,
    returns: ctx.returns,
  })
  switch (decision.action) {
    case 'refuse_to_guard_the_login_page':
      throw new Sso2SetupError(
        'A requireLogin() guards the login page (routes.login), so users could not reach that page',
      )
    case 'identify':
      return sendToIdentify(ctx, page, 'login_elsewhere')
    case 'show_problem': {
      const code = reasonCode(decision.reason, 'page_unavailable')
      return deny('unverified', () => sendProblem(site, req, res, 503, code))
    }
    case 'require_login':
      return deny('login_required', () => sendLoginRequired(site, req, res))
    case 'count_and_redirect':
    case 'redirect':
      return deny('login_required', () => {
        if (decision.action === 'count_and_redirect') ctx.countReturn('')
        redirect(res, loginUrl(loginPage ?? '', page), 302)
      })
  }
}

/** Identifies the visitor of a single route, if option `identify` is `'on-demand'`. */
export function identifyGuard(): Guard {
  return guarded(async (req, _res, next) => {
    if (await visitAgain(visitedContext(req), { identify: 'always' })) next()
  })
}

/** Visits the page again, by other rules. @returns false if the browser is redirected to Identify. Then the request stays anonymous */
async function visitAgain(ctx: Context, options: VisitOptions): Promise<boolean> {
  ctx.identity = ANONYMOUS
  const identity = await visit(ctx, options)
  if (identity !== 'answered') ctx.identity = identity
  return identity !== 'answered'
}

function guarded(handle: (req: Request, res: Response, next: NextFunction) => Promise<void>): Guard {
  return (first: object, second: object, next: NextFunction) => {
    const [req, res] = exchangeOf(first, second)
    handle(req, res, next).catch(forwardError(next))
  }
}

/** Returns request and response. express-ws passes `(socket, req)`. A response other than 200 makes express-ws close the socket. */
function exchangeOf(first: object, second: object): [Request, Response] {
  const isSocket = 'ws' in second && second.ws === first && 'res' in second
  return (isSocket ? [second, second.res] : [first, second]) as [Request, Response]
}
