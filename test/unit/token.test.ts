import { createHmac } from 'node:crypto'
import fc from 'fast-check'
import { TokenError } from '../../lib/errors'
import { type Expected, MAX_TOKEN_LENGTH, makeKeys, signToken, verifyToken } from '../../lib/protocol/token'
import { isSignedWith, readJwt, signJwt } from '../support/oracle'
import { expected, keys, NOW, refusalOf, SECRET } from './expectations'

const OLD_SECRET = 'the secret of last year, which still verifies tokens'
const claims = { iss: 'sso-service', aud: 'the-site', nbf: NOW, iat: NOW, exp: NOW + 10, sid: 's1', sts: 'anon' }
const good = signJwt(claims, SECRET)
const [head = '', body = '', signature = ''] = good.split('.')

const encode = (text: string | Uint8Array) => Buffer.from(text).toString('base64url')

/** A well-signed token of any two parts, JSON or not. */
const signParts = (header: string | Uint8Array, payload: string | Uint8Array) =>
  signSegments(encode(header), encode(payload))

function signSegments(header: string, payload: string, hash = 'sha256'): string {
  const signed = `${header}.${payload}`
  return `${signed}.${createHmac(hash, SECRET).update(signed).digest('base64url')}`
}

const HEADER = '{"alg":"HS256","typ":"JWT"}'
const PAYLOAD = JSON.stringify(claims)
/** The payload's text with one member's text in place of another. */
const swap = (before: string, after: string) => signParts(HEADER, PAYLOAD.replace(before, after))
const refusal = (token: unknown, wanted: Partial<Expected> = {}) =>
  refusalOf(() => verifyToken(token, keys, { ...expected, ...wanted }))
const refusedFor = (reason: string, detail?: string) => ({ reason, detail })

describe('tokens of the package and of the independent signer', () => {
  test('a token that the independent signer made is read with every claim', () => {
    expect(verifyToken(good, keys, expected)).toEqual(claims)
  })

  test('a token that the package made is the very text that the independent signer makes', () => {
    const token = signToken(claims, keys)
    expect(token).toBe(good)
    expect(isSignedWith(token, SECRET)).toBe(true)
    expect(readJwt(token)).toMatchObject({ header: { alg: 'HS256', typ: 'JWT' }, claims })
  })

  test('any one-character change of a good token is refused', () => {
    const character = fc.constantFrom(...'ABCXYZabcxyz0189-_+/=. \n\u0000é')
    fc.assert(
      fc.property(fc.nat({ max: good.length - 1 }), character, (at, other) => {
        fc.pre(good[at] !== other)
        const changed = good.slice(0, at) + other + good.slice(at + 1)
        expect(refusal(changed)).not.toBe('taken')
      }),
      { numRuns: 300 },
    )
  })

  test('no input at all makes verifyToken throw anything but a refusal', () => {
    fc.assert(
      fc.property(fc.oneof(fc.anything(), fc.string(), fc.constantFrom(head, body, signature)), (input) => {
        expect(refusal(input)).toEqual({ reason: 'malformed', detail: expect.any(String) })
      }),
      { numRuns: 200 },
    )
  })
})

describe('the algorithm', () => {
  const nones = ['none', 'None', '', 256]
  const others = ['hs256', 'HS384', 'HS512', 'RS256']
  test.each([...nones, ...others])('a header that names the algorithm %j is refused, however it is signed', (alg) => {
    const header = encode(JSON.stringify({ alg, typ: 'JWT' }))
    for (const hash of ['sha256', 'sha384', 'sha512'])
      expect(refusal(signSegments(header, body, hash))).toEqual(refusedFor('algorithm', 'alg'))
  })
})

