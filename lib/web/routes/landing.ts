/** `GET {landing}?t&r`: facts, decision, effect, and always a redirect to the return address. Interface: "Landing page". */
import type { Request, Response } from 'express'
import { isBound, isBoundAsLast, makeMark } from '../../decide/binding'
import {
  type BindingFinding,
  decideLanding,
  type GiveUpReason,
  isNewcomer,
  type LandingDecision,
} from '../../decide/landing'
import { discountTrip, landedWell, noteCause, stopTrips, type Trip, tripBack } from '../../decide/loop-guard'
import { isLoggedIn } from '../../decide/record'
import {
  flowParameterOf,
  judgeReturnTo,
  MAX_CARRIED_LENGTH,
  withFlowParameter,
  withoutFlowParameter,
} from '../../decide/return-to'
import { lookAtToken } from '../../decide/trouble'
import { TokenError } from '../../errors'
import type { SessionToken } from '../../protocol/session-token'
import { tokenSignature } from '../../protocol/token'
import { shortHash } from '../../storage/hashes'
import type { LoginStart } from '../../storage/session-index'
import { identifyAddress, noteReturn, setTrip } from '../actions/identify'
import { logOutToken } from '../actions/log-out'
import { noteWastedTrip, redeemTicket } from '../actions/redeem-ticket'
import { LOOP } from '../actions/settle'
import { stayAnonymous } from '../actions/sign-in'
import { dropSignedOut } from '../actions/signed-out'
import { publish } from '../events'
import { redirect } from '../http/redirect'
import { deviceOf, isPrefetchRequest } from '../http/request-facts'
import { sendProblem } from '../pages/answers'
import type { Site } from '../site'
import type { Successor } from '../stored-record'
import { browserName, openVisit, tripFor, type Visit } from '../visit'
import type { LandingQuery } from './landing-query'
import { isExamination, sendReport } from './site-report'

/** Handles one landing. */
export async function handleLanding(
  site: Site,
  req: Request,
  res: Response,
  query: LandingQuery | undefined,
): Promise<void> {
  const started = performance.now()
  if (isPrefetchRequest(req)) return sendProblem(site, req, res, 503, 'prefetch')
  if (!query && isExamination(site, req)) return sendReport(site, req, res)
  if (!query) return sendProblem(site, req, res, 400, 'bad_request')
  const visit = await openVisit(site, req, res)
  const returnTo = judgeReturnTo(query.r, site.config.returnPolicy, MAX_CARRIED_LENGTH) ?? `${site.config.siteUrl}/`
  const token = readToken(site, query.t)
  const decided = await decide(visit, query.t, token, returnTo)
  const { decision } = decided
  await carryOut(visit, decided, returnTo)
  publish('landing', {
    operation: 'landing',
    outcome: decision.do,
    durationMs: performance.now() - started,
    sidHash: token instanceof TokenError ? undefined : token.sid && shortHash(token.sid),
    reason: token instanceof TokenError ? token.reason : 'because' in decision ? decision.because : undefined,
  })
}

function readToken(site: Site, t: string): SessionToken | TokenError {
  try {
    return site.client.readLanding(t)
  } catch (error) {
    if (error instanceof TokenError) return error
    throw error
  }
}

interface Decided {
  readonly decision: LandingDecision
  readonly start: LoginStart
  readonly successor: Successor | undefined
}

async function decide(visit: Visit, t: string, token: SessionToken | TokenError, returnTo: string): Promise<Decided> {
  const { stored, browser } = visit
  const binding = findBinding(visit, returnTo)
  const known = token instanceof TokenError ? token.reason : token
  if (!(token instanceof TokenError)) noteReturn(visit, binding, returnTo)
  else if (binding === 'bound') tellRefused(visit.site, token)
  const isGood = binding === 'bound' && !(token instanceof TokenError)
  const start = visit.site.sessionIndex.startNow()
  const marks = isGood && stored.isAvailable ? await takeToken(visit, t, token) : NO_MARKS
  const successor = isGood && visit.isLate ? await stored.writtenSuccessor() : undefined
  const decision = decideLanding({
    binding,
    token: known,
    record: stored.value,
    successor: successor?.stored.value,
    sidHash: token instanceof TokenError || token.sid === undefined ? undefined : shortHash(token.sid),
    clockOffset: visit.site.client.clockOffsetSeconds ?? 0,
    isSignedOut: browser.signedOut !== undefined,
    ...marks,
    storeAvailable: stored.isAvailable && marks.storeAvailable,
  })
  return { decision, start, successor }
}

/** No binding cookie at all is a browser that keeps none, or one that never began a flow here. */
function findBinding({ site, browser }: Visit, returnTo: string): BindingFinding {
  if (browser.binding === undefined) return 'no_cookies'
  return isBound(site.macKeys, browser.binding, flowParameterOf(returnTo), site.now()) ? 'bound' : 'unbound'
}

const NO_MARKS = { replayed: false, sidEnded: false, isShareSpent: false, storeAvailable: true }

