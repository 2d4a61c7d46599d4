import { decideVisit, tolerate, type VisitDecision, type VisitFacts } from '../../lib/decide/visit'
import { anonRecord, loggedInRecord, NOW } from './samples'

const policy = { recheckSeconds: 360, graceSeconds: 900, absoluteSeconds: 7_776_000, claimSeconds: 3 }
const usual: VisitFacts = {
  now: NOW,
  record: undefined,
  storeAvailable: true,
  ssoAvailable: true,
  mayIdentify: true,
  blocked: undefined,
  signedOut: false,
  fresh: false,
}
const serve = (
  record: VisitFacts['record'],
  degraded?: Extract<VisitDecision, { do: 'serve' }>['degraded'],
): VisitDecision => ({ do: 'serve', record, degraded })
const checked = (age: number, changes: { askingAt?: number; unansweredAt?: number; accessRefused?: true } = {}) =>
  loggedInRecord({ checkedAt: NOW - age, ...changes })
const anonChecked = (age: number) => anonRecord({ checkedAt: NOW - age })

const strangers: [name: string, facts: Partial<VisitFacts>, decision: VisitDecision][] = [
  ['a navigation without a record goes through Identify', {}, { do: 'identify', because: 'no_session' }],
  ['anything else without a record is served as none', { mayIdentify: false }, serve(undefined)],
  ['a dead SSO system gets no new visitor', { ssoAvailable: false }, serve(undefined, 'sso_unavailable')],
  [
    'what may not be redirected is not degraded by a dead SSO system',
    { ssoAvailable: false, mayIdentify: false },
    serve(undefined),
  ],
  ['the cookie-less marker serves the page', { blocked: 'cookies_blocked' }, serve(undefined, 'cookies_blocked')],
  ['the loop guard serves the page', { blocked: 'identify_loop' }, serve(undefined, 'identify_loop')],
  [
    'a refused token serves the page, also with SSO2 away',
    { blocked: 'token_refused', ssoAvailable: false },
    serve(undefined, 'token_refused'),
  ],
  ['without a store the page is served', { storeAvailable: false }, serve(undefined, 'store_unavailable')],
  [
    'without a store nothing else counts',
    { storeAvailable: false, signedOut: true, fresh: true, blocked: 'identify_loop' },
    serve(undefined, 'store_unavailable'),
  ],
  ['a pending logout is tried again before any Identify', { signedOut: true }, { do: 'retry_logout' }],
  [
    'a pending logout is tried again by requests of scripts too',
    { signedOut: true, mayIdentify: false },
    { do: 'retry_logout' },
  ],
  ['a page that wants fresh news of a stranger identifies', { fresh: true }, { do: 'identify', because: 'no_session' }],
]
test.each(strangers)('%s', (_name, facts, decision) => {
  expect(decideVisit({ ...usual, ...facts }, policy)).toEqual(decision)
})

