/** `GET {landing}?t&r`: facts, decision, effect, and always a redirect to the return address. Interface: "Landing page". */
import type { Request, Response } from 'express'
import { isBound, makeMark } from '../decide/binding'
import { type BindingFinding, decideLanding, type GiveUpReason, type LandingDecision } from '../decide/landing'
import { landedWell, noteCause, pageKey, stopTrips, writeTrips } from '../decide/loop-guard'
import { flowParameterOf, judgeReturnTo, withFlowParameter, withoutFlowParameter } from '../decide/return-to'
import { TokenError, type TokenFault } from '../errors'
import type { SessionToken } from '../protocol/session-token'
import { tokenSignature } from '../protocol/token'
import { shortHash } from '../storage/records'
import { StoreUnavailableError } from '../storage/unavailable'
import { sendProblem } from './answers'
import { setCookie } from './cookies'
import { publish, warn } from './events'
import { deviceOf, isPrefetchRequest, queryOf } from './facts'
import { identifyAddress, redirect, setPrivate, TRIPS_SECONDS } from './redirect'
import { identify, signIn, stayAnonymous } from './sign-in'
import type { Site } from './site'
import { bindingOf, openVisit, tripsOf, type Visit } from './visit'

interface Query {
  readonly t: string
  readonly r: string | undefined
}

const queries = new WeakMap<Request, URLSearchParams>()

/**
 * Takes the query off a request for the landing page, whatever its method and whatever becomes of it: later handlers and
 * access logs see that there was a token, never which. Threat O7.
 */
