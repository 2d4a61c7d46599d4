/** Signs small JSON values for cookies of the package, and reads them back. Pure. */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { isObject, readJsonObject } from '../protocol/json'

/** Keys of MACs. The first signs, all verify. */
export type MacKeys = readonly Buffer[]

/** Purpose of a MAC. Each purpose has its own label, so that no MAC is valid for another purpose. */
export type Purpose = 'flow' | 'marker' | 'logout' | 'device' | 'doctor'

/** 132 bits in base64url. */
const MAC_LENGTH = 22

function macOf(key: Buffer, purpose: Purpose, text: string): string {
  return createHmac('sha256', key).update(`${purpose}\n${text}`).digest('base64url').slice(0, MAC_LENGTH)
}

/** Returns the MAC of a text. @throws {TypeError} without a key */
export function sign(keys: MacKeys, purpose: Purpose, text: string): string {
  const [key] = keys
  if (!key) throw new TypeError('sign: no key')
  return macOf(key, purpose, text)
}

/** Is this the MAC of the text, by any key? Compares in constant time. */
export function isSigned(keys: MacKeys, purpose: Purpose, text: string, given: string): boolean {
  if (given.length !== MAC_LENGTH) return false
  const bytes = Buffer.from(given)
  return keys.some((key) => {
    const expected = Buffer.from(macOf(key, purpose, text))
    return expected.length === bytes.length && timingSafeEqual(expected, bytes)
  })
}

/** Returns the text of a cookie whose value is signed JSON. */
export function writeSigned(keys: MacKeys, purpose: Purpose, value: object): string {
  const body = Buffer.from(JSON.stringify(value)).toString('base64url')
  return `${body}.${sign(keys, purpose, body)}`
}

/**
 * Reads the text of a cookie.
 * @param read returns the value, or `undefined` for JSON of another form
 * @returns `undefined` for any text that no process of the site has signed
 */
export function readSigned<T>(
  keys: MacKeys,
  purpose: Purpose,
  text: string | undefined,
  read: (value: Readonly<Record<string, unknown>>) => T | undefined,
): T | undefined {
  const [body = '', mac = '', ...more] = text?.split('.', 3) ?? []
  if (more.length > 0 || !isSigned(keys, purpose, body, mac)) return undefined
  const value = readJsonObject(Buffer.from(body, 'base64url'))
  return isObject(value) ? read(value) : undefined
}
