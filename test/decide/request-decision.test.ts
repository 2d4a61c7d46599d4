import type { LoggedInRecord } from '../../lib/decide/record'
import {
  ANONYMOUS,
  type DegradedReason,
  decideRequest,
  isAccessTokenRefused,
  isVerified,
  type LogoutCookieState,
  type RequestDecision,
  type RequestFacts,
  type StatusChecksAtStart,
  showRecord,
  showStaleRecord,
  userOfLogin,
} from '../../lib/decide/request-decision'
import { anonRecord, loggedInRecord, NOW } from './samples'

const timeLimits = { recheckSeconds: 360, graceSeconds: 900, absoluteSeconds: 7_776_000, lockSeconds: 3 }

/** A page load of a browser without a session, while all is well. */
const usual: RequestFacts = {
  now: NOW,
  record: undefined,
  isStoreAvailable: true,
  isSsoAvailable: true,
  isIdentifyBroken: false,
  mayIdentify: true,
  isPrefetch: false,
  blocked: undefined,
  logoutCookie: 'no_cookie',
  isLoginPage: false,
  fresh: undefined,
  hasWaited: false,
}

const show = (record: RequestFacts['record'], degraded?: DegradedReason): RequestDecision => ({
  action: 'show',
  record,
  degraded,
})

/** What is decided of a record. */
type Outcome = (record: NonNullable<RequestFacts['record']>) => RequestDecision
const isShown: Outcome = (record) => show(record)
const isShownUnchecked: Outcome = (record) => show(record, 'sso_unavailable')
const isHidden: Outcome = () => show(undefined, 'sso_unavailable')
const isWithoutStore: Outcome = () => show(undefined, 'store_unavailable')
const isWaitedFor: Outcome = () => ({ action: 'wait_for_check' })
const isEnded: Outcome = () => ({ action: 'end_session', reason: 'absolute_limit' })

const checked = (age: number, changes: Partial<LoggedInRecord> = {}) =>
  loggedInRecord({ checkedAt: NOW - age, ...changes })
const unanswered = (age: number, seconds: number, changes: Partial<LoggedInRecord> = {}) =>
  checked(age, { unansweredAt: NOW - seconds, ...changes })
const underWay = { checkBeganAt: NOW }
const anonChecked = (age: number) => anonRecord({ checkedAt: NOW - age })
const pending = (age: number) => anonRecord({ pending: true, checkedAt: NOW - age })
const isAsked: Outcome = (record) => ({ action: 'check_status', record, reason: 'stale' })
const getsAccess: Outcome = () => ({ action: 'identify', reason: 'access_expired' })
const identify: RequestDecision = { action: 'identify', reason: 'no_session' }
const retry: RequestDecision = { action: 'retry_logout' }
const logoutPending = show(undefined, 'logout_pending')

test.each<[LogoutCookieState, RequestDecision]>([
  ['retry_always', retry],
  ['pending', logoutPending],
  ['retry_if_anonymous', show(checked(0))],
  ['not_found', show(checked(0))],
])('a login meets a logout cookie that is %s', (logoutCookie, decision) => {
  expect(decideRequest({ ...usual, record: checked(0), logoutCookie }, timeLimits)).toEqual(decision)
})

const neverAsked: StatusChecksAtStart = { currentCheckId: undefined, lastCheckId: undefined }
const lostLogout = { logoutCookie: 'not_found', isLoginPage: true } as const
const away = { isSsoAvailable: false }

