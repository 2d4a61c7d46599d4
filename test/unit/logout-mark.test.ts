import {
  isTokenVoidedBy,
  isVoidedBy,
  isVoidedByLogoutOfAll,
  type LogoutMark,
  type LogoutScope,
  newMark,
  readLogoutMark,
} from '../../lib/decide/logout-mark'
import type { SsoRecord } from '../../lib/decide/record'
import { anonRecord, loginRecord, NOW } from './samples'

const AT = NOW * 1000
const mark = (changes: Partial<LogoutMark> = {}): LogoutMark => ({
  at: AT,
  scope: 'session',
  sidHash: 'out',
  isConfirmed: false,
  ...changes,
})
const nameless = mark({ sidHash: '' })
const confirmedAt = mark({ isConfirmed: true })
const login = (startedAt: number, sidHash = 'other') => loginRecord({ startedAt, sidHash })
const anon = (startedAt: number, sidHash = 'other') => anonRecord({ startedAt, sidHash })

test.each<[what: string, mark: LogoutMark, record: SsoRecord, isVoid: boolean]>([
  ['a login that began before the logout', mark(), login(AT - 1), true],
  ['a login that began in the same millisecond', mark(), login(AT), true],
  ['a login that began after the logout', mark(), login(AT + 1), false],
  ['a login of the SSO session of the logout, whenever it began', mark(), login(AT + 1, 'out'), true],
  ['an old login after a logout that is confirmed', confirmedAt, login(AT - 1), true],
  ['a new login after a logout that is confirmed', confirmedAt, login(AT + 1), false],
  ['an old login, the mark naming no SSO session', nameless, login(AT), true],
  ['a new login, the mark naming no SSO session', nameless, login(AT + 1), false],
  ['an old anonymous session, whose logout is still to be sent', mark(), anon(AT), true],
  ['an anonymous session of the SSO session, whose logout is still to be sent', mark(), anon(AT + 1, 'out'), true],
  ['a new anonymous session', mark(), anon(AT + 1), false],
  ['any anonymous session after a logout that is confirmed', confirmedAt, anon(AT, 'out'), false],
])('%s is void, or not: %#', (_what, carried, record, isVoid) => {
  expect(isVoidedBy(carried, record)).toBe(isVoid)
})

test.each<[what: string, mark: LogoutMark, facts: Parameters<typeof isTokenVoidedBy>[1], isVoid: boolean]>([
  ['of its SSO session', mark(), { status: 'loggedin', sidHash: 'out', startedAt: AT + 1 }, true],
  ['of its SSO session, anonymous', mark(), { status: 'anon', sidHash: 'out', startedAt: AT + 1 }, true],
  ['of another one, with an older redirect', mark(), { status: 'loggedin', sidHash: 'other', startedAt: AT }, true],
  ['of another one, with a newer redirect', mark(), { status: 'loggedin', sidHash: 'other', startedAt: AT + 1 }, false],
  ['of another one, anonymous', mark(), { status: 'anon', sidHash: 'other', startedAt: AT }, false],
  [
    'before any logout without a named one, anonymous',
    nameless,
    { status: 'anon', sidHash: 'other', startedAt: AT - 1 },
    true,
  ],
  ['of the redirect of that logout, anonymous', nameless, { status: 'anon', sidHash: 'other', startedAt: AT }, false],
  ['of any one, without a named one', nameless, { status: 'loggedin', sidHash: 'other', startedAt: AT + 1 }, true],
])('a landing token %s is void after a logout, or not', (_what, carried, facts, isVoid) => {
  expect(isTokenVoidedBy(carried, facts)).toBe(isVoid)
})

const ofAll = { scope: 'account' } as const
test.each<[earlier: LogoutMark | undefined, scope: LogoutScope, sidHash: string | undefined, expected: LogoutScope]>([
  [undefined, 'session', 'out', 'session'],
  [undefined, 'account', 'out', 'account'],
  [mark(ofAll), 'session', undefined, 'account'],
  [mark(ofAll), 'session', 'out', 'account'],
  [mark(ofAll), 'session', 'other', 'session'],
  [mark({ ...ofAll, sidHash: '' }), 'session', 'other', 'account'],
  [mark({ ...ofAll, isConfirmed: true }), 'session', 'out', 'session'],
])('a logout has its own time, and one of all that is not confirmed stays one: %#', (...row) => {
  const [earlier, scope, sidHash, expected] = row
  expect(newMark(AT + 1, scope, earlier, sidHash)).toEqual({
    at: AT + 1,
    scope: expected,
    sidHash: '',
    isConfirmed: false,
  })
})

test.each<[what: string, confirmedAt: number | 'open', isOwnClock: boolean, startedAt: number, isVoid: boolean]>([
  ['one that is not confirmed', 'open', false, AT + 9999, true],
  ['one that this process confirmed before', AT, true, AT + 1, false],
  ['one that this process confirmed in the same millisecond', AT, true, AT, true],
  ['one that another process confirmed 2 s before', AT, false, AT + 2000, true],
  ['one that another process confirmed longer ago', AT, false, AT + 2001, false],
])('a logout of all, %s, voids a login of its account, or not', (_what, confirmedAt, isOwnClock, startedAt, isVoid) => {
  expect(isVoidedByLogoutOfAll(confirmedAt, startedAt, isOwnClock)).toBe(isVoid)
})

test('a mark is read as it was written, and nothing else is a mark', () => {
  for (const one of [mark(), nameless, mark({ scope: 'account', isConfirmed: true }), mark({ leftKey: 'left' })])
    expect(readLogoutMark({ ...one })).toEqual(one)
  const broken = [{ at: '1' }, { scope: 'all' }, { sidHash: null }, { isConfirmed: 1 }]
  for (const change of broken) expect(readLogoutMark({ ...mark(), ...change })).toBeUndefined()
  expect(readLogoutMark({})).toBeUndefined()
  expect(readLogoutMark({ ...mark(), leftKey: { toString: 'left' } })?.leftKey).toBeUndefined()
})