const old = loggedInRecord({ since: NOW - policy.absoluteSeconds })
const pending = (age: number) => anonRecord({ pending: true, checkedAt: NOW - age })
const known: [
  name: string,
  facts: Partial<VisitFacts> & { record: NonNullable<VisitFacts['record']> },
  decision: VisitDecision,
][] = [
  ['a login checked 359 s ago is served', { record: checked(359) }, serve(checked(359))],
  [
    'a login checked 360 s ago is asked about',
    { record: checked(360) },
    { do: 'ask_status', record: checked(360), because: 'stale' },
  ],
  ['an anonymous visit checked 359 s ago is served', { record: anonChecked(359) }, serve(anonChecked(359))],
  [
    'an anonymous visit checked 360 s ago is asked about',
    { record: anonChecked(360) },
    { do: 'ask_status', record: anonChecked(360), because: 'stale' },
  ],
  [
    'a request of a script asks just as well',
    { record: checked(360), mayIdentify: false },
    { do: 'ask_status', record: checked(360), because: 'stale' },
  ],
  [
    'while another request asks, the record is served',
    { record: checked(360, { askingAt: NOW }) },
    serve(checked(360, { askingAt: NOW })),
  ],
  [
    'a claim of 2 s still holds',
    { record: checked(400, { askingAt: NOW - 2 }) },
    serve(checked(400, { askingAt: NOW - 2 })),
  ],
  [
    'a claim of 3 s has lapsed',
    { record: checked(400, { askingAt: NOW - 3 }) },
    { do: 'ask_status', record: checked(400, { askingAt: NOW - 3 }), because: 'stale' },
  ],
  [
    'for 2 s after a question without an answer nobody asks, and the record is served as one that could not be checked',
    { record: checked(400, { unansweredAt: NOW - 2 }) },
    serve(checked(400, { unansweredAt: NOW - 2 }), 'sso_unavailable'),
  ],
  [
    'that holds after recheck and grace as well: no user, and no wait',
    { record: checked(1260, { unansweredAt: NOW - 2 }) },
    serve(undefined, 'sso_unavailable'),
  ],
  [
    '3 s later it is asked again',
    { record: checked(400, { unansweredAt: NOW - 3 }) },
    { do: 'ask_status', record: checked(400, { unansweredAt: NOW - 3 }), because: 'stale' },
  ],
  [
    'while it is asked again the others still say that it could not be checked',
    { record: checked(400, { unansweredAt: NOW - 5, askingAt: NOW }) },
    serve(checked(400, { unansweredAt: NOW - 5, askingAt: NOW }), 'sso_unavailable'),
  ],
  [
    'a page load of a reader whose access token is refused goes through Identify',
    { record: checked(10, { accessRefused: true }) },
    { do: 'identify', because: 'access_expired' },
  ],
  [
    'a request of a script is served with such a record',
    { record: checked(10, { accessRefused: true }), mayIdentify: false },
    serve(checked(10, { accessRefused: true })),
  ],
  [
    'so is a page load that the loop guard stopped',
    { record: checked(10, { accessRefused: true }), blocked: 'identify_loop' },
    serve(checked(10, { accessRefused: true })),
  ],
  [
    'so is one while SSO2 is away',
    { record: checked(10, { accessRefused: true }), ssoAvailable: false },
    serve(checked(10, { accessRefused: true })),
  ],
  [
    'a second before recheck and grace end, the record is served',
    { record: checked(1259, { askingAt: NOW }) },
    serve(checked(1259, { askingAt: NOW })),
  ],
  [
    'after recheck and grace, the request waits for the answer',
    { record: checked(1260, { askingAt: NOW }) },
    { do: 'wait_for_answer', record: checked(1260, { askingAt: NOW }) },
  ],
  [
    'a young record is served though SSO2 is away, as if nothing were',
    { record: checked(359), ssoAvailable: false },
    serve(checked(359)),
  ],
  [
    'a stale login is served within the grace while SSO2 is away',
    { record: checked(1259), ssoAvailable: false },
    serve(checked(1259), 'sso_unavailable'),
  ],
  [
    'a stale login past the grace is none while SSO2 is away',
    { record: checked(1260), ssoAvailable: false },
    serve(undefined, 'sso_unavailable'),
  ],
  [
    'an anonymous visit outlives any outage',
    { record: anonChecked(99_999), ssoAvailable: false },
    serve(anonChecked(99_999), 'sso_unavailable'),
  ],
  [
    'a page that wants fresh news asks at once',
    { record: checked(0), fresh: true },
    { do: 'ask_status', record: checked(0), because: 'fresh' },
  ],
  [
    'fresh news are asked though another request asks too',
    { record: checked(0, { askingAt: NOW }), fresh: true },
    { do: 'ask_status', record: checked(0, { askingAt: NOW }), because: 'fresh' },
  ],
  [
    'fresh news are not to be had while SSO2 is away',
    { record: checked(0), fresh: true, ssoAvailable: false },
    serve(undefined, 'sso_unavailable'),
  ],
  ['a pending login says that its user is unknown', { record: pending(29) }, serve(pending(29), 'user_unknown')],
  [
    'a pending login is asked about after 30 s',
    { record: pending(30) },
    { do: 'ask_status', record: pending(30), because: 'stale' },
  ],
  ['a session at its absolute limit is ended', { record: old }, { do: 'end_session', because: 'absolute_limit' }],
  [
    'a session a second before its limit is served',
    { record: { ...old, since: old.since + 1 } },
    serve({ ...old, since: old.since + 1 }),
  ],
  [
    'a session at its limit is ended where nothing may be redirected',
    { record: old, mayIdentify: false },
    { do: 'end_session', because: 'absolute_limit' },
  ],
  [
    'a session at its limit is ended while SSO2 is away',
    { record: old, ssoAvailable: false },
    { do: 'end_session', because: 'absolute_limit' },
  ],
  ['a signed-out cookie does not matter to a live record', { record: checked(0), signedOut: true }, serve(checked(0))],
  [
    'the loop guard does not matter to a live record',
    { record: checked(0), blocked: 'identify_loop' },
    serve(checked(0)),
  ],
  [
    'a live record that the store could not tell is none',
    { record: checked(0), storeAvailable: false },
    serve(undefined, 'store_unavailable'),
  ],
]
test.each(known)('%s', (_name, facts, decision) => {
  expect(decideVisit({ ...usual, ...facts }, policy)).toEqual(decision)
})

test.each([
  ['a login within the grace', checked(1259), checked(1259)],
  ['a login past the grace', checked(1260), undefined],
  ['an anonymous visit', anonChecked(1260), anonChecked(1260)],
])('without a usable answer %s is served accordingly, degraded', (_name, record, served) => {
  expect(tolerate({ now: NOW }, record, policy)).toEqual(serve(served, 'sso_unavailable'))
})
