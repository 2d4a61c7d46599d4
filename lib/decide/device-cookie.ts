/**
 * The device cookie. It lists the user names that have logged in with the browser. The browser has its own budget for these names.
 * Pure.
 * Threats F3, F13, F18.
 */
import { createHash } from 'node:crypto'
import type { EpochSeconds } from '../protocol/claims'

/** Lifetime of a device cookie, in seconds. */
export const DEVICE_SECONDS = 180 * 86_400
/** Maximum of user names in a cookie, enough for a household. */
const MAX_NAMES = 4
const SEPARATOR = '~'
/** A process with a slow clock accepts the cookies of other processes. */
const SKEW_SECONDS = 60

/** Entry of the cookie. */
export interface DeviceEntry {
  readonly issued: EpochSeconds
  /** Short hash of the account's ID. */
  readonly account: string
  /** Hash of the exact user name, because a similar name may be another account. */
  readonly name: string
}

/** Returns the hash of an exact user name. */
export function exactNameHash(username: string): string {
  return createHash('sha256').update(`device\n${username}`).digest('base64url').slice(0, 16)
}

/** Encrypts and decrypts an entry, with the keys of the caller. */
export interface Sealer {
  seal(text: string): string
  open(sealed: string): string | undefined
}

/** Returns the entry of a user name in a cookie, if the entry is readable and young enough. */
export function findDevice(
  cookie: string | undefined,
  username: string,
  sealer: Sealer,
  now: EpochSeconds,
): DeviceEntry | undefined {
  const name = exactNameHash(username)
  return entriesOf(cookie)
    .map((entry) => readDevice(sealer.open(entry)))
    .find((device) => device?.name === name && isYoung(device, now))
}

const isYoung = ({ issued }: DeviceEntry, now: EpochSeconds) =>
  now - issued <= DEVICE_SECONDS && issued - now <= SKEW_SECONDS

/** Returns the cookie with a new entry first, without an earlier entry of the same user name. */
export function withDevice(cookie: string | undefined, device: DeviceEntry, sealer: Sealer): string {
  const others = entriesOf(cookie).filter((entry) => {
    const found = readDevice(sealer.open(entry))
    return found !== undefined && found.name !== device.name
  })
  const { issued, account, name } = device
  return [sealer.seal(['device', issued, account, name].join('\n')), ...others].slice(0, MAX_NAMES).join(SEPARATOR)
}

const entriesOf = (cookie = '') => cookie.split(SEPARATOR, MAX_NAMES)

function readDevice(text: string | undefined): DeviceEntry | undefined {
  const [purpose, issued, account = '', name = ''] = text?.split('\n') ?? []
  return purpose === 'device' ? { issued: Number(issued), account, name } : undefined
}
