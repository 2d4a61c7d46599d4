/**
 * Limits login attempts before Authenticate is asked, so that nobody guesses passwords through the form, and nobody has an
 * account frozen through it. A browser that has logged in under a name before is known to it, and no stranger's tries count
 * against it. Threats F3, F4.
 */
import { createHash, randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Cluster, Redis } from 'ioredis'
import { heldFor, isGuess, isLastTry, type LoginResult, triesLeft } from '../../decide/login'
import type { Logins } from '../../storage/logins'
import type { Unavailable } from '../../storage/unavailable'
import type { Attempt, LimitReason, LoginLimiter } from '../site'
import { type Limit, type Limiter, makeLimiter } from './limiter'
import { networkOf } from './network'

/** What `loginLimit` is multiplied by: one address with many names, one name from many addresses, all strangers of the site. */
const PER_ADDRESS = 5
const PER_NAME = 3
const PER_SITE = 100
/** A name with one try left before the freeze is held so long against strangers, in seconds. */
const HOLD_SECONDS = 900
/** How many tries a name had left is known so long, in seconds. */
const LEFT_SECONDS = 3600
const TURN_WAIT_MS = 5000
const TURN_POLL_MS = 40
const BEAT_MS = 500

interface Budget {
  readonly reason: LimitReason
  readonly limiter: Limiter
  readonly name: string
}

/** A user name as limits know it: not readable in a dump of the store, and alike in every way of writing it. */
function nameHash(username: string): string {
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
      if (met === 'unavailable') return UNAVAILABLE
      if (met) return tooMany(met.seconds, met.reason, refused)
      const isStranger = attempt.deviceMark === undefined
      const result = isStranger ? await asStranger({ logins, now }, name, login, refused) : await login()
      if (!isGuess(result)) await giveBack(own)
      if (result.ok) await logins.release(name)
      return result
    },
  }
}

const UNAVAILABLE: LoginResult = { ok: false, error: 'unavailable' }

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
  const mark = randomUUID()
  for (;;) {
    const until = await logins.heldUntil(name)
    if (until === 'unavailable') return UNAVAILABLE
    const seconds = heldFor(until, now())
    if (seconds > 0) return tooMany(seconds, 'held', refused)
    const turn = await logins.takeTurn(name, mark)
    if (turn === 'unavailable') return UNAVAILABLE
    if (turn) break
    if (performance.now() > end) return tooMany(1, 'turn', refused)
    await sleep(TURN_POLL_MS * (1 + Math.random()))
  }
  const beat = setInterval(() => logins.holdTurn(name, mark), BEAT_MS).unref()
  try {
    const result = await login()
    const before = result.ok ? undefined : await logins.left(name)
    const left = triesLeft(result, before === 'unavailable' ? undefined : before)
    if (left !== undefined) await logins.noteLeft(name, left, LEFT_SECONDS)
    if (isLastTry(left)) await logins.hold(name, now() + HOLD_SECONDS, HOLD_SECONDS)
    return result
  } finally {
    clearInterval(beat)
    await logins.leaveTurn(name, mark)
  }
}

function tooMany(seconds: number, reason: LimitReason, refused: Refused): LoginResult {
  refused(reason)
  return { ok: false, error: 'too_many_attempts', retryAfterSeconds: Math.max(1, Math.ceil(seconds)) }
}

/** Takes one point of each budget; the first that is spent stops it, and those before get theirs back. */
async function spend(
  budgets: readonly Budget[],
): Promise<{ reason: LimitReason; seconds: number } | undefined | Unavailable> {
  for (const [index, { limiter, name, reason }] of budgets.entries()) {
    const seconds = await limiter.take(name)
    if (seconds === undefined) continue
    await giveBack(budgets.slice(0, index))
    return seconds === 'unavailable' ? seconds : { reason, seconds }
  }
  return undefined
}

async function giveBack(budgets: readonly Budget[]): Promise<void> {
  await Promise.allSettled(budgets.map(({ limiter, name }) => limiter.giveBack(name)))
}
