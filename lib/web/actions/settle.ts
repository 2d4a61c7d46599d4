/** Settles one visit: who is it, and may the page be shown? A loop over decisions; what it comes to is the value that comes back. */
import { setTimeout as sleep } from 'node:timers/promises'
import { confirmed, stillDue } from '../../decide/questions'
import { isLoggedIn, type SsoRecord } from '../../decide/record'
import { MAX_RETURN_LENGTH } from '../../decide/return-to'
import { isGone } from '../../decide/stored'
import {
  type Baseline,
  decideVisit,
  type Shown,
  type SignedOutState,
  type VisitDecision,
  type VisitFacts,
} from '../../decide/visit'
import { publish } from '../events'
import { isNavigation } from '../http/request-facts'
import { blockOf, pageOf, type Visit } from '../visit'
import { type Checked, check, endRecord, type Ticket, writeAnswer } from './check'
import { noteShownByGuard, sendToIdentify } from './identify'
import { retrySignedOut } from './log-out'
import { redeemTicket } from './redeem-ticket'
import { isStrayLanding } from './stray-landing'

/** How a request is to be treated, beyond what it says of itself. */
export interface Wishes {
  /** `'always'`, `'if_configured'`: where `identify` is `'always'`; `'never'`: whoever asks cannot be redirected. */
  readonly identify: 'always' | 'if_configured' | 'never'
  /** It is the login page. */
  readonly wantsLogin?: boolean
  /** The questions that are too old to be an answer; set where only fresh news will do. */
  readonly fresh?: Baseline
}

/** What a visit comes to: what the page may show, or an answer that has been given already. */
export type Outcome = { readonly do: 'show'; readonly shown: Shown } | { readonly do: 'answered' }

/** More steps than any order of events needs. */
const MOST_STEPS = 200
const POLL_MS = 25

/** What the loop itself has learnt. */
interface Progress {
  /** What became of the mark, once it was tried. */
  signedOut: SignedOutState | undefined
  hasWaited: boolean
}

/** @see the head of the file */
export async function settle(visit: Visit, wishes: Wishes): Promise<Outcome> {
  const progress: Progress = { signedOut: undefined, hasWaited: false }
  const deadline = performance.now() + visit.site.policy.claimSeconds * 1000
  const { value } = visit.stored
  if (value) visit.site.front.noteReturn(value.since) // it may have begun at another process
  const wasIn = isLoggedIn(value)
  for (let steps = 0; steps < MOST_STEPS; steps += 1) {
    const decision = decideVisit(new Facts(visit, wishes, progress), visit.site.policy)
    const outcome = decision.do === 'show' ? orShow(decision) : await carryOut(visit, decision, progress)
    if (outcome !== 'again') return tell(visit, wishes, outcome)
    if (isOver(visit.stored, wasIn)) visit.site.sessions.leave(visit.req)
    progress.hasWaited = performance.now() > deadline
  }
  return tell(visit, wishes, { do: 'show', shown: { record: undefined, degraded: 'sso_unavailable' } })
}

/** Has somebody else ended the session, or has the store lost a reader's? A stranger's goes on without its record. */
function isOver(stored: Visit['stored'], wasIn: boolean): boolean {
  return isGone(stored) || (wasIn && stored.key !== undefined && stored.isYetToCome)
}

function tell(visit: Visit, wishes: Wishes, outcome: Outcome): Outcome {
  const reason = outcome.do === 'show' ? outcome.shown.degraded : undefined
  if (reason) publish('degraded', { operation: 'visit', outcome: 'served', durationMs: 0, reason })
  // whatever is said of it (a logout may be pending as well): the page is shown where it would have made a trip
  if (reason && blockOf(visit) && mayIdentify(visit, wishes)) noteShownByGuard(visit)
  if (reason === 'identify_loop') visit.site.config.log.warn(LOOP, LOOPING)
  return outcome
}

/** A page that is served without a session because it went through Identify too often. */
export const LOOP = 'visit:identify_loop'
const LOOPING =
  'a page went through Identify again and again and still has no session, so it is served without one. Look at redis (REDIS_URL) and sessionSecret (SSO2_SESSION_SECRET): do all processes have the same? Do the cookies of siteUrl come back, and has another site on its host name another session.cookieName?'

/** A login here drops the mark, unless it was under way at the logout and did not know of it: then it is due to end. */
function markOf({ browser: { signedOut }, stored: { value } }: Visit): SignedOutState {
  if (signedOut === undefined) return 'no'
  const isDue = signedOut.of === 'session' || (signedOut.of === 'anything' && isLoggedIn(value))
  return isDue ? 'due' : 'untried'
}

