import { inspect } from 'node:util'
import { type SessionStatus, sso2ErrorCodes } from '../../lib/protocol/claims'
import { readSessionToken, type SentRequest, type SessionToken } from '../../lib/protocol/session-token'
import { verifyToken } from '../../lib/protocol/token'
import { signJwt } from '../support/oracle'
import { expected, keys, NOW, refusalOf, SECRET } from './expectations'

const envelope = { iss: 'sso-service', aud: 'the-site', nbf: NOW, iat: NOW, exp: NOW + 10 }

const identify: SentRequest = { operation: 'identify' }
const authenticate: SentRequest = { operation: 'authenticate', sid: 's1' }
const statusOfAnon: SentRequest = { operation: 'sessionstatus', sid: 's1', lks: 'anon' }
const statusOfLogin: SentRequest = { operation: 'sessionstatus', sid: 's1', lks: 'loggedin' }
const logout: SentRequest = { operation: 'logout', sid: 's1' }
const logoutAll: SentRequest = { operation: 'logoutall', aid: 'a1' }

/** Reads a response that the independent signer made. */
function read(claims: object, request: SentRequest): SessionToken {
  return readSessionToken(verifyToken(signJwt({ ...envelope, ...claims }, SECRET), keys, expected), request)
}

/** All claims. Printing a token leaves out the ticket and the session ID. */
const fieldsOf = (token: SessionToken) => ({ ...token, sid: token.sid, at: token.at })
const nothing = { iat: NOW }
/** What a response is refused for. */
const refusalIn = (claims: object, request: SentRequest) => refusalOf(() => read(claims, request))
const wrongClaim = (detail: string) => ({ reason: 'claims', detail })

/** What a response to each request may say. Everything else is refused. */
const documented: [request: SentRequest, taken: string[]][] = [
  [identify, ['anon', 'loggedin with ticket']],
  [authenticate, ['loggedin with ticket']],
  [statusOfAnon, ['anon', 'loggedin', 'loggedin with ticket', 'terminated']],
  [statusOfLogin, ['anon', 'loggedin', 'terminated']],
  [logout, ['terminated']],
  [logoutAll, ['terminated']],
]
const combinations = documented.flatMap(([request, taken]) =>
  ['anon', 'loggedin', 'terminated'].flatMap((sts) =>
    [undefined, 'ticket'].map((at) => {
      const said = `${sts}${at ? ' with ticket' : ''}`
      return { request, sts, at, said, isTaken: taken.includes(said) }
    }),
  ),
)

describe('a response without an error', () => {
  test.each(combinations)('to $request: $said is taken: $isTaken', ({ request, sts, at, said, isTaken }) => {
    const subject = request.operation === 'logoutall' ? { aid: 'a1' } : { sid: 's1' }
    const claims = { ...subject, sts, at: at ?? null, err: null }
    const sid = 'sid' in subject ? 's1' : undefined
    const isSurplusTicket = request === statusOfLogin && said === 'loggedin with ticket'
    if (isTaken) expect(fieldsOf(read(claims, request))).toEqual({ ...nothing, sid, at, sts })
    else expect(refusalIn(claims, request)).toEqual(wrongClaim(isSurplusTicket ? 'at' : 'sts'))
  })

  test('undocumented claims are ignored', () => {
    const claims = { sid: 's1', sts: 'anon', tomorrow: { at: 'x' }, constructor: 1 }
    expect(fieldsOf(read(claims, identify))).toEqual({ ...nothing, sid: 's1', sts: 'anon' })
  })
})

describe('the subject of a response', () => {
  test('an error may leave the session out', () => {
    const token = read({ sid: null, sts: null, at: null, err: 'session_not_found' }, statusOfAnon)
    expect(fieldsOf(token)).toEqual({ ...nothing, err: 'session_not_found' })
  })
})

