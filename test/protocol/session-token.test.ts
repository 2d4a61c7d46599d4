import { inspect } from 'node:util'
import { type Operation, type SessionStatus, sso2ErrorCodes } from '../../lib/protocol/claims'
import { readSessionToken, type SentRequest, type SessionToken } from '../../lib/protocol/session-token'
import { type Expected, makeKeys, verifyToken } from '../../lib/protocol/token'
import { signJwt } from '../support/oracle'
import { refusalOf } from './expectations'

const NOW = 1_800_000_000
const SECRET = 'a secret that only this test and its oracle know'
const keys = makeKeys(SECRET)
const expected: Expected = { issuer: 'sso-service', audience: 'the-site', now: NOW, toleranceSeconds: 5 }
const envelope = { iss: 'sso-service', aud: 'the-site', nbf: NOW, iat: NOW, exp: NOW + 10 }

const requests: Readonly<Record<string, SentRequest>> = {
  identify: { operation: 'identify' },
  authenticate: { operation: 'authenticate', sid: 's1' },
  'sessionstatus with lks anon': { operation: 'sessionstatus', sid: 's1', lks: 'anon' },
  'sessionstatus with lks loggedin': { operation: 'sessionstatus', sid: 's1', lks: 'loggedin' },
  logout: { operation: 'logout', sid: 's1' },
  logoutall: { operation: 'logoutall', aid: 'a1' },
}
const [anon, status, authenticate, logoutall] = [
  ask('identify'),
  ask('sessionstatus with lks anon'),
  ask('authenticate'),
  ask('logoutall'),
]

function ask(name: string): SentRequest {
  const request = requests[name]
  if (!request) throw new Error(`no request is called ${name}`)
  return request
}

/** Reads an answer that the independent signer made. */
function read(claims: object, request: SentRequest): SessionToken {
  return readSessionToken(verifyToken(signJwt({ ...envelope, ...claims }, SECRET), keys, expected), request)
}

/** All claims. Printing a token leaves out the ticket and the session ID. */
const fieldsOf = (token: SessionToken) => ({ ...token, sid: token.sid, at: token.at })
const nothing = { iat: NOW }

/** The answer's own subject: its session, or for Logout all its account. */
const subject = ({ operation }: SentRequest) => (operation === 'logoutall' ? { aid: 'a1' } : { sid: 's1' })

const documented = new Set([
  'identify: anon',
  'identify: loggedin with ticket',
  'authenticate: loggedin with ticket',
  'sessionstatus with lks anon: anon',
  'sessionstatus with lks anon: loggedin',
  'sessionstatus with lks anon: loggedin with ticket',
  'sessionstatus with lks anon: terminated',
  'sessionstatus with lks loggedin: anon',
  'sessionstatus with lks loggedin: loggedin',
  'sessionstatus with lks loggedin: terminated',
  'logout: terminated',
  'logoutall: terminated',
])

const combinations = Object.entries(requests).flatMap(([name, request]) =>
  (['anon', 'loggedin', 'terminated'] as const).flatMap((sts) =>
    [undefined, 'ticket'].map((at) => ({ text: `${name}: ${sts}${at ? ' with ticket' : ''}`, request, sts, at })),
  ),
)

describe('an answer without an error', () => {
  test('has twelve documented combinations of thirty-six', () => {
    expect([combinations.length, combinations.filter(({ text }) => documented.has(text)).length]).toEqual([36, 12])
  })

  test.each(combinations.filter(({ text }) => documented.has(text)))('$text is taken', ({ request, sts, at }) => {
    const claims = { ...subject(request), sts, at: at ?? null, err: null }
    const sid = request.operation === 'logoutall' ? undefined : 's1'
    expect(fieldsOf(read(claims, request))).toEqual({ ...nothing, sid, at, sts })
  })

  test.each(combinations.filter(({ text }) => !documented.has(text)))(
    '$text is refused',
    ({ text, request, sts, at }) => {
      const claims = { ...subject(request), sts, at: at ?? null, err: null }
      const detail = text === 'sessionstatus with lks loggedin: loggedin with ticket' ? 'at' : 'sts'
      expect(refusalOf(() => read(claims, request))).toEqual({ reason: 'claims', detail })
    },
  )

  test.each(['ANON', 'Anon', 'anon ', 'active', '', 'toString', '__proto__', null, undefined, 1, true, ['anon'], {}])(
    'the status %j is refused',
    (sts) => {
      expect(refusalOf(() => read({ sid: 's1', sts }, anon))).toEqual({ reason: 'claims', detail: 'sts' })
    },
  )

  test('claims that nobody documents are ignored', () => {
    const claims = { sid: 's1', sts: 'anon', tomorrow: { at: 'x' }, constructor: 1 }
    expect(fieldsOf(read(claims, anon))).toEqual({ ...nothing, sid: 's1', sts: 'anon' })
  })
})

