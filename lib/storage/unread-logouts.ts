/** Keeps logouts whose session Redis did not return, in the memory of the process that received the logouts. Threat S22. */
import type { SessionLogout } from '../decide/logout-cookie'
import type { Device } from '../protocol/claims'

/** A process remembers so many logouts. The oldest are forgotten first. */
const MAX_REMEMBERED = 10_000

/** A logout of a session, or of all sessions of its account. */
export interface UnreadLogout extends Omit<SessionLogout, 'of'> {
  readonly device: Device
}

/** Logouts by key of their session. */
export class UnreadLogouts {
  /** By session key. */
  readonly #logouts = new Map<string, UnreadLogout>()

  /** Remembers a logout. A logout of all sessions stays a logout of all sessions. */
  add(logout: UnreadLogout): void {
    const { key } = logout
    const isAll = logout.isAll || this.#logouts.get(key)?.isAll === true
    this.#logouts.delete(key)
    this.#logouts.set(key, { ...logout, isAll })
    const [oldest] = this.#logouts.keys()
    if (this.#logouts.size > MAX_REMEMBERED && oldest !== undefined) this.#logouts.delete(oldest)
  }

  /** Returns so many of the oldest logouts. */
  oldest(count: number): UnreadLogout[] {
    return [...this.#logouts.values()].slice(0, count)
  }

  /** Removes a finished logout, unless the user has logged out of all sessions since. */
  remove(logout: UnreadLogout): void {
    if (this.#logouts.get(logout.key) === logout) this.#logouts.delete(logout.key)
  }
}
