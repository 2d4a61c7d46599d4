/**
 * Binds an Identify redirect to the browser that began the redirect, because the protocol has no state. Makes and checks the `sso2`
 * parameter. Pure.
 * The MAC covers the value of the binding cookie and the issue time. The MAC key is derived from `sessionSecret`, and signs no
 * tokens.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import type { EpochSeconds } from '../protocol/claims'

/** Maximum duration of an Identify redirect, in seconds. */
const BINDING_SECONDS = 300
/** Lifetime of the marker for browsers without cookies, in seconds. */
export const MARKER_SECONDS = 60

/** Keys of MACs. The first signs, all verify. */
export type MacKeys = readonly Buffer[]

const SHAPE = /^(\d{1,12})\.([A-Za-z0-9_-]{22})$/
const BINDING_VALUE = /^[A-Za-z0-9_-]{22}$/

/** Is the text a binding cookie's value (128 bits, base64url)? */
export function isBindingValue(value: string | undefined): value is string {
  return value !== undefined && BINDING_VALUE.test(value)
}

/** Purpose of a MAC. Each purpose has its own label, so that no MAC is valid for another purpose. */
type Purpose = 'flow' | 'last-flow' | 'marker' | 'signed-out' | 'device' | 'doctor'

function mac(key: Buffer, purpose: Purpose, ...parts: readonly (string | number)[]): string {
  return createHmac('sha256', key)
    .update([purpose, ...parts].join('\n'))
    .digest('base64url')
    .slice(0, 22)
}

/** Returns `<issued>.<MAC>`. @param subject the signed text. For a redirect, the value of the binding cookie. */
export function makeSignature(keys: MacKeys, purpose: Purpose, subject: string, now: EpochSeconds): string {
  const [key] = keys
  if (!key) throw new TypeError('makeSignature: no key')
  return `${now}.${mac(key, purpose, subject, now)}`
}

/** Is the value a MAC for the purpose and the subject, at most `maximumAge` seconds old? */
export function isSignature(
  keys: MacKeys,
  purpose: Purpose,
  subject: string,
  value: string | undefined,
  now: EpochSeconds,
  maximumAge: number,
): boolean {
  const issued = signedAt(keys, purpose, subject, value)
  if (issued === undefined) return false
  const age = now - issued
  return age <= maximumAge && age >= -MARKER_SECONDS
}

/** Returns the issue time of a MAC for the purpose and the subject. Compares in constant time. @returns `undefined` for another text */
function signedAt(
  keys: MacKeys,
  purpose: Purpose,
  subject: string,
  value: string | undefined,
): EpochSeconds | undefined {
  const [, issued, given] = SHAPE.exec(value ?? '') ?? []
  if (given === undefined) return undefined
  const fits = keys.some((key) =>
    timingSafeEqual(Buffer.from(given), Buffer.from(mac(key, purpose, subject, Number(issued)))),
  )
  return fits ? Number(issued) : undefined
}

/** Returns the marker for the page of a browser without cookies. */
export const makeMarker = (keys: MacKeys, now: EpochSeconds): string => makeSignature(keys, 'marker', '', now)

/** State of a marker: `none` for another text. */
export type MarkerState = 'none' | 'current' | 'old'

/**
 * Checks the marker in an address. A marker from the future is current, because another process with another clock may have made it.
 * An old marker may be in a bookmark, or a process whose clock is behind made it. The browser then gets a new marker.
 * So each further marker is newer, and any process takes the marker of the process whose clock is most ahead.
 */
export function checkMarker(keys: MacKeys, parameter: string | undefined, now: EpochSeconds): MarkerState {
  const issued = signedAt(keys, 'marker', '', parameter)
  if (issued === undefined) return 'none'
  return now - issued <= MARKER_SECONDS ? 'current' : 'old'
}

/** Returns the `sso2` parameter of a redirect. @param isLast no other redirect follows: see {@link isBoundAsLast} */
export function makeBinding(keys: MacKeys, cookie: string, now: EpochSeconds, isLast = false): string {
  return makeSignature(keys, isLast ? 'last-flow' : 'flow', cookie, now)
}

/** Does the parameter fit the browser's cookie, and is the parameter young enough? */
export function isBound(
  keys: MacKeys,
  cookie: string | undefined,
  parameter: string | undefined,
  now: EpochSeconds,
): boolean {
  const isFlow = isBindingValue(cookie) && isSignature(keys, 'flow', cookie, parameter, now, BINDING_SECONDS)
  return isFlow || isBoundAsLast(keys, cookie, parameter, now)
}

/** Checks the last redirect of a chain, with the same rules as {@link isBound}. */
export function isBoundAsLast(
  keys: MacKeys,
  cookie: string | undefined,
  parameter: string | undefined,
  now: EpochSeconds,
): boolean {
  return isBindingValue(cookie) && isSignature(keys, 'last-flow', cookie, parameter, now, BINDING_SECONDS)
}

/** Returns the start time of the redirect with the parameter. @returns `undefined` for another text */
export function flowStart(parameter: string | undefined): EpochSeconds | undefined {
  const [, issued] = SHAPE.exec(parameter ?? '') ?? []
  return issued === undefined ? undefined : Number(issued)
}
