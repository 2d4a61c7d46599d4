import type { LoggedInRecord } from '../../lib/decide/record'
import {
  ANONYMOUS,
  type ChecksAtStart,
  type DegradedReason,
  decideRequest,
  identifiedUser,
  isVerified,
  type LogoutCookieState,
  needsAccessToken,
  type RequestDecision,
  type RequestFacts,
  useRecord,
  useStaleRecord,
} from '../../lib/decide/request-decision'
import { anonRecord, loggedInRecord, NOW } from './samples'

const policy = { recheckSeconds: 360, graceSeconds: 900, absoluteSeconds: 7_776_000, lockSeconds: 3 }
const usual: RequestFacts = {
  now: NOW,
  record: undefined,
  isStoreAvailable: true,
  isSsoAvailable: true,
  isIdentifyBroken: false,
  mayIdentify: true,
  blocked: undefined,
  logoutCookie: 'no',
  isLoginPage: false,
  fresh: undefined,
  hasWaited: false,
}
const show = (record: RequestFacts['record'], degraded?: DegradedReason): RequestDecision => ({
  action: 'show',
  record,
  degraded,
})
const checked = (age: number, changes: Partial<LoggedInRecord> = {}) =>
  loggedInRecord({ checkedAt: NOW - age, ...changes })
const anonChecked = (age: number) => anonRecord({ checkedAt: NOW - age })

const recordOfLogin = checked(0)
test.each<[LogoutCookieState, RequestDecision]>([
  ['due', { action: 'retry_logout' }],
  ['pending', show(undefined, 'logout_pending')],
  ['untried', show(recordOfLogin)],
  ['unknown', show(recordOfLogin)],
])('a login meets a signed-out mark that is %s', (logoutCookie, decision) => {
  expect(decideRequest({ ...usual, record: recordOfLogin, logoutCookie }, policy)).toEqual(decision)
})

const neverAsked: ChecksAtStart = { asking: undefined, asked: undefined }

type Row = [name: string, facts: Partial<RequestFacts>, decision: RequestDecision]
const strangers: Row[] = [
  ['a navigation without a record goes through Identify', {}, { action: 'identify', reason: 'no_session' }],
  ['anything else without a record is served as none', { mayIdentify: false }, show(undefined)],
  ['a broken Identify gets no new visitor', { isIdentifyBroken: true }, show(undefined, 'sso_unavailable')],
  [
    'a broken Identify is no reason not to ask',
    { record: checked(360), isIdentifyBroken: true },
    { action: 'ask_status', record: checked(360), reason: 'stale' },
  ],
  [
    'a broken Identify gets nobody whose access ran out',
    { record: checked(10, { accessRefused: true }), isIdentifyBroken: true },
    show(checked(10, { accessRefused: true })),
  ],
  ['a dead SSO system gets no new visitor', { isSsoAvailable: false }, show(undefined, 'sso_unavailable')],
  [
    'what may not be redirected is not degraded by a dead SSO system',
    { isSsoAvailable: false, mayIdentify: false },
    show(undefined),
  ],
  ['the cookie-less marker serves the page', { blocked: 'cookies_blocked' }, show(undefined, 'cookies_blocked')],
  ['the loop guard serves the page', { blocked: 'identify_loop' }, show(undefined, 'identify_loop')],
  [
    'a refused token serves the page, also with SSO2 away',
    { blocked: 'token_refused', isSsoAvailable: false },
    show(undefined, 'token_refused'),
  ],
  ['without a store the page is served', { isStoreAvailable: false }, show(undefined, 'store_unavailable')],
  [
    'without a store nothing else counts',
    { isStoreAvailable: false, logoutCookie: 'untried', fresh: neverAsked, blocked: 'identify_loop' },
    show(undefined, 'store_unavailable'),
  ],
  ['a pending logout is tried again before any Identify', { logoutCookie: 'untried' }, { action: 'retry_logout' }],
  [
    'a pending logout is tried again by requests of scripts too',
    { logoutCookie: 'untried', mayIdentify: false },
    { action: 'retry_logout' },
  ],
  [
    'a page that wants fresh news of a stranger identifies',
    { fresh: neverAsked },
    { action: 'identify', reason: 'no_session' },
  ],
  ['a logout that is not confirmed is served as none', { logoutCookie: 'pending' }, show(undefined, 'logout_pending')],
  [
    'a logout that is not confirmed is served as none to whoever wants to log in, too',
    { logoutCookie: 'pending', isLoginPage: true },
    show(undefined, 'logout_pending'),
  ],
  [
    'so it is without SSO2, and on a page that may not be redirected',
    { logoutCookie: 'pending', isSsoAvailable: false, mayIdentify: false },
    show(undefined, 'logout_pending'),
  ],
  [
    'where nobody can tell whose logout it is, pressing "log in" has the landing find out',
    { logoutCookie: 'unknown', isLoginPage: true },
    { action: 'identify', reason: 'signed_out' },
  ],
  [
    'a page that nobody pressed "log in" on sends nobody to Identify before that',
    { logoutCookie: 'unknown' },
    show(undefined, 'logout_pending'),
  ],
  [
    'such a logout is pending where nothing may be redirected',
    { logoutCookie: 'unknown', isLoginPage: true, mayIdentify: false },
    show(undefined, 'logout_pending'),
  ],
  [
    'such a logout is pending where the loop guard says stop',
    { logoutCookie: 'unknown', isLoginPage: true, blocked: 'identify_loop' },
    show(undefined, 'logout_pending'),
  ],
  [
    'such a logout is pending while SSO2 is away',
    { logoutCookie: 'unknown', isLoginPage: true, isSsoAvailable: false },
    show(undefined, 'logout_pending'),
  ],
]
test.each(strangers)('%s', (_name, facts, decision) => {
  expect(decideRequest({ ...usual, ...facts }, policy)).toEqual(decision)
})