/** The facts of one decision; the costly ones are looked at only where it asks for them. */
class Facts implements VisitFacts {
  readonly #visit: Visit
  readonly #wishes: Wishes
  readonly #tried: SignedOutState | undefined
  readonly now: number
  readonly record: SsoRecord | undefined
  readonly storeAvailable: boolean
  readonly wantsLogin: boolean
  readonly fresh: Baseline | undefined
  readonly hasWaited: boolean

  constructor(visit: Visit, wishes: Wishes, { signedOut, hasWaited }: Progress) {
    this.#visit = visit
    this.#wishes = wishes
    this.#tried = signedOut
    this.now = visit.site.now()
    this.record = visit.stored.value
    this.storeAvailable = visit.stored.isAvailable
    this.wantsLogin = wishes.wantsLogin === true
    this.fresh = wishes.fresh
    this.hasWaited = hasWaited
  }

  get ssoAvailable() {
    return this.#visit.site.client.isAvailable
  }
  get identifyBroken() {
    return !this.#visit.site.front.isAvailable
  }
  get mayIdentify() {
    return mayIdentify(this.#visit, this.#wishes)
  }
  get blocked() {
    return blockOf(this.#visit)
  }
  get signedOut() {
    return this.#tried ?? markOf(this.#visit)
  }
}

function mayIdentify(visit: Visit, { identify }: Wishes): boolean {
  const { site, req } = visit
  if (isStrayLanding(visit)) return false
  if (identify === 'never' || (identify === 'if_configured' && site.config.identify !== 'always')) return false
  if (pageOf(visit) !== undefined) return site.shouldIdentify(req)
  if (isNavigation(req)) site.config.log.info('visit:address', TOO_LONG)
  return false
}

const TOO_LONG = `a page whose address has more than ${MAX_RETURN_LENGTH} characters, or cannot be one of ours, was served without Identify`

async function carryOut(
  visit: Visit,
  decision: Exclude<VisitDecision, Shown>,
  progress: Progress,
): Promise<Outcome | 'again'> {
  switch (decision.do) {
    case 'identify':
      sendToIdentify(visit, pageOf(visit) ?? '', decision.because)
      return { do: 'answered' }
    case 'end_session':
      return orShow(await endRecord(visit, visit.stored.value?.sidHash ?? ''))
    case 'ask_status':
      return orShow(await visit.site.underWay.run(() => ask(visit, decision.record)))
    case 'wait_for_answer':
      return waitForAnswer(visit)
    case 'retry_logout':
      progress.signedOut = await retrySignedOut(visit)
      return seeWhatIsLeft(visit)
  }
}

/** An answer to a check may bring a ticket, which names the user or renews the access token. */
async function ask(visit: Visit, record: SsoRecord): Promise<Checked> {
  const checked = await check(visit, record)
  return checked !== 'again' && 'token' in checked ? takeLogin(visit, checked) : checked
}

/** A session that cannot move, as the answer has begun, is asked about again soon. */
async function takeLogin(visit: Visit, { token, start, question }: Ticket): Promise<Checked> {
  const { site, stored, res } = visit
  if (res.headersSent !== false && !isLoggedIn(stored.value))
    return writeAnswer(visit, (found) => stillDue(found, question))
  const { did } = await redeemTicket(visit, token, start, question)
  if (did === 'unavailable') return { record: undefined, degraded: 'store_unavailable' }
  if (did !== 'user_unknown' || !isLoggedIn(stored.value)) return 'again'
  return writeAnswer(visit, (found) => confirmed(found, site.now(), question))
}

const orShow = (checked: Shown | 'again'): Outcome | 'again' =>
  checked === 'again' ? checked : { do: 'show', shown: checked }

/** The logout that was tried again may have been of the session that the browser came with. */
async function seeWhatIsLeft({ site, req, stored }: Visit): Promise<Outcome | 'again'> {
  if (stored.value === undefined) return 'again'
  if ((await stored.reread()) === 'unavailable')
    return { do: 'show', shown: { record: undefined, degraded: 'store_unavailable' } }
  if (stored.value !== undefined) return 'again'
  stored.forget()
  await site.sessions.end(req)
  return 'again'
}

/** Somebody else asks: what the record says in a moment is looked at again. */
async function waitForAnswer({ stored }: Visit): Promise<Outcome | 'again'> {
  await sleep(POLL_MS)
  if ((await stored.reread()) === 'done') return 'again'
  return { do: 'show', shown: { record: undefined, degraded: 'store_unavailable' } }
}