describe('the subject of an answer', () => {
  const others: [name: string, claims: object, request: SentRequest, verdict: object][] = [
    ['another session', { sid: 's2', sts: 'anon' }, status, { reason: 'session_mismatch', detail: 'sid' }],
    ['the session in capitals', { sid: 'S1', sts: 'anon' }, status, { reason: 'session_mismatch', detail: 'sid' }],
    [
      'another session, with an error',
      { sid: 's2', err: 'invalid_credentials' },
      authenticate,
      { reason: 'session_mismatch', detail: 'sid' },
    ],
    ['another account', { aid: 'a2', sts: 'terminated' }, logoutall, { reason: 'session_mismatch', detail: 'aid' }],
    ['no session', { sts: 'anon' }, status, { reason: 'claims', detail: 'sid' }],
    ['no session at the landing', { sts: 'anon', sid: null }, anon, { reason: 'claims', detail: 'sid' }],
    [
      'an account where a session was asked about',
      { aid: 'a1', sts: 'terminated' },
      ask('logout'),
      { reason: 'claims', detail: 'sid' },
    ],
    [
      'a session where an account was asked about',
      { sid: 's1', sts: 'terminated' },
      logoutall,
      { reason: 'claims', detail: 'aid' },
    ],
  ]
  test.each(others)('an answer about %s is refused', (_name, claims, request, verdict) => {
    expect(refusalOf(() => read(claims, request))).toEqual(verdict)
  })

  test('an error may leave the session out', () => {
    const token = read({ sid: null, sts: null, at: null, err: 'session_not_found' }, status)
    expect(fieldsOf(token)).toEqual({ ...nothing, err: 'session_not_found' })
  })

  const texts: [name: string, value: unknown][] = [
    ['empty', ''],
    ['a number', 7],
    ['an array', ['s1']],
    ['an object', { a: 1 }],
    ['false', false],
    ['a text with a line break', 's1\n'],
    ['a text with a NUL', 's\u00001'],
    ['a text with a delete character', 's\u007f'],
    ['one blank', ' '],
    ['blanks only', ' \u00a0\u2003\u3000'],
    ['of what nobody sees', '\u200b\ufeff\u2060'],
    ['longer than 512 characters', 's'.repeat(513)],
  ]
  test.each(texts)('a session ID that is %s is refused', (_name, sid) => {
    expect(refusalOf(() => read({ sid, sts: 'anon' }, anon))).toEqual({ reason: 'claims', detail: 'sid' })
  })

  test.each(texts.slice(0, -1))('an account that is %s is refused', (_name, aid) => {
    expect(refusalOf(() => read({ aid, sts: 'terminated' }, { operation: 'logoutall', aid: String(aid) }))).toEqual({
      reason: 'claims',
      detail: 'aid',
    })
  })

  test('blanks within a session ID are a part of it', () => {
    expect(read({ sid: ' s 1 ', sts: 'anon' }, anon).sid).toBe(' s 1 ')
  })

  test.each([...texts.slice(0, -1), ['longer than 4096 characters', 't'.repeat(4097)] as [string, unknown]])(
    'a ticket that is %s is refused',
    (_name, at) => {
      expect(refusalOf(() => read({ sid: 's1', sts: 'loggedin', at }, anon))).toEqual({
        reason: 'claims',
        detail: 'at',
      })
    },
  )

  test('a session ID of 512 characters and a ticket of 4096 are taken', () => {
    const claims = { sid: 's'.repeat(512), sts: 'loggedin', at: 't'.repeat(4096) }
    expect(fieldsOf(read(claims, anon))).toEqual({ ...nothing, ...claims })
  })
})

