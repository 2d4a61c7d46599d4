import crypto from 'node:crypto'
import { readConfig } from '../../lib/emulator/config/schema'
import { checkCredentials, issueOtp } from '../../lib/emulator/platform/credentials'
import { answerCall, contentOfRefusal, identify } from '../../lib/emulator/platform/service'
import { endSsoSession, findSession, logInSsoSession, openSession, touch } from '../../lib/emulator/platform/sessions'
import {
  findAccessToken,
  issueAccessToken,
  issueTicket,
  scopesOf,
  takeTicket,
} from '../../lib/emulator/platform/tickets'
import { addressKey, createWorld, dropExpired, type World } from '../../lib/emulator/platform/world'
import { configuration } from './configuration'

/* The platform without HTTP: what its parts say of one world, at times that the test chooses. */

const NOW = 1_800_000_000
let world: World
beforeEach(() => {
  world = createWorld(readConfig(configuration), NOW)
})

const loggedIn = (accountId = 'A-ada', now = NOW) =>
  logInSsoSession(world, openSession(world, undefined, now), accountId)
const limits = () => world.config.limits

describe('sessions', () => {
  test('are listed under their account as long as they are logged in', () => {
    const [one, two] = [loggedIn(), loggedIn()]
    expect(world.sidsByAccount.get('A-ada')).toEqual(new Set([one.sid, two.sid]))
    endSsoSession(world, one, 'logout')
    expect(world.sidsByAccount.get('A-ada')).toEqual(new Set([two.sid]))
    endSsoSession(world, two, 'logout_all')
    expect(world.sidsByAccount.size).toBe(0)
    expect(world.sessions.get(one.sid)).toEqual({ ...one, accountId: undefined, status: 'terminated' })
  })

  test('do only what the table lets them do', () => {
    const ended = endSsoSession(world, openSession(world, undefined, NOW), 'logout')
    expect(() => logInSsoSession(world, ended, 'A-ada')).toThrow('the table lets nobody log in here')
    expect(() => endSsoSession(world, openSession(world, undefined, NOW), 'logout_all')).toThrow(
      'the table does not end the session here',
    )
  })

  test('seen twice in a second are the same, and later move to the end', () => {
    const [one, two] = [openSession(world, 'b1', NOW), openSession(world, 'b2', NOW)]
    expect(touch(world, one, NOW)).toBe(one)
    expect(touch(world, one, NOW + 1)).toEqual({ ...one, lastSeenAt: NOW + 1 })
    expect([...world.sessions.keys()]).toEqual([two.sid, one.sid])
  })

  test('that are forgotten leave nothing behind, and the browser its next session', () => {
    const one = openSession(world, 'b1', NOW)
    const two = openSession(world, 'b1', NOW + 1)
    const then = NOW + limits().pruneAfterSeconds
    expect(findSession(world, one.sid, then)).toBeUndefined()
    expect(world.sidByBrowser.get('b1')).toBe(two.sid)
    expect(findSession(world, two.sid, then + 1)).toBeUndefined()
    expect([world.sidByBrowser.size, world.sessions.size]).toEqual([0, 0])
  })

  test('are restored oldest first, each as it was', () => {
    const saved = [
      { sid: 'new', browser: 'b1', status: 'anon' as const, idleSeconds: 1, ageSeconds: 5 },
      { sid: 'old', browser: 'b2', status: 'loggedin' as const, accountId: 'A-ada', idleSeconds: 9, ageSeconds: 20 },
      { sid: 'gone', browser: 'b1', status: 'terminated' as const, idleSeconds: 5, ageSeconds: 6 },
    ]
    world = createWorld(readConfig({ ...configuration, sessions: saved }), NOW)
    expect([...world.sessions.values()]).toEqual([
      { sid: 'old', browser: 'b2', status: 'loggedin', accountId: 'A-ada', createdAt: NOW - 20, lastSeenAt: NOW - 9 },
      { sid: 'gone', browser: 'b1', status: 'terminated', createdAt: NOW - 6, lastSeenAt: NOW - 5 },
      { sid: 'new', browser: 'b1', status: 'anon', createdAt: NOW - 5, lastSeenAt: NOW - 1 },
    ])
    expect([...world.sidByBrowser]).toEqual(
      expect.arrayContaining([
        ['b1', 'new'],
        ['b2', 'old'],
      ]),
    )
    expect([...world.sidsByAccount]).toEqual([['A-ada', new Set(['old'])]])
  })
})

