/**
 * Binds a flow to the browser that began it, though the protocol has no state: makes and checks the `sso2` parameter. Pure.
 * The MAC is over the binding cookie's value and the issue time; the key is derived, never the signing key of tokens.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import type { EpochSeconds } from '../protocol/claims'

/** A flow may take this long, in seconds. */
const BINDING_SECONDS = 300
/** The cookie-less marker holds this long, in seconds. */
export const MARKER_SECONDS = 60

/** Keys for our own MACs: the first signs, all verify. */
export type MacKeys = readonly Buffer[]

const SHAPE = /^(\d{1,12})\.([A-Za-z0-9_-]{22})$/
const BINDING_VALUE = /^[A-Za-z0-9_-]{22}$/

/** Is this text a binding cookie's value (128 bits, base64url)? */
export function isBindingValue(value: string | undefined): value is string {
  return value !== undefined && BINDING_VALUE.test(value)
}

/** What a MAC is for; each has its own label, so that none can stand in for another. */
type Purpose = 'flow' | 'last-flow' | 'marker' | 'signed-out' | 'device' | 'doctor'

function mac(key: Buffer, purpose: Purpose, ...parts: readonly (string | number)[]): string {
  return createHmac('sha256', key)
    .update([purpose, ...parts].join('\n'))
    .digest('base64url')
    .slice(0, 22)
}

/** Makes `<issued>.<MAC>`. @param subject what it is bound to, for a flow the binding cookie's value */
export function makeSignature(keys: MacKeys, purpose: Purpose, subject: string, now: EpochSeconds): string {
  const [key] = keys
  if (!key) throw new TypeError('makeMark: no key')
  return `${now}.${mac(key, purpose, subject, now)}`
}

/** Is this a mark of ours for this purpose and subject, at most `maximumAge` seconds old? Compares in constant time. */
export function isSignature(
  keys: MacKeys,
  purpose: Purpose,
  subject: string,
  value: string | undefined,
  now: EpochSeconds,
  maximumAge: number,
): boolean {
  const [, issued, given] = SHAPE.exec(value ?? '') ?? []
  if (given === undefined) return false
  const age = now - Number(issued)
  const fits = keys.some((key) =>
    timingSafeEqual(Buffer.from(given), Buffer.from(mac(key, purpose, subject, Number(issued)))),
  )
  return fits && age <= maximumAge && age >= -MARKER_SECONDS
}

/** The `sso2` parameter of a flow. @param isLast no other trip follows on this one, as {@link isBoundAsLast} can tell from it */
export function makeBinding(keys: MacKeys, cookie: string, now: EpochSeconds, isLast = false): string {
  return makeSignature(keys, isLast ? 'last-flow' : 'flow', cookie, now)
}

/** Does the parameter fit this browser's cookie, and is it young enough? */
export function isBound(
  keys: MacKeys,
  cookie: string | undefined,
  parameter: string | undefined,
  now: EpochSeconds,
): boolean {
  const isFlow = isBindingValue(cookie) && isSignature(keys, 'flow', cookie, parameter, now, BINDING_SECONDS)
  return isFlow || isBoundAsLast(keys, cookie, parameter, now)
}

/** As {@link isBound}, for the last trip of a chain. */
export function isBoundAsLast(
  keys: MacKeys,
  cookie: string | undefined,
  parameter: string | undefined,
  now: EpochSeconds,
): boolean {
  return isBindingValue(cookie) && isSignature(keys, 'last-flow', cookie, parameter, now, BINDING_SECONDS)
}

/** When the flow of this parameter began. @returns nothing where it is none */
export function flowBeginning(parameter: string | undefined): EpochSeconds | undefined {
  const [, issued] = SHAPE.exec(parameter ?? '') ?? []
  return issued === undefined ? undefined : Number(issued)
}
