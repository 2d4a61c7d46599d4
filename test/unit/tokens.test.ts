import { inspect } from 'node:util'
import { TokenError } from '../../lib/errors'
import { DEFAULT_SSO_IDENTIFIER, type Operation, type SessionStatus, sso2ErrorCodes } from '../../lib/protocol/claims'
import { identifyUrl, type OperationClaims, requestClaims } from '../../lib/protocol/requests'
import { readSessionToken, type SentRequest, type SessionToken } from '../../lib/protocol/session-token'
import { type Expected, makeKeys, signToken, verifyToken } from '../../lib/protocol/token'
import { isSignedWith, readJwt, signJwt } from '../support/oracle'
import { NOW } from './samples'

/* Request tokens, and what is read from Session Tokens. What an attacker may send is in test/security/token-answers.test.ts. */

const SECRET = 'a secret that only this test and its oracle know'
const keys = makeKeys(SECRET)
const expected: Expected = { issuer: 'sso-service', audience: 'the-site', now: NOW, toleranceSeconds: 5 }

/** Runs what must refuse a token, and tells why it did; anything but a `TokenError` is the test's failure. */
function refusalOf(run: () => unknown): { reason: string; part: string | undefined } | 'taken' {
  try {
    run()
  } catch (error) {
    if (!(error instanceof TokenError)) throw error
    return { reason: error.reason, part: error.part }
  }
  return 'taken'
}

const envelope = { iss: 'sso-service', aud: 'the-site', nbf: NOW, iat: NOW, exp: NOW + 10 }

const caller = { clientId: 'the-site', organisationId: 'the-publisher', ssoIdentifier: DEFAULT_SSO_IDENTIFIER }
const common = { cid: 'the-site', nbf: NOW, exp: NOW + 10, iat: NOW, iss: 'the-publisher', aud: 'sso-service' }
const device = { ipa: '192.0.2.7', uas: 'Mozilla/5.0' }

const requests: { [O in Operation]: OperationClaims[O] } = {
  identify: {},
  authenticate: { ...device, sid: 's1', usr: 'ada@example.org', pwd: 'p\u00e4ss "word"' },
  sessionstatus: { ...device, sid: 's1', lks: 'anon' },
  logout: { ...device, sid: 's1' },
  logoutall: { ...device, aid: 'a1' },
}

test.each(Object.entries(requests))('a request of %s holds the common claims and its own alone', (_operation, own) => {
  const token = signToken(requestClaims(caller, own, NOW), keys)
  expect(isSignedWith(token, SECRET)).toBe(true)
  const { header, claims } = readJwt(token)
  expect({ header, claims }).toEqual({ header: { alg: 'HS256', typ: 'JWT' }, claims: { ...own, ...common } })
})

test('no additional claim replaces a common one', () => {
  const forged = { ...device, sid: 's1', iss: 'someone', exp: NOW + 9999, cid: 'other' }
  expect(requestClaims<'logout'>(caller, forged, NOW)).toEqual({ ...device, sid: 's1', ...common })
})

test.each([
  'https://news.example/',
  'https://news.example/a?b=c&d=e#f',
  'https://news.example/?t=forged&r=https://evil.example&debug_url=x',
  'https://news.example/sm%C3%B8rrebr%C3%B8d+og%20kaffe?q=%26%3D',
])('[R12] the Identify address carries exactly t and r, and gives %s back', (returnTo) => {
  const url = new URL(identifyUrl('https://sso.example/base/', 'h.p.s', returnTo))
  expect(url.origin + url.pathname + url.hash).toBe('https://sso.example/base/identify')
  expect([...url.searchParams]).toEqual([
    ['t', 'h.p.s'],
    ['r', returnTo],
  ])
})

const claims = { ...envelope, sid: 's1', sts: 'anon' }
const good = signJwt(claims, SECRET)
const refusal = (token: unknown, wanted: Partial<Expected> = {}) =>
  refusalOf(() => verifyToken(token, keys, { ...expected, ...wanted }))
const refusedFor = (reason: string, part?: string) => ({ reason, part })

describe('tokens of the package and of the independent signer', () => {
  test('a token that the independent signer made is read with every claim', () => {
    expect(verifyToken(good, keys, expected)).toEqual({ claims, key: 0 })
  })

  test('a token that the package made is the very text that the independent signer makes', () => {
    const token = signToken(claims, keys)
    expect(token).toBe(good)
  })
})

const dated = (times: object) => signJwt({ ...claims, ...times }, SECRET)

test.each<[offset: number, verdict: object | string]>([
  [-10, refusedFor('expired', 'exp')],
  [-9, 'taken'],
  [0, 'taken'],
  [1, refusedFor('not_yet_valid', 'nbf')],
])('without any leeway a token made %i s from now is judged to the second', (offset, verdict) => {
  const token = dated({ nbf: NOW + offset, iat: NOW + offset, exp: NOW + offset + 10 })
  expect(refusal(token, { toleranceSeconds: 0 })).toEqual(verdict)
})

const identify: SentRequest = { operation: 'identify' }
const authenticate: SentRequest = { operation: 'authenticate', sid: 's1' }
const statusOfAnon: SentRequest = { operation: 'sessionstatus', sid: 's1', lks: 'anon' }
const statusOfLogin: SentRequest = { operation: 'sessionstatus', sid: 's1', lks: 'loggedin' }
const logout: SentRequest = { operation: 'logout', sid: 's1' }
const logoutAll: SentRequest = { operation: 'logoutall', aid: 'a1' }

/** Reads a response that the independent signer made. */
function read(claims: object, request: SentRequest): SessionToken {
  return readSessionToken(verifyToken(signJwt({ ...envelope, ...claims }, SECRET), keys, expected).claims, request)
}

/** All claims. Printing a token leaves out the ticket and the session ID. */
const fieldsOf = (token: SessionToken) => ({ ...token, sid: token.sid, at: token.at })
const nothing = { iat: NOW }
const refusalIn = (claims: object, request: SentRequest) => refusalOf(() => read(claims, request))
const wrongClaim = (part: string) => ({ reason: 'claims', part })

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
  test.each(combinations)('[L7, L11] to $request: $said is taken: $isTaken', ({ request, sts, at, said, isTaken }) => {
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
