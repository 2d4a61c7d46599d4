/** `GET {landing}?t&r`: facts, decision, effect, and always a redirect to the return address. Interface: "Landing page". */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Request, Response } from 'express'
import { isBound, makeMark } from '../../decide/binding'
import {
  type BindingFinding,
  decideLanding,
  type GiveUpReason,
  isNewcomer,
  type LandingDecision,
} from '../../decide/landing'
import { discountTrip, landedWell, noteCause, pageKey, stopTrips } from '../../decide/loop-guard'
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
import type { Beginning } from '../../storage/lists'
import { identifyAddress, setTrips } from '../actions/identify'
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
import type { StoredRecord, Successor } from '../stored-record'
import { browserName, openVisit, tripsOf, type Visit } from '../visit'
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
  await carryOut(visit, decided, withoutFlowParameter(returnTo))
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
    const token = site.client.readLanding(t)
    site.front.noteLanding()
    return token
  } catch (error) {
    if (error instanceof TokenError) return error
    throw error
  }
}

interface Decided {
  readonly decision: LandingDecision
  readonly beginning: Beginning
  readonly successor: Successor | undefined
}

async function decide(visit: Visit, t: string, token: SessionToken | TokenError, returnTo: string): Promise<Decided> {
  const { stored, browser } = visit
  const binding = findBinding(visit, returnTo)
  const known = token instanceof TokenError ? token.reason : token
  if (token instanceof TokenError) {
    if (binding === 'bound') tellRefused(visit.site, token)
  } else visit.site.front.noteCookies(binding !== 'no_cookies')
  const isGood = binding === 'bound' && !(token instanceof TokenError)
  const marks = isGood && stored.isAvailable ? await takeToken(visit, t, token) : NO_MARKS
  const successor = isGood && visit.isLate ? await findSuccessor(stored) : undefined
  const decision = decideLanding({
    binding,
    token: known,
    record: stored.value,
    successor: successor?.stored.value,
    sidHash: token instanceof TokenError || token.sid === undefined ? undefined : shortHash(token.sid),
    isSignedOut: browser.signedOut !== undefined,
    ...marks,
    storeAvailable: stored.isAvailable && marks.storeAvailable,
  })
  return { decision, beginning: marks, successor }
}

const POLL_MS = 25
const PATIENCE_MS = 500

/** Whoever moved the session writes the one that follows in a moment. */
async function findSuccessor(stored: StoredRecord): Promise<Successor | undefined> {
  const end = performance.now() + PATIENCE_MS
  for (;;) {
    const found = await stored.successor()
    if (!found?.stored.isYetToCome || performance.now() > end) return found
    await sleep(POLL_MS)
  }
}

/** No binding cookie at all is a browser that keeps none, or one that never began a flow here. */
function findBinding({ site, browser }: Visit, returnTo: string): BindingFinding {
  if (browser.binding === undefined) return 'no_cookies'
  return isBound(site.macKeys, browser.binding, flowParameterOf(returnTo), site.now()) ? 'bound' : 'unbound'
}

const NO_MARKS = { replayed: false, sidEnded: false, isShareSpent: false, storeAvailable: true, logoutAlls: 0 }

/** From here on the token is used up, whatever follows. */
async function takeToken({ site, req, stored }: Visit, t: string, token: SessionToken) {
  const [marks, isShareSpent] = await Promise.all([
    site.lists.takeToken(tokenSignature(t), shortHash(token.sid ?? '')),
    isNewcomer(token, stored.value) && site.landingLimit(deviceOf(req).ipa),
  ])
  if (marks === 'unavailable') return { ...NO_MARKS, storeAvailable: false }
  const { isFirst, isSidEnded, logoutAlls } = marks
  return { replayed: !isFirst, sidEnded: isSidEnded, isShareSpent, storeAvailable: true, logoutAlls }
}

async function carryOut(visit: Visit, { decision, beginning, successor }: Decided, page: string): Promise<void> {
  const { site, req, res } = visit
  const name = pageKey(page)
  switch (decision.do) {
    case 'sign_in': {
      const { did } = await redeemTicket(visit, decision.token, beginning)
      if (did === 'user_unknown') await noteWastedTrip(visit, decision.token.sid ?? '')
      noteEnd(visit, name, did)
      return redirect(res, page, 303)
    }
    case 'go_on':
      if (successor) await goOver(visit, successor)
      return stay(visit, decision.token, page)
    case 'stay_anonymous':
      return stay(visit, decision.token, page)
    case 'adopt':
      if (successor) await site.sessions.adopt(req, successor.sessionId)
      return redirect(res, page, 303)
    case 'log_out':
      if (await logOutToken(visit, decision.token.sid ?? '')) setTrips(visit, discountTrip(tripsOf(visit), name))
      return redirect(res, page, 303)
    case 'mark_cookieless':
      identifyAddress(visit, page) // gives a browser that does keep cookies the binding for its next trip
      return redirect(res, withFlowParameter(page, makeMark(site.macKeys, 'marker', '', site.now())), 303)
    case 'give_up':
      tellGivenUp(site, decision.because)
      setTrips(visit, endTrips(visit, decision.because, name))
      return redirect(res, page, 303)
    case 'start_anew':
      if (decision.because === 'clock') setTrips(visit, noteCause(tripsOf(visit), name, 'c', site.now()))
      return redirect(res, page, 303)
    case 'as_it_is':
      if (decision.because === 'store_unavailable') noteEnd(visit, name, 'unavailable')
      return redirect(res, page, 303)
  }
}

async function stay(visit: Visit, { sid = '' }: SessionToken, page: string): Promise<void> {
  const did = await stayAnonymous(visit, sid, false, browserName(visit))
  if (did === 'done') dropSignedOut(visit)
  noteEnd(visit, pageKey(page), did)
  redirect(visit.res, page, 303)
}

async function goOver({ site, req, stored }: Visit, { sessionId }: Successor): Promise<void> {
  await stored.turnTo(sessionId)
  await site.sessions.adopt(req, sessionId)
}

/** A store that did not take the session would not take it at the next trip either. */
function noteEnd(visit: Visit, name: string, did: string): void {
  const trips = tripsOf(visit)
  setTrips(visit, did === 'unavailable' ? noteCause(trips, name, 'a', visit.site.now()) : landedWell(trips, name))
}

const endTrips = (visit: Visit, because: GiveUpReason, page: string) =>
  because === 'too_many_landings'
    ? stopTrips(tripsOf(visit), page, visit.site.now())
    : noteCause(tripsOf(visit), page, 'r', visit.site.now())

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
