import {
  decideLoginRedirect,
  isElsewhere,
  type LoginRedirectDecision,
  type LoginRedirectFacts,
} from '../../lib/decide/login-redirect'
import { countRedirect, type RedirectCount } from '../../lib/decide/loop-guard'

const NOW = 1_800_000_000
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
const trips = (count: number, ago = 1, cause: RedirectCount['cause'] = ''): RedirectCount => ({
  since: NOW - ago,
  count,
  cause,
  isShown: false,
})

test.each<[what: string, change: Partial<LoginRedirectFacts>, decision: LoginRedirectDecision]>([
  ["the site's own page", { loginPage: `${here}/sign-in` }, { action: 'redirect' }],
  ["the site's own page, after trips", { loginPage: `${here}/sign-in`, redirects: trips(3) }, { action: 'redirect' }],
  [
    "the site's own page, in an outage",
    { loginPage: `${here}/sign-in`, degraded: 'sso_unavailable' },
    { action: 'redirect' },
  ],
  ["another site's page", {}, { action: 'count_and_redirect' }],
  ['back once as a stranger', { redirects: trips(1) }, { action: 'count_and_redirect' }],
  ['back twice', { redirects: trips(2) }, { action: 'identify' }],
  ['back twice, long ago', { redirects: trips(2, 10) }, { action: 'count_and_redirect' }],
  [
    'back twice, Identify away',
    { redirects: trips(2), canIdentify: false },
    { action: 'give_up', reason: 'sso_unavailable' },
  ],
  ['back three times', { redirects: trips(3) }, { action: 'give_up', reason: 'identify_loop' }],
  ['back three times, a while ago', { redirects: trips(3, 10) }, { action: 'count_and_redirect' }],
  ['an outage', { degraded: 'sso_unavailable' }, { action: 'give_up', reason: 'sso_unavailable' }],
  ['a user that nobody can name', { degraded: 'user_unknown' }, { action: 'give_up', reason: 'user_unknown' }],
  ['a logout not confirmed', { degraded: 'logout_pending' }, { action: 'give_up', reason: 'logout_pending' }],
  [
    'a landing whose token was refused',
    { redirects: trips(1, 1, 'r') },
    { action: 'give_up', reason: 'token_refused' },
  ],
  ['a landing that the store did not take', { redirects: trips(1, 1, 'a') }, { action: 'count_and_redirect' }],
  ['no login page', { loginPage: undefined }, { action: 'require_login' }],
  [
    'no login page, an outage',
    { loginPage: undefined, degraded: 'sso_unavailable' },
    { action: 'give_up', reason: 'sso_unavailable' },
  ],
  [
    'no login page, cookies blocked',
    { loginPage: undefined, degraded: 'cookies_blocked' },
    { action: 'give_up', reason: 'cookies_blocked' },
  ],
  [
    'no login page, a user that cannot be loaded',
    { loginPage: undefined, degraded: 'user_unknown' },
    { action: 'require_login' },
  ],
  [
    'no login page, a logout not confirmed',
    { loginPage: undefined, degraded: 'logout_pending' },
    { action: 'require_login' },
  ],
  ['the login page itself', { page: away }, { action: 'refuse_to_guard_the_login_page' }],
  [
    'the login page itself, in a part of a page',
    { page: `${here}/`, loginPage: `${here}/#/login` },
    { action: 'refuse_to_guard_the_login_page' },
  ],
])('%s', (_what, change, decision) => {
  expect(decideLoginRedirect(facts(change))).toEqual(decision)
})

test('nobody is led in a circle: whatever the pace of coming back, a page is given up after three trips, or ten seconds went by', () => {
  for (const pace of [0, 1, 3, 9]) {
    let trail: RedirectCount | undefined
    const decisions: string[] = []
    for (let round = 0; round < 5; round += 1) {
      const now = NOW + round * pace
      const decision = decideLoginRedirect(facts({ redirects: trail, now }))
      decisions.push(decision.action)
      if (decision.action !== 'give_up') trail = countRedirect(trail, now)
    }
    const last = pace < 5 ? 'give_up' : 'count_and_redirect'
    expect(decisions).toEqual(['count_and_redirect', 'count_and_redirect', 'identify', 'give_up', last])
  }
})

test.each<[page: string, isAway: boolean]>([
  [`${here}/sign-in`, false],
  [`${here}:443/sign-in`, false],
  [`${here}:8443/sign-in`, true],
  ['http://news.example/sign-in', true],
  ['https://news.example.evil/sign-in', true],
])('%s is elsewhere: %p', (page, isAway) => {
  expect(isElsewhere(page, here)).toBe(isAway)
})
