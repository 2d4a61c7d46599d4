/** What tests and the portal are shown of sessions and accounts. */
import type { EpochSeconds, SessionStatus } from '../../protocol/claims'

/** A session as tests and the portal see it; times in seconds. */
export interface SessionView {
  /** SSO2 session ID. */
  readonly sid: string
  /** Interface: "SSO2 session states". */
  readonly status: SessionStatus
  /** Null unless somebody is logged in. */
  readonly accountId: string | null
  /** In seconds, by the emulator's clock. */
  readonly createdAt: EpochSeconds
  /** In seconds, by the emulator's clock. */
  readonly lastSeenAt: EpochSeconds
}

/** An account as tests and the portal see it: no password. */
export interface AccountView {
  readonly accountId: string
  readonly username: string
  readonly name: string
  readonly email: string
  /** May it log in? */
  readonly active: boolean
  /** Wrong passwords since the last right one. */
  readonly failedAttempts: number
  /** Null when it is not frozen. */
  readonly frozenUntil: EpochSeconds | null
  /** How many sessions it is logged in on. */
  readonly sessions: number
}