export function takeQuery(req: Request): void {
  queries.set(req, queryOf(req))
  const hide = (url: string) =>
    url.replace(/([?&])([^=&#]*)=[^&#]*/g, (pair, mark, name) => (isToken(name) ? `${mark}t=***` : pair))
  req.originalUrl = hide(req.originalUrl)
  req.url = hide(req.url)
  // what parseurl and Express 4 have read from the address before
  Object.assign(req, { _parsedUrl: undefined, _parsedOriginalUrl: undefined })
  if (Object.hasOwn(req, 'query') && req.query['t'] !== undefined) req.query['t'] = '***'
}

const isToken = (name: string) => new URLSearchParams(name).has('t')

/** Exactly one `t`, at most one `r`, names case-sensitive; the query parser of the site is not asked. Threat R6. */
function readQuery(req: Request): Query | undefined {
  const query = queries.get(req) ?? new URLSearchParams()
  const [t, ...moreT] = query.getAll('t')
  const [r, ...moreR] = query.getAll('r')
  return t === undefined || moreT.length + moreR.length > 0 ? undefined : { t, r }
}

/** Handles one landing. */
export async function handleLanding(site: Site, req: Request, res: Response): Promise<void> {
  const started = performance.now()
  setPrivate(res)
  if (isPrefetchRequest(req)) return sendProblem(site, req, res, 503, 'prefetch')
  const query = readQuery(req)
  if (!query) return sendProblem(site, req, res, 400, 'bad_request')
  const visit = await openVisit(site, req, res)
  const returnTo = judgeReturnTo(query.r, site.config.returnPolicy) ?? `${site.config.siteUrl}/`
  const { decision, token, offsetSeconds } = await decideFor(visit, query, returnTo)
  await carryOut(visit, decision, withoutFlowParameter(returnTo), offsetSeconds)
  publish('landing', {
    operation: 'landing',
    outcome: decision.do,
    durationMs: performance.now() - started,
    sidHash: typeof token === 'string' ? undefined : token.sid && shortHash(token.sid),
    reason: typeof token === 'string' ? token : 'because' in decision ? decision.because : undefined,
  })
}

async function decideFor(
  visit: Visit,
  { t }: Query,
  returnTo: string,
): Promise<{ decision: LandingDecision; token: SessionToken | TokenFault; offsetSeconds: number | undefined }> {
  const binding = findBinding(visit, returnTo)
  const read = readToken(visit.site, t)
  const [token, offsetSeconds] = read instanceof TokenError ? [read.reason, read.offsetSeconds] : [read, undefined]
  const isGood = binding === 'bound' && typeof token !== 'string'
  const used =
    isGood && visit.isStoreAvailable
      ? await readMarks(visit, t, token)
      : { ...NO_MARKS, storeAvailable: visit.isStoreAvailable }
  const sidHash = typeof token === 'string' || token.sid === undefined ? undefined : shortHash(token.sid)
  return { decision: decideLanding({ binding, token, record: visit.record, sidHash, ...used }), token, offsetSeconds }
}

/** No binding cookie at all is a browser that keeps none, or one that never began a flow here. */
function findBinding(visit: Visit, returnTo: string): BindingFinding {
  const cookie = bindingOf(visit)
  if (cookie === undefined) return 'no_cookies'
  const { site } = visit
  return isBound(site.config.macKeys(), cookie, flowParameterOf(returnTo), site.now()) ? 'bound' : 'unbound'
}

function readToken(site: Site, t: string): SessionToken | TokenError {
  try {
    return site.client.readLanding(t)
  } catch (error) {
    if (error instanceof TokenError) return error
    throw error
  }
}

const NO_MARKS = { replayed: false, sidEnded: false, isShareSpent: false }

/** Takes the token: from here on it is used up, whatever follows. */
async function readMarks({ site, req, record }: Visit, t: string, token: SessionToken) {
  const isNewcomer = token.sts === 'anon' && record === undefined
  try {
    const [isFirst, sidEnded, isShareSpent] = await Promise.all([
      site.records.useToken(tokenSignature(t)),
      site.records.isSidEnded(shortHash(token.sid ?? '')),
      isNewcomer && site.landingLimit(deviceOf(req).ipa),
    ])
    return { replayed: !isFirst, sidEnded, isShareSpent, storeAvailable: true }
  } catch (error) {
    if (error instanceof StoreUnavailableError) return { ...NO_MARKS, storeAvailable: false }
    throw error
  }
}

async function carryOut(visit: Visit, decision: LandingDecision, page: string, offsetSeconds = 0): Promise<void> {
  const { site, res } = visit
  switch (decision.do) {
    case 'sign_in':
      await finishLogin(visit, decision.token)
      setTrips(visit, landedWell(tripsOf(visit), pageKey(page)))
      return redirect(res, page, 303)
    case 'stay_anonymous':
      await whileStoreLives(() => stayAnonymous(visit, decision.token.sid ?? '', false))
      setTrips(visit, landedWell(tripsOf(visit), pageKey(page)))
      return redirect(res, page, 303)
    case 'mark_cookieless':
      identifyAddress(visit, page) // gives a browser that does keep cookies the binding for its next trip
      return redirect(res, withFlowParameter(page, makeMark(site.config.macKeys(), 'marker', '', site.now())), 303)
    case 'give_up':
      warn(`landing:${decision.because}`, CAUSES[decision.because])
      setTrips(visit, endTrips(visit, decision.because, pageKey(page)))
      return redirect(res, page, 303)
    case 'start_anew':
      if (decision.because === 'clock') noteClock(visit, page, offsetSeconds)
      return redirect(res, page, 303)
    case 'as_it_is':
      return redirect(res, page, 303)
  }
}

const endTrips = (visit: Visit, because: GiveUpReason, page: string) =>
  because === 'too_many_landings'
    ? stopTrips(tripsOf(visit), page, visit.site.now())
    : noteCause(tripsOf(visit), page, 'r', visit.site.now())

const CAUSES = {
  clock: 'the clocks differ',
  secret_or_issuer:
    'landing tokens are refused: the client secret, the client ID (aud) or the SSO identifier (iss) is not the one that the SSO system uses',
  undocumented: 'landing tokens are refused: their claims are not those of the interface (sts, at, err)',
  too_many_landings: 'one address begins too many anonymous sessions; for a minute its new visitors get none',
}

/** One new Identify after a time-only refusal; the second one is given up, and the operator is told how far the clock is off. */
function noteClock(visit: Visit, page: string, offset: number): void {
  const direction = offset < 0 ? 'behind' : 'ahead of'
  warn(
    'landing:clock',
    `landing tokens are refused: this machine's clock is ${Math.abs(offset)} s ${direction} the SSO system's`,
  )
  setTrips(visit, noteCause(tripsOf(visit), pageKey(page), 'c', visit.site.now()))
}

function setTrips(visit: Visit, trips: ReturnType<typeof tripsOf>): void {
  const { site, res } = visit
  const text = writeTrips(trips)
  if (text !== writeTrips(tripsOf(visit))) setCookie(res, site.config, site.config.cookies.loop, text, TRIPS_SECONDS)
}

/** A ticket that could not be used is not lost: the session stays anonymous and due again soon. Design, decision 5. */
async function finishLogin(visit: Visit, token: SessionToken): Promise<void> {
  let named: Awaited<ReturnType<typeof identify>>
  try {
    named = await identify(visit, token)
  } catch (error) {
    const why = error instanceof Error && /^\w{1,64}$/.test(error.name) ? error.name : 'unknown' // a hook may put anything there
    warn('landing:user', `a logged-in visitor could not be named (${why}); asking again in 30 s`)
    const { record } = visit
    const isKnown = record?.status === 'loggedin' && record.sidHash === shortHash(token.sid ?? '')
    if (!isKnown) await whileStoreLives(() => stayAnonymous(visit, token.sid ?? '', true))
    return
  }
  await whileStoreLives(() => signIn(visit, named))
}

/** No store, no login: the page is served without one, and Identify repeats it when the store is back. */
async function whileStoreLives(run: () => Promise<unknown>): Promise<void> {
  try {
    await run()
  } catch (error) {
    if (!(error instanceof StoreUnavailableError)) throw error
  }
}
