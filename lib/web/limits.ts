/**
 * Limits of one site, checked before the SSO system is called: login attempts by address, network, site and username, and new anonymous
 * sessions by address. A browser that has logged in under a username has a separate budget, because of its device cookie.
 * The rules are in lib/decide (attempts, login-budgets, device-cookie). The counts are in lib/storage. Threats F3, F4, F13, F16 to F20, S8.
 */
import { createHash, randomUUID } from 'node:crypto'
import { BlockList, isIPv6 } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Request, Response } from 'express'
import type { Config } from '../config'
import { ATTEMPTS_SECONDS, type AttemptFacts, type AttemptResult, beginAttempt, endAttempt } from '../decide/attempts'
import { DEVICE_SECONDS, exactNameHash, findDevice, withDevice } from '../decide/device-cookie'
import { LOG_LINES } from '../decide/log-lines'
import { type Limit, type LimitReason, landingBudgets, loginBudgets, normalisedUsername } from '../decide/login-budgets'
import type { AddedCounts, Counts } from '../storage/counts'
import type { LoginLocks, StoredAttempts } from '../storage/login-locks'
import type { SessionIndex } from '../storage/session-index'
import { seal, shortHash, type Unavailable, unseal } from '../storage/site-store'
import { readCookie } from './http/request-facts'
import { setCookie } from './http/response-headers'

/** The facts of one login attempt. */
export interface LoginAttempt {
  readonly address: string
  readonly username: string
  /** Short hash of the account's ID, if the browser has logged in under exactly the same username before. */
  readonly account: string | undefined
  readonly session: string
}

/** A limit that was reached, and the seconds until the next try. */
export interface Refusal {
  readonly reason: LimitReason
  readonly seconds: number
}

interface Parts {
  readonly config: Config
  readonly loginLocks: LoginLocks
  readonly counts: Counts
  readonly sessionIndex: SessionIndex
  readonly now: () => number
}

