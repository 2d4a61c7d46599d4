import {
  decideLoginRedirect,
  isOnOtherSite,
  type LoginRedirectDecision,
  type LoginRedirectFacts,
} from '../../lib/decide/login-redirect'
import { countRedirect, type RedirectCount } from '../../lib/decide/loop-guard'
import { NOW } from './samples'

const here = 'https://news.example'
const away = 'https://account.example/login'
const facts = (change: Partial<LoginRedirectFacts> = {}): LoginRedirectFacts => ({
  page: `${here}/archive`,
  loginPage: away,
  origin: here,
  degraded: undefined,
  canIdentify: true,
  redirects: undefined,
  now: NOW,
  ...change,
})
const redirects = (count: number, ago = 1, cause: RedirectCount['cause'] = ''): RedirectCount => ({
  since: NOW - ago,
  count,
  cause,
  isShown: false,
})

const redirect: LoginRedirectDecision = { action: 'redirect' }
const countAndRedirect: LoginRedirectDecision = { action: 'count_and_redirect' }
const requireLogin: LoginRedirectDecision = { action: 'require_login' }
const refuse: LoginRedirectDecision = { action: 'refuse_to_guard_the_login_page' }
type Reason = Extract<LoginRedirectDecision, { action: 'show_problem' }>['reason']
const giveUp = (reason: Reason): LoginRedirectDecision => ({ action: 'show_problem', reason })
const own = { loginPage: `${here}/sign-in` }
const none = { loginPage: undefined }

test.each<[what: string, change: Partial<LoginRedirectFacts>, decision: LoginRedirectDecision]>([
  ["the site's own page", own, redirect],
  ["the site's own page, after trips", { ...own, redirects: redirects(3) }, redirect],
  ["the site's own page, in an outage", { ...own, degraded: 'sso_unavailable' }, redirect],
  ["another site's page", {}, countAndRedirect],
  ['back once without a login', { redirects: redirects(1) }, countAndRedirect],
  ['back twice', { redirects: redirects(2) }, { action: 'identify' }],
  ['back twice, long ago', { redirects: redirects(2, 10) }, countAndRedirect],
  ['back twice, Identify away', { redirects: redirects(2), canIdentify: false }, giveUp('sso_unavailable')],
  ['back three times', { redirects: redirects(3) }, giveUp('identify_loop')],
  ['back three times, a while ago', { redirects: redirects(3, 10) }, countAndRedirect],
  ['an outage', { degraded: 'sso_unavailable' }, giveUp('sso_unavailable')],
  ['a user that cannot be loaded', { degraded: 'user_unknown' }, giveUp('user_unknown')],
  ['a logout not confirmed', { degraded: 'logout_pending' }, giveUp('logout_pending')],
  ['a landing whose token was refused', { redirects: redirects(1, 1, 'r') }, giveUp('token_refused')],
  ['a landing that the store did not take', { redirects: redirects(1, 1, 'a') }, countAndRedirect],
  ['no login page', none, requireLogin],
  ['no login page, an outage', { ...none, degraded: 'sso_unavailable' }, giveUp('sso_unavailable')],
  ['no login page, cookies blocked', { ...none, degraded: 'cookies_blocked' }, giveUp('cookies_blocked')],
  ['no login page, a user that cannot be loaded', { ...none, degraded: 'user_unknown' }, requireLogin],
  ['no login page, a logout not confirmed', { ...none, degraded: 'logout_pending' }, requireLogin],
  ['the login page itself', { page: away }, refuse],
  ['the login page itself, in a part of a page', { page: `${here}/`, loginPage: `${here}/#/login` }, refuse],
])('%s', (_what, change, decision) => {
  expect(decideLoginRedirect(facts(change))).toEqual(decision)
})

test.each([0, 1, 3, 9])('a browser back every %i s is given up after three redirects, or ten seconds go by', (pace) => {
  let trail: RedirectCount | undefined
  const decisions: string[] = []
  for (let round = 0; round < 5; round += 1) {
    const now = NOW + round * pace
    const decision = decideLoginRedirect(facts({ redirects: trail, now }))
    decisions.push(decision.action)
    if (decision.action !== 'show_problem') trail = countRedirect(trail, now)
  }
  const last = pace < 5 ? 'show_problem' : 'count_and_redirect'
  expect(decisions).toEqual(['count_and_redirect', 'count_and_redirect', 'identify', 'show_problem', last])
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