test.each<[name: string, facts: Partial<RequestFacts>, decision: RequestDecision]>([
  ['a navigation goes through Identify', {}, identify],
  ['a page that wants a fresh status goes through Identify', { fresh: neverAsked }, identify],
  [
    'a prefetch of a page that would go through Identify is refused',
    { isPrefetch: true },
    { action: 'refuse_prefetch' },
  ],
  ['a prefetch of a page that would not is served', { isPrefetch: true, mayIdentify: false }, show(undefined)],
  [
    'a prefetch while Identify is broken is served',
    { isPrefetch: true, isIdentifyBroken: true },
    show(undefined, 'sso_unavailable'),
  ],
  ['anything else is served as none', { mayIdentify: false }, show(undefined)],
  ['a broken Identify gets no new visitor', { isIdentifyBroken: true }, show(undefined, 'sso_unavailable')],
  ['an SSO system that is away gets no new visitor', away, show(undefined, 'sso_unavailable')],
  ['what may not be redirected is not degraded by that', { ...away, mayIdentify: false }, show(undefined)],
  ['a browser without cookies gets the page', { blocked: 'cookies_blocked' }, show(undefined, 'cookies_blocked')],
  ['the loop guard serves the page', { blocked: 'identify_loop' }, show(undefined, 'identify_loop')],
  ['an outage is no loop', { blocked: 'identify_loop', ...away }, show(undefined, 'sso_unavailable')],
  ['so does a refused token in an outage', { blocked: 'token_refused', ...away }, show(undefined, 'token_refused')],
  ['without a store the page is served', { isStoreAvailable: false }, show(undefined, 'store_unavailable')],
  [
    'without a store nothing else counts',
    { isStoreAvailable: false, logoutCookie: 'retry_if_anonymous', fresh: neverAsked, blocked: 'identify_loop' },
    show(undefined, 'store_unavailable'),
  ],
  ['an untried logout is tried again before any Identify', { logoutCookie: 'retry_if_anonymous' }, retry],
  ['a logout that is confirmed is none', { logoutCookie: 'confirmed' }, identify],
  ['requests of scripts try it again too', { logoutCookie: 'retry_if_anonymous', mayIdentify: false }, retry],
  ['a logout that is not confirmed is served as none', { logoutCookie: 'pending' }, logoutPending],
  ['it is on the login page too', { logoutCookie: 'pending', isLoginPage: true }, logoutPending],
  ['it is for scripts, while SSO2 is away', { logoutCookie: 'pending', ...away, mayIdentify: false }, logoutPending],
  ['one not found leaves the login page to the landing', lostLogout, { action: 'identify', reason: 'signed_out' }],
  ['a logout that is not found is pending on any other page', { logoutCookie: 'not_found' }, logoutPending],
  ['it is pending where nothing may be redirected', { ...lostLogout, mayIdentify: false }, logoutPending],
  ['it is pending where the loop guard says stop', { ...lostLogout, blocked: 'identify_loop' }, logoutPending],
  ['it is pending while SSO2 is away', { ...lostLogout, ...away }, logoutPending],
])('without a record: %s', (_name, facts, decision) => {
  expect(decideRequest({ ...usual, ...facts }, timeLimits)).toEqual(decision)
})