const old = loggedInRecord({ since: NOW - policy.absoluteSeconds })
const pending = (age: number) => anonRecord({ pending: true, checkedAt: NOW - age })
const known: [
  name: string,
  facts: Partial<RequestFacts> & { record: NonNullable<RequestFacts['record']> },
  decision: RequestDecision,
][] = [
  ['a login checked 359 s ago is served', { record: checked(359) }, show(checked(359))],
  [
    'a login checked 360 s ago is asked about',
    { record: checked(360) },
    { action: 'ask_status', record: checked(360), reason: 'stale' },
  ],
  ['an anonymous visit checked 359 s ago is served', { record: anonChecked(359) }, show(anonChecked(359))],
  [
    'an anonymous visit checked 360 s ago is asked about',
    { record: anonChecked(360) },
    { action: 'ask_status', record: anonChecked(360), reason: 'stale' },
  ],
  [
    'a request of a script asks just as well',
    { record: checked(360), mayIdentify: false },
    { action: 'ask_status', record: checked(360), reason: 'stale' },
  ],
  [
    'while another request asks, the record is served',
    { record: checked(360, { askingAt: NOW }) },
    show(checked(360, { askingAt: NOW })),
  ],
  [
    'a claim of 2 s still holds',
    { record: checked(400, { askingAt: NOW - 2 }) },
    show(checked(400, { askingAt: NOW - 2 })),
  ],
  [
    'a claim of 3 s has lapsed',
    { record: checked(400, { askingAt: NOW - 3 }) },
    { action: 'ask_status', record: checked(400, { askingAt: NOW - 3 }), reason: 'stale' },
  ],
  [
    'for 4 s from the beginning of a check without a response it is not checked again, and the page says so',
    { record: checked(400, { unansweredAt: NOW - 3 }) },
    show(checked(400, { unansweredAt: NOW - 3 }), 'sso_unavailable'),
  ],
  [
    'that holds after recheck and grace as well: no user, and no wait',
    { record: checked(1260, { unansweredAt: NOW - 3 }) },
    show(undefined, 'sso_unavailable'),
  ],
  [
    'then it is checked again',
    { record: checked(400, { unansweredAt: NOW - 4 }) },
    { action: 'ask_status', record: checked(400, { unansweredAt: NOW - 4 }), reason: 'stale' },
  ],
  [
    'while the circuit is open it is not, however long ago that was',
    { record: checked(400, { unansweredAt: NOW - 400 }), isSsoAvailable: false },
    show(checked(400, { unansweredAt: NOW - 400 }), 'sso_unavailable'),
  ],
  [
    'while it is asked again the others still say that it could not be checked',
    { record: checked(400, { unansweredAt: NOW - 5, askingAt: NOW }) },
    show(checked(400, { unansweredAt: NOW - 5, askingAt: NOW }), 'sso_unavailable'),
  ],
  [
    'a page load of a reader whose access token is refused goes through Identify',
    { record: checked(10, { accessRefused: true }) },
    { action: 'identify', reason: 'access_expired' },
  ],
  [
    'a request of a script is served with such a record',
    { record: checked(10, { accessRefused: true }), mayIdentify: false },
    show(checked(10, { accessRefused: true })),
  ],
  [
    'so is a page load that the loop guard stopped',
    { record: checked(10, { accessRefused: true }), blocked: 'identify_loop' },
    show(checked(10, { accessRefused: true })),
  ],
  [
    'so is one while SSO2 is away',
    { record: checked(10, { accessRefused: true }), isSsoAvailable: false },
    show(checked(10, { accessRefused: true })),
  ],
  [
    'a second before recheck and grace end, the record is served',
    { record: checked(1259, { askingAt: NOW }) },
    show(checked(1259, { askingAt: NOW })),
  ],
  [
    'after recheck and grace, the request waits for the answer',
    { record: checked(1260, { askingAt: NOW }) },
    { action: 'wait_for_answer' },
  ],
  [
    'whoever has waited as long as he may asks himself',
    { record: checked(1260, { askingAt: NOW }), hasWaited: true },
    { action: 'ask_status', record: checked(1260, { askingAt: NOW }), reason: 'stale' },
  ],
  [
    'whoever has waited, and knows that no answer came, waits no more',
    { record: checked(1260, { askingAt: NOW, unansweredAt: NOW - 2 }), hasWaited: true },
    show(undefined, 'sso_unavailable'),
  ],
  [
    'for a minute after a ticket that could not be used a page load is served without a new access token',
    { record: checked(10, { accessRefused: true, accessFailedAt: NOW - 59 }) },
    show(checked(10, { accessRefused: true, accessFailedAt: NOW - 59 })),
  ],
  [
    'a minute later it goes through Identify again',
    { record: checked(10, { accessRefused: true, accessFailedAt: NOW - 60 }) },
    { action: 'identify', reason: 'access_expired' },
  ],
  [
    'a ticket that could not be used does not matter where the access token is good',
    { record: checked(10, { accessFailedAt: NOW }) },
    show(checked(10, { accessFailedAt: NOW })),
  ],
  ['a check some seconds ahead of this clock counts', { record: checked(-5) }, show(checked(-5))],
  [
    'a check in the future is none',
    { record: checked(-61) },
    { action: 'ask_status', record: checked(-61), reason: 'stale' },
  ],
  [
    'a check in the future does not show a login while SSO2 is away',
    { record: checked(-61), isSsoAvailable: false },
    show(undefined, 'sso_unavailable'),
  ],
  [
    'a claim in the future holds nobody up',
    { record: checked(400, { askingAt: NOW + 61 }) },
    { action: 'ask_status', record: checked(400, { askingAt: NOW + 61 }), reason: 'stale' },
  ],
  [
    'a missing answer of the future holds nobody up',
    { record: checked(400, { unansweredAt: NOW + 61 }) },
    { action: 'ask_status', record: checked(400, { unansweredAt: NOW + 61 }), reason: 'stale' },
  ],
  [
    'a ticket that could not be used in the future is none',
    { record: checked(10, { accessRefused: true, accessFailedAt: NOW + 61 }) },
    { action: 'identify', reason: 'access_expired' },
  ],
  [
    'a session that begins in the future is not at its limit',
    { record: { ...checked(0), since: NOW + 100 } },
    show({ ...checked(0), since: NOW + 100 }),
  ],
  [
    'a young record is served though SSO2 is away, as if nothing were',
    { record: checked(359), isSsoAvailable: false },
    show(checked(359)),
  ],
  [
    'a stale login is served within the grace while SSO2 is away',
    { record: checked(1259), isSsoAvailable: false },
    show(checked(1259), 'sso_unavailable'),
  ],
  [
    'a stale login past the grace is none while SSO2 is away',
    { record: checked(1260), isSsoAvailable: false },
    show(undefined, 'sso_unavailable'),
  ],
  [
    'an anonymous visit outlives any outage',
    { record: anonChecked(99_999), isSsoAvailable: false },
    show(anonChecked(99_999), 'sso_unavailable'),
  ],
  ['a pending login says that its user is unknown', { record: pending(29) }, show(pending(29), 'user_unknown')],
  [
    'a pending login is asked about after 30 s',
    { record: pending(30) },
    { action: 'ask_status', record: pending(30), reason: 'stale' },
  ],
  ['a session at its absolute limit is ended', { record: old }, { action: 'end_session', reason: 'absolute_limit' }],
  [
    'a session a second before its limit is served',
    { record: { ...old, since: old.since + 1 } },
    show({ ...old, since: old.since + 1 }),
  ],
  [
    'a session at its limit is ended where nothing may be redirected',
    { record: old, mayIdentify: false },
    { action: 'end_session', reason: 'absolute_limit' },
  ],
  [
    'a session at its limit is ended while SSO2 is away',
    { record: old, isSsoAvailable: false },
    { action: 'end_session', reason: 'absolute_limit' },
  ],
  [
    'a signed-out cookie does not matter to a live record',
    { record: checked(0), logoutCookie: 'untried' },
    show(checked(0)),
  ],
  [
    'the loop guard does not matter to a live record',
    { record: checked(0), blocked: 'identify_loop' },
    show(checked(0)),
  ],
  [
    'a live record that the store could not tell is none',
    { record: checked(0), isStoreAvailable: false },
    show(undefined, 'store_unavailable'),
  ],
]
test.each(known)('%s', (_name, facts, decision) => {
  expect(decideRequest({ ...usual, ...facts }, policy)).toEqual(decision)
})