/** The limits of one site. */
export class Limits {
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** Counts a login by address, network and site. A recognised browser is not counted. */
  async admitLogin({ address, username, account, session }: LoginAttempt): Promise<AdmittedLogin | Refusal> {
    const { config, counts } = this.#parts
    const { loginLimit: limit, rememberDevices: remembersDevices } = config
    if (!limit) return new AdmittedLogin(this.#parts)
    const name = createHash('sha256')
      .update(`name\n${normalisedUsername(username)}`)
      .digest('base64url')
    const isRecognised = account !== undefined
    const added = isRecognised ? undefined : await counts.add(loginBudgets(limit, address, name), limit.perSeconds)
    if (added && 'reason' in added) {
      if (added.reason === 'network') config.log.warn('limit:network', LOG_LINES.networkLimit)
      if (added.reason === 'site') config.log.warn('limit:site', LOG_LINES.siteLimit)
      return added
    }
    const id = randomUUID().slice(0, 8)
    const attempt = { name, account, session, id, isRecognised, remembersDevices, limit }
    return new AdmittedLogin(this.#parts, attempt, added)
  }

  /** Counts a new anonymous session. @returns true if its address or network has begun too many sessions */
  async isLandingRefused(address: string): Promise<boolean> {
    if (isLocalAddress(address)) return false
    const budgets = landingBudgets(address)
    return 'reason' in (await this.#parts.counts.add(budgets, budgets.perSeconds))
  }

  /**
   * Finds the account of the browser's earlier login under exactly the same username. A logout of all sessions voids the device cookie.
   * @returns the short hash of the account's ID
   */
  async recognisedAccount(req: Request, username: string): Promise<string | undefined> {
    const { config, sessionIndex, now } = this.#parts
    if (!config.rememberDevices) return undefined
    const device = findDevice(readCookie(req, config.cookies.device), username, this.#sealer, now())
    if (device === undefined) return undefined
    const voidUntil = await sessionIndex.accountRevokedAt(device.account)
    return voidUntil !== 'unavailable' && device.issued > voidUntil ? device.account : undefined
  }

  rememberDevice(req: Request, res: Response, username: string, accountId: string): void {
    const { config, now } = this.#parts
    if (!config.rememberDevices) return
    const device = { issued: now(), account: shortHash(accountId), name: exactNameHash(username) }
    const value = withDevice(readCookie(req, config.cookies.device), device, this.#sealer)
    setCookie(res, config, config.cookies.device, value, DEVICE_SECONDS)
  }

  readonly #sealer = {
    seal: (text: string) => seal(text, this.#parts.config.encryptionKeys()),
    open: (sealed: string) => unseal(sealed, this.#parts.config.encryptionKeys()),
  }
}

/** Networks without addresses of visitors from the Internet. */
const LOCAL_NETWORKS = blockListOf([
  ['0.0.0.0', 8, 'ipv4'],
  ['10.0.0.0', 8, 'ipv4'],
  ['100.64.0.0', 10, 'ipv4'],
  ['127.0.0.0', 8, 'ipv4'],
  ['169.254.0.0', 16, 'ipv4'],
  ['172.16.0.0', 12, 'ipv4'],
  ['192.168.0.0', 16, 'ipv4'],
  ['::', 127, 'ipv6'],
  ['fc00::', 7, 'ipv6'],
  ['fe80::', 10, 'ipv6'],
])

function blockListOf(networks: readonly [network: string, prefix: number, family: 'ipv4' | 'ipv6'][]): BlockList {
  const list = new BlockList()
  for (const [network, prefix, family] of networks) list.addSubnet(network, prefix, family)
  return list
}

/** Returns true for a local address. A proxy may pass a local address for all visitors, so local addresses are never limited. */
export function isLocalAddress(address: string): boolean {
  const plain = address.replace(/%.*$/, '') // an address with a zone is local
  return LOCAL_NETWORKS.check(plain, isIPv6(plain) ? 'ipv6' : 'ipv4')
}

const WAIT_MS = 5000
/** Waiting requests poll less and less often, so that many of them cost Redis little. */
const POLL_MS = 40
const MAX_POLL_MS = 250
const MAX_WRITES = 8

/** The facts of an attempt at a username. @see AttemptFacts */
interface NameAttempt extends Omit<AttemptFacts, 'now'> {
  /** Hash of the normalised username: a dump of Redis shows none. */
  readonly name: string
  /** Short hash of the account's ID, for a recognised browser. */
  readonly account: string | undefined
  readonly limit: Limit
}

/** A login admitted by the counts. Begins its attempt at the username right before Authenticate. */
export class AdmittedLogin {
  readonly #parts: Parts
  #attempt: NameAttempt | undefined
  readonly #added: AddedCounts | undefined
  #begun: StoredAttempts | undefined

  /** @param attempt `undefined` without limits */
  constructor(parts: Parts, attempt?: NameAttempt, added?: AddedCounts) {
    this.#parts = parts
    this.#attempt = attempt
    this.#added = added
  }

  /**
   * Begins the attempt at the username. In a Cluster the master of the name may be down. Then the attempts of a recognised browser are
   * stored beside its account, whose master the login needs anyway.
   */
  async begin(): Promise<Refusal | Unavailable | undefined> {
    const attempt = this.#attempt
    if (attempt === undefined) return undefined
    const begun = await this.#begin(attempt)
    if (begun !== 'unavailable' || attempt.account === undefined) return begun
    this.#attempt = { ...attempt, name: `{${attempt.account}}${attempt.name}` }
    return this.#begin(this.#attempt)
  }

  /** Waits for the attempt in progress, then begins. Most names have no value, so the first command writes. */
  async #begin(attempt: NameAttempt): Promise<Refusal | Unavailable | undefined> {
    const end = performance.now() + WAIT_MS
    let known: StoredAttempts = { raw: null, attempts: undefined }
    for (let pause = POLL_MS; performance.now() < end; ) {
      const decision = beginAttempt(known.attempts, { ...attempt, now: this.#parts.now() })
      if (decision.action === 'refuse') return { reason: decision.reason, seconds: decision.seconds }
      if (decision.action === 'wait') {
        await sleep(pause * (1 + Math.random()))
        pause = Math.min(pause * 1.3, MAX_POLL_MS)
      }
      const found =
        decision.action === 'wait'
          ? await this.#parts.loginLocks.readAttempts(attempt.name)
          : await this.#write(attempt, known, decision.next)
      if (found === 'unavailable') return found
      if (found === 'done') return undefined
      known = found
    }
    return { reason: 'turn', seconds: 1 }
  }

  /** Ends the login. A login that succeeded, or that the platform did not judge, costs no count. */
  async end(result: AttemptResult): Promise<void> {
    const isFree = result.outcome === 'success' || result.outcome === 'not_judged'
    await Promise.all([this.#endAttempt(result), isFree && this.#added && this.#parts.counts.undo(this.#added)])
  }

  /** Ends the attempt. If Redis does not store the end, the attempt stays counted, and its lock expires. */
  async #endAttempt(result: AttemptResult): Promise<void> {
    const attempt = this.#attempt
    let known = this.#begun
    for (let writes = 0; attempt && known && writes < MAX_WRITES; writes += 1) {
      const next = endAttempt(known.attempts, { ...attempt, now: this.#parts.now() }, result)
      const found = await this.#write(attempt, known, next)
      if (found === 'unavailable' || found === 'done') return
      known = found
    }
  }

  /** Writes the attempts. @returns the stored attempts, if another process has changed them */
  async #write(attempt: NameAttempt, known: StoredAttempts, next: NonNullable<StoredAttempts['attempts']>) {
    const seconds = Math.max(ATTEMPTS_SECONDS, attempt.limit.perSeconds)
    const found = await this.#parts.loginLocks.writeAttempts(attempt.name, known.raw, next, seconds)
    if (found === 'unavailable' || !('written' in found)) return found
    this.#begun = { raw: found.written, attempts: next }
    return 'done'
  }
}
