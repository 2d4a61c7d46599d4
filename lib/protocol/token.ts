/** Signs and verifies an HS256 token. Pure: secret and time are arguments. Interface: "SSO JSON Web Token (JWT)". */
import { createSecretKey, type KeyObject } from 'node:crypto'
import { TokenError, type TokenFault } from '../errors'
import { type EpochSeconds, TOKEN_LIFETIME_SECONDS } from './claims'
import { isNonNegativeInteger, readJsonObject } from './json'

/** Maximum length in characters. A longer token is refused before parsing. */
const MAX_TOKEN_LENGTH = 8192

/** Keys of the client's secrets. The first signs, all verify (rotation). */
export type Keys = readonly [KeyObject, ...KeyObject[]]

/** Makes keys of the client's secret or secrets. A `KeyObject` signs 45 times faster than the string. */
export function makeKeys(secrets: string | readonly string[]): Keys {
  const [first, ...others] = [secrets].flat().map((secret) => createSecretKey(Buffer.from(secret)))
  if (!first) throw new TypeError('makeKeys: at least one secret is needed')
  return [first, ...others]
}

let loaded: typeof import('jsonwebtoken') | undefined

/** Loads the library with the first token: 30 ms less at the start. */
function jwt(): typeof import('jsonwebtoken') {
  loaded ??= require('jsonwebtoken') as typeof import('jsonwebtoken')
  return loaded
}

/**
 * Signs claims without changes. The claims must include `iat`, because jsonwebtoken adds the system's time otherwise.
 * @param index of the key that signs, default the first
 */
export function signToken(claims: { readonly iat: EpochSeconds }, keys: Keys, index = 0): string {
  return jwt().sign({ ...claims }, keys[index] ?? keys[0], { algorithm: 'HS256' })
}

/** Expected values of a token, and its time. */
export interface Expected {
  readonly issuer: string
  readonly audience: string
  readonly now: EpochSeconds
  /** Leeway on `nbf`, `iat` and `exp`, in seconds. */
  readonly toleranceSeconds: number
}

/** Claims of a verified token. Their names come from the sender, so read own properties only. */
export type VerifiedClaims = Readonly<Record<string, unknown>> & {
  readonly iat: EpochSeconds
  readonly exp: EpochSeconds
}

/**
 * Verifies shape and algorithm, then signature, audience and issuer, then times, in the given order.
 * @returns the claims, and the index of the key that signed
 * @throws {TokenError} for the first failed check
 */
export function verifyToken(token: unknown, keys: Keys, expected: Expected): { claims: VerifiedClaims; key: number } {
  const [header, payload] = splitToken(token)
  checkHeader(header)
  const key = verifySignature(String(token), keys, expected)
  const claims = readJsonObject(payload) ?? refuseToken('malformed', 'payload')
  if (key.fault) refuseToken(key.fault)
  if (typeof ownValue(claims, 'aud') !== 'string') refuseToken('audience') // jsonwebtoken takes a list
  return { claims: checkTimes(claims, expected), key: key.index }
}

/** Returns the bytes that identify a used token: its decoded signature, in any encoding. */
export function tokenSignature(token: string): Buffer {
  return Buffer.from(token.slice(token.lastIndexOf('.') + 1), 'base64url')
}

/** Returns the value of an own property, never of the prototype chain. */
export function ownValue(claims: Readonly<Record<string, unknown>>, name: string): unknown {
  return Object.hasOwn(claims, name) ? claims[name] : undefined
}

function refuseToken(reason: TokenFault, part?: string, offsetSeconds?: number): never {
  throw new TokenError(reason, part, offsetSeconds)
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

const FAULTS: readonly (readonly [message: RegExp, fault: TokenFault])[] = [
  [/^invalid signature/, 'signature'],
  [/^jwt issuer/, 'issuer'],
  [/^jwt audience/, 'audience'],
]

/**
 * Verifies signature, issuer and audience. The times are checked later, by the claims as they are read strictly.
 * @returns the index of the key that signed, and the fault of a token that is signed by it
 */
function verifySignature(token: string, keys: Keys, { issuer, audience }: Expected) {
  const options = { algorithms: ['HS256' as const], issuer, audience, ignoreExpiration: true, ignoreNotBefore: true }
  for (const [index, key] of keys.entries()) {
    const fault = faultOf(() => jwt().verify(token, key, options))
    if (fault !== 'signature') return { index, fault }
  }
  return refuseToken('signature')
}

/** jsonwebtoken throws errors of any class for a payload that is not an object. */
function faultOf(verify: () => unknown): TokenFault | undefined {
  try {
    verify()
    return undefined
  } catch (error) {
    const { message } = error as Error
    return FAULTS.find(([pattern]) => pattern.test(message))?.[1] ?? 'malformed'
  }
}

function checkTimes(claims: Readonly<Record<string, unknown>>, expected: Expected): VerifiedClaims {
  const { now, toleranceSeconds } = expected
  const nbf = readTime(claims, 'nbf')
  const iat = readTime(claims, 'iat')
  const exp = readTime(claims, 'exp')
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
