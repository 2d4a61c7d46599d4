/**
 * What a guard does with a navigation of somebody whom nobody knows, where the login page is not ours. Pure.
 * Table: docs/internals/decision-tables.md, "lead".
 */
import type { EpochSeconds } from '../protocol/claims'
import { blockedBy, type Trip, tripsSoFar } from './loop-guard'
import type { DegradedReason } from './visit'

/** What the decision depends on. */
export interface LeadFacts {
  /** Address of the guarded page, without its query. */
  readonly page: string
  /** Address of the login page. `undefined` if the site has none. */
  readonly loginPage: string | undefined
  /** Origin of this site. */
  readonly origin: string
  /** Why less is known than should be; asked after this request began where the login page is another site's. */
  readonly degraded: DegradedReason | undefined
  /** Is Identify known to work? */
  readonly canIdentify: boolean
  /** The browser's trips for the guarded page. */
  readonly trip: Trip | undefined
  readonly now: EpochSeconds
}

/** `require_login`: there is no login page to redirect to. `lead`: to the login page. `count_and_lead`: likewise, and it is noted, for another site may take him for logged in and send him straight back. */
export type LeadDecision =
  | { readonly do: 'lead' }
  | { readonly do: 'count_and_lead' }
  | { readonly do: 'identify' }
  | { readonly do: 'give_up'; readonly because: DegradedReason }
  | { readonly do: 'refuse_to_guard_the_login_page' }
  | { readonly do: 'require_login' }

/** Twice led away within the loop guard's window and back as a stranger: whom the SSO system knows behind this browser, Identify tells. */
const TRIPS_BEFORE_IDENTIFY = 2
const MOST_TRIPS = 3

/** Is the login page another site's? Then a login there is known here only when the SSO system is asked. */
export const isElsewhere = (loginPage: string, origin: string): boolean => new URL(loginPage).origin !== origin

/** Decides where the visitor goes. */
export function decideLead(facts: LeadFacts): LeadDecision {
  const { page, loginPage } = facts
  if (loginPage === undefined) return decideWithoutLoginPage(facts)
  if (page === loginPage.replace(/[?#].*/, '')) return { do: 'refuse_to_guard_the_login_page' }
  if (!isElsewhere(loginPage, facts.origin)) return { do: 'lead' }
  const count = tripsSoFar(facts.trip, facts.now)
  const because = facts.degraded ?? (count >= MOST_TRIPS ? 'identify_loop' : refusalOf(facts))
  if (because) return { do: 'give_up', because }
  if (count < TRIPS_BEFORE_IDENTIFY) return { do: 'count_and_lead' }
  return facts.canIdentify ? { do: 'identify' } : { do: 'give_up', because: 'sso_unavailable' }
}

/** The SSO system and Redis work, so a login would help. */
const HARMLESS: ReadonlySet<DegradedReason> = new Set(['user_unknown', 'logout_pending'])

function decideWithoutLoginPage({ degraded }: LeadFacts): LeadDecision {
  return degraded === undefined || HARMLESS.has(degraded)
    ? { do: 'require_login' }
    : { do: 'give_up', because: degraded }
}

/** A landing whose token was refused: the next one would be as well. */
function refusalOf({ trip, now }: LeadFacts): DegradedReason | undefined {
  const because = blockedBy(trip, now)
  return because === 'token_refused' ? because : undefined
}