const refused = checked(10, { accessRefused: true })
const old = loggedInRecord({ since: NOW - timeLimits.absoluteSeconds })
type Row = [name: string, record: NonNullable<RequestFacts['record']>, facts: Partial<RequestFacts>, outcome: Outcome]
const known: Row[] = [
  ['a login checked 359 s ago is served', checked(359), {}, isShown],
  ['a login checked 360 s ago is checked', checked(360), {}, isAsked],
  ['an anonymous visit checked 359 s ago is served', anonChecked(359), {}, isShown],
  ['an anonymous visit checked 360 s ago is checked', anonChecked(360), {}, isAsked],
  ['a request of a script checks just as well', checked(360), { mayIdentify: false }, isAsked],
  ['a broken Identify is no reason not to check', checked(360), { isIdentifyBroken: true }, isAsked],
  ['while another request checks, the record is served', checked(360, underWay), {}, isShown],
  ['a check lock of 2 s still holds', checked(400, { checkBeganAt: NOW - 2 }), {}, isShown],
  ['a check lock of 3 s has lapsed', checked(400, { checkBeganAt: NOW - 3 }), {}, isAsked],
  ['a check lock in the future holds no request up', checked(400, { checkBeganAt: NOW + 30 }), {}, isAsked],
  ['for 4 s from the beginning of an unanswered check there is no other', unanswered(400, 3), {}, isShownUnchecked],
  ['that holds after recheck and grace as well: no user, and no wait', unanswered(1260, 3), {}, isHidden],
  ['then it is checked again', unanswered(400, 4), {}, isAsked],
  ['a missing response of the future holds no request up', unanswered(400, -30), {}, isAsked],
  ['while the circuit is open it is not, however long ago that was', unanswered(400, 400), away, isShownUnchecked],
  ['while one request checks again the others still say so', unanswered(400, 5, underWay), {}, isShownUnchecked],
  ['but not that a fresh page could not be checked before it was due', unanswered(400, 45, underWay), {}, isShown],
  ['one that failed within the pause before that counts as well', unanswered(400, 44, underWay), {}, isShownUnchecked],
  ['a page load with a refused access token goes through Identify', refused, {}, getsAccess],
  ['its prefetch is refused', refused, { isPrefetch: true }, () => ({ action: 'refuse_prefetch' })],
  ['a prefetch of a user is served', checked(359), { isPrefetch: true }, isShown],
  ['a request of a script with a refused access token is served', refused, { mayIdentify: false }, isShown],
  ['so is a page load that the loop guard stopped', refused, { blocked: 'identify_loop' }, isShown],
  ['so is one while SSO2 is away', refused, away, isShown],
  ['so is one while Identify is broken', refused, { isIdentifyBroken: true }, isShown],
  ['so is one for a minute after an unusable ticket', { ...refused, accessFailedAt: NOW - 59 }, {}, isShown],
  ['a minute later it goes through Identify again', { ...refused, accessFailedAt: NOW - 60 }, {}, getsAccess],
  ['an unusable ticket in the future is none', { ...refused, accessFailedAt: NOW + 61 }, {}, getsAccess],
  ['an unusable ticket leaves a good access token alone', checked(10, { accessFailedAt: NOW }), {}, isShown],
  ['a second before recheck and grace end, the record is served', checked(1259, underWay), {}, isShown],
  ['after recheck and grace, the request waits for the response', checked(1260, underWay), {}, isWaitedFor],
  ['a request that has waited as long as it may checks itself', checked(1260, underWay), { hasWaited: true }, isAsked],
  ['one that knows of no response waits no more', unanswered(1260, 2, underWay), { hasWaited: true }, isHidden],
  ['a check some seconds ahead of this clock counts', checked(-5), {}, isShown],
  ['a check in the future is none', checked(-61), {}, isAsked],
  ['a check in the future does not show a login while SSO2 is away', checked(-61), away, isHidden],
  ['a session that begins in the future is not at its limit', checked(0, { since: NOW + 100 }), {}, isShown],
  ['a young record is served though SSO2 is away, as if nothing were', checked(359), away, isShown],
  ['a stale login is served within the grace while SSO2 is away', checked(1259), away, isShownUnchecked],
  ['a stale login past the grace is none while SSO2 is away', checked(1260), away, isHidden],
  ['an anonymous visit outlives any outage', anonChecked(99_999), away, isShownUnchecked],
  ['a pending login says that its user is unknown', pending(29), {}, (record) => show(record, 'user_unknown')],
  ['a pending login is checked after 30 s', pending(30), {}, isAsked],
  ['a session at its absolute limit is ended', old, {}, isEnded],
  ['a session a second before its limit is served', { ...old, since: old.since + 1 }, {}, isShown],
  ['a session at its limit is ended where nothing may be redirected', old, { mayIdentify: false }, isEnded],
  ['a session at its limit is ended while SSO2 is away', old, away, isEnded],
  ['the loop guard does not matter to a live record', checked(0), { blocked: 'identify_loop' }, isShown],
  ['a live record that the store could not tell is none', checked(0), { isStoreAvailable: false }, isWithoutStore],
]
test.each(known)('%s', (_name, record, facts, outcome) => {
  expect(decideRequest({ ...usual, record, ...facts }, timeLimits)).toEqual(outcome(record))
})

test.each<[name: string, record: Row[1], outcome: Outcome]>([
  ['a login within the grace', checked(1259), isShownUnchecked],
  ['a login past the grace', checked(1260), isHidden],
  ['an anonymous visit', anonChecked(1260), isShownUnchecked],
])('without a usable response %s is served accordingly, degraded', (_name, record, outcome) => {
  expect(showStaleRecord({ now: NOW }, record, timeLimits)).toEqual(outcome(record))
})

test('what could not be checked says why', () => {
  const reason = 'store_unavailable'
  expect(showStaleRecord({ now: NOW }, checked(0), timeLimits, reason)).toEqual(show(checked(0), reason))
})

test('only a login is shown as a user, and only one whose access token was refused needs another', () => {
  const all = [ANONYMOUS, showRecord(anonRecord()), showRecord(pending(0)), showRecord(checked(0)), showRecord(refused)]
  expect(all.map((shown) => userOfLogin(shown)?.accountId)).toEqual([undefined, undefined, undefined, 'a1', 'a1'])
  expect(all.map(isAccessTokenRefused)).toEqual([false, false, false, false, true])
})

test.each<[degraded: DegradedReason | undefined, isSure: boolean]>([
  [undefined, true],
  ['user_unknown', true],
  ['logout_pending', true],
  ['sso_unavailable', false],
  ['store_unavailable', false],
  ['identify_loop', false],
  ['cookies_blocked', false],
  ['token_refused', false],
])('what is degraded by %s is known for sure: %s', (degraded, isSure) => {
  expect(isVerified({ record: undefined, degraded })).toBe(isSure)
})

test('members of another kind of record change nothing', () => {
  const visit = Object.assign(anonChecked(10), { accessRefused: true })
  expect(decideRequest({ ...usual, record: visit }, timeLimits)).toEqual(show(visit))
  const login = Object.assign(checked(10), { pending: true })
  expect(showRecord(login)).toEqual(show(login))
})

