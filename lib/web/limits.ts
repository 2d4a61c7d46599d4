/**
 * Limits of login attempts by address and username, and of new visitors by address, counted by rate-limiter-flexible. One keeps attackers from
 * using up the attempts that the platform grants a username. Table: docs/internals/decision-tables.md, "Login". Threats F3, F4, F13, F16 to F19, S8.
 */
import { createHash } from 'node:crypto'
import type { Request, Response } from 'express'
import { type RateLimiterAbstract, RateLimiterMemory, RateLimiterRedis } from 'rate-limiter-flexible'
import type { Config } from '../config'
import type { Attempt, AttemptsLeft } from '../decide/login'
import { type MacKeys, makeStamp, readStamp } from '../decide/signatures'
import type { EpochSeconds } from '../protocol/claims'
import type { RedisKv } from '../storage/redis-kv'
import { unlessUnavailable } from '../storage/site-store'
import { deviceOf, readCookie } from './http/request-facts'
import { setCookie } from './http/response-headers'

/** What a limit counts: logins, or landings of new visitors. That of a username keeps the platform from freezing the account. */
type Limit = 'address_and_username' | 'address' | 'username' | 'landings'

/** A limit that was reached, and the seconds until the next try. */
export interface Refusal {
  readonly reason: Limit
  readonly seconds: number
}

/** An attempt that may be sent to the platform. */
export interface Admission {
  /**
   * Ends the attempt. A success, or an attempt that the platform did not judge, costs nothing.
   * @param left number of attempts that the platform reported
   * @returns what a wrong password leaves to this browser. `undefined` otherwise, and without limits
   */
  settle(attempt: Attempt, left?: number): Promise<AttemptsLeft | undefined>
}

/** Factor of `loginLimit` for an address with all usernames. */
const PER_ADDRESS = 5
/** Attempts at a username in 15 minutes. The fourth is for browsers that have logged in under the username before. */
const NAME_POINTS = 4
const NAME_SECONDS = 900
const FOR_UNRECOGNISED = 3
/** More than a mobile network has behind one address. */
const LANDINGS_A_MINUTE = 600
/** Platforms freeze an account at the fifth wrong password or later. */
const FREEZES_AT = 5
/** A point is not given back at the end of its window, because the next window may have begun in Redis. */
const LATE_MS = 1000

/** A count, after points were taken. */
interface Count {
  readonly reason: Limit
  readonly limiter: RateLimiterAbstract
  readonly key: string
  /** How many points may be used. */
  readonly most: number
  readonly used: number
  /** End of the window, as `performance.now()`. */
  readonly endsAt: number
}

/** The limits of one site. */
export class Limits {
  readonly #config: Config
  readonly #now: () => number
  readonly #limiters: Readonly<Record<Limit, RateLimiterAbstract>>

