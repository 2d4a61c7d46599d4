/**
 * Signs what a browser carries, and reads it back: stamps and signed JSON. Pure. The keys are derived from `sessionSecret`.
 * A stamp is `<issued>.<MAC>`. As the `sso2` parameter of the return address it binds an Identify redirect to the browser that began it,
 * because the protocol has no state: the MAC covers the binding cookie too.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import type { EpochMs } from '../protocol/claims'
import { readJsonObject } from '../protocol/json'

/** Keys of MACs. The first signs, all verify. */
export type MacKeys = readonly [Buffer, ...Buffer[]]

/** Purpose of a MAC. Each purpose has its own label, so that no MAC is valid for another purpose. */
export type Purpose = 'flow' | 'marker' | 'logout' | 'device' | 'doctor'

/** 132 bits in base64url: a MAC, or the binding cookie's value. */
const TOKEN = /^[\w-]{22}$/

function macOf(key: Buffer, purpose: Purpose, text: string): string {
  return createHmac('sha256', key).update(`${purpose}\n${text}`).digest('base64url').slice(0, 22)
}

/** Is this the MAC of the text, by any key? Compares in constant time. */
function isSigned(keys: MacKeys, purpose: Purpose, text: string, given: string): boolean {
  if (!TOKEN.test(given)) return false
  return keys.some((key) => timingSafeEqual(Buffer.from(macOf(key, purpose, text)), Buffer.from(given)))
}

/** Returns a value as signed JSON. */
export function writeSigned(keys: MacKeys, purpose: Purpose, value: object): string {
  const body = Buffer.from(JSON.stringify(value)).toString('base64url')
  return `${body}.${macOf(keys[0], purpose, body)}`
}

/** Reads signed JSON. @returns `undefined` for any text that no process of the site has signed */
export function readSigned(
  keys: MacKeys,
  purpose: Purpose,
  text: string,
): Readonly<Record<string, unknown>> | undefined {
  const [body = '', mac = '', ...more] = text.split('.', 3)
  if (more.length > 0 || !isSigned(keys, purpose, body, mac)) return undefined
  return readJsonObject(Buffer.from(body, 'base64url'))
}

/** Maximum duration of an Identify redirect, in milliseconds. */
const REDIRECT_MS = 300_000
/** Lifetime of the marker for browsers without cookies, and of the doctor's signature, in milliseconds. */
export const MARKER_MS = 60_000
/** Clocks of processes may differ by so much. */
const AHEAD_MS = 60_000

/** Makes a stamp. @param subject the signed text, for a redirect the value of the binding cookie */
export function makeStamp(keys: MacKeys, purpose: Purpose, subject: string, now: EpochMs): string {
  return `${now}.${macOf(keys[0], purpose, `${subject}\n${now}`)}`
}

/**
 * Reads a stamp. One from the future counts: a process with another clock may have made it.
 * @returns when it was made. `undefined` if it is older than `maximumMs`, or no process of the site has made it for the subject
 */
export function readStamp(
  keys: MacKeys,
  purpose: Purpose,
  subject: string,
  stamp: string | undefined,
  now: EpochMs,
  maximumMs: number,
): EpochMs | undefined {
  const [, issued, mac = ''] = /^(\d{1,15})\.(.+)$/.exec(stamp ?? '') ?? []
  if (issued === undefined || !isSigned(keys, purpose, `${subject}\n${issued}`, mac)) return undefined
  return now - Number(issued) <= maximumMs ? Number(issued) : undefined
}

/** Is the text a binding cookie's value? */
export const isBindingValue = (value: string | undefined): value is string => value !== undefined && TOKEN.test(value)

/** Returns when a redirect began, if the parameter fits the browser's cookie and is young enough. Otherwise `undefined`. */
export function redirectStart(
  keys: MacKeys,
  cookie: string,
  parameter: string | undefined,
  now: EpochMs,
): EpochMs | undefined {
  const issued = readStamp(keys, 'flow', cookie, parameter, now, REDIRECT_MS)
  return issued !== undefined && issued - now <= AHEAD_MS ? issued : undefined // a login of the future would survive a logout
}
