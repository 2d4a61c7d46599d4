import type { MacKeys } from '../../lib/decide/binding'
import { makeMark } from '../../lib/decide/binding'
import { readSignedOut, SIGNED_OUT_SECONDS, type SignedOut, writeSignedOut } from '../../lib/decide/signed-out'
import { NOW } from './samples'

const keys: MacKeys = [Buffer.alloc(32, 1)]
const others: MacKeys = [Buffer.alloc(32, 2)]
const key = 'A'.repeat(43)
const anything: SignedOut = { of: 'anything' }

const marks: [name: string, signedOut: SignedOut][] = [
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

test.each(marks)('a mark of %s comes back as it was written, as long as it holds', (_name, signedOut) => {
  const cookie = writeSignedOut(signedOut, keys, NOW)
  expect(readSignedOut(cookie, keys, NOW)).toEqual(signedOut)
  expect(readSignedOut(cookie, keys, NOW + SIGNED_OUT_SECONDS)).toEqual(signedOut)
  expect(readSignedOut(cookie, [...others, ...keys], NOW)).toEqual(signedOut)
})

test.each(marks)('a mark of %s by a secret that nobody knows here stands for anything', (_name, signedOut) => {
  expect(readSignedOut(writeSignedOut(signedOut, others, NOW), keys, NOW)).toEqual(anything)
})

test.each(marks)('a mark of %s is none once its time is over, whoever signed it', (_name, signedOut) => {
  for (const signers of [keys, others])
    expect(readSignedOut(writeSignedOut(signedOut, signers, NOW), keys, NOW + SIGNED_OUT_SECONDS + 1)).toBeUndefined()
})

test.each([true, false])('of a session that nobody can name the mark stands for anything, with all: %s', (isAll) => {
  const cookie = writeSignedOut({ of: 'session', key: '', isAll }, keys, NOW)
  expect(readSignedOut(cookie, keys, NOW)).toEqual(anything)
})

test('a mark of nothing stands for anything', () => {
  expect(readSignedOut(`.${makeMark(keys, 'signed-out', '', NOW)}`, keys, NOW)).toEqual(anything)
})

test('a mark that was changed stands for anything, and is never another one', () => {
  const one = writeSignedOut({ of: 'session', key, isAll: false }, keys, NOW)
  expect(readSignedOut(one.replace('~', '*'), keys, NOW)).toEqual(anything)
  expect(readSignedOut(one.replace('~', ''), keys, NOW)).toEqual(anything)
  expect(readSignedOut(one.replace('AAA', 'AAB'), keys, NOW)).toEqual(anything)
  expect(readSignedOut(one.replace(String(NOW), String(NOW - 1)), keys, NOW)).toEqual(anything)
  expect(readSignedOut(`abc.${makeMark(keys, 'device', 'abc', NOW)}`, keys, NOW)).toEqual(anything)
})

test.each([
  undefined,
  '',
  'garbage',
  '~',
  '~.',
  `~.${NOW}`,
  `~.${NOW}.short`,
  `~~.${makeMark(keys, 'signed-out', '~~', NOW)}`,
  `a b.${makeMark(keys, 'signed-out', 'a b', NOW)}`,
  `${'a'.repeat(65)}.${makeMark(keys, 'signed-out', 'a'.repeat(65), NOW)}`,
  ` ${writeSignedOut(anything, keys, NOW)}`,
  `${writeSignedOut(anything, keys, NOW)} `,
])('the cookie %j is no mark', (cookie) => {
  expect(readSignedOut(cookie, keys, NOW)).toBeUndefined()
})
