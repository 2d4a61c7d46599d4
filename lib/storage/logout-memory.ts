/**
 * Keeps logouts in the memory of the process that received them, while Redis does not store a logout or does not return its session.
 * Threat S22.
 */
import type { SessionLogout } from '../decide/logout'
import type { Device } from '../protocol/claims'

/** A process keeps at most so many logouts of each kind. */
const MAX_REMEMBERED = 10_000

/** A logout that waits for Redis. Redis did not return or did not end the session, and its SSO session ID is not known here. */
export interface DeferredLogout extends SessionLogout {
  readonly device: Device
}

/** Logouts by name, the oldest first. The oldest are forgotten first. */
export class LogoutMemory<Logout> extends Map<string, Logout> {
  override set(name: string, logout: Logout): this {
    this.delete(name)
    super.set(name, logout)
    const [oldest] = this.keys()
    if (this.size > MAX_REMEMBERED && oldest !== undefined) this.delete(oldest)
    return this
  }
}