describe('the shape', () => {
  const malformed = (detail: string) => refusedFor('malformed', detail)
  const dangling = `${signature.slice(0, -1)}${String.fromCharCode(signature.charCodeAt(signature.length - 1) + 1)}`
  test.each<[name: string, token: unknown, detail: string]>([
    ['nothing', undefined, 'size'],
    ['an array of a good token', [good], 'size'],
    ['two segments', `${head}.${body}`, 'segments'],
    ['four segments', `${good}.${signature}`, 'segments'],
    ['an empty signature', `${head}.${body}.`, 'encoding'],
    ['padding on the signature', `${good}=`, 'encoding'],
    ['unused bits that are not zero', `${head}.${body}.${dangling}`, 'encoding'],
  ])('%s is refused', (_name, token, detail) => {
    expect(refusal(token)).toEqual(malformed(detail))
  })

  test.each<[name: string, header: string | Uint8Array, detail: string]>([
    ['without a type', '{"alg":"HS256"}', 'typ'],
    ['of another type', '{"alg":"HS256","typ":"at+jwt"}', 'typ'],
    ['with critical members', '{"alg":"HS256","typ":"JWT","crit":["exp"]}', 'header'],
    ['with a nested token', '{"alg":"HS256","typ":"JWT","cty":"JWT"}', 'header'],
    ['that names the algorithm twice', '{"alg":"none","typ":"JWT","alg":"HS256"}', 'header'],
    ['with a byte order mark', `\ufeff${HEADER}`, 'header'],
    ['that is null', 'null', 'header'],
  ])('a header %s is refused', (_name, header, detail) => {
    expect(refusal(signParts(header, PAYLOAD))).toEqual(malformed(detail))
  })

  test.each<[name: string, payload: string | Uint8Array]>([
    ['that is not UTF-8', Buffer.concat([Buffer.from(PAYLOAD.slice(0, -2)), Buffer.from([0xff]), Buffer.from('"}')])],
    ['that says null for a member and then its value', PAYLOAD.replace('{', '{"err":"account_frozen","err":null,')],
  ])('a payload %s is refused', (_name, payload) => {
    expect(refusal(signParts(HEADER, payload))).toEqual(malformed('payload'))
  })

  test.each<[size: number, verdict: string]>([
    [MAX_TOKEN_LENGTH, 'taken'],
    [MAX_TOKEN_LENGTH + 1, 'size'],
  ])('a token of %i characters is judged at the limit: %s', (size, verdict) => {
    const found = refusal(tokenOfLength(size))
    expect(found === 'taken' ? found : found.detail).toBe(verdict)
  })
})

/** A well-signed token of exactly so many characters. Of two headers, one meets every length that base64url can have. */
function tokenOfLength(size: number): string {
  for (const header of [{}, { x: 1 }, { x: 12 }, { x: 123 }]) {
    const fixed = signJwt({ ...claims, pad: '' }, SECRET, header).length
    for (let pad = Math.floor((size - fixed) * 0.74); pad <= size - fixed; pad += 1) {
      const token = signJwt({ ...claims, pad: 'x'.repeat(pad) }, SECRET, header)
      if (token.length === size) return token
      if (token.length > size) break
    }
  }
  throw new Error(`no token has ${size} characters`)
}

describe('the signature and the receiver of the token', () => {
  const half = encode(Buffer.from(signature, 'base64url').subarray(0, 16))
  test.each<[name: string, token: string, reason: string]>([
    ['signed with another secret', signJwt(claims, `${SECRET}.`), 'signature'],
    ['with the signature of other claims', `${head}.${encode('{"sts":"loggedin"}')}.${signature}`, 'signature'],
    ['with half a signature', `${head}.${body}.${half}`, 'signature'],
    ['from another issuer', signJwt({ ...claims, iss: 'other' }, SECRET), 'issuer'],
    ['for another site', signJwt({ ...claims, aud: 'other-site' }, SECRET), 'audience'],
    ['for several sites', signJwt({ ...claims, aud: ['the-site', 'other'] }, SECRET), 'audience'],
  ])('a token %s is refused', (_name, token, reason) => {
    expect(refusal(token)).toEqual(refusedFor(reason))
  })

  test('while secrets are rotated both verify, the first signs if none is chosen, and the one that signed is told', () => {
    const rotated = makeKeys([SECRET, OLD_SECRET])
    expect(verifyToken(signJwt(claims, OLD_SECRET), rotated, expected)).toEqual(claims)
    expect(verifyToken(good, rotated, expected)).toEqual(claims)
    expect(refusalOf(() => verifyToken(signJwt(claims, 'a third one'), rotated, expected))).toEqual(
      refusedFor('signature'),
    )
    expect(signToken(claims, rotated)).toBe(good)
    const told: number[] = []
    const onSigned = (key: number) => void told.push(key)
    for (const index of [0, 1, 2]) verifyToken(signToken(claims, rotated, index), rotated, { ...expected, onSigned })
    expect(told).toEqual([0, 1, 0])
  })
})

