import {
  decideLoginRedirect,
  isOnOtherSite,
  type LoginRedirectDecision,
  type LoginRedirectFacts,
} from '../../lib/decide/login-redirect'
import type { LoopCause, ReturnCount } from '../../lib/decide/loop-guard'

const here = 'https://news.example'
const away = 'https://account.example/login'
const facts = (change: Partial<LoginRedirectFacts> = {}): LoginRedirectFacts => ({
  page: `${here}/archive`,
  loginPage: away,
  origin: here,
  degraded: undefined,
  canIdentify: true,
  returns: undefined,
  ...change,
})
const returns = (count: number, cause: LoopCause = ''): { returns: ReturnCount } => ({ returns: { count, cause } })

const redirect: LoginRedirectDecision = { action: 'redirect' }
const countAndRedirect: LoginRedirectDecision = { action: 'count_and_redirect' }
const identify: LoginRedirectDecision = { action: 'identify' }
const requireLogin: LoginRedirectDecision = { action: 'require_login' }
const refuse: LoginRedirectDecision = { action: 'refuse_to_guard_the_login_page' }
type Reason = Extract<LoginRedirectDecision, { action: 'show_problem' }>['reason']
const giveUp = (reason: Reason): LoginRedirectDecision => ({ action: 'show_problem', reason })
const own = { loginPage: `${here}/sign-in` }
const none = { loginPage: undefined }

test.each<[what: string, change: Partial<LoginRedirectFacts>, decision: LoginRedirectDecision]>([
  ["the site's own page", own, redirect],
  ["the site's own page, after returns", { ...own, ...returns(4) }, redirect],
  ["another site's page", {}, countAndRedirect],
  ['back twice', returns(2), identify],
  ['back twice, Identify away', { ...returns(2), canIdentify: false }, giveUp('sso_unavailable')],
  ['back three times', returns(3), identify],
  ['back four times', returns(4), giveUp('identify_loop')],
  ['an outage', { degraded: 'sso_unavailable' }, giveUp('sso_unavailable')],
  ['a user that cannot be loaded', { degraded: 'user_unknown' }, giveUp('user_unknown')],
  ['a landing whose token was refused', returns(1, 'token_refused'), giveUp('token_refused')],
  ['no login page', none, requireLogin],
  ['no login page, an outage', { ...none, degraded: 'sso_unavailable' }, giveUp('sso_unavailable')],
  ['no login page, a user that cannot be loaded', { ...none, degraded: 'user_unknown' }, requireLogin],
  ['the login page itself', { page: away }, refuse],
  ['the login page itself, in a part of a page', { page: `${here}/`, loginPage: `${here}/#/login` }, refuse],
])('%s', (_what, change, decision) => {
  expect(decideLoginRedirect(facts(change))).toEqual(decision)
})

test.each<[page: string, isAway: boolean]>([
  [`${here}/sign-in`, false],
  [`${here}:443/sign-in`, false],
  [`${here}:8443/sign-in`, true],
  ['http://news.example/sign-in', true],
  ['https://news.example.evil/sign-in', true],
])('the login page %s is on another site: %p', (page, isAway) => {
  expect(isOnOtherSite(page, here)).toBe(isAway)
})
