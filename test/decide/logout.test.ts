import { decideLogout, type LogoutDecision, type LogoutFacts } from '../../lib/decide/logout'
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
const anything = (result: 'pending' | 'no_session'): LogoutDecision => ({
  action: 'set_cookie',
  logoutCookie: { of: 'anything' },
  result,
})
const away = (key: string, isAll: boolean): LogoutDecision => ({
  action: 'set_cookie',
  logoutCookie: { of: 'session', key, isAll },
  result: 'pending',
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
  [
    'a living session ends, whatever mark the browser carries',
    { record: ada, ...live, hasLogoutCookie: true },
    end(ada),
  ],
  ['without a store the session is marked', storeAway, away('k', false)],
  ['without a store all of them are marked', { ...storeAway, isAll: true }, away('k', true)],
  ['without a store and a key the browser is marked', { isAvailable: false }, away('', false)],
  [
    'without a store a second logout leaves the mark of the first one',
    { ...storeAway, hasLogoutCookie: true },
    retry(false),
  ],
  ['a logout that is not confirmed is tried again', pending, retry(false)],
  ['so it is with a session that has ended', { hasLogoutCookie: true, key: 'k', state: 'ended' }, retry(false)],
  [
    'a logout of all after a logout that is not confirmed stays one of all',
    { hasLogoutCookie: true, isAll: true },
    retry(true),
  ],
  ['so does one without a store', { ...storeAway, hasLogoutCookie: true, isAll: true }, retry(true)],
  ['a browser without a session has nothing to end, and is marked', {}, anything('no_session')],
  ['a session that has ended has nothing to end', { key: 'k', state: 'ended' }, anything('no_session')],
  ['a session whose record is gone may live at the SSO system', { key: 'k', state: 'none' }, anything('pending')],
  ['a record that cannot be read may be a login', { key: 'k', state: 'unreadable' }, anything('pending')],
  ['a session whose new place is not known may live', { key: 'k', state: 'moved' }, anything('pending')],
  ['a cookie that cannot be read may be of a login', { hasUnreadableCookie: true }, anything('pending')],
]
test.each(rows)('%s', (_name, facts, decision) => {
  expect(decideLogout({ ...usual, ...facts })).toEqual(decision)
})
