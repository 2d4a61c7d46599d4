import type { MacKeys } from '../../lib/decide/binding'
import { makeSignature } from '../../lib/decide/binding'
import {
  LOGOUT_COOKIE_SECONDS,
  type LogoutCookie,
  readLogoutCookie,
  writeLogoutCookie,
} from '../../lib/decide/logout-cookie'
import { NOW } from './samples'

const keys: MacKeys = [Buffer.alloc(32, 1)]
const others: MacKeys = [Buffer.alloc(32, 2)]
const key = 'A'.repeat(43)
const anything: LogoutCookie = { of: 'anything' }

const marks: [name: string, logoutCookie: LogoutCookie][] = [
  ['an SSO session', { of: 'sso_session', sidHash: 'abcdefghijklmnop' }],
  ['an SSO session whose hash begins with a hyphen', { of: 'sso_session', sidHash: '-bcdefghijklmno-' }],
  ['an SSO session whose hash begins with an underscore', { of: 'sso_session', sidHash: '_bcdefghijklmno_' }],
  ['a session', { of: 'session', key, isAll: false }],
  ['a session whose key begins with a hyphen', { of: 'session', key: `-${key.slice(1)}`, isAll: false }],
  ['a session whose key begins with an underscore', { of: 'session', key: `_${key.slice(1)}`, isAll: false }],
  ['all sessions of the account of a session', { of: 'session', key, isAll: true }],
  ['all sessions, by a key that begins with a hyphen', { of: 'session', key: `-${key.slice(1)}`, isAll: true }],
  ['a session whose SSO session is known', { of: 'session', key, isAll: false, sidHash: '-bcdefghijklmno_' }],
  ['all sessions, by one whose SSO session is known', { of: 'session', key, isAll: true, sidHash: '_bcdefghijklmno-' }],
  ['anything', anything],
]

test.each(marks)('a mark of %s comes back as it was written, as long as it holds', (_name, logoutCookie) => {
  const cookie = writeLogoutCookie(logoutCookie, keys, NOW)
  expect(readLogoutCookie(cookie, keys, NOW)).toEqual(logoutCookie)
  expect(readLogoutCookie(cookie, keys, NOW + LOGOUT_COOKIE_SECONDS)).toEqual(logoutCookie)
  expect(readLogoutCookie(cookie, [...others, ...keys], NOW)).toEqual(logoutCookie)
})

test.each(marks)('a mark of %s by a secret that nobody knows here stands for anything', (_name, logoutCookie) => {
  expect(readLogoutCookie(writeLogoutCookie(logoutCookie, others, NOW), keys, NOW)).toEqual(anything)
})

test.each(marks)('a mark of %s is none once its time is over, whoever signed it', (_name, logoutCookie) => {
  for (const signers of [keys, others])
    expect(
      readLogoutCookie(writeLogoutCookie(logoutCookie, signers, NOW), keys, NOW + LOGOUT_COOKIE_SECONDS + 1),
    ).toBeUndefined()
})

test.each([true, false])('of a session that nobody can name the mark stands for anything, with all: %s', (isAll) => {
  const cookie = writeLogoutCookie({ of: 'session', key: '', isAll }, keys, NOW)
  expect(readLogoutCookie(cookie, keys, NOW)).toEqual(anything)
})

test('a mark of nothing stands for anything', () => {
  expect(readLogoutCookie(`.${makeSignature(keys, 'signed-out', '', NOW)}`, keys, NOW)).toEqual(anything)
})

test('a mark that was changed stands for anything, and is never another one', () => {
  const one = writeLogoutCookie({ of: 'session', key, isAll: false }, keys, NOW)
  expect(readLogoutCookie(one.replace('~', '*'), keys, NOW)).toEqual(anything)
  expect(readLogoutCookie(one.replace('~', ''), keys, NOW)).toEqual(anything)
  expect(readLogoutCookie(one.replace('AAA', 'AAB'), keys, NOW)).toEqual(anything)
  expect(readLogoutCookie(one.replace(String(NOW), String(NOW - 1)), keys, NOW)).toEqual(anything)
  expect(readLogoutCookie(`abc.${makeSignature(keys, 'device', 'abc', NOW)}`, keys, NOW)).toEqual(anything)
})

test.each([
  undefined,
  '',
  'garbage',
  '~',
  '~.',
  `~.${NOW}`,
  `~.${NOW}.short`,
  `~~.${makeSignature(keys, 'signed-out', '~~', NOW)}`,
  `a b.${makeSignature(keys, 'signed-out', 'a b', NOW)}`,
  `${'a'.repeat(65)}.${makeSignature(keys, 'signed-out', 'a'.repeat(65), NOW)}`,
  ` ${writeLogoutCookie(anything, keys, NOW)}`,
  `${writeLogoutCookie(anything, keys, NOW)} `,
])('the cookie %j is no mark', (cookie) => {
  expect(readLogoutCookie(cookie, keys, NOW)).toBeUndefined()
})
