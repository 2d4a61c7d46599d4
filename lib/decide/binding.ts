/**
 * Binds an Identify redirect to the browser that began it, because the protocol has no state. Makes and checks the `sso2` parameter of the
 * return address. Pure. The MAC covers the binding cookie and the time of issue. Its key is derived from `sessionSecret`.
 */
import type { EpochMs } from '../protocol/claims'
import { isSigned, type MacKeys, type Purpose, sign } from './signed-cookie'

/** Maximum duration of an Identify redirect, in milliseconds. */
const BINDING_MS = 300_000
/** Lifetime of the marker for browsers without cookies, in milliseconds. */
export const MARKER_MS = 60_000

const SHAPE = /^(\d{1,15})\.([A-Za-z0-9_-]{22})$/
const BINDING_VALUE = /^[A-Za-z0-9_-]{22}$/

/** Is the text a binding cookie's value (128 bits, base64url)? */
export function isBindingValue(value: string | undefined): value is string {
  return value !== undefined && BINDING_VALUE.test(value)
}

/** Returns `<issued>.<MAC>`. @param subject the signed text, for a redirect the value of the binding cookie */
export function makeStamp(keys: MacKeys, purpose: Purpose, subject: string, now: EpochMs): string {
  return `${now}.${sign(keys, purpose, `${subject}\n${now}`)}`
}

/** Returns the time of issue of a stamp. @returns `undefined` for a text that no process of the site has signed for the subject */
export function issuedAtOf(
  keys: MacKeys,
  purpose: Purpose,
  subject: string,
  stamp: string | undefined,
): EpochMs | undefined {
  const [, issued, mac] = SHAPE.exec(stamp ?? '') ?? []
  if (issued === undefined || mac === undefined) return undefined
  return isSigned(keys, purpose, `${subject}\n${issued}`, mac) ? Number(issued) : undefined
}

/** Is a time of issue at most so old? Clocks of processes may differ by a minute. */
export const isYoung = (issued: EpochMs | undefined, now: EpochMs, maximumMs: number): issued is EpochMs =>
  issued !== undefined && now - issued <= maximumMs && issued - now <= MARKER_MS

/** Returns when a redirect began, if the parameter fits the browser's cookie and is young enough. Otherwise `undefined`. */
export function redirectStart(
  keys: MacKeys,
  cookie: string,
  parameter: string | undefined,
  now: EpochMs,
): EpochMs | undefined {
  const issued = issuedAtOf(keys, 'flow', cookie, parameter)
  return isYoung(issued, now, BINDING_MS) ? issued : undefined
}

/** Has the landing page marked the address a moment ago? A process with another clock may have done it, so the future counts too. */
export function isMarked(keys: MacKeys, parameter: string | undefined, now: EpochMs): boolean {
  const issued = issuedAtOf(keys, 'marker', '', parameter)
  return issued !== undefined && now - issued <= MARKER_MS
}