test('where a check may take longer than 4 s, the pause lasts as long as its lock', () => {
  const slow = { ...timeLimits, lockSeconds: 12 }
  const facts = (age: number) => ({ ...usual, record: unanswered(400, age) })
  expect(decideRequest(facts(11), slow)).toMatchObject({ action: 'show', degraded: 'sso_unavailable' })
  expect(decideRequest(facts(12), slow)).toMatchObject({ action: 'check_status' })
})

describe('a page that wants a fresh status takes no response to a check that was sent before its request', () => {
  const began = (changes: Partial<StatusChecksAtStart>) => ({ fresh: { ...neverAsked, ...changes } })
  const wanted: RequestFacts = { ...usual, fresh: neverAsked }
  const isAskedNow: Outcome = (record) => ({ action: 'check_status', record, reason: 'fresh' })
  const endedBefore = began({ lastCheckId: 'q0' })
  const beganBefore = began({ currentCheckId: 'q1', lastCheckId: 'q0' })
  const q1 = { checkBeganAt: NOW, currentCheckId: 'q1' }
  const noResponse = (seconds: number) => ({ unansweredAt: NOW - seconds, lastCheckId: 'q0' })

  type FreshRow = [name: string, changes: Partial<LoggedInRecord>, facts: Partial<RequestFacts>, outcome: Outcome]
  const rows: FreshRow[] = [
    ['a record that was checked just now is checked', {}, {}, isAskedNow],
    ['so is one that was never checked by name', {}, beganBefore, isAskedNow],
    ['the response to an earlier check does not count', { lastCheckId: 'q0' }, endedBefore, isAskedNow],
    ['nor does one that was under way', { lastCheckId: 'q1' }, beganBefore, isAskedNow],
    ['the response to a later check is shown', { lastCheckId: 'q2' }, began({ currentCheckId: 'q1' }), isShown],
    ['the first response of all is shown', { lastCheckId: 'q1' }, {}, isShown],
    ['a response is shown though SSO2 is away by now', { lastCheckId: 'q2' }, away, isShown],
    ['so it is while the next check is under way', { ...q1, lastCheckId: 'q2', currentCheckId: 'q3' }, {}, isShown],
    ['a check of another request is waited for', q1, {}, isWaitedFor],
    ['so is one that was under way before', q1, began({ currentCheckId: 'q1' }), isWaitedFor],
    ['a request that has waited as long as it may checks itself', q1, { hasWaited: true }, isAskedNow],
    ['a check lock that has lapsed is not waited for', { ...q1, checkBeganAt: NOW - 3 }, {}, isAskedNow],
    ['a check lock in the future is not waited for', { ...q1, checkBeganAt: NOW + 30 }, {}, isAskedNow],
    ['for 4 s after a check without a response it is not checked', noResponse(3), endedBefore, isShownUnchecked],
    ['then it is', noResponse(4), endedBefore, isAskedNow],
    ['a later check without a response is shown so', { lastCheckId: 'q1', unansweredAt: NOW }, {}, isShownUnchecked],
    ['while SSO2 is away the record is shown as not checked', {}, away, isShownUnchecked],
    ['past the grace it is not shown at all', { checkedAt: NOW - 1260 }, away, isHidden],
    ['without a store nothing is shown', { lastCheckId: 'q1' }, { isStoreAvailable: false }, isWithoutStore],
    ['a session at its limit ends before any check', { since: NOW - timeLimits.absoluteSeconds }, {}, isEnded],
    ['without an access token it is shown: the guard asked', { lastCheckId: 'q1', accessRefused: true }, {}, isShown],
  ]
  test.each(rows)('%s', (_name, changes, facts, outcome) => {
    const record = loggedInRecord(changes)
    expect(decideRequest({ ...wanted, ...facts, record }, timeLimits)).toEqual(outcome(record))
  })

  test('a fresh response that leaves a login pending says so', () => {
    const record = anonRecord({ pending: true, lastCheckId: 'q1' })
    expect(decideRequest({ ...wanted, record }, timeLimits)).toEqual(show(record, 'user_unknown'))
  })

  test.each(rows)('without a fresh response nothing shown is verified: %s', (_name, changes, facts) => {
    const record = loggedInRecord(changes)
    const decision = decideRequest({ ...wanted, ...facts, record, isSsoAvailable: false }, timeLimits)
    const isFresh =
      record.lastCheckId !== undefined &&
      record.unansweredAt === undefined &&
      facts.fresh?.lastCheckId !== record.lastCheckId &&
      facts.fresh?.currentCheckId !== record.lastCheckId
    if (decision.action === 'show' && !isFresh) expect(isVerified(decision)).toBe(false)
  })
})