describe('the times', () => {
  const dated = (times: object) => signJwt({ ...claims, ...times }, SECRET)

  test.each<[name: string, times: object, verdict: object | string]>([
    ['made 14 s ago, four past its end', { nbf: NOW - 14, iat: NOW - 14, exp: NOW - 4 }, 'taken'],
    ['that ended 5 s ago', { nbf: NOW - 15, iat: NOW - 15, exp: NOW - 5 }, refusedFor('expired', 'exp')],
    ['valid from 5 s ahead', { nbf: NOW + 5 }, 'taken'],
    ['valid from 6 s ahead', { nbf: NOW + 6 }, refusedFor('not_yet_valid', 'nbf')],
    ['issued 5 s ahead', { iat: NOW + 5, exp: NOW + 15 }, 'taken'],
    ['issued 6 s ahead', { iat: NOW + 6, exp: NOW + 16 }, refusedFor('not_yet_valid', 'iat')],
    ['that lives 15 s', { exp: NOW + 15 }, 'taken'],
    ['that lives 16 s', { exp: NOW + 16 }, refusedFor('claims', 'exp')],
    ['that ends as it begins', { exp: NOW }, refusedFor('claims', 'exp')],
  ])('a token %s', (_name, times, verdict) => {
    expect(refusal(dated(times))).toEqual(verdict)
  })

  test.each<[offset: number, verdict: object | string]>([
    [-10, refusedFor('expired', 'exp')],
    [-9, 'taken'],
    [0, 'taken'],
    [1, refusedFor('not_yet_valid', 'nbf')],
  ])('without any leeway a token made %i s from now is judged to the second', (offset, verdict) => {
    const token = dated({ nbf: NOW + offset, iat: NOW + offset, exp: NOW + offset + 10 })
    expect(refusal(token, { toleranceSeconds: 0 })).toEqual(verdict)
  })

  test.each([
    ['nbf', { nbf: NOW + 60 }, 0],
    ['iat', { iat: NOW + 60, exp: NOW + 70 }, -60],
    ['exp', { nbf: NOW - 70, iat: NOW - 70, exp: NOW - 60 }, 70],
  ])('a token refused for its %s tells how far apart the clocks are', (_name, times, offsetSeconds) => {
    const verify = () => verifyToken(dated(times), keys, expected)
    expect(verify).toThrow(TokenError)
    expect(verify).toThrow(expect.objectContaining({ offsetSeconds }))
  })

  const wrongTimes = ['"1800000000"', 'null', '1800000000.5', '-1', '1e400', '9007199254740993']
  const wrong = ['nbf', 'iat', 'exp'].flatMap((name) => wrongTimes.map((value) => [name, value] as const))
  test.each(wrong)('the time %s as %s is refused', (name, value) => {
    const written = name === 'exp' ? `"exp":${NOW + 10}` : `"${name}":${NOW}`
    expect(refusal(swap(written, `"${name}":${value}`))).toEqual(refusedFor('claims', name))
  })

  test('the time of issue is told for skew, before it is judged, and only for a token of the right sender', () => {
    const told: number[] = []
    const onIssued = (iat: number) => void told.push(iat)
    refusal(dated({ nbf: NOW - 99, iat: NOW - 99, exp: NOW - 89 }), { onIssued })
    refusal(signJwt(claims, 'another secret'), { onIssued })
    refusal(dated({ iss: 'other' }), { onIssued })
    refusal(good, { onIssued })
    expect(told).toEqual([NOW - 99, NOW])
  })
})
