import {
  decideLogout,
  type LogoutDecision,
  type LogoutFacts,
  mergeLogouts,
  type PendingLogout,
  scopeOf,
} from '../../lib/decide/logout'
import { anonRecord, loggedInRecord } from './samples'

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
const anything: LogoutDecision = { action: 'set_cookie', logoutCookie: { of: 'next_login' } }
const nothing: LogoutDecision = { action: 'nothing' }
const away = (key: string, isAll: boolean): LogoutDecision => ({
  action: 'set_cookie',
  logoutCookie: { of: 'session', key, isAll, isConfirmed: false },
})

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
  ['without a store the session is marked', storeAway, away('k', false)],
  ['without a store all of them are marked', { ...storeAway, isAll: true }, away('k', true)],
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
