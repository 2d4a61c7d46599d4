import { type MacKeys, makeSignature } from '../../lib/decide/binding'
import {
  decideLogout,
  isRecentLogout,
  isToRetry,
  type LogoutCookie,
  type LogoutDecision,
  type LogoutFacts,
  logoutCookieSeconds,
  mergeLogouts,
  type PendingLogout,
  pendingLogoutId,
  readLogoutCookie,
  type SessionLogout,
  scopeOf,
  writeLogoutCookie,
} from '../../lib/decide/logout'
import { anonRecord, loggedInRecord, NOW } from './samples'

const key = 'A'.repeat(43)
const session = (more: Partial<SessionLogout> = {}): SessionLogout => ({
  of: 'session',
  key,
  isAll: false,
  isConfirmed: false,
  ...more,
})
const nextLogin: LogoutCookie = { of: 'next_login' }

const usual: LogoutFacts = {
  isAvailable: true,
  record: undefined,
  key: undefined,
  state: 'none',
  hasUnreadableCookie: false,
  hasLogoutCookie: false,
  isAll: false,
}
const [ada, anon] = [loggedInRecord(), anonRecord()]
const anything: LogoutDecision = { action: 'set_cookie', logoutCookie: nextLogin }
const nothing: LogoutDecision = { action: 'nothing' }
const away = (isAll: boolean): LogoutDecision => ({ action: 'set_cookie', logoutCookie: session({ key: 'k', isAll }) })
const end = (record: typeof ada | typeof anon, isAll = false): LogoutDecision => ({ action: 'end', record, isAll })
const retry = (isAll: boolean): LogoutDecision => ({ action: 'retry', isAll })
const live = { key: 'k', state: 'live' } as const
const pending = { hasLogoutCookie: true }
const storeAway = { isAvailable: false, key: 'k' }

const rows: [name: string, facts: Partial<LogoutFacts>, decision: LogoutDecision][] = [
  ['a login ends', { record: ada, ...live }, end(ada)],
  ['all logins end', { record: ada, ...live, isAll: true }, end(ada, true)],
  ['an anonymous session ends', { record: anon, ...live }, end(anon)],
  ['a living session ends, whatever mark the browser carries', { record: ada, ...live, ...pending }, end(ada)],
  ['without a store the session is marked', storeAway, away(false)],
  ['without a store all of them are marked', { ...storeAway, isAll: true }, away(true)],
  ['without a store and a key any login of the browser is to end', { isAvailable: false }, anything],
  ['without a store a second logout leaves the mark of the first one', { ...storeAway, ...pending }, retry(false)],
  ['a logout that is not confirmed is tried again', pending, retry(false)],
  ['so it is with a session that has ended', { ...pending, key: 'k', state: 'ended' }, retry(false)],
  ['a logout of all after a logout that is not confirmed retries that one', { ...pending, isAll: true }, retry(true)],
  ['so does one without a store', { ...storeAway, ...pending, isAll: true }, retry(true)],
  ['a browser without a session has nothing to end', {}, nothing],
  ['a session that has ended has nothing to end', { key: 'k', state: 'ended' }, nothing],
  ['a session whose record is gone may live at the SSO system', { key: 'k', state: 'none' }, anything],
  ['a record that cannot be read may be a login', { key: 'k', state: 'unreadable' }, anything],
  ['a session whose new place is not known may live', { key: 'k', state: 'moved' }, anything],
  ['a cookie that cannot be read may be of a login', { hasUnreadableCookie: true }, anything],
]
test.each(rows)('%s', (_name, facts, decision) => {
  expect(decideLogout({ ...usual, ...facts })).toEqual(decision)
})

describe('the scope of a logout', () => {
  test.each([
    ['of a login', ada, false, { key: 'k', accountId: 'a1', isAll: false }],
    ['of all, in a login', ada, true, { key: 'k', accountId: 'a1', isAll: true }],
    ['of an anonymous session', anon, false, { key: 'k', accountId: undefined, isAll: false }],
    ['of all, in an anonymous session, is that session', anon, true, { key: 'k', accountId: undefined, isAll: false }],
  ])('%s', (_what, record, isAll, scope) => {
    expect(scopeOf('k', record, isAll)).toEqual(scope)
  })
})

