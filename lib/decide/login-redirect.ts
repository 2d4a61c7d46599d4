/**
 * What a guard does with a navigation of somebody whom nobody knows, where the login page is not ours. Pure.
 * Table: docs/internals/decision-tables.md, "lead".
 */
import type { EpochSeconds } from '../protocol/claims'
import { blockReason, type RedirectCount, recentRedirects } from './loop-guard'
import type { DegradedReason } from './request-decision'

/** What the decision depends on. */
export interface LoginRedirectFacts {
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
  readonly redirects: RedirectCount | undefined
  readonly now: EpochSeconds
}

/** `require_login`: there is no login page to redirect to. `lead`: to the login page. `count_and_lead`: likewise, and it is noted, for another site may take him for logged in and send him straight back. */
export type LoginRedirectDecision =
  | { readonly action: 'lead' }
  | { readonly action: 'count_and_lead' }
  | { readonly action: 'identify' }
  | { readonly action: 'give_up'; readonly reason: DegradedReason }
  | { readonly action: 'refuse_to_guard_the_login_page' }
  | { readonly action: 'require_login' }

/** Twice led away within the loop guard's window and back as a stranger: whom the SSO system knows behind this browser, Identify tells. */
const REDIRECTS_BEFORE_IDENTIFY = 2
const MAX_REDIRECTS = 3

/** Is the login page another site's? Then a login there is known here only when the SSO system is asked. */
export const isElsewhere = (loginPage: string, origin: string): boolean => new URL(loginPage).origin !== origin

/** Decides where the visitor goes. */
export function decideLoginRedirect(facts: LoginRedirectFacts): LoginRedirectDecision {
  const { page, loginPage } = facts
  if (loginPage === undefined) return decideWithoutLoginPage(facts)
  if (page === loginPage.replace(/[?#].*/, '')) return { action: 'refuse_to_guard_the_login_page' }
  if (!isElsewhere(loginPage, facts.origin)) return { action: 'lead' }
  const count = recentRedirects(facts.redirects, facts.now)
  const reason = facts.degraded ?? (count >= MAX_REDIRECTS ? 'identify_loop' : refusalOf(facts))
  if (reason) return { action: 'give_up', reason }
  if (count < REDIRECTS_BEFORE_IDENTIFY) return { action: 'count_and_lead' }
  return facts.canIdentify ? { action: 'identify' } : { action: 'give_up', reason: 'sso_unavailable' }
}

/** The SSO system and Redis work, so a login would help. */
const HARMLESS: ReadonlySet<DegradedReason> = new Set(['user_unknown', 'logout_pending'])

function decideWithoutLoginPage({ degraded }: LoginRedirectFacts): LoginRedirectDecision {
  return degraded === undefined || HARMLESS.has(degraded)
    ? { action: 'require_login' }
    : { action: 'give_up', reason: degraded }
}

/** A landing whose token was refused: the next one would be as well. */
function refusalOf({ redirects, now }: LoginRedirectFacts): DegradedReason | undefined {
  const reason = blockReason(redirects, now)
  return reason === 'token_refused' ? reason : undefined
}