describe('a response with an error', () => {
  const others = ['no_such_code', '__proto__', 'Invalid_Credentials']
  test.each<[err: string, readAs: string]>([
    ...Object.keys(sso2ErrorCodes).map((err): [string, string] => [err, err]),
    ...others.map((err): [string, string] => [err, 'unknown_error']),
  ])('the error %s is read as %s', (err, readAs) => {
    const claims = { sid: 's1', sts: 'anon' }
    expect(fieldsOf(read({ ...claims, err }, authenticate))).toEqual({ ...nothing, ...claims, err: readAs })
  })

  test.each(['', 0, [], 'x'.repeat(129)])('the error %j is refused', (err) => {
    expect(refusalIn({ sid: 's1', sts: 'anon', err }, authenticate)).toEqual(wrongClaim('err'))
  })

  test.each(['ANON', '', 0])('the status %j is refused with an error too', (sts) => {
    expect(refusalIn({ sid: 's1', sts, err: 'invalid_credentials' }, authenticate)).toEqual(wrongClaim('sts'))
  })

  test('an error never brings a ticket', () => {
    const claims = { sid: 's1', sts: 'anon', at: 'ticket', err: 'invalid_credentials' }
    expect(refusalIn(claims, authenticate)).toEqual(wrongClaim('err'))
  })

  test('[L11] a session may stay logged in with every error of Authenticate, and with no documented error of another operation', () => {
    const staying = (request: SentRequest) =>
      [...Object.keys(sso2ErrorCodes), 'new_code'].filter(
        (err) => refusalIn({ sid: 's1', sts: 'loggedin', err }, request) === 'taken',
      )
    expect(staying(authenticate)).toEqual([...Object.keys(sso2ErrorCodes), 'new_code'])
    for (const operation of ['identify', 'sessionstatus', 'logout'] as const)
      expect(staying({ operation, sid: 's1' })).toEqual(['new_code'])
  })
})

describe('the counts of a failed login', () => {
  const cases: [name: string, claims: object, frf: number | undefined, raa: number | undefined][] = [
    ['wrong credentials tell the attempts left', { err: 'invalid_credentials', raa: 2, frf: 9 }, undefined, 2],
    ['a frozen account tells for how long', { err: 'account_frozen', frf: 300, raa: 9 }, 300, undefined],
    ['minus one stands for none', { err: 'account_frozen', frf: -1, raa: -1 }, undefined, undefined],
    ['null stands for none', { err: 'invalid_credentials', frf: null, raa: null }, undefined, undefined],
    ['a login that went well tells neither', { sts: 'loggedin', at: 'ticket', frf: 300, raa: 2 }, undefined, undefined],
  ]
  test.each(cases)('%s', (_name, claims, frf, raa) => {
    const token = read({ sid: 's1', sts: 'anon', ...claims }, authenticate)
    expect({ frf: token.frf, raa: token.raa }).toEqual({ frf, raa })
  })

  test.each(['frf', 'raa'].flatMap((name) => ['3', 1.5, -2, 2 ** 53].map((value) => [name, value] as const)))(
    'the count %s as %j is refused',
    (name, value) => {
      const claims = { sid: 's1', sts: 'anon', err: 'account_frozen', [name]: value }
      expect(refusalIn(claims, authenticate)).toEqual(wrongClaim(name))
    },
  )

  test('the response to another operation tells neither', () => {
    const claims = { sid: 's1', sts: 'anon', err: 'account_frozen', frf: 'x', raa: 2 }
    const token = read(claims, statusOfAnon)
    expect({ frf: token.frf, raa: token.raa }).toEqual({ frf: undefined, raa: undefined })
  })
})

test('printing a Session Token shows neither its ticket nor its session ID', () => {
  const sts: SessionStatus = 'loggedin'
  const token = read({ sid: 'the-secret-session', sts, at: 'the-secret-ticket' }, identify)
  const printed = [
    inspect(token, { depth: 20, showHidden: true }),
    inspect({ nested: [token] }, { depth: 20, showHidden: true }),
    JSON.stringify(token),
    JSON.stringify({ ...token }),
    String(token),
    Object.keys(token).join(),
  ].join('\n')
  expect(printed).toContain('loggedin')
  expect(printed).not.toMatch(/the-secret/)
  expect([token.sid, token.at]).toEqual(['the-secret-session', 'the-secret-ticket'])
})
