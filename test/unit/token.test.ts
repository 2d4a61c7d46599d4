import fc from 'fast-check'
import { TokenError } from '../../lib/errors'
import { type Expected, signToken, verifyToken } from '../../lib/protocol/token'
import { isSignedWith, readJwt, signJwt } from '../support/oracle'
import { expected, keys, NOW, refusalOf, SECRET } from './expectations'

const claims = { iss: 'sso-service', aud: 'the-site', nbf: NOW, iat: NOW, exp: NOW + 10, sid: 's1', sts: 'anon' }
const good = signJwt(claims, SECRET)
const [head = '', body = '', signature = ''] = good.split('.')
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

  test('no input at all makes verifyToken throw anything but a refusal', () => {
    fc.assert(
      fc.property(fc.oneof(fc.anything(), fc.string(), fc.constantFrom(head, body, signature)), (input) => {
        expect(refusal(input)).toEqual({ reason: 'malformed', detail: expect.any(String) })
      }),
      { numRuns: 200 },
    )
  })
})

describe('the times', () => {
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

  test.each([
    ['nbf', { nbf: NOW + 60 }, 0],
    ['iat', { iat: NOW + 60, exp: NOW + 70 }, -60],
    ['exp', { nbf: NOW - 70, iat: NOW - 70, exp: NOW - 60 }, 70],
  ])('a token refused for its %s tells how far apart the clocks are', (_name, times, offsetSeconds) => {
    const verify = () => verifyToken(dated(times), keys, expected)
    expect(verify).toThrow(TokenError)
    expect(verify).toThrow(expect.objectContaining({ offsetSeconds }))
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