  /** @param redis `undefined`: all is counted in memory @param now seconds since 1970 */
  constructor(config: Config, redis: RedisKv | undefined, now: () => number) {
    const { attempts, perSeconds } = config.loginLimit || { attempts: 0, perSeconds: 0 }
    const limiter = (reason: Limit, points: number, duration: number) => {
      const options = { points, duration, keyPrefix: `${config.prefix}limit:${reason}` }
      if (redis === undefined) return new RateLimiterMemory(options)
      return new RateLimiterRedis({ ...options, storeClient: storeClientOf(redis) })
    }
    this.#config = config
    this.#now = now
    this.#limiters = {
      address_and_username: limiter('address_and_username', attempts, perSeconds),
      address: limiter('address', attempts * PER_ADDRESS, perSeconds),
      username: limiter('username', NAME_POINTS, NAME_SECONDS),
      landings: limiter('landings', LANDINGS_A_MINUTE, 60),
    }
  }

  /**
   * Counts a landing that begins a session. Local networks have no limit, because a proxy may pass their addresses for all visitors.
   * @param isFirst is the token new? A replay is not counted @returns false beyond the limit of the address
   */
  async admitLanding(req: Request, isFirst: Promise<boolean>): Promise<boolean> {
    const network = networkOf(deviceOf(req).ipa)
    if (LOCAL.test(network)) return true
    const count = await this.#take('landings', hashOf(network))
    if (!(await isFirst)) await giveBack([count])
    return !isExceeded(count)
  }

  /**
   * Counts an attempt, because its response may be lost. Call this right before Authenticate.
   * @throws {Sso2UnavailableError} if Redis does not answer
   */
  async admit(req: Request, username: string): Promise<Admission | Refusal> {
    const { loginLimit, rememberDevices, macKeys, cookies } = this.#config
    if (loginLimit === false) return { settle: async () => undefined }
    const device = readCookie(req, cookies.device) ?? ''
    const isOwn = rememberDevices && isRecognised(macKeys(), device, username, this.#now())
    const [name, network] = [hashOf(normalisedUsername(username)), networkOf(deviceOf(req).ipa)]
    const most = isOwn || !rememberDevices ? NAME_POINTS : FOR_UNRECOGNISED
    const takeOfName = (points: number) => this.#take('username', name, points, most)
    // attempts of recognised browsers are counted by themselves, so that others at their address do not keep out the user
    const [seen, ...counted] = await Promise.all([
      takeOfName(0),
      this.#take('address_and_username', hashOf(isOwn ? 'recognised' : network, name)),
      ...(isOwn ? [] : [this.#take('address', hashOf(network))]),
    ])
    // a name without free points is only looked at: an attack would keep a recognised browser from the last one
    const full = counted.find(isExceeded) ?? (seen.used >= seen.most ? seen : undefined)
    if (full) return refuse(full, counted)
    const ofName = await takeOfName(1)
    if (isExceeded(ofName)) return refuse(ofName, [ofName, ...counted])
    return { settle: (attempt, left) => settle(ofName, counted, attempt, left) }
  }

  /** Takes points, or none to see how many are used. `penalty` counts as `consume` does, but does not throw at the limit. */
  async #take(reason: Limit, key: string, points = 1, most = this.#limiters[reason].points): Promise<Count> {
    const limiter = this.#limiters[reason]
    const { consumedPoints, msBeforeNext } = await limiter.penalty(key, points)
    return { reason, limiter, key, most, used: consumedPoints, endsAt: performance.now() + msBeforeNext }
  }

  /** Lets the browser be recognised for this username from now on. */
  rememberDevice(req: Request, res: Response, username: string): void {
    const { rememberDevices, macKeys, cookies } = this.#config
    if (!rememberDevices) return
    const value = withDevice(macKeys(), readCookie(req, cookies.device) ?? '', username, this.#now())
    setCookie(res, this.#config, cookies.device, value, DEVICE_SECONDS)
  }
}

/**
 * Returns what the library needs of a client. Each command has our deadline. The script has its own name, because the site may use the
 * library with the same client.
 */
function storeClientOf(redis: RedisKv) {
  const { client } = redis
  const scripted = client as typeof client & { sso2Count(...args: string[]): Promise<[points: number, msLeft: number]> }
  return {
    defineCommand: (_name: string, script: { numberOfKeys: number; lua: string }) =>
      client.defineCommand('sso2Count', script),
    rlflxIncr: (args: string[]) => redis.run(() => scripted.sso2Count(...args)),
  }
}

const hashOf = (...parts: string[]) => createHash('sha256').update(parts.join('\n')).digest('base64url')

const isExceeded = ({ used, most }: Count) => used > most
const secondsUntil = ({ endsAt }: Count) => Math.max(1, Math.ceil((endsAt - performance.now()) / 1000))

/** Gives points back. If Redis does not answer, they stay used. */
async function giveBack(taken: readonly Count[]): Promise<void> {
  const current = taken.filter(({ endsAt }) => endsAt - performance.now() > LATE_MS)
  await Promise.all(current.map(({ limiter, key }) => unlessUnavailable(() => limiter.reward(key))))
}

async function refuse(full: Count, taken: readonly Count[]): Promise<Refusal> {
  await giveBack(taken)
  return { reason: full.reason, seconds: secondsUntil(full) }
}

/** Ends an attempt. The platform may know of attempts at other sites, so its number counts too. */
async function settle(
  ofName: Count,
  counted: readonly Count[],
  attempt: Attempt,
  left: number = FREEZES_AT,
): Promise<AttemptsLeft | undefined> {
  if (attempt !== 'wrong_password') {
    await giveBack(attempt === 'refused' ? [ofName] : [ofName, ...counted])
    return undefined
  }
  const used = Math.max(ofName.used, Math.min(NAME_POINTS, FREEZES_AT - left))
  if (used > ofName.used) await unlessUnavailable(() => ofName.limiter.penalty(ofName.key, used - ofName.used))
  const all = [{ ...ofName, used }, ...counted]
  const spent = all.filter((count) => count.used >= count.most)
  return {
    attempts: Math.max(0, Math.min(...all.map((count) => count.most - count.used))),
    seconds: Math.max(0, ...spent.map(secondsUntil)),
  }
}

/** Lifetime of a device cookie, in seconds. */
export const DEVICE_SECONDS = 180 * 86_400
/** Maximum of usernames in a cookie, enough for a household. */
const MAX_NAMES = 4
const SEPARATOR = '~'

/** Has the browser logged in under exactly this username? A similar name may be another account. @param cookie the device cookie */
export function isRecognised(keys: MacKeys, cookie: string, username: string, now: EpochSeconds): boolean {
  const isOfName = (entry: string) =>
    readStamp(keys, 'device', username, entry, now * 1000, DEVICE_SECONDS * 1000) !== undefined
  return cookie.split(SEPARATOR, MAX_NAMES).some(isOfName)
}

/** Returns the cookie with an entry for the username first. An entry is a MAC, so the cookie shows no name. */
export function withDevice(keys: MacKeys, cookie: string, username: string, now: EpochSeconds): string {
  const others = cookie.split(SEPARATOR).filter((entry) => entry !== '' && !isRecognised(keys, entry, username, now))
  return [makeStamp(keys, 'device', username, now * 1000), ...others].slice(0, MAX_NAMES).join(SEPARATOR)
}

/** Returns the network of a visitor: an IPv4 address, or the /56 of an IPv6 address, which one customer has. */
function networkOf(address: string): string {
  if (!address.includes(':')) return address
  const [head = [], tail = []] = address.split('::').map((half) => half.split(':'))
  const zeros = Array<string>(Math.max(0, 8 - head.length - tail.length)).fill('0')
  const groups = [...head, ...zeros, ...tail].slice(0, 4).map((group) => Number.parseInt(group || '0', 16))
  return groups.map((group, index) => (index < 3 ? group : group & 0xff00).toString(16)).join(':')
}

/** Networks of this machine and of private networks, as {@link networkOf} names them. The address of a visitor may be unknown: `0.0.0.0`. */
const LOCAL = /^(0|10|127|169\.254|172\.(1[6-9]|2\d|3[01])|192\.168)\.|^(0:0:0:0$|f[cd]..:|fe[89ab].:)/

const IGNORED = /[\p{M}\p{C}\p{Default_Ignorable_Code_Point}]/gu
const PLAIN = ['', ...'abcdefghijklmnopqrstuvwxyz0123456789', 'ae', 'oe', 'ss']
/** Compares as databases do that take `ø` for `o`, so that each name has many spellings. */
const { compare } = new Intl.Collator('en', { sensitivity: 'base' })

/** Returns the username without case, width, accents, strokes and invisible characters. If two accounts share its limits, that is the safe side. */
export function normalisedUsername(username: string): string {
  const plainOf = (letter: string) => PLAIN.find((plain) => compare(letter, plain) === 0) ?? letter
  const text = username.normalize('NFKD').replace(IGNORED, '').toUpperCase().toLowerCase()
  return text.replace(/(?!\p{ASCII})[\p{Script=Latin}\p{Script=Common}\p{Nd}]/gu, plainOf).trim()
}
