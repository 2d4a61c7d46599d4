/**
 * Limits login attempts before Authenticate: by address, network and site, and by user name. A browser that has logged in under a user name
 * before is recognised. Attempts of other browsers do not count against it. Threats F3, F4, F20.
 */
import { createHash, randomUUID } from 'node:crypto'
import type { Config } from '../../config'
import type { AttemptResult } from '../../decide/attempts'
import { LOG_LINES } from '../../decide/log-lines'
import { type LimitReason, loginBudgets, normalisedUsername } from '../../decide/login-budgets'
import type { AddedCounts, Counts } from '../../storage/counts'
import type { LoginLocks } from '../../storage/login-locks'
import type { Unavailable } from '../../storage/unavailable'
import type { Admission, LoginLimit, Refusal } from '../site'
import { closeAttempt, type NameAttempt, type OpenAttempt, openAttempt } from './username-lock'

/** Parts of the site that the limits need. */
interface Parts {
  readonly config: Pick<Config, 'loginLimit' | 'rememberDevices' | 'log'>
  readonly logins: LoginLocks
  readonly counts: Counts
  /** Seconds since 1970. */
  readonly now: () => number
}

const UNLIMITED: LoginLimit = { admit: async () => ({ begin: async () => undefined, end: async () => {} }) }

/** Returns the limits of one site's logins. */
export function loginLimit({ config, logins, counts, now }: Parts): LoginLimit {
  const { loginLimit: limit, rememberDevices: remembersDevices, log } = config
  if (!limit) return UNLIMITED
  return {
    admit: async ({ address, username, account, session }) => {
      const name = nameHash(username)
      const isRecognised = account !== undefined
      const budgets = isRecognised ? undefined : loginBudgets(limit, address, name)
      const added = budgets && (await counts.add(budgets, limit.perSeconds))
      if (added && 'reason' in added) {
        warnOf(log, added.reason)
        return added
      }
      const id = randomUUID().slice(0, 8)
      const attempt = { logins, name, now, session, id, isRecognised, remembersDevices, limit }
      return new AdmittedLogin(attempt, account, counts, added)
    },
  }
}

/** Logs a limit that affects other users. */
function warnOf(log: Config['log'], reason: LimitReason): void {
  if (reason === 'network') log.warn('limit:network', LOG_LINES.networkLimit)
  if (reason === 'site') log.warn('limit:site', LOG_LINES.siteLimit)
}

/** Returns the name of a user name in Redis. It is a hash, so that a dump shows no user names. */
const nameHash = (username: string) =>
  createHash('sha256')
    .update(`name\n${normalisedUsername(username)}`)
    .digest('base64url')

/** A login that the counts have admitted. */
class AdmittedLogin implements Admission {
  #of: NameAttempt
  readonly #account: string | undefined
  readonly #counts: Counts
  readonly #added: AddedCounts | undefined
  #open: OpenAttempt | undefined

  constructor(of: NameAttempt, account: string | undefined, counts: Counts, added: AddedCounts | undefined) {
    this.#of = of
    this.#account = account
    this.#counts = counts
    this.#added = added
  }

  /**
   * Begins its attempt at the name, right before Authenticate. In a Cluster the master of the name may be away. Then a recognised browser's
   * attempts are kept beside its account, whose master the login needs anyway.
   */
  async begin(): Promise<Refusal | Unavailable | undefined> {
    let open = await openAttempt(this.#of)
    if (open === 'unavailable' && this.#account !== undefined) {
      this.#of = { ...this.#of, name: `{${this.#account}}${this.#of.name}` }
      open = await openAttempt(this.#of)
    }
    if (open === 'unavailable' || 'reason' in open) return open
    this.#open = open
    return undefined
  }

  /** Ends the attempt. A login that succeeded, or that the platform did not judge, is subtracted from the counts. */
  async end(result: AttemptResult): Promise<void> {
    const isFree = result.was === 'right' || result.was === 'not_judged'
    await Promise.all([
      this.#open && closeAttempt(this.#of, this.#open, result),
      isFree && this.#added && this.#counts.takeBack(this.#added),
    ])
  }
}
