import fc from 'fast-check'
import {
  couldBeLoggedIn,
  indexLifeOf,
  isAccessTokenExpired,
  isBegunByOtherBrowser,
  isLoggedIn,
  isOtherAccount,
  isSameLogin,
  lifetimeOf,
  mayStillBeRenewed,
  mustRenewIndex,
  needsNewAccessToken,
  parseRecord,
  RECORDED_CLAIMS,
  type SsoRecord,
  serialiseRecord,
  sessionStart,
  staleAfter,
  withFailedRenewal,
  withoutAccessToken,
  withRecordedClaims,
} from '../../lib/decide/record'
import { afterFailedCheck, afterUnchangedCheck, withCheckLock } from '../../lib/decide/status-check'
import { anonRecord, loggedInRecord, NOW, sessionToken } from './samples'

const response = sessionToken({ sts: 'loggedin' })

const text = serialiseRecord(loggedInRecord())

test.each([
  ['an anonymous record', anonRecord()],
  ['a pending login', anonRecord({ pending: true })],
  ['one that a browser has brought', anonRecord({ browser: 'b1' })],
  ['a record with a check under way', anonRecord({ checkBeganAt: NOW })],
  ['a record whose checks have names', anonRecord({ currentCheckId: 'q1', checkBeganAt: NOW, lastCheckId: 'q0' })],
  ['a record whose check got no response', anonRecord({ unansweredAt: NOW })],
  ['a login', loggedInRecord()],
  [
    'a login with a user of many fields',
    loggedInRecord({ user: Object.assign({ accountId: 'a1' }, { name: '\u00c5se', groups: [1, { a: null }] }) }),
  ],
])('%s comes back as it was written', (_name, record) => {
  expect(parseRecord(serialiseRecord(record))).toEqual(record)
})

test.each([
  ['nothing', null],
  ['an empty text', ''],
  ['a deleted-session marker', 'ended'],
  ['another deleted-session marker', 'moved'],
  ['half a record', text.slice(0, -5)],
  ['an array', `[${text}]`],
  ['an empty object', '{}'],
  ['no version', text.replace('"v":1,', '')],
  ['a version after the next', text.replace('"v":1', '"v":3')],
  ['no version yet', text.replace('"v":1', '"v":0')],
  ['the version as text', text.replace('"v":1', '"v":"1"')],
  ['an unknown status', text.replace('"loggedin"', '"terminated"')],
  ['a login without a user', text.replace(/,"user":\{[^}]*\}/, '')],
  ['a user without an account', text.replace('"accountId":"a1"', '')],
  ['an account that is a number', text.replace('"a1"', '7')],
  ['a time that is a text', text.replace(/"since":\d+/, '"since":"1"')],
  ['a time with a fraction', text.replace(/"checkedAt":\d+/, '"checkedAt":1.5')],
  ['an endless time', text.replace(/"checkedAt":\d+/, '"checkedAt":1e400')],
  ['no secrets', text.replace('"sealedSecrets":"sealed",', '').replace(',"sealedSecrets":"sealed"', '')],
  ['a user that is a text', text.replace(/"user":\{[^}]*\}/, '"user":"a1"')],
  ['a user that is a list', text.replace(/"user":\{[^}]*\}/, '"user":["a1"]')],
  ['a browser whose name is a number', serialiseRecord(anonRecord()).replace('{', '{"browser":1,')],
  ['a check lock whose time is a text', text.replace('{', '{"checkBeganAt":"1",')],
  ['a check whose name is a number', text.replace('{', '{"currentCheckId":1,')],
  ['an ended check whose name is a number', text.replace('{', '{"lastCheckId":1,')],
  ['a time without a response that is a text', text.replace('{', '{"unansweredAt":"1",')],
  ['an end of access that is a text', text.replace('{', '{"accessUntil":"1",')],
  ['an access refused that is false', text.replace('{', '{"accessRefused":false,')],
  ['a failed access whose time is a text', text.replace('{', '{"accessFailedAt":"1",')],
  ['a short hash that is none', text.replace('"hash-of-s1"', 'null')],
  ['mustCheck that is false', serialiseRecord(anonRecord()).replace('{', '{"mustCheck":false,')],
  ['pending that is false', serialiseRecord(anonRecord()).replace('{', '{"pending":false,')],
])('%s is no record', (_name, garbage) => {
  expect(parseRecord(garbage)).toBeUndefined()
})

