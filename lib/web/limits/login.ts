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
      const of = { logins, now, name, refused }
      const result = attempt.deviceMark === undefined ? await asStranger(of, login) : await asKnown(of, login)
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

interface Name {
  readonly logins: Logins
  readonly now: () => number
  readonly name: string
  readonly refused: Refused
}

/** What a stranger is told where the name is held, or nobody knows. */
async function refusalOf({ logins, now, name, refused }: Name): Promise<LoginResult | undefined> {
  const until = await logins.heldUntil(name)
  if (until === 'unavailable') return UNAVAILABLE
  const seconds = heldFor(until, now())
  return seconds > 0 ? tooMany(seconds, 'held', refused) : undefined
}

/** @returns what a stranger is told who does not get his turn */
async function waitForTurn(of: Name, mark: string): Promise<LoginResult | undefined> {
  const end = performance.now() + TURN_WAIT_MS
  for (;;) {
    const held = await refusalOf(of)
    if (held) return held
    const turn = await of.logins.takeTurn(of.name, mark)
    if (turn === 'unavailable') return UNAVAILABLE
    if (turn) return undefined
    if (performance.now() > end) return tooMany(1, 'turn', of.refused)
    await sleep(TURN_POLL_MS * (1 + Math.random()))
  }
}

/** One stranger at a time on one name, so that the platform's count of what is left is known before the next try. */
async function asStranger(of: Name, login: () => Promise<LoginResult>): Promise<LoginResult> {
  const { logins, name } = of
  const mark = randomUUID()
  const refusal = await waitForTurn(of, mark)
  if (refusal) return refusal
  const beat = setInterval(() => logins.holdTurn(name, mark), BEAT_MS).unref()
  const leave = () => {
    clearInterval(beat)
    return logins.leaveTurn(name, mark)
  }
  let unnoted: number | undefined
  try {
    const held = await refusalOf(of) // the turn before this one may have made it so
    if (held) return held
    const before = await logins.left(name)
    if (before === 'unavailable') return UNAVAILABLE
    const result = await login()
    const left = triesLeft(result, before)
    if (left !== undefined && !(await note(of, left))) unnoted = left
    return result
  } finally {
    // nobody's turn comes before it is known what the name has left; the answer need not wait for a store that is late
    if (unnoted === undefined) await leave()
    else
      noteAtLast(of, unnoted)
        .finally(leave)
        .catch(() => undefined)
  }
}

/** Waits for nobody; what strangers may still try follows from it all the same. */
async function asKnown(of: Name, login: () => Promise<LoginResult>): Promise<LoginResult> {
  const result = await login()
  if (!isGuess(result)) return result
  const before = await of.logins.left(of.name)
  const left = before === 'unavailable' ? undefined : triesLeft(result, before)
  if (left !== undefined && !(await note(of, left))) noteAtLast(of, left).catch(() => undefined)
  return result
}

/** @returns false where the store did not take it */
async function note({ logins, now, name }: Name, left: number): Promise<boolean> {
  const noted = [logins.noteLeft(name, left, LEFT_SECONDS)]
  if (isLastTry(left)) noted.push(logins.hold(name, now() + HOLD_SECONDS, HOLD_SECONDS))
  return !(await Promise.all(noted)).includes('unavailable')
}

/** Tries again until the store has taken it, or knows less to be left. */
async function noteAtLast(of: Name, left: number): Promise<void> {
  const end = performance.now() + LEFT_SECONDS * 1000
  while (performance.now() < end) {
    await sleep(BEAT_MS, undefined, { ref: false })
    const known = await of.logins.left(of.name)
    if (known === 'unavailable') continue
    if ((known !== undefined && known < left) || (await note(of, left))) return
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
