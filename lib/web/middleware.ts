/** `sso.middleware`: gathers the facts, has the decision made, carries it out. It never thinks. */
import type { NextFunction, Request, RequestHandler, Response } from 'express'
import { decideVisit, type VisitDecision } from '../decide/visit'
import { StoreUnavailableError } from '../storage/unavailable'
import { check, checkStale, endRecord, policyOf, waitForAnswer } from './check'
import { retryLogout, signedOutOf } from './end-session'
import { publish } from './events'
import { pageOf } from './facts'
import { sendToIdentify } from './redirect'
import { attach } from './request'
import type { Site } from './site'
import { blockOf, openVisit, type Visit } from './visit'

/** How a request is to be treated, beyond what it says of itself. */
interface Wishes {
  /** The page identifies even where `identify` is `'on-demand'`. */
  readonly mustIdentify: boolean
  readonly fresh: boolean
}

/** `'go_on'`: the page may be served; `'answered'`: the browser is on its way through Identify. */
export type Outcome = 'go_on' | 'answered'

function decide(visit: Visit, wishes: Wishes, isSignedOut: boolean): VisitDecision {
  const { site, req, record, isStoreAvailable } = visit
  const isWanted = site.config.identify === 'always' || wishes.mustIdentify
  const isDue = !record || (record.status === 'loggedin' && record.accessRefused === true)
  const facts = {
    now: site.now(),
    record,
    storeAvailable: isStoreAvailable,
    ssoAvailable: site.client.isAvailable,
    mayIdentify: isDue && isWanted && pageOf(req, site.config) !== undefined && site.shouldIdentify(req),
    blocked: isDue ? blockOf(visit) : undefined,
    signedOut: isSignedOut,
    fresh: wishes.fresh,
  }
  return decideVisit(facts, policyOf(site))
}

/** Settles one visit: who is it, and may the page be served? */
export async function settleVisit(visit: Visit, wishes: Wishes): Promise<Outcome> {
  try {
    return await carryOut(visit, wishes, decide(visit, wishes, signedOutOf(visit) !== undefined))
  } catch (error) {
    if (!(error instanceof StoreUnavailableError)) throw error
    visit.served = undefined
    visit.degraded = 'store_unavailable'
    return 'go_on'
  } finally {
    const { degraded } = visit
    if (degraded) publish('degraded', { operation: 'visit', outcome: 'served', durationMs: 0, reason: degraded })
  }
}

async function carryOut(visit: Visit, wishes: Wishes, decision: VisitDecision): Promise<Outcome> {
  switch (decision.do) {
    case 'serve':
      visit.served = decision.record
      visit.degraded = decision.degraded
      return 'go_on'
    case 'identify':
      sendToIdentify(visit, pageOf(visit.req, visit.site.config) ?? '', decision.because)
      return 'answered'
    case 'end_session':
      return (await endRecord(visit)) === 'settled' ? 'go_on' : startAnew(visit, wishes, false)
    case 'ask_status':
      return (await askStatus(visit, decision)) === 'settled' ? 'go_on' : startAnew(visit, wishes, false)
    case 'wait_for_answer':
      return (await waitForAnswer(visit, decision.record)) === 'settled' ? 'go_on' : startAnew(visit, wishes, false)
    case 'retry_logout':
      return startAnew(visit, wishes, (await retryLogout(visit, signedOutOf(visit) ?? '')) !== 'confirmed')
  }
}

const askStatus = (visit: Visit, { record, because }: Extract<VisitDecision, { do: 'ask_status' }>) =>
  because === 'stale' ? checkStale(visit, record) : check(visit, record)

/** The session has ended, or its logout is confirmed: the visitor is a stranger now. */
async function startAnew(visit: Visit, wishes: Wishes, isStillSignedOut: boolean): Promise<Outcome> {
  if (isStillSignedOut) {
    visit.served = undefined
    visit.degraded = 'logout_pending'
    return 'go_on'
  }
  return carryOut(visit, wishes, decide(visit, { ...wishes, fresh: false }, false))
}

/** The middleware of one site. Mount it after the session and the router. */
export function middleware(site: Site): RequestHandler {
  return async (req: Request, res: Response, next: NextFunction) => {
    try {
      if (req.sso2) return next()
      const visit = await openVisit(site, req, res)
      attach(visit)
      if ((await settleVisit(visit, { mustIdentify: false, fresh: false })) === 'go_on') next()
    } catch (error) {
      next(error)
    }
  }
}
