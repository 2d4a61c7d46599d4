/** Guards for single routes: `requireLogin` and `identify`. */
import type { NextFunction, Request, RequestHandler, Response } from 'express'
import { decideLead, isElsewhere } from '../decide/lead'
import { countTrip } from '../decide/loop-guard'
import { judgeReferer } from '../decide/return-to'
import { isKnownForSure, NOBODY, needsAccess, shownUser } from '../decide/visit'
import { Sso2SetupError } from '../errors'
import { sendToIdentify, setTrip } from './actions/identify'
import { settle, type Wishes } from './actions/settle'
import { keepFromOthers } from './http/caching'
import { failing } from './http/failing'
import { redirect } from './http/redirect'
import { isNavigation } from './http/request-facts'
import { loginUrl } from './http/return-urls'
import { reasonCode, sendJson, sendProblem } from './pages/answers'
import type { Site } from './site'
import { type Holder, holderOf } from './sso2-request'
import { pageOf, tripFor } from './visit'

/** Options of `requireLogin`. */
export interface RequireLoginOptions {
  /** Passes only on an answer to a Session Status that is asked from now on, for sensitive pages; without one 503. Default false. */
  readonly fresh?: boolean | undefined
}

/** Lets logged-in users pass, to a page that no shared cache keeps, and no browser unless the site says so; navigations go to the login page and come back, everything else gets 401 JSON. */
export function requireLogin(site: Site, { fresh = false }: RequireLoginOptions = {}): RequestHandler {
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
    if (shownUser(holder.shown)) {
      keepFromOthers(res)
      return next()
    }
    if (isNavigation(req)) return leadToLogin(holder)
    // who logs in because a script was refused comes back to the page that it runs in, not to what it wanted
    const page = judgeReferer(req.headers.referer, site.config.returnPolicy) ?? returnPage(holder)
    sendJson(res, 401, { error: 'login_required', loginUrl: loginUrl(site.config, page) })
  })
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
  if (isElsewhere(loginPage, returnPolicy.origin))
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
    case 'identify':
      return sendToIdentify(visit, page, 'login_elsewhere')
    case 'count_and_lead':
      setTrip(visit, page, countTrip(trip, site.now()))
      return redirect(res, loginUrl(site.config, page), 302)
    case 'lead':
      return redirect(res, loginUrl(site.config, page), 302)
  }
}

/** Identifies the visitor of one route where `identify` is `'on-demand'`. */
export function identifyGuard(): RequestHandler {
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

function guarded(handle: (req: Request, res: Response, next: NextFunction) => Promise<void>): RequestHandler {
  return (req, res, next) => {
    handle(req, res, next).catch(failing(next))
  }
}
