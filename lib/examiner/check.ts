/** Defines a check and its result. */
import type { Flow } from '../emulator/flow/types'
import type { Finding } from './finding'
import type { Platform } from './platform'
import type { Stage } from './stage'

export * from './finding'

/** A check: arranges a situation, acts, and judges. */
export interface Check {
  /** Group and name, such as `landing/login-csrf`. */
  readonly name: string
  /** Does the check wait until a session is old? */
  readonly isSlow?: boolean
  /** Why `--quick` leaves the check out, if the check is not slow. */
  readonly notInQuick?: string | undefined
  /** Does the check disturb the platform, so that the site needs time to recover? */
  readonly isRough?: boolean
  /** Does the check need pages that show users by name? */
  readonly needsNames?: boolean
  /** Does the check judge the whole run, so that it must come after all others? */
  readonly isLast?: boolean
  /** Prepares the platform for calls that a site makes when it starts. */
  beforeStart?(platform: Platform): void
  run(stage: Stage): Promise<Finding>
}

/** Reason to leave a check out of `--quick`: a similar check runs anyway. */
export const LIKE_ANOTHER = 'a check like it has run'

/** Texts about a check, for the report. */
export interface CheckText {
  /** Behaviour of a good site, in a sentence. */
  readonly good: string
  /** Effect on a user, or gain for an attacker, if the site behaves otherwise. */
  readonly effect: string
  /** Paragraph of the interface or of a standard. */
  readonly source: string
  /** The fix, in any framework. */
  readonly fix: string
  /** The fix with this package. */
  readonly fixHere: string
}

/** The texts of a group, by the check's name. */
export type CheckTexts = Readonly<Record<string, CheckText>>

/** A check with its finding and its evidence. */
export interface Result extends Finding {
  readonly name: string
  readonly text: CheckText
  readonly seconds: number
  /** Attempts of a check that tries many addresses, a line each. */
  readonly attempts: readonly string[]
  readonly flow: Flow
}