/** From here on the token is used up, whatever follows. */
async function takeToken({ site, req, stored }: Visit, t: string, token: SessionToken) {
  const [marks, isShareSpent] = await Promise.all([
    site.sessionIndex.takeToken(tokenSignature(t), shortHash(token.sid ?? '')),
    isNewcomer(token, stored.value) && site.landingLimit(deviceOf(req).ipa),
  ])
  if (marks === 'unavailable') return { ...NO_MARKS, storeAvailable: false }
  return { replayed: !marks.isFirst, sidEnded: marks.isSidEnded, isShareSpent, storeAvailable: true }
}

async function carryOut(visit: Visit, { decision, ...basis }: Decided, returnTo: string): Promise<void> {
  const { site, res, browser } = visit
  const page = withoutFlowParameter(returnTo)
  if (decision.do === 'mark_cookieless') {
    identifyAddress(visit, page) // gives a browser that does keep cookies the binding for its next trip
    return redirect(res, withFlowParameter(page, makeMark(site.macKeys, 'marker', '', site.now())), 303)
  }
  const isLast = isBoundAsLast(site.macKeys, browser.binding, flowParameterOf(returnTo), site.now())
  const trip = tripBack(tripFor(visit, page), isLast, site.now())
  setTrip(visit, page, await take(visit, decision, basis, trip))
  redirect(res, page, 303)
}

/** Does what is decided. @returns the page's trips from now on */
async function take(
  visit: Visit,
  decision: Exclude<LandingDecision, { do: 'mark_cookieless' }>,
  { start, successor }: Omit<Decided, 'decision'>,
  trip: Trip | undefined,
): Promise<Trip | undefined> {
  const { site, req } = visit
  switch (decision.do) {
    case 'sign_in': {
      const { did } = await redeemTicket(visit, decision.token, start)
      if (did === 'user_unknown') await noteWastedTrip(visit, decision.token.sid ?? '')
      return afterStore(visit, trip, did)
    }
    case 'go_on':
      return successor ? goOn(visit, successor, decision.token, trip) : trip
    case 'stay_anonymous':
      return afterStore(visit, trip, await stay(visit, decision.token))
    case 'adopt':
      if (successor) await site.sessions.adopt(req, successor.sessionId)
      return trip
    case 'log_out':
      return (await logOutToken(visit, decision.token.sid ?? '')) ? discountTrip(trip) : trip
    case 'give_up':
      tellGivenUp(site, decision.because)
      return decision.because === 'too_many_landings' ? stopTrips(site.now()) : noteCause(trip, 'r', site.now())
    case 'start_anew':
      return decision.because === 'clock' ? noteCause(trip, 'c', site.now()) : trip
    case 'as_it_is':
      return decision.because === 'store_unavailable' ? afterStore(visit, trip, 'unavailable') : trip
  }
}

async function stay(visit: Visit, { sid = '', iat }: SessionToken) {
  const { site } = visit
  const checkedAt = Math.min(site.now(), iat + (site.client.clockOffsetSeconds ?? 0))
  const did = await stayAnonymous(visit, { sid, checkedAt, browser: browserName(visit) })
  if (did === 'done') dropSignedOut(visit)
  return did
}

/** Goes over to the session that followed. If a login has moved that one since, the browser gets no cookie in the place of the login's. */
async function goOn(visit: Visit, { sessionId }: Successor, token: SessionToken, trip: Trip | undefined) {
  const { site, req, stored } = visit
  await stored.turnTo(sessionId)
  if (stored.value === undefined || isLoggedIn(stored.value)) return trip
  const did = await stay(visit, token)
  if (did === 'done') await site.sessions.adopt(req, sessionId)
  return afterStore(visit, trip, did)
}

/** A store that did not take the session would not take it at the next trip either. */
const afterStore = ({ site }: Visit, trip: Trip | undefined, did: string) =>
  did === 'unavailable' ? noteCause(trip, 'a', site.now()) : landedWell(trip)

const UNDOCUMENTED = 'landing tokens are refused: their claims are not those of the interface (sts, at, err)'
const TOO_MANY =
  'one address begins too many anonymous sessions, and for a minute its new visitors get none. Look at trust proxy: does it name what stands in front?'

/** A refused token has been told with its reason. */
function tellGivenUp({ config: { log } }: Site, because: GiveUpReason): void {
  if (because === 'undocumented') log.warn('landing:claims', UNDOCUMENTED)
  // under the name of what follows from it, so that this line alone is printed
  if (because === 'too_many_landings') log.warn(LOOP, TOO_MANY)
}

/** The operator is told why, and how far the clock is off. */
function tellRefused({ config: { log } }: Site, { reason, offsetSeconds }: TokenError): void {
  const found = 'landing tokens are refused: '
  if (offsetSeconds === undefined) {
    log.warn(`landing:${reason}`, `${found}${reason}. Look at ${lookAtToken(reason)}`)
    return
  }
  const direction = offsetSeconds < 0 ? 'behind' : 'ahead of'
  log.warn(
    'landing:clock',
    `${found}this machine's clock is ${Math.abs(offsetSeconds)} s ${direction} the SSO system's`,
  )
}
