/**
 * Decides where a guard sends an anonymous navigation if the login page is not the built-in page. Pure. Table:
 * docs/internals/decision-tables.md, "Login redirect".
 */
import type { EpochSeconds } from '../protocol/claims'
import { blockReason, type RedirectCount, recentRedirects } from './loop-guard'
import type { DegradedReason } from './request-decision'

/** Facts of the decision. */
export interface LoginRedirectFacts {
  /** Address of the guarded page, without its query. */
  readonly page: string
  readonly loginPage: string | undefined
  readonly origin: string
  /** Reason why the status could not be verified. If the login page is on another site, the status is checked after the request began. */
  readonly degraded: DegradedReason | undefined
  readonly canIdentify: boolean
  readonly redirects: RedirectCount | undefined
  readonly now: EpochSeconds
}

/**
 * `require_login`: there is no login page to redirect to. `redirect`: redirect to the login page. `count_and_redirect`: also count the redirect,
 * because a login page on another site may see a login and redirect straight back.
 */
export type LoginRedirectDecision =
  | { readonly action: 'redirect' }
  | { readonly action: 'count_and_redirect' }
  | { readonly action: 'identify' }
  | { readonly action: 'show_problem'; readonly reason: DegradedReason }
  | { readonly action: 'refuse_to_guard_the_login_page' }
  | { readonly action: 'require_login' }

/** After so many returns without a login, Identify shows which SSO session the browser has. */
const REDIRECTS_BEFORE_IDENTIFY = 2
const MAX_REDIRECTS = 3

/** Is the login page on another site? The site then learns of a login only from the SSO system. */
export const isOnOtherSite = (loginPage: string, origin: string): boolean => new URL(loginPage).origin !== origin

/** Decides where the visitor is redirected. */
export function decideLoginRedirect(facts: LoginRedirectFacts): LoginRedirectDecision {
  const { page, loginPage } = facts
  if (loginPage === undefined) return decideWithoutLoginPage(facts)
  if (page === loginPage.replace(/[?#].*/, '')) return { action: 'refuse_to_guard_the_login_page' }
  if (!isOnOtherSite(loginPage, facts.origin)) return { action: 'redirect' }
  const count = recentRedirects(facts.redirects, facts.now)
  const reason = facts.degraded ?? (count >= MAX_REDIRECTS ? 'identify_loop' : refusalOf(facts))
  if (reason) return { action: 'show_problem', reason }
  if (count < REDIRECTS_BEFORE_IDENTIFY) return { action: 'count_and_redirect' }
  return facts.canIdentify ? { action: 'identify' } : { action: 'show_problem', reason: 'sso_unavailable' }
}

/** The SSO system and Redis work, so a login would help. */
const LOGIN_WOULD_HELP: ReadonlySet<DegradedReason> = new Set(['user_unknown', 'logout_pending'])

function decideWithoutLoginPage({ degraded }: LoginRedirectFacts): LoginRedirectDecision {
  return degraded === undefined || LOGIN_WOULD_HELP.has(degraded)
    ? { action: 'require_login' }
    : { action: 'show_problem', reason: degraded }
}

/** Returns the reason of a landing whose token was refused, because the next token would be refused too. */
function refusalOf({ redirects, now }: LoginRedirectFacts): DegradedReason | undefined {
  const reason = blockReason(redirects, now)
  return reason === 'token_refused' ? reason : undefined
}
