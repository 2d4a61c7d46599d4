import { decideLead, isElsewhere, type LeadDecision, type LeadFacts } from '../../lib/decide/lead'
import { countTrip, type Trip } from '../../lib/decide/loop-guard'

const NOW = 1_800_000_000
const here = 'https://news.example'
const away = 'https://account.example/login'
const facts = (change: Partial<LeadFacts> = {}): LeadFacts => ({
  page: `${here}/archive`,
  loginPage: away,
  origin: here,
  degraded: undefined,
  canIdentify: true,
  trip: undefined,
  now: NOW,
  ...change,
})
const trips = (count: number, ago = 1, cause: Trip['cause'] = ''): Trip => ({
  since: NOW - ago,
  count,
  cause,
  isShown: false,
})

test.each<[what: string, change: Partial<LeadFacts>, decision: LeadDecision]>([
  ["the site's own page", { loginPage: `${here}/sign-in` }, { do: 'lead' }],
  ["the site's own page, after trips", { loginPage: `${here}/sign-in`, trip: trips(3) }, { do: 'lead' }],
  ["the site's own page, in an outage", { loginPage: `${here}/sign-in`, degraded: 'sso_unavailable' }, { do: 'lead' }],
  ["another site's page", {}, { do: 'count_and_lead' }],
  ['back once as a stranger', { trip: trips(1) }, { do: 'count_and_lead' }],
  ['back twice', { trip: trips(2) }, { do: 'identify' }],
  ['back twice, long ago', { trip: trips(2, 10) }, { do: 'count_and_lead' }],
  ['back twice, Identify away', { trip: trips(2), canIdentify: false }, { do: 'give_up', because: 'sso_unavailable' }],
  ['back three times', { trip: trips(3) }, { do: 'give_up', because: 'identify_loop' }],
  ['back three times, a while ago', { trip: trips(3, 10) }, { do: 'count_and_lead' }],
  ['an outage', { degraded: 'sso_unavailable' }, { do: 'give_up', because: 'sso_unavailable' }],
  ['a user that nobody can name', { degraded: 'user_unknown' }, { do: 'give_up', because: 'user_unknown' }],
  ['a logout not confirmed', { degraded: 'logout_pending' }, { do: 'give_up', because: 'logout_pending' }],
  ['a landing whose token was refused', { trip: trips(1, 1, 'r') }, { do: 'give_up', because: 'token_refused' }],
  ['a landing that the store did not take', { trip: trips(1, 1, 'a') }, { do: 'count_and_lead' }],
  ['no login page', { loginPage: undefined }, { do: 'require_login' }],
  [
    'no login page, an outage',
    { loginPage: undefined, degraded: 'sso_unavailable' },
    { do: 'give_up', because: 'sso_unavailable' },
  ],
  [
    'no login page, cookies blocked',
    { loginPage: undefined, degraded: 'cookies_blocked' },
    { do: 'give_up', because: 'cookies_blocked' },
  ],
  [
    'no login page, a user that cannot be loaded',
    { loginPage: undefined, degraded: 'user_unknown' },
    { do: 'require_login' },
  ],
  [
    'no login page, a logout not confirmed',
    { loginPage: undefined, degraded: 'logout_pending' },
    { do: 'require_login' },
  ],
  ['the login page itself', { page: away }, { do: 'refuse_to_guard_the_login_page' }],
  [
    'the login page itself, in a part of a page',
    { page: `${here}/`, loginPage: `${here}/#/login` },
    { do: 'refuse_to_guard_the_login_page' },
  ],
])('%s', (_what, change, decision) => {
  expect(decideLead(facts(change))).toEqual(decision)
})

test('nobody is led in a circle: whatever the pace of coming back, a page is given up after three trips, or ten seconds went by', () => {
  for (const pace of [0, 1, 3, 9]) {
    let trail: Trip | undefined
    const decisions: string[] = []
    for (let round = 0; round < 5; round += 1) {
      const now = NOW + round * pace
      const decision = decideLead(facts({ trip: trail, now }))
      decisions.push(decision.do)
      if (decision.do !== 'give_up') trail = countTrip(trail, now)
    }
    const last = pace < 5 ? 'give_up' : 'count_and_lead'
    expect(decisions).toEqual(['count_and_lead', 'count_and_lead', 'identify', 'give_up', last])
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