test('no text at all makes parseRecord throw', () => {
  const texts = fc.oneof(
    fc.string(),
    fc.json(),
    fc.json().map((json) => `{"v":1,"x":${json}}`),
  )
  fc.assert(fc.property(texts, (garbage) => expect(parseRecord(garbage)).toBeUndefined()))
})

test.each([
  ['a login after recheckSeconds', loggedInRecord(), 360, 360],
  ['an anonymous record after recheckSeconds', anonRecord(), 360, 360],
  ['a pending login after 30 s', anonRecord({ pending: true }), 360, 30],
  ['a login that a request could not make, at once', anonRecord({ pending: true, mustCheck: true }), 360, 0],
  ['a pending login after less where recheckSeconds is less', anonRecord({ pending: true }), 10, 10],
])('%s is stale', (_name, record, recheckSeconds, seconds) => {
  expect(staleAfter(record, recheckSeconds)).toBe(seconds)
})

test.each([
  ['no record', undefined, false],
  ['an anonymous record', anonRecord(), false],
  ['a login', loggedInRecord(), true],
  ['a pending login', anonRecord({ pending: true }), true],
  ['a login whose outcome is unknown', anonRecord({ mustCheck: true }), true],
])('%s: may the SSO session be logged in already?', (_name, record, expected) => {
  expect(couldBeLoggedIn(record)).toBe(expected)
})

const later = { v: 2, roles: ['editor'], deep: { a: [null] } }

test('a record of the next version is read with whatever it has more, and keeps it through every change', () => {
  const record = { ...loggedInRecord(), ...later }
  const read = parseRecord(serialiseRecord(record))
  expect(read).toStrictEqual(record)
  if (!read || !isLoggedIn(read)) throw new Error('no record')
  const changed = [
    withCheckLock(read, 'q1', NOW),
    afterFailedCheck(read, NOW, 'q1'),
    afterUnchangedCheck(read, response, NOW, 'q1'),
    withoutAccessToken(read),
  ]
  for (const one of [...changed, withFailedRenewal(read, NOW)]) expect(one).toMatchObject(later)
})

test('a recorded claim comes from the last token, and goes with a token that lacks it', () => {
  Reflect.set(RECORDED_CLAIMS, 'raa', Number.isSafeInteger)
  const before = loggedInRecord()
  const first = withRecordedClaims(before, sessionToken({ raa: 3 }))
  expect(first).toStrictEqual({ ...before, raa: 3 })
  expect(withRecordedClaims(first, sessionToken({ raa: 0 }))).toStrictEqual({ ...before, raa: 0 })
  expect(withRecordedClaims(first, sessionToken({}))).toStrictEqual(before)
  Reflect.deleteProperty(RECORDED_CLAIMS, 'raa')
  expect(withRecordedClaims(before, sessionToken({ raa: 3 }))).toStrictEqual(before)
})

test('a member that no record has is kept, and has no effect', () => {
  const odd = serialiseRecord(anonRecord()).replace('{', '{"user":{"accountId":"a1"},')
  const read = parseRecord(odd)
  expect(serialiseRecord(read ?? anonRecord())).toBe(odd)
  expect(isLoggedIn(read)).toBe(false)
})

test('a login that carries the marks of an anonymous record is checked as a login, and keeps them', () => {
  const read = parseRecord(text.replace('{', '{"pending":true,"mustCheck":true,'))
  if (!read) throw new Error('no record')
  expect(staleAfter(read, 360)).toBe(360)
  expect(afterUnchangedCheck(read, response, NOW, 'q1')).toMatchObject({ pending: true, mustCheck: true })
})

