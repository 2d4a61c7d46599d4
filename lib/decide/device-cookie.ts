/** The device cookie: says under which user names this browser has logged in, so that these keep a budget of their own. Pure. Threats F3, F13, F18. */
import { createHash } from 'node:crypto'
import type { EpochSeconds } from '../protocol/claims'

/** A device cookie is good for so long. */
export const DEVICE_SECONDS = 180 * 86_400
/** User names that one browser keeps, for a household. */
const MAX_NAMES = 4
const SEPARATOR = '~'
/** A process with a slow clock accepts cookies of the others. */
const SKEW_SECONDS = 60

/** One entry of the cookie. */
export interface Device {
  readonly issued: EpochSeconds
  /** Short hash of the account's ID. */
  readonly account: string
  /** Hash of the exact user name: one that only looks alike may be another account. */
  readonly name: string
}

/** Hash of an exact user name, for an entry. */
export function exactNameHash(username: string): string {
  return createHash('sha256').update(`device\n${username}`).digest('base64url').slice(0, 16)
}

/** Seals and opens an entry; the keys are the caller's. */
export interface Sealer {
  seal(text: string): string
  open(sealed: string): string | undefined
}

/** The entry of a user name in a cookie, where it is there, readable and young enough. */
export function findDevice(
  cookie: string | undefined,
  username: string,
  sealer: Sealer,
  now: EpochSeconds,
): Device | undefined {
  const name = exactNameHash(username)
  return entriesOf(cookie)
    .map((entry) => readDevice(sealer.open(entry)))
    .find((device) => device?.name === name && isYoung(device, now))
}

const isYoung = ({ issued }: Device, now: EpochSeconds) =>
  now - issued <= DEVICE_SECONDS && issued - now <= SKEW_SECONDS

/** The cookie with a new entry in front; an earlier one of the same name goes. */
export function withDevice(cookie: string | undefined, device: Device, sealer: Sealer): string {
  const others = entriesOf(cookie).filter((entry) => {
    const found = readDevice(sealer.open(entry))
    return found !== undefined && found.name !== device.name
  })
  const { issued, account, name } = device
  return [sealer.seal(['device', issued, account, name].join('\n')), ...others].slice(0, MAX_NAMES).join(SEPARATOR)
}

const entriesOf = (cookie = '') => cookie.split(SEPARATOR, MAX_NAMES).filter((entry) => entry !== '')

function readDevice(text: string | undefined): Device | undefined {
  const [purpose, issued, account = '', name = ''] = text?.split('\n') ?? []
  return purpose === 'device' ? { issued: Number(issued), account, name } : undefined
}