describe('a ticket', () => {
  const unknown = 'the ticket is unknown, used, or expired'

  test('is taken once, by the client that it was issued for, in its time', () => {
    const session = loggedIn()
    const take = (code: string, clientId = 'morning', now = NOW) => takeTicket(world, code, clientId, now)
    const code = issueTicket(world, 'morning', session, NOW)
    expect(take(code, 'evening')).toBe('the ticket was issued for another client')
    expect(take(code)).toMatchObject({ clientId: 'morning', accountId: 'A-ada', sid: session.sid })
    expect([take(code), take('made-up')]).toEqual([unknown, unknown])
    const late = issueTicket(world, 'morning', session, NOW)
    expect(take(late, 'morning', NOW + limits().ticketSeconds)).toBe(unknown)
  })

  test('is of no use once its session has ended, is forgotten, or is of another account', () => {
    const ended = 'the session of the ticket has ended'
    const [one, two, three] = [loggedIn(), loggedIn(), loggedIn()]
    const codes = [one, two, three].map((session) => issueTicket(world, 'morning', session, NOW))
    endSsoSession(world, one, 'logout')
    world.sessions.delete(two.sid)
    logInSsoSession(world, three, 'A-grace')
    expect(codes.map((code) => takeTicket(world, code, 'morning', NOW))).toEqual([ended, ended, ended])
  })

  test('gives the scopes of the client, and of them what the account may have', () => {
    const all = configuration.clients[0]?.scopes
    expect(scopesOf(world, 'morning', undefined)).toEqual(all)
    expect(scopesOf(world, 'morning', 'nobody')).toEqual(all)
    expect(scopesOf(world, 'nobody', 'A-ada')).toEqual([])
  })

  test('leads to an access token that holds until its second', () => {
    const token = { clientId: 'morning', accountId: 'A-ada', sid: 's', scopes: [], expiresAt: NOW + 10 }
    const bearer = issueAccessToken(world, token, NOW)
    expect(findAccessToken(world, bearer, NOW + 9)).toBe(token)
    expect(findAccessToken(world, bearer, NOW + 10)).toBeUndefined()
  })

  test('is dropped with the others that have expired before it', () => {
    const map = new Map(
      ['a', 'b', 'c', 'd'].map((name, index) => [name, { expiresAt: NOW + ([-1, 0, 1, -1][index] ?? 0) }]),
    )
    dropExpired(map, NOW)
    expect([...map.keys()]).toEqual(['c', 'd'])
  })
})

describe('one-time passwords', () => {
  const stateOf = (name: string) => {
    const state = world.accountsByName.get(name)
    if (!state) throw new Error('no account')
    return state
  }

  test('differ from each other and from the password, and twenty are remembered', () => {
    const state = stateOf('ada')
    state.account = { ...state.account, password: '000001' }
    const drawn = jest.spyOn(crypto, 'randomInt') as unknown as jest.SpyInstance<number, [number]>
    for (const code of [1, 7, 1, 7, 8]) drawn.mockReturnValueOnce(code)
    expect(issueOtp(world, state, NOW)).toEqual({
      code: '000007',
      expiresAt: NOW + limits().otpSeconds,
      consumed: false,
    })
    expect(issueOtp(world, state, NOW).code).toBe('000008')
    drawn.mockRestore()
    const later = Array.from({ length: 20 }, () => issueOtp(world, state, NOW))
    expect(state.otps).toEqual(later)
  })

  test('have six digits and nothing else', () => {
    const state = stateOf('ada')
    const { code } = issueOtp(world, state, NOW)
    const wrong = code === '123456' ? '654321' : '123456'
    const check = (pwd: string) => checkCredentials(world, 'ada', pwd, NOW)
    expect(check(wrong)).toMatchObject({ err: 'invalid_otp' })
    for (const pwd of [`${wrong}7`, `x${wrong}`]) expect(check(pwd)).toMatchObject({ err: 'invalid_credentials' })
  })
})

test('a refusal names what was asked about, and an authentication tells no counts', () => {
  const attempts = { frf: -1, raa: -1 }
  const common = { at: null, err: 'invalid_token', sts: 'anon' }
  expect(contentOfRefusal('logoutall', 'a1', 'invalid_token')).toStrictEqual({ ...common, subject: { aid: 'a1' } })
  expect(contentOfRefusal('logout', 's1', 'invalid_token')).toStrictEqual({ ...common, subject: { sid: 's1' } })
  expect(contentOfRefusal('authenticate', 's1', 'invalid_token')).toStrictEqual({
    ...common,
    subject: { sid: 's1' },
    attempts,
  })
  const { session } = identify(world, 'morning', undefined, NOW)
  endSsoSession(world, session, 'logout')
  const claims = { sid: session.sid, usr: 'ada', pwd: 'x' }
  expect(answerCall(world, { operation: 'authenticate', clientId: 'morning', claims }, NOW)).toEqual({
    subject: { sid: session.sid },
    sts: 'terminated',
    at: null,
    err: 'session_terminated',
    attempts,
  })
})

test('one address has one text, whatever its letters and spaces', () => {
  expect(addressKey({ street: 'Mill  Lane' })).toBe(addressKey({ street: 'MILL lane ' }))
  expect(addressKey({})).toBe(addressKey({ street: '' }))
  expect(addressKey({ city: 'A' })).not.toBe(addressKey({ street: 'A' }))
})
