/** Signs and verifies an HS256 token. Pure: secret and time are arguments. Interface: "SSO JSON Web Token (JWT)". */
import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto'
import { TokenError, type TokenFault } from '../errors'
import { type EpochSeconds, TOKEN_LIFETIME_SECONDS } from './claims'
import { isNonNegativeInteger, readJsonObject } from './json'

/** Maximum length in characters. A longer token is refused before parsing. */
export const MAX_TOKEN_LENGTH = 8192

/** Keys of the client's secrets. The first signs, all verify (rotation). */
export type Keys = readonly [KeyObject, ...KeyObject[]]

/** Makes keys of the client's secret or secrets. A `KeyObject` signs 45 times faster than the string. */
export function makeKeys(secrets: string | readonly string[]): Keys {
  const [first, ...others] = [secrets].flat().map((secret) => createSecretKey(Buffer.from(secret)))
  if (!first) throw new TypeError('makeKeys: at least one secret is needed')
  return [first, ...others]
}

let jwt: typeof import('jsonwebtoken') | undefined

/**
 * Signs claims without changes. The claims must include `iat`, because jsonwebtoken adds the system's time otherwise.
 * @param index of the key that signs, default the first
 */
export function signToken(claims: { readonly iat: EpochSeconds }, keys: Keys, index = 0): string {
  jwt ??= require('jsonwebtoken') as typeof import('jsonwebtoken') // loads with the first token: 30 ms less at the start
  return jwt.sign({ ...claims }, keys[index] ?? keys[0], { algorithm: 'HS256' })
}

/** Expected values of a token, and its time. */
export interface Expected {
  readonly issuer: string
  readonly audience: string
  readonly now: EpochSeconds
  /** Leeway on `nbf`, `iat` and `exp`, in seconds. */
  readonly toleranceSeconds: number
  /** Called with the `iat` of a token whose signature, issuer and audience are right, before its times are checked. Shows the clock offset. */
  readonly onIssued?: (iat: EpochSeconds) => void
  /** Called with the index of the key that signed the token, before the payload is read. */
  readonly onSigned?: (key: number) => void
}

/** Claims of a verified token. Their names come from the sender, so read own properties only. */
export type VerifiedClaims = Readonly<Record<string, unknown>> & {
  readonly iat: EpochSeconds
  readonly exp: EpochSeconds
}

/**
 * Verifies shape, algorithm, signature, issuer, audience and times, in the given order.
 * @throws {TokenError} for the first failed check
 */
export function verifyToken(token: unknown, keys: Keys, expected: Expected): VerifiedClaims {
  const [header, payload] = splitToken(token)
  checkHeader(header)
  const key = checkSignature(String(token), keys)
  expected.onSigned?.(key)
  const claims = readJsonObject(payload) ?? refuseToken('malformed', 'payload')
  if (ownValue(claims, 'iss') !== expected.issuer) refuseToken('issuer')
  if (ownValue(claims, 'aud') !== expected.audience) refuseToken('audience')
  return checkTimes(claims, expected)
}

/** Returns the bytes that identify a used token: its decoded signature, in any encoding. */
export function tokenSignature(token: string): Buffer {
  return Buffer.from(token.slice(token.lastIndexOf('.') + 1), 'base64url')
}

/** Returns the value of an own property, never of the prototype chain. */
export function ownValue(claims: Readonly<Record<string, unknown>>, name: string): unknown {
  return Object.hasOwn(claims, name) ? claims[name] : undefined
}

function refuseToken(reason: TokenFault, detail?: string, offsetSeconds?: number): never {
  throw new TokenError(reason, detail, offsetSeconds)
}

function splitToken(token: unknown): [Buffer, Buffer] {
  if (typeof token !== 'string' || token.length === 0 || token.length > MAX_TOKEN_LENGTH)
    refuseToken('malformed', 'size')
  const segments = token.split('.')
  if (!isTriple(segments)) return refuseToken('malformed', 'segments')
  const [header, payload, signature] = segments
  decodeCanonical(signature)
  return [decodeCanonical(header), decodeCanonical(payload)]
}

const isTriple = (segments: string[]): segments is [string, string, string] => segments.length === 3

/** Decodes canonical base64url: no padding, no other alphabet, no white space, no unused bits. */
function decodeCanonical(segment: string): Buffer {
  const bytes = Buffer.from(segment, 'base64url')
  if (bytes.length === 0 || bytes.toString('base64url') !== segment) refuseToken('malformed', 'encoding')
  return bytes
}

const FORBIDDEN_HEADERS = ['crit', 'b64', 'zip', 'cty']

function checkHeader(bytes: Buffer): void {
  const header = readJsonObject(bytes) ?? refuseToken('malformed', 'header')
  if (ownValue(header, 'alg') !== 'HS256') refuseToken('algorithm', 'alg')
  if (ownValue(header, 'typ') !== 'JWT') refuseToken('malformed', 'typ')
  if (FORBIDDEN_HEADERS.some((name) => Object.hasOwn(header, name))) refuseToken('malformed', 'header')
}

/** Tries every key in constant time, before the payload is read. Threat T15. */
function checkSignature(token: string, keys: Keys): number {
  const given = tokenSignature(token)
  const signed = token.slice(0, token.lastIndexOf('.'))
  const fits = keys.map((key) => {
    const expected = createHmac('sha256', key).update(signed).digest()
    return given.length === expected.length && timingSafeEqual(given, expected)
  })
  if (!fits.includes(true)) refuseToken('signature')
  return fits.indexOf(true)
}

function checkTimes(claims: Readonly<Record<string, unknown>>, expected: Expected): VerifiedClaims {
  const { now, toleranceSeconds } = expected
  const nbf = readTime(claims, 'nbf')
  const iat = readTime(claims, 'iat')
  const exp = readTime(claims, 'exp')
  expected.onIssued?.(iat)
  if (exp <= iat || exp - iat > TOKEN_LIFETIME_SECONDS + toleranceSeconds) refuseToken('claims', 'exp')
  if (nbf > now + toleranceSeconds) refuseToken('not_yet_valid', 'nbf', now - iat)
  if (iat > now + toleranceSeconds) refuseToken('not_yet_valid', 'iat', now - iat)
  if (exp <= now - toleranceSeconds) refuseToken('expired', 'exp', now - iat)
  return { ...claims, iat, exp }
}

function readTime(claims: Readonly<Record<string, unknown>>, name: string): EpochSeconds {
  const value = ownValue(claims, name)
  return isNonNegativeInteger(value) ? value : refuseToken('claims', name)
}
