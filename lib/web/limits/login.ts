/**
 * Limits login attempts before Authenticate is asked, so that nobody guesses passwords through the form, and nobody has an
 * account frozen through it. A browser that has logged in under a name before is known to it, and no stranger's tries count
 * against it. Threats F3, F4.
 */
import { createHash } from 'node:crypto'
import type { Cluster, Redis } from 'ioredis'
import { isGuess } from '../../decide/login'
import type { Logins } from '../../storage/logins'
import type { Unavailable } from '../../storage/unavailable'
import type { Attempt, LimitReason, LoginLimiter } from '../site'
import { type Limit, type Limiter, makeLimiter } from './limiter'
import { asKnown, asStranger, refusalOf, tooMany, UNAVAILABLE } from './names'
import { networkOf } from './network'

/** What `loginLimit` is multiplied by: one address with many names, one name from many addresses, all strangers of the site. */
const PER_ADDRESS = 5
const PER_NAME = 3
const PER_SITE = 100

interface Budget {
  readonly reason: LimitReason
  readonly limiter: Limiter
  readonly name: string
}

const digest = (kind: string, text: string) => createHash('sha256').update(`${kind}\n${text}`)

/** A user name as limits know it: not readable in a dump of the store, and alike in all cases and widths, which may be one account. */
function nameHash(username: string): string {
  return digest('name', username.normalize('NFKC').trim().toLowerCase()).digest('base64url')
}

/** Digits for this way of writing it alone, which may be another account. */
function spellingOf(username: string): string {
  return BigInt(`0x${digest('spelling', username).digest('hex').slice(0, 24)}`).toString()
}

/** @param limit attempts in a time, or false for none; @param redis shares the counts between processes */
export function loginLimiter(
  limit: Limit | false,
  prefix: string,
  redis: Redis | Cluster | undefined,
  logins: Logins,
  now: () => number,
): LoginLimiter {
  if (!limit) return { run: (_attempt, login) => login(async () => undefined), stop: () => {} }
  const budgetsOf = budgets(limit, prefix, redis)
  let isOpen = true
  return {
    run: async (attempt, login, refused) => {
      const { username, deviceMark, session, isSuccessor } = attempt
      const [name, spelling] = [nameHash(username), spellingOf(username)]
      const of = { logins, now, name, spelling, session, isSuccessor, refused, isOpen: () => isOpen }
      const held = deviceMark === undefined ? await refusalOf(of) : undefined // first: it costs no attempt, and one command
      if (held) return held
      const own = budgetsOf(attempt, name)
      const met = await spend(own)
      if (met === 'unavailable') return UNAVAILABLE
      if (met) return tooMany(met.seconds, met.reason, refused)
      const result = deviceMark === undefined ? await asStranger(of, login) : await asKnown(of, login)
      if (!isGuess(result)) await giveBack(own)
      return result
    },
    stop: () => {
      isOpen = false
    },
  }
}

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
