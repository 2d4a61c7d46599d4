/** The types of a check and of its result. */
import type { Flow } from '../emulator/flow/types'
import type { Finding } from './finding'
import type { Stage } from './stage'

export * from './finding'

/** One check: arranges a situation, acts, and judges. */
export interface Check {
  /** Group and name, such as `landing/login-csrf`. */
  readonly name: string
  /** Does it wait until a session is old? */
  readonly isSlow?: boolean
  /** Does `--quick` leave it out, because a check like it runs anyway? */
  readonly isThorough?: boolean
  /** Does it disturb the platform for a while, so that the site needs time to recover? */
  readonly isRough?: boolean
  run(stage: Stage): Promise<Finding>
}

/** Texts about a check, for its report. */
export interface CheckText {
  /** Behaviour of a good site, in one sentence. */
  readonly good: string
  /** Effect on a user, or gain for an attacker, where the site does not behave so. */
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

/** One check with its finding and its evidence. */
export interface Result extends Finding {
  readonly name: string
  readonly text: CheckText
  readonly seconds: number
  readonly flow: Flow
}
