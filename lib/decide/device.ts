/** How the limits tell logins apart: by network, username, and the device cookie of a browser. Pure. */
import type { EpochSeconds } from '../protocol/claims'
import { issuedAtOf, isYoung, makeStamp } from './binding'
import type { MacKeys } from './signed-cookie'

/** Lifetime of a device cookie, in seconds. */
export const DEVICE_SECONDS = 180 * 86_400
/** Maximum of usernames in a cookie, enough for a household. */
const MAX_NAMES = 4
const SEPARATOR = '~'
const ENTRY = /^\d{1,15}\.[\w-]{22}$/

/** Has the browser logged in under exactly this username? A similar name may be another account. @param cookie the device cookie */
export function isRecognised(keys: MacKeys, cookie: string | undefined, username: string, now: EpochSeconds): boolean {
  return entriesOf(cookie).some((entry) =>
    isYoung(issuedAtOf(keys, 'device', username, entry), now * 1000, DEVICE_SECONDS * 1000),
  )
}

/** Returns the cookie with an entry for the username first. An entry is a MAC, so the cookie shows no name. */
export function withDevice(keys: MacKeys, cookie: string | undefined, username: string, now: EpochSeconds): string {
  const others = entriesOf(cookie).filter((entry) => !isRecognised(keys, entry, username, now))
  return [makeStamp(keys, 'device', username, now * 1000), ...others].slice(0, MAX_NAMES).join(SEPARATOR)
}

const entriesOf = (cookie = '') => cookie.split(SEPARATOR, MAX_NAMES).filter((entry) => ENTRY.test(entry))

/** Returns the network of a visitor: an IPv4 address, or the /56 of an IPv6 address, which one customer has. */
export function networkOf(address: string): string {
  if (!address.includes(':')) return address
  const [head = [], tail = []] = address.split('::').map((half) => half.split(':'))
  const zeros = Array<string>(Math.max(0, 8 - head.length - tail.length)).fill('0')
  const groups = [...head, ...zeros, ...tail].slice(0, 4).map((group) => Number.parseInt(group || '0', 16))
  return groups.map((group, index) => (index < 3 ? group : group & 0xff00).toString(16)).join(':')
}

const MARKS_AND_IGNORABLES = /[\p{M}\p{Default_Ignorable_Code_Point}]/gu

/**
 * Returns the username without case, width, accents and invisible characters, because the platform may treat such names as the same
 * account. Two accounts with the same normalised name share its limits, which is the safe side.
 */
export function normalisedUsername(username: string): string {
  return username.normalize('NFKD').replace(MARKS_AND_IGNORABLES, '').toLowerCase().trim()
}
