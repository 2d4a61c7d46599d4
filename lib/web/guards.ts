/** Guards for single routes: `requireLogin` and `identify`. */
import type { NextFunction, Request, RequestHandler, Response } from 'express'
import { decideLead, isElsewhere } from '../decide/lead'
import { countTrip } from '../decide/loop-guard'
import type { User } from '../decide/record'
import { judgeReferer } from '../decide/return-to'
import { isKnownForSure, NOBODY, needsAccess, shownUser } from '../decide/visit'
import { Sso2SetupError } from '../errors'
import { sendToIdentify, setTrip } from './actions/identify'
import { settle, type Wishes } from './actions/settle'
import { HOOKS_MS, inTime } from './hooks'
import { keepFromOthers } from './http/caching'
import { failing } from './http/failing'
import { redirect } from './http/redirect'
import { isNavigation } from './http/request-facts'
import { loginUrl } from './http/return-urls'
import { reasonCode, sendJson, sendProblem } from './pages/answers'
import type { Site } from './site'
import { type Holder, holderOf } from './sso2-request'
import { pageOf, tripFor } from './visit'

/** A user that `allow` refuses gets 403. */
type Allow = (user: User, req: Request) => boolean | Promise<boolean>

/** Options of `requireLogin`. */
export interface RequireLoginOptions {
  /** Passes only on the response to a Session Status call that begins after the request, for sensitive pages. Without one: 503. Default: false. */
  readonly fresh?: boolean | undefined
  /** Decides whether a logged-in user may see the page. If not: 403, as page or JSON. An error goes to the error handler. Default: every user. */
  readonly allow?: ((user: User, req: Request) => boolean | Promise<boolean>) | undefined
}

/** A guard for one route or for many. It also fits `app.ws()` of express-ws, which calls it with the socket in front of the request. */
export interface Guard extends RequestHandler {
  (socket: object, req: Request, next: NextFunction): void
}

/** Lets logged-in users pass, to a page that no shared cache keeps, and no browser unless the site says so; navigations go to the login page and come back, everything else gets 401 JSON. */
export function requireLogin(site: Site, options: RequireLoginOptions = {}): Guard {
  const { fresh = false, allow } = checkedOptions(options)
  return guarded(async (req, res, next) => {
    const holder = holderOf(req)
    const { visit } = holder
    if (visit.site !== site)
      throw new Sso2SetupError('requireLogin belongs to another sso2() than the one mounted here')
    const mustAsk = shownUser(holder.shown) !== undefined && (fresh || needsAccess(holder.shown))
    if (mustAsk && !(await isSettled(holder, { identify: 'always', ...(fresh ? { fresh: visit.baseline } : {}) })))
      return
    if (mustAsk && !isKnownForSure(holder.shown)) return sendProblem(site, req, res, 503, 'page_unavailable')
    if (!shownUser(holder.shown) && isNavigation(req) && !(await isStrangerLookedUp(holder))) return
    const user = shownUser(holder.shown)
    if (!user) return isNavigation(req) ? leadToLogin(holder) : sendLoginRequired(holder)
    keepFromOthers(res) // also an error page, if `allow` fails
    if (allow && !(await isAllowed(allow, user, req))) return sendProblem(site, req, res, 403, 'not_allowed')
    next()
  })
}

const KNOWN_OPTIONS: ReadonlySet<string> = new Set<keyof RequireLoginOptions>(['fresh', 'allow'])

/** @throws {Sso2SetupError} an option that is unknown or wrong: a guard must not be weaker than its author believes */
function checkedOptions(options: RequireLoginOptions): RequireLoginOptions {
  const { fresh, allow } = options
  const unknown = Object.entries(options).find(([name, value]) => value !== undefined && !KNOWN_OPTIONS.has(name))
  if (unknown) throw new Sso2SetupError(`requireLogin has no option ${unknown[0]}: it has fresh and allow`)
  if (fresh !== undefined && typeof fresh !== 'boolean')
    throw new Sso2SetupError('requireLogin: fresh must be true or false')
  if (allow !== undefined && typeof allow !== 'function')
    throw new Sso2SetupError('requireLogin: allow must be a function')
  return options
}

