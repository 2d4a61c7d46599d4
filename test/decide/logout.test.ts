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

const rows: [name: string, facts: Partial<LogoutFacts>, decision: LogoutDecision][] = [
  ['a login ends', { record: ada, key: 'k', state: 'live' }, { action: 'end', record: ada, isAll: false }],
  [
    'all logins end',
    { record: ada, key: 'k', state: 'live', isAll: true },
    { action: 'end', record: ada, isAll: true },
  ],
  [
    'an anonymous session ends',
    { record: anon, key: 'k', state: 'live' },
    { action: 'end', record: anon, isAll: false },
  ],
  [
    'a living session ends, whatever mark the browser carries',
    { record: ada, key: 'k', state: 'live', hasLogoutCookie: true },
    { action: 'end', record: ada, isAll: false },
  ],
  ['without a store the session is marked', { isAvailable: false, key: 'k' }, away('k', false)],
  ['without a store all of them are marked', { isAvailable: false, key: 'k', isAll: true }, away('k', true)],
  ['without a store and a key the browser is marked', { isAvailable: false }, away('', false)],
  [
    'without a store a second logout leaves the mark of the first one, which names the session',
    { isAvailable: false, key: 'k', hasLogoutCookie: true },
    { action: 'retry', isAll: false },
  ],
  ['a logout that is not confirmed is tried again', { hasLogoutCookie: true }, { action: 'retry', isAll: false }],
  [
    'so it is with a session that has ended',
    { hasLogoutCookie: true, key: 'k', state: 'ended' },
    { action: 'retry', isAll: false },
  ],
  [
    'a logout of all after a logout that is not confirmed stays one of all',
    { hasLogoutCookie: true, isAll: true },
    { action: 'retry', isAll: true },
  ],
  [
    'so does one without a store',
    { isAvailable: false, key: 'k', hasLogoutCookie: true, isAll: true },
    { action: 'retry', isAll: true },
  ],
  ['a stranger has nothing to end, and is marked', {}, anything('no_session')],
  ['a session that has ended has nothing to end', { key: 'k', state: 'ended' }, anything('no_session')],
  ['a session whose record is gone may live at the SSO system', { key: 'k', state: 'none' }, anything('pending')],
  ['a record that cannot be read may be a login', { key: 'k', state: 'unreadable' }, anything('pending')],
  ['a session that has moved nobody knows where may live', { key: 'k', state: 'moved' }, anything('pending')],
  ['a cookie that cannot be read may be of a login', { hasUnreadableCookie: true }, anything('pending')],
]
test.each(rows)('%s', (_name, facts, decision) => {
  expect(decideLogout({ ...usual, ...facts })).toEqual(decision)
})
