/** What tests and the portal are shown of sessions and accounts. */
import type { EpochSeconds, SessionStatus } from '../../protocol/claims'

/** A session as tests and the portal see it; times in seconds. */
export interface SessionView {
  readonly sid: string
  readonly status: SessionStatus
  /** Null unless somebody is logged in. */
  readonly accountId: string | null
  readonly createdAt: EpochSeconds
  readonly lastSeenAt: EpochSeconds
}

/** An account as tests and the portal see it: no password. */
export interface AccountView {
  readonly accountId: string
  readonly username: string
  readonly name: string
  readonly email: string
  readonly active: boolean
  readonly failedAttempts: number
  /** Null when it is not frozen. */
  readonly frozenUntil: EpochSeconds | null
  /** How many sessions it is logged in on. */
  readonly sessions: number
}