/** Asks the site; only a promise needs a time limit. @throws {TypeError} an answer that is neither yes nor no */
async function isAllowed(allow: Allow, user: User, req: Request): Promise<boolean> {
  const given: unknown = allow(user, req)
  const isLate = given instanceof Promise
  const answer = isLate ? await inTime('allow', AbortSignal.timeout(HOOKS_MS), () => given) : given
  if (typeof answer !== 'boolean' && answer !== undefined && answer !== null)
    throw new TypeError('express-sso2: allow must return true or false')
  return answer === true
}

/** Responds to a script. A user who logs in because a script was refused comes back to the page in which the script runs. */
function sendLoginRequired(holder: Holder): void {
  const { req, res, site } = holder.visit
  const { loginPage, returnPolicy } = site.config
  const page = judgeReferer(req.headers.referer, returnPolicy) ?? returnPage(holder)
  const more = loginPage === undefined ? {} : { loginUrl: loginUrl(loginPage, page) }
  sendJson(res, 401, { error: 'login_required', ...more })
}

const returnPage = ({ visit }: Holder) => pageOf(visit) ?? `${visit.site.config.siteUrl}/`

/**
 * Before a login page that is not ours: it cannot identify him for us, and where it is another site's, he may have logged in there since
 * this site asked. False when the browser is on its way through Identify.
 */
async function isStrangerLookedUp(holder: Holder): Promise<boolean> {
  const { visit, shown } = holder
  const { routes, loginPage, returnPolicy } = visit.site.config
  if (routes.login !== false) return true
  if (loginPage !== undefined && isElsewhere(loginPage, returnPolicy.origin))
    return isSettled(holder, { identify: 'always', fresh: visit.baseline })
  return shown.record !== undefined || shown.degraded !== undefined || isSettled(holder, { identify: 'always' })
}

/** Sends a browser that nobody is logged in with to the login page. */
function leadToLogin(holder: Holder): Promise<void> | void {
  const { visit, shown } = holder
  const { site, req, res } = visit
  const { loginPage, returnPolicy } = site.config
  const page = returnPage(holder)
  const trip = tripFor(visit, page)
  const decision = decideLead({
    page: page.replace(/[?#].*$/, ''),
    loginPage,
    origin: returnPolicy.origin,
    degraded: shown.degraded,
    canIdentify: site.front.isAvailable,
    trip,
    now: site.now(),
  })
  if (decision.do !== 'lead') holder.shown = NOBODY // nothing is shown here, so that his trips stay counted
  switch (decision.do) {
    case 'refuse_to_guard_the_login_page':
      throw new Sso2SetupError('requireLogin guards the login page itself, which nobody could reach: see routes.login')
    case 'give_up':
      return sendProblem(site, req, res, 503, reasonCode(decision.because, 'page_unavailable'))
    case 'require_login':
      return sendProblem(site, req, res, 401, 'login_required')
    case 'identify':
      return sendToIdentify(visit, page, 'login_elsewhere')
    case 'count_and_lead':
      setTrip(visit, page, countTrip(trip, site.now()))
      return redirect(res, loginUrl(loginPage ?? '', page), 302)
    case 'lead':
      return redirect(res, loginUrl(loginPage ?? '', page), 302)
  }
}

/** Identifies the visitor of one route where `identify` is `'on-demand'`. */
export function identifyGuard(): Guard {
  return guarded(async (req, _res, next) => {
    const holder = holderOf(req)
    const isKnown = holder.shown.record !== undefined || holder.shown.degraded !== undefined
    if (isKnown || (await isSettled(holder, { identify: 'always' }))) next()
  })
}

/** False when the browser is on its way through Identify: then nobody was shown. */
async function isSettled(holder: Holder, wishes: Wishes): Promise<boolean> {
  holder.shown = NOBODY
  const outcome = await settle(holder.visit, wishes)
  if (outcome.do === 'show') holder.shown = outcome.shown
  return outcome.do === 'show'
}

function guarded(handle: (req: Request, res: Response, next: NextFunction) => Promise<void>): Guard {
  return (first: object, second: object, next: NextFunction) => {
    const [req, res] = exchangeOf(first, second)
    handle(req, res, next).catch(failing(next))
  }
}

/** Returns request and response. express-ws gives `(socket, req)`; a response other than 200 makes it close the socket. */
function exchangeOf(first: object, second: object): [Request, Response] {
  const isSocket = 'ws' in second && second.ws === first && 'res' in second
  return (isSocket ? [second, second.res] : [first, second]) as [Request, Response]
}