describe('an earlier logout and a later logout of the same name', () => {
  const sent = { sid: 'sid', ipa: '192.0.2.1', uas: 'a browser' }
  const one: PendingLogout = { ...sent, key: undefined, accountId: undefined, isAll: false, isConfirmed: false }
  const all: PendingLogout = { ...one, accountId: 'ada', isAll: true }
  const confirmed = (logout: PendingLogout): PendingLogout => ({ ...logout, isConfirmed: true })

  test.each<[what: string, known: PendingLogout | undefined, logout: PendingLogout, merged: PendingLogout]>([
    ['none, then one', undefined, one, one],
    ['none, then all', undefined, all, all],
    ['one, then one', one, one, one],
    ['one, then one that is confirmed', one, confirmed(one), confirmed(one)],
    ['one, then all', one, all, all],
    ['one, then all that is confirmed', one, confirmed(all), confirmed(all)],
    ['one that is confirmed, then one', confirmed(one), one, one],
    ['one that is confirmed, then one that is confirmed', confirmed(one), confirmed(one), confirmed(one)],
    ['one that is confirmed, then all', confirmed(one), all, all],
    ['one that is confirmed, then all that is confirmed', confirmed(one), confirmed(all), confirmed(all)],
    ['all, then one', all, one, all],
    ['all, then one that is confirmed', all, confirmed(one), all],
    ['all, then all', all, all, all],
    ['all, then all that is confirmed', all, confirmed(all), confirmed(all)],
    ['all that is confirmed, then one', confirmed(all), one, confirmed(all)],
    ['all that is confirmed, then one that is confirmed', confirmed(all), confirmed(one), confirmed(all)],
    ['all that is confirmed, then all', confirmed(all), all, confirmed(all)],
    ['all that is confirmed, then all that is confirmed', confirmed(all), confirmed(all), confirmed(all)],
  ])('%s', (_what, known, logout, merged) => {
    expect(mergeLogouts(known, logout)).toEqual(merged)
  })

  test.each([
    ['one, then one', { ...one, key: 'k1', accountId: 'ada' }, one],
    ['one, then all', { ...one, key: 'k1', accountId: 'ada' }, all],
    ['all, then one', { ...all, key: 'k1' }, one],
    ['all, then all', { ...all, key: 'k1' }, all],
  ])('%s: the later logout counts, but keeps session and account that only the earlier one names', (...row) => {
    const [, known, logout] = row
    const later = { ...logout, sid: 'later', uas: 'another browser' }
    const { isAll } = mergeLogouts(known, logout)
    expect(mergeLogouts(known, later)).toEqual({ ...later, key: 'k1', accountId: 'ada', isAll })
    expect(mergeLogouts(known, { ...later, key: 'k2' }).key).toBe('k2')
  })

  test('all of one account, then one of another: the account of the logout of all stays', () => {
    expect(mergeLogouts(all, { ...one, accountId: 'bob' })).toEqual(all)
  })
})

/* The logout cookie. */

const keys: MacKeys = [Buffer.alloc(32, 1)]
const DAY = 86_400
const recent: LogoutCookie = { of: 'recent' }
const others: MacKeys = [Buffer.alloc(32, 2)]

const marks: [name: string, logoutCookie: LogoutCookie][] = [
  ['an SSO session', { of: 'sso_session', sidHash: 'abcdefghijklmnop' }],
  ['an SSO session whose hash begins with a hyphen', { of: 'sso_session', sidHash: '-bcdefghijklmno-' }],
  ['an SSO session whose hash begins with an underscore', { of: 'sso_session', sidHash: '_bcdefghijklmno_' }],
  ['a session', session()],
  ['a session whose key begins with a hyphen', session({ key: `-${key.slice(1)}` })],
  ['a session whose key begins with an underscore', session({ key: `_${key.slice(1)}` })],
  ['all sessions of the account of a session', session({ isAll: true })],
  ['all sessions, by a key that begins with a hyphen', session({ key: `-${key.slice(1)}`, isAll: true })],
  ['a session whose SSO session is known', session({ sidHash: '-bcdefghijklmno_' })],
  ['all sessions, by one whose SSO session is known', session({ isAll: true, sidHash: '_bcdefghijklmno-' })],
  ['a confirmed logout of all sessions', session({ isAll: true, isConfirmed: true })],
  ['anything', nextLogin],
]