test.each([
  ['a login within the grace', checked(1259), checked(1259)],
  ['a login past the grace', checked(1260), undefined],
  ['an anonymous visit', anonChecked(1260), anonChecked(1260)],
])('without a usable answer %s is served accordingly, degraded', (_name, record, shown) => {
  expect(useStaleRecord({ now: NOW }, record, policy)).toEqual(show(shown, 'sso_unavailable'))
})

test('what could not be checked says why', () => {
  expect(useStaleRecord({ now: NOW }, checked(0), policy, 'store_unavailable')).toEqual(
    show(checked(0), 'store_unavailable'),
  )
})

test('only a login is shown as a user, and only one whose access token was refused needs another', () => {
  const refused = checked(0, { accessRefused: true })
  const all = [ANONYMOUS, useRecord(anonRecord()), useRecord(pending(0)), useRecord(checked(0)), useRecord(refused)]
  expect(all.map((shown) => identifiedUser(shown)?.accountId)).toEqual([undefined, undefined, undefined, 'a1', 'a1'])
  expect(all.map(needsAccessToken)).toEqual([false, false, false, false, true])
})

test.each<[degraded: DegradedReason | undefined, sure: boolean]>([
  [undefined, true],
  ['user_unknown', true],
  ['logout_pending', true],
  ['sso_unavailable', false],
  ['store_unavailable', false],
  ['identify_loop', false],
  ['cookies_blocked', false],
  ['token_refused', false],
])('what is degraded by %s is known for sure: %s', (degraded, sure) => {
  expect(isVerified({ record: undefined, degraded })).toBe(sure)
})

test('members of another kind of record give nobody anything', () => {
  const stranger = Object.assign(anonChecked(10), { accessRefused: true })
  expect(decideRequest({ ...usual, record: stranger }, policy)).toEqual(show(stranger))
  const reader = Object.assign(checked(10), { pending: true })
  expect(useRecord(reader)).toEqual(show(reader))
})

test('a record that nobody has asked about is asked about, whatever was asked before the request began', () => {
  const fresh: ChecksAtStart = { asking: 'q1', asked: 'q0' }
  expect(decideRequest({ ...usual, record: checked(10), fresh }, policy)).toMatchObject({ action: 'ask_status' })
})

test('where a check may take longer than 4 s, the pause lasts as long as its claim', () => {
  const slow = { ...policy, lockSeconds: 12 }
  const facts = (age: number) => ({ ...usual, record: checked(400, { unansweredAt: NOW - age }) })
  expect(decideRequest(facts(11), slow)).toMatchObject({ action: 'show', degraded: 'sso_unavailable' })
  expect(decideRequest(facts(12), slow)).toMatchObject({ action: 'ask_status' })
})
