/** Keeps logouts that Redis did not store or did not return, in the memory of the process that received them. Threat S22. */
import type { SessionLogout } from '../decide/logout'
import type { Device } from '../protocol/claims'

/** A process remembers so many logouts of each kind. */
const MAX_REMEMBERED = 10_000

/** A logout that waits for Redis, because Redis did not return or did not end its session. */
export interface DeferredLogout extends SessionLogout {
  readonly device: Device
}

/** Logouts by name, the oldest first. The oldest are forgotten first. */
export class RememberedLogouts<Logout> extends Map<string, Logout> {
  override set(name: string, logout: Logout): this {
    this.delete(name)
    super.set(name, logout)
    const [oldest] = this.keys()
    if (this.size > MAX_REMEMBERED && oldest !== undefined) this.delete(oldest)
    return this
  }
}
