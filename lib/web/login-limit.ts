/**
 * Limits login attempts before Authenticate is asked, so that nobody guesses passwords through the form, and nobody has an
 * account frozen through it. A browser that has logged in under a name before is known to it, and no stranger's tries count
 * against it. Threats F3, F4.
 */
import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Cluster, Redis } from 'ioredis'
import type { LoginResult } from '../decide/login'
import type { Logins } from '../storage/logins'
import { type Limit, type Limiter, makeLimiter } from './limiter'
import { networkOf } from './network'

/** One attempt, as far as limits go. */
export interface Attempt {
  readonly address: string
  readonly username: string
  /** The mark of a browser that has logged in under this name before. */
  readonly deviceMark: string | undefined
}

/** Which limit was met. */
export type LimitReason = 'address_and_name' | 'address' | 'name' | 'site' | 'held' | 'turn'

/** Runs an attempt, or says how many seconds to wait. */
export interface LoginLimiter {
  run(attempt: Attempt, login: () => Promise<LoginResult>, refused: (reason: LimitReason) => void): Promise<LoginResult>
}

/** What `loginLimit` is multiplied by: one address with many names, one name from many addresses, all strangers of the site. */
const PER_ADDRESS = 5
const PER_NAME = 3
const PER_SITE = 100
/** A name with one try left before the freeze is held so long against strangers, in seconds. */
const HOLD_SECONDS = 900
const TURN_WAIT_MS = 5000
const TURN_POLL_MS = 40

interface Budget {
  readonly reason: LimitReason
  readonly limiter: Limiter
  readonly name: string
}

/** A user name as limits know it: not readable in a dump of the store, and alike in every way of writing it. */
export function nameHash(username: string): string {
  return createHash('sha256')
    .update(`name\n${username.normalize('NFKC').trim().toLowerCase()}`)
    .digest('base64url')
}

/** @param limit attempts in a time, or false for none; @param redis shares the counts between processes */
export function loginLimiter(
  limit: Limit | false,
  prefix: string,
  redis: Redis | Cluster | undefined,
  logins: Logins,
  now: () => number,
): LoginLimiter {
  if (!limit) return { run: (_attempt, login) => login() }
  const budgetsOf = budgets(limit, prefix, redis)
  return {
    run: async (attempt, login, refused) => {
      const name = nameHash(attempt.username)
      const own = budgetsOf(attempt, name)
      const met = await spend(own)
      if (met) return tooMany(met.seconds, met.reason, refused)
      const isStranger = attempt.deviceMark === undefined
      const result = isStranger ? await asStranger({ logins, now }, name, login, refused) : await login()
      if (result.ok || !isGuess(result)) await giveBack(own)
      if (result.ok) await logins.release(name).catch(() => {})
      return result
    },
  }
}

type Refused = (reason: LimitReason) => void

/** What an attempt is counted against: a known browser against itself alone. */
function budgets({ attempts, perSeconds }: Limit, prefix: string, redis: Redis | Cluster | undefined) {
  const make = (kind: string, times: number) =>
    makeLimiter(kind, { attempts: attempts * times, perSeconds }, prefix, redis)
  const [pairs, addresses] = [make('pair', 1), make('address', PER_ADDRESS)]
  const [names, site] = [make('name', PER_NAME), make('site', PER_SITE)]
  return ({ address, deviceMark }: Attempt, name: string): Budget[] => {
    const network = networkOf(address)
    const pair = createHash('sha256')
      .update(`${deviceMark ?? network}\n${name}`)
      .digest('base64url')
    const own: Budget = { reason: 'address_and_name', limiter: pairs, name: pair }
    if (deviceMark !== undefined) return [own]
    const place = createHash('sha256').update(network).digest('base64url')
    return [
      own,
      { reason: 'address', limiter: addresses, name: place },
      { reason: 'name', limiter: names, name },
      { reason: 'site', limiter: site, name: 'all' },
    ]
  }
}

/** One stranger at a time on one name, so that the platform's count of what is left is known before the next try. */
async function asStranger(
  { logins, now }: { readonly logins: Logins; readonly now: () => number },
  name: string,
  login: () => Promise<LoginResult>,
  refused: Refused,
): Promise<LoginResult> {
  const end = performance.now() + TURN_WAIT_MS
  for (;;) {
    const wait = (await logins.heldUntil(name)) - now()
    if (wait > 0) return tooMany(wait, 'held', refused)
    if (await logins.takeTurn(name)) break
    if (performance.now() > end) return tooMany(1, 'turn', refused)
    await sleep(TURN_POLL_MS * (1 + Math.random()))
  }
  try {
    const result = await login()
    if (!result.ok && (result.remainingAttempts ?? Number.POSITIVE_INFINITY) <= 1)
      await logins.hold(name, now() + HOLD_SECONDS, HOLD_SECONDS)
    return result
  } finally {
    await logins.leaveTurn(name).catch(() => {})
  }
}

function tooMany(seconds: number, reason: LimitReason, refused: Refused): LoginResult {
  refused(reason)
  return { ok: false, error: 'too_many_attempts', retryAfterSeconds: Math.max(1, Math.ceil(seconds)) }
}

/** Did the platform judge a password? An outage or an ended session costs nobody an attempt. */
const isGuess = (result: Extract<LoginResult, { ok: false }>) =>
  result.error !== 'unavailable' && result.error !== 'session_ended'

/** Takes one point of each budget; the first that is spent stops it, and those before get theirs back. */
async function spend(budgets: readonly Budget[]): Promise<{ reason: LimitReason; seconds: number } | undefined> {
  for (const [index, { limiter, name, reason }] of budgets.entries()) {
    const seconds = await limiter.take(name)
    if (seconds === undefined) continue
    await giveBack(budgets.slice(0, index))
    return { reason, seconds }
  }
  return undefined
}

async function giveBack(budgets: readonly Budget[]): Promise<void> {
  await Promise.allSettled(budgets.map(({ limiter, name }) => limiter.giveBack(name)))
}