test.each(marks)('a logout cookie of %s comes back as it was written, as long as it holds', (_name, logoutCookie) => {
  const cookie = writeLogoutCookie(logoutCookie, keys, NOW)
  expect(readLogoutCookie(cookie, keys, NOW)).toEqual(logoutCookie)
  expect([isToRetry(logoutCookie), logoutCookieSeconds(logoutCookie)]).toEqual([true, DAY])
  expect(readLogoutCookie(cookie, keys, NOW + DAY)).toEqual(logoutCookie)
  expect(readLogoutCookie(cookie, [...others, ...keys], NOW)).toEqual(logoutCookie)
})

test.each(marks)('a logout cookie of %s by an unknown secret stands for anything, and none lasts', (...row) => {
  const [, logoutCookie] = row
  expect(readLogoutCookie(writeLogoutCookie(logoutCookie, others, NOW), keys, NOW)).toEqual(nextLogin)
  const cookies = [keys, others].map((signers) => writeLogoutCookie(logoutCookie, signers, NOW))
  const read = cookies.map((cookie) => readLogoutCookie(cookie, keys, NOW + DAY + 1))
  expect(read).toEqual([undefined, undefined])
})

test.each([
  ['a secret of this process', keys, recent],
  ['an unknown secret', others, nextLogin],
])('the cookie of a recent logout by %s holds for the redirect to Identify', (_whose, signers, found) => {
  const cookie = writeLogoutCookie(recent, signers, NOW)
  const seconds = logoutCookieSeconds(recent)
  expect([isToRetry(recent), isToRetry(undefined), seconds]).toEqual([false, false, 30])
  expect(readLogoutCookie(cookie, keys, NOW + seconds)).toEqual(found)
  expect(readLogoutCookie(cookie, keys, NOW + seconds + 1)).toBeUndefined()
})

test.each([recent, nextLogin])('a cookie tells a recent logout from an older one (%j)', (logoutCookie) => {
  const cookie = writeLogoutCookie(logoutCookie, keys, NOW)
  expect([NOW, NOW + 30, NOW + 31].map((now) => isRecentLogout(cookie, now))).toEqual([true, true, false])
  expect([isRecentLogout(undefined, NOW), isRecentLogout('garbage', NOW)]).toEqual([false, false])
})

const signed = (text: string) => `${text}.${makeSignature(keys, 'signed-out', text, NOW)}`
const ofOne = writeLogoutCookie(session(), keys, NOW)
test.each([
  ['of a session without a key', writeLogoutCookie(session({ key: '' }), keys, NOW)],
  ['of all sessions, without a key', writeLogoutCookie(session({ key: '', isAll: true }), keys, NOW)],
  ['of a confirmed logout of all sessions, without a key', signed('!')],
  ['of nothing', `.${makeSignature(keys, 'signed-out', '', NOW)}`],
  ['that names all sessions instead', ofOne.replace('~', '*')],
  ['that says confirmed instead', ofOne.replace('~', '!')],
  ['that names an SSO session instead', ofOne.replace('~', '')],
  ['with another key', ofOne.replace('AAA', 'AAB')],
  ['with another time', ofOne.replace(String(NOW), String(NOW - 1))],
  ['that was signed for another purpose', `abc.${makeSignature(keys, 'device', 'abc', NOW)}`],
])('a logout cookie %s stands for anything', (_name, cookie) => {
  expect(readLogoutCookie(cookie, keys, NOW)).toEqual(nextLogin)
})

const cut = [undefined, '', 'garbage', '~', '~.', `~.${NOW}`, `~.${NOW}.short`]
const written = writeLogoutCookie(nextLogin, keys, NOW)
const odd = [signed('~~'), signed('a b'), signed('a'.repeat(65)), ` ${written}`, `${written} `]
test.each([...cut, ...odd])('%j is no logout cookie', (cookie) => {
  expect(readLogoutCookie(cookie, keys, NOW)).toBeUndefined()
})

test('a pending logout has the name of its SSO session, or the key of the session where that is not known', () => {
  expect(pendingLogoutId(session({ sidHash: 'hash-of-s1' }))).toBe('hash-of-s1')
  expect(pendingLogoutId(session())).toBe(key)
})
