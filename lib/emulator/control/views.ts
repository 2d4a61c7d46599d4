/** Defines sessions and accounts as tests and the portal see them. */
import type { EpochSeconds, SessionStatus } from '../../protocol/claims'

/** A session as tests and the portal see the session. Times are in seconds. */
export interface SessionView {
  /** SSO2 session ID. */
  readonly sid: string
  /** Interface: "SSO2 session states". */
  readonly status: SessionStatus
  /** Account of the user, or null for a session without a login. */
  readonly accountId: string | null
  /** In seconds, by the emulator's clock. */
  readonly createdAt: EpochSeconds
  /** In seconds, by the emulator's clock. */
  readonly lastSeenAt: EpochSeconds
}

/** An account as tests and the portal see the account, without the password. */
export interface AccountView {
  readonly accountId: string
  readonly username: string
  readonly name: string
  readonly email: string
  /** Can the user log in? */
  readonly active: boolean
  /** Wrong passwords since the last right password. */
  readonly failedAttempts: number
  /** End of the lock, in seconds. Null if the account is not locked. */
  readonly frozenUntil: EpochSeconds | null
  /** Number of sessions in which the user is logged in. */
  readonly sessionCount: number
}