test.each([
  '"accountId":"a1"',
  '"user":{"accountId":"a1"}',
  '"status":"loggedin"',
  '"v":1',
  '"sealedSecrets":"sealed"',
])('the member %s does not come from a prototype', (member) => {
  expect(text).toContain(member)
  const moved = text.replace(member, `"__proto__":{${member}}`)
  expect(JSON.stringify(JSON.parse(moved))).toBe(moved) // nothing else is wrong with it
  expect(parseRecord(moved)).toBeUndefined()
})

test('an access token that is of no use, and a ticket that could not be used, are noted', () => {
  expect(withoutAccessToken(loggedInRecord())).toStrictEqual(loggedInRecord({ accessRefused: true }))
  expect(withFailedRenewal(withoutAccessToken(loggedInRecord()), NOW)).toStrictEqual(
    loggedInRecord({ accessRefused: true, accessFailedAt: NOW }),
  )
})

test.each<[name: string, record: SsoRecord, wanted: boolean]>([
  ['an anonymous session', anonRecord(), true],
  ['a pending login', anonRecord({ pending: true }), true],
  ['a login', loggedInRecord(), false],
  ['a login whose access token outlives the next check', loggedInRecord({ accessUntil: NOW + 361 }), false],
  ['a login whose access token ends by the next check', loggedInRecord({ accessUntil: NOW + 360 }), true],
  ['a login whose access token was refused', loggedInRecord({ accessRefused: true, accessUntil: NOW + 9999 }), true],
])('%s asks for a ticket: %#', (_name, record, wanted) => {
  expect(needsNewAccessToken(record, NOW, 360)).toBe(wanted)
})

const lives = { idleSeconds: 1000, anonymousIdleSeconds: 100, absoluteSeconds: 5000 }
test.each<[name: string, record: SsoRecord, seconds: number]>([
  ['a login lives its idle time', loggedInRecord({ since: NOW - 1000 }), 1000],
  ['an anonymous session lives its shorter one', anonRecord({ since: NOW - 1000 }), 100],
  ['never beyond the absolute limit', loggedInRecord({ since: NOW - 4400 }), 600],
  ['a session at its limit is gone in a second', loggedInRecord({ since: NOW - 5000 }), 1],
  ['a session past its limit too', loggedInRecord({ since: NOW - 9999 }), 1],
  ['a beginning in the future gives no longer life', loggedInRecord({ since: NOW + 9999 }), 1000],
])('%s', (_name, record, seconds) => {
  expect(lifetimeOf(record, NOW, lives)).toBe(seconds)
})

const [anon, ada] = [anonRecord(), loggedInRecord()]
const bob = loggedInRecord({ user: { accountId: 'b1' } })
const adaAgain = loggedInRecord({ sidHash: 'hash-of-s2' })
test.each<[name: string, before: SsoRecord | undefined, next: SsoRecord, same: boolean, other: boolean]>([
  ['no visitor and an anonymous visitor', undefined, anon, false, false],
  ['no visitor and a login', undefined, ada, false, false],
  ['an anonymous visitor and himself', anon, anon, true, false],
  ['an anonymous visitor with another SSO session', anon, anonRecord({ sidHash: 'hash-of-s2' }), true, false],
  ['an anonymous visitor and a pending login', anon, anonRecord({ pending: true }), true, false],
  ['an anonymous visitor and his login', anon, ada, false, false],
  ['a login and itself', ada, loggedInRecord({ checkedAt: NOW + 9 }), true, false],
  ['a login and one of the same account in another SSO session', ada, adaAgain, false, false],
  ['a login and one of another account', ada, bob, false, true],
  ['a login and no login any more', ada, anon, false, true],
])('%s: same standing and other account are told', (_name, before, next, same, other) => {
  expect([isSameLogin(before, next), isOtherAccount(before, next)]).toEqual([same, other])
})

