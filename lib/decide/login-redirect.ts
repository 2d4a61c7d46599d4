/**
 * Decides where a guard sends an anonymous navigation if the login page is not the built-in page. Pure. Table:
 * docs/internals/decision-tables.md, "Login redirect".
 */
import type { DegradedReason } from './identity'
import { blockReason, type ReturnCount } from './loop-guard'

/** Facts of the decision. */
export interface LoginRedirectFacts {
  /** Address of the guarded page, without its query. */
  readonly page: string
  readonly loginPage: string | undefined
  readonly origin: string
  /** Reason why the status could not be verified. If the login page is on another site, the status is checked after the request began. */
  readonly degraded: DegradedReason | undefined
  readonly canIdentify: boolean
  /** How often the browser has returned without a pause. */
  readonly returns: ReturnCount | undefined
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
const RETURNS_BEFORE_IDENTIFY = 2
const MAX_RETURNS = 4

/** Is the login page on another site? The site then learns of a login only from the SSO system. */
export const isOnOtherSite = (loginPage: string, origin: string): boolean => new URL(loginPage).origin !== origin

/** Decides where the visitor is redirected. */
export function decideLoginRedirect(facts: LoginRedirectFacts): LoginRedirectDecision {
  const { page, loginPage } = facts
  if (loginPage === undefined) return decideWithoutLoginPage(facts)
  if (page === loginPage.replace(/[?#].*/, '')) return { action: 'refuse_to_guard_the_login_page' }
  if (!isOnOtherSite(loginPage, facts.origin)) return { action: 'redirect' }
  const count = facts.returns?.count ?? 0
  const reason = facts.degraded ?? (count >= MAX_RETURNS ? 'identify_loop' : blockReason(facts.returns))
  if (reason) return { action: 'show_problem', reason }
  if (count < RETURNS_BEFORE_IDENTIFY) return { action: 'count_and_redirect' }
  return facts.canIdentify ? { action: 'identify' } : { action: 'show_problem', reason: 'sso_unavailable' }
}

/** The SSO system and Redis work, so a login would help. */
const LOGIN_WOULD_HELP: ReadonlySet<DegradedReason> = new Set(['user_unknown', 'logout_pending'])

function decideWithoutLoginPage({ degraded }: LoginRedirectFacts): LoginRedirectDecision {
  return degraded === undefined || LOGIN_WOULD_HELP.has(degraded)
    ? { action: 'require_login' }
    : { action: 'show_problem', reason: degraded }
}