describe('an answer with an error', () => {
  test.each(Object.keys(sso2ErrorCodes))('the documented error %s is read as it is', (err) => {
    expect(fieldsOf(read({ sid: 's1', sts: 'anon', err }, authenticate))).toEqual({
      ...nothing,
      sid: 's1',
      sts: 'anon',
      err,
    })
  })

  test.each(['no_such_code', 'toString', '__proto__', 'constructor', 'Invalid_Credentials'])(
    'the error %s is read as unknown',
    (err) => {
      expect(fieldsOf(read({ sid: 's1', sts: 'anon', err }, authenticate))).toEqual({
        ...nothing,
        sid: 's1',
        sts: 'anon',
        err: 'unknown_error',
      })
    },
  )

  test.each(['', 0, false, [], {}, 'x'.repeat(129)])('the error %j is refused', (err) => {
    expect(refusalOf(() => read({ sid: 's1', sts: 'anon', err }, authenticate))).toEqual({
      reason: 'claims',
      detail: 'err',
    })
  })

  test.each(['ANON', '', 0, false, {}])('the status %j is refused with an error too', (sts) => {
    expect(refusalOf(() => read({ sid: 's1', sts, err: 'invalid_credentials' }, authenticate))).toEqual({
      reason: 'claims',
      detail: 'sts',
    })
  })

  test('an error never brings a ticket', () => {
    const claims = { sid: 's1', sts: 'anon', at: 'ticket', err: 'invalid_credentials' }
    expect(refusalOf(() => read(claims, authenticate))).toEqual({ reason: 'claims', detail: 'err' })
  })

  test('[L11] a session may stay logged in with every error of Authenticate, and with no documented error of another operation', () => {
    const staying = (request: SentRequest) =>
      [...Object.keys(sso2ErrorCodes), 'new_code'].filter(
        (err) => refusalOf(() => read({ sid: 's1', sts: 'loggedin', err }, request)) === 'taken',
      )
    expect(staying(authenticate)).toEqual([...Object.keys(sso2ErrorCodes), 'new_code'])
    for (const operation of ['identify', 'sessionstatus', 'logout'] as const)
      expect(staying({ operation, sid: 's1' })).toEqual(['new_code'])
  })
})

describe('the counts of a failed login', () => {
  const cases: [name: string, claims: object, frf: number | undefined, raa: number | undefined][] = [
    ['wrong credentials tell the attempts left', { err: 'invalid_credentials', raa: 2, frf: 9 }, undefined, 2],
    ['no attempt left is a count too', { err: 'invalid_credentials', raa: 0 }, undefined, 0],
    ['a frozen account tells for how long', { err: 'account_frozen', frf: 300, raa: 9 }, 300, undefined],
    ['minus one stands for none', { err: 'account_frozen', frf: -1, raa: -1 }, undefined, undefined],
    ['null stands for none', { err: 'invalid_credentials', frf: null, raa: null }, undefined, undefined],
    ['another error tells neither', { err: 'account_not_active', frf: 300, raa: 2 }, undefined, undefined],
    ['a login that went well tells neither', { sts: 'loggedin', at: 'ticket', frf: 300, raa: 2 }, undefined, undefined],
  ]
  test.each(cases)('%s', (_name, claims, frf, raa) => {
    const token = read({ sid: 's1', sts: 'anon', ...claims }, authenticate)
    expect({ frf: token.frf, raa: token.raa }).toEqual({ frf, raa })
  })

  test.each(
    ['frf', 'raa'].flatMap((name) => ['3', 1.5, -2, true, [3], {}, 2 ** 53].map((value) => [name, value] as const)),
  )('the count %s as %j is refused', (name, value) => {
    const claims = { sid: 's1', sts: 'anon', err: 'account_frozen', [name]: value }
    expect(refusalOf(() => read(claims, authenticate))).toEqual({ reason: 'claims', detail: name })
  })

  test.each<Operation>(['identify', 'sessionstatus', 'logout'])(
    'the answer to %s tells neither, whatever it carries',
    (operation) => {
      const token = read(
        { sid: 's1', sts: 'anon', err: 'account_frozen', frf: 'x', raa: 2 },
        { operation, sid: 's1', lks: 'anon' },
      )
      expect({ frf: token.frf, raa: token.raa }).toEqual({ frf: undefined, raa: undefined })
    },
  )
})

test('printing a Session Token shows neither its ticket nor its session ID', () => {
  const sts: SessionStatus = 'loggedin'
  const token = read({ sid: 'the-secret-session', sts, at: 'the-secret-ticket' }, anon)
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
