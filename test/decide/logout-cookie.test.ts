import { type MacKeys, makeSignature } from '../../lib/decide/binding'
import {
  LOGOUT_COOKIE_SECONDS,
  type LogoutCookie,
  pendingLogoutId,
  readLogoutCookie,
  type SessionLogout,
  writeLogoutCookie,
} from '../../lib/decide/logout'
import { NOW } from './samples'

const keys: MacKeys = [Buffer.alloc(32, 1)]
const others: MacKeys = [Buffer.alloc(32, 2)]
const key = 'A'.repeat(43)
const session = (more: Partial<SessionLogout> = {}): SessionLogout => ({
  of: 'session',
  key,
  isAll: false,
  isConfirmed: false,
  ...more,
})
const anything: LogoutCookie = { of: 'next_login' }

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
  ['anything', anything],
]

test.each(marks)('a logout cookie of %s comes back as it was written, as long as it holds', (_name, logoutCookie) => {
  const cookie = writeLogoutCookie(logoutCookie, keys, NOW)
  expect(readLogoutCookie(cookie, keys, NOW)).toEqual(logoutCookie)
  expect(readLogoutCookie(cookie, keys, NOW + LOGOUT_COOKIE_SECONDS)).toEqual(logoutCookie)
  expect(readLogoutCookie(cookie, [...others, ...keys], NOW)).toEqual(logoutCookie)
})

test.each(marks)('a logout cookie of %s by an unknown secret stands for anything, and none lasts', (...row) => {
  const [, logoutCookie] = row
  expect(readLogoutCookie(writeLogoutCookie(logoutCookie, others, NOW), keys, NOW)).toEqual(anything)
  const cookies = [keys, others].map((signers) => writeLogoutCookie(logoutCookie, signers, NOW))
  const read = cookies.map((cookie) => readLogoutCookie(cookie, keys, NOW + LOGOUT_COOKIE_SECONDS + 1))
  expect(read).toEqual([undefined, undefined])
})

const signed = (text: string) => `${text}.${makeSignature(keys, 'signed-out', text, NOW)}`
const one = writeLogoutCookie(session(), keys, NOW)
test.each([
  ['of a session without a key', writeLogoutCookie(session({ key: '' }), keys, NOW)],
  ['of all sessions, without a key', writeLogoutCookie(session({ key: '', isAll: true }), keys, NOW)],
  ['of a confirmed logout of all sessions, without a key', signed('!')],
  ['of nothing', `.${makeSignature(keys, 'signed-out', '', NOW)}`],
  ['that names all sessions instead', one.replace('~', '*')],
  ['that says confirmed instead', one.replace('~', '!')],
  ['that names an SSO session instead', one.replace('~', '')],
  ['with another key', one.replace('AAA', 'AAB')],
  ['with another time', one.replace(String(NOW), String(NOW - 1))],
  ['that was signed for another purpose', `abc.${makeSignature(keys, 'device', 'abc', NOW)}`],
])('a logout cookie %s stands for anything', (_name, cookie) => {
  expect(readLogoutCookie(cookie, keys, NOW)).toEqual(anything)
})

const cut = [undefined, '', 'garbage', '~', '~.', `~.${NOW}`, `~.${NOW}.short`]
const written = writeLogoutCookie(anything, keys, NOW)
const odd = [signed('~~'), signed('a b'), signed('a'.repeat(65)), ` ${written}`, `${written} `]
test.each([...cut, ...odd])('%j is no logout cookie', (cookie) => {
  expect(readLogoutCookie(cookie, keys, NOW)).toBeUndefined()
})

test('a pending logout has the name of its SSO session, or the key of the session where that is not known', () => {
  expect(pendingLogoutId(session({ sidHash: 'hash-of-s1' }))).toBe('hash-of-s1')
  expect(pendingLogoutId(session())).toBe(key)
})