test.each<[name: string, before: SsoRecord | undefined, accountId: string | undefined, since: number]>([
  ['nothing begins now', undefined, undefined, NOW],
  ['an anonymous session goes on', anon, undefined, NOW - 1000],
  ['an anonymous session goes on in its login', anon, 'a1', NOW - 1000],
  ['a login goes on in one of the same account', ada, 'a1', NOW - 1000],
  ['a login goes on in what is anonymous', ada, undefined, NOW - 1000],
  ['a login of another account begins now', ada, 'b1', NOW],
  ['a session that begins in the future begins now', anonRecord({ since: NOW + 99 }), 'a1', NOW],
])('what follows on %s', (_name, before, accountId, since) => {
  expect(sessionStart(before, accountId, NOW)).toBe(since)
})

test.each<[name: string, record: SsoRecord | undefined, browser: string | undefined, expected: boolean]>([
  ['its browser', anonRecord({ browser: 'b1' }), 'b1', false],
  ['another one', anonRecord({ browser: 'b1' }), 'b2', true],
  ['one without a name', anonRecord({ browser: 'b1' }), undefined, true],
  ['any browser, where the record names none', anonRecord(), 'b2', false],
  ['any browser that is logged in', loggedInRecord(), 'b2', false],
  ['any browser without a record', undefined, 'b2', false],
])('for %s an anonymous session is, or is not, of another', (_name, record, browser, expected) => {
  expect(isBegunByOtherBrowser(record, browser)).toBe(expected)
})

const livesOf = (idleSeconds: number, anonymousIdleSeconds = 900) => ({
  idleSeconds,
  anonymousIdleSeconds,
  absoluteSeconds: 2_000_000,
})

test.each<[what: string, record: SsoRecord, idleSeconds: number, life: number]>([
  ['a long idle time', loggedInRecord(), 86_400, 86_400 + 7200],
  ['a short idle time', loggedInRecord(), 1234, 1234 + 246],
  ['the shortest idle time', loggedInRecord(), 5, 5 + 2],
  ['an anonymous session', anonRecord(), 86_400, 900 + 180],
])('with %s the index entry outlives the session by two renewals', (_what, record, idleSeconds, life) => {
  expect(indexLifeOf({ ...record, since: NOW }, NOW, livesOf(idleSeconds))).toBe(life)
})

test.each<[what: string, times: Partial<SsoRecord>, now: number, isDue: boolean]>([
  ['the same period', { since: NOW, checkedAt: NOW + 10 }, NOW + 99, false],
  ['the next period', { since: NOW, checkedAt: NOW + 99 }, NOW + 100, true],
  ['the same period of a session', { since: NOW - 30, checkedAt: NOW - 20 }, NOW + 60, false],
  ['a period long after', { since: NOW, checkedAt: NOW + 10 }, NOW + 700, true],
  ['the period of an unanswered check', { since: NOW, checkedAt: NOW, unansweredAt: NOW + 110 }, NOW + 199, false],
  ['the period after it', { since: NOW, checkedAt: NOW, unansweredAt: NOW + 110 }, NOW + 200, true],
])('%s: a status check renews the index entries, or does not', (_what, times, now, expected) => {
  expect(mustRenewIndex(loggedInRecord(times as object), now, livesOf(1000))).toBe(expected)
})

test.each<[accessUntil: number | undefined, over: boolean]>([
  [undefined, false],
  [NOW + 1, false],
  [NOW, true],
  [NOW - 1, true],
])('an access token that ends at %s is over: %s', (accessUntil, over) => {
  expect(isAccessTokenExpired(loggedInRecord(accessUntil === undefined ? {} : { accessUntil }), NOW)).toBe(over)
})

const asking = loggedInRecord({ checkBeganAt: NOW })
test.each<[name: string, record: SsoRecord | undefined, waitedMs: number, may: boolean]>([
  ['no request asks yet', loggedInRecord(), 499, true],
  ['no request has asked', loggedInRecord(), 500, false],
  ['there is no record yet', undefined, 499, true],
  ['there is no record', undefined, 500, false],
  ['a request asks', asking, 500, true],
  ['a request asks for long', asking, 8000, true],
  ['a request asks for too long', asking, 8001, false],
])('where %s another access token may still come: %#', (_name, record, waitedMs, may) => {
  expect(mayStillBeRenewed(record, waitedMs)).toBe(may)
})
