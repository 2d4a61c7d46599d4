import { createHmac } from 'node:crypto'
import { Sso2Client } from '../../lib'
import type { TokenFault } from '../../lib/errors'
import type { Operation } from '../../lib/protocol/claims'

/** Who answers whom, when, and what a good answer to the operation would say. */
export interface Target {
  readonly operation: Operation
  readonly issuer: string
  readonly clientId: string
  readonly organisationId: string
  /** The client's secrets: the first signs, all verify. */
  readonly secrets: readonly [string, string]
  /** Seconds since 1970. */
  readonly now: number
  readonly sid: string
  readonly aid: string
  readonly ticket: string
}

/** One token that must be refused. */
export interface BadToken {
  readonly group: string
  readonly name: string
  /** Mostly a text; the back channel may answer anything. */
  readonly token: unknown
  readonly reasons: readonly TokenFault[]
}

export type Claims = Record<string, unknown>
export type Row = readonly [name: string, token: unknown, ...reasons: TokenFault[]]

export const HEADER = '{"alg":"HS256","typ":"JWT"}'
/** Of the evening site, a client of the same organisation. */
export const SISTER_SECRET = 'client-secret-of-the-evening-paper-0123456789'
export const encode = (bytes: string | Uint8Array) => Buffer.from(bytes).toString('base64url')
const hmac = (signed: string, secret: string | Uint8Array, hash = 'sha256') =>
  createHmac(hash, secret).update(signed).digest('base64url')

/** Signs two segments as they stand. */
export function signSegments(header: string, payload: string, secret: string | Uint8Array, hash?: string): string {
  return `${header}.${payload}.${hmac(`${header}.${payload}`, secret, hash)}`
}

/** Signs two texts or byte strings, JSON or not. */
export function signTexts(header: string | Uint8Array, payload: string | Uint8Array, secret: string): string {
  return signSegments(encode(header), encode(payload), secret)
}

/** What an operation answers when all is well, without issuer, audience and times. */
export function answerOf(operation: Operation, { sid, aid, ticket }: Target): Claims {
  switch (operation) {
    case 'logout':
      return { sid, sts: 'terminated', at: null, err: null }
    case 'logoutall':
      return { aid, sts: 'terminated', at: null, err: null }
    case 'authenticate':
      return { sid, sts: 'loggedin', at: ticket, err: null, frf: -1, raa: -1 }
    default:
      return { sid, sts: 'loggedin', at: ticket, err: null }
  }
}

/** Issuer, audience and times of a good answer. */
export function envelopeOf({ issuer, clientId, now }: Target): Claims {
  return { iss: issuer, aud: clientId, nbf: now, iat: now, exp: now + 10 }
}

/** All claims of a good answer. */
export function goodClaims(target: Target): Claims {
  return { ...envelopeOf(target), ...answerOf(target.operation, target) }
}

/** Signs with the right secret; `undefined` leaves a claim out. */
export function signClaims(target: Target, claims: Claims, header = HEADER): string {
  return signTexts(header, JSON.stringify(claims), target.secrets[0])
}

/** The three segments of a good token. */
export function partsOf(target: Target): [head: string, body: string, signature: string] {
  const [head = '', body = '', signature = ''] = signClaims(target, goodClaims(target)).split('.')
  return [head, body, signature]
}

/** Name of the claim that says whom the answer is about. */
export const subjectOf = ({ operation }: Target) => (operation === 'logoutall' ? 'aid' : 'sid')

/** A good answer with some claims in place of its own; `undefined` leaves one out. */
export const changed = (target: Target, more: Claims) => signClaims(target, { ...goodClaims(target), ...more })

/** One claim's text replaced, for values that only JSON text can spell. */
export function spelled(target: Target, name: string, value: string): string {
  const marked = JSON.stringify({ ...goodClaims(target), [name]: 'the value' })
  return signTexts(
    HEADER,
    marked.replace('"the value"', () => value),
    target.secrets[0],
  )
}

/** Rows of one group as tokens. A row without a reason of its own has the usual one. */
export function group(name: string, usual: TokenFault, rows: readonly Row[]): BadToken[] {
  return rows.map(([row, token, ...own]) => {
    const reasons = own.length > 0 ? own : [usual]
    return { group: name, name: row, token, reasons }
  })
}

/** Tokens unlike the usual that are good all the same. Threat T17. */
export function goodTokens(target: Target) {
  const claims = goodClaims(target)
  const { now, secrets } = target
  const text = JSON.stringify(claims)
  const change = (more: Claims) => signClaims(target, { ...claims, ...more })
  const { err: _none, ...withoutErr } = claims
  const keyHeader = '{"alg":"HS256","typ":"JWT","kid":"1","jku":"http://127.0.0.1:9/keys","x5u":"file:///etc/hosts"}'
  const rows: [string, string][] = [
    ['as it should be', change({})],
    ['with a claim of tomorrow', change({ tomorrow: { deep: [1, { sts: 'anon' }] } })],
    [
      'with a carried __proto__ that lends nothing',
      signTexts(HEADER, text.replace('{', '{"__proto__":{"polluted":true,"sts":"x"},'), secrets[0]),
    ],
    ['with the error left out', signClaims(target, withoutErr)],
    ['with another header of the same meaning', signClaims(target, claims, ' { "typ":"JWT" , "alg" : "HS256" } \n')],
    ['with a key ID and addresses of keys, which are ignored', signClaims(target, claims, keyHeader)],
    ['signed with the second secret', signTexts(HEADER, text, secrets[1])],
    ['that ended 4 s ago', change({ nbf: now - 14, iat: now - 14, exp: now - 4 })],
    ['made 5 s ahead of us', change({ nbf: now + 5, iat: now + 5, exp: now + 15 })],
    ['that lives 15 s', change({ exp: now + 15 })],
  ]
  return rows.map(([name, token]) => ({ name, token }))
}

/** A target for tests without a network: an answer to this operation, at a fixed time. */
export const targetOf = (operation: Operation): Target => ({
  operation,
  issuer: 'sso-service',
  clientId: 'morning',
  organisationId: 'demo-press',
  secrets: ['the-secret-of-this-year-0123456789-abc', 'the-secret-of-last-year-0123456789-abc'],
  now: 1_800_000_000,
  sid: 'a-session-of-the-sso-system',
  aid: 'account-ada',
  ticket: 'a-ticket',
})

/** A client that asks at an address and takes answers to such a target. */
export function clientOf({ clientId, organisationId, secrets, now }: Target, ssoUrl = 'http://127.0.0.1:9/sso') {
  const clock = { now: () => now * 1000 }
  return new Sso2Client({ ssoUrl, clientId, organisationId, clientSecret: secrets, clock })
}
