/** What a check is, and what it finds. */
import type { Flow } from '../emulator/flow/types'
import type { Stage } from './stage'

/** The verdict of one check. */
export type Verdict = 'passed' | 'failed' | 'warning' | 'not applicable' | 'undecided'

/** A verdict with its reason, which is empty where the check passed. */
export interface Finding {
  readonly verdict: Verdict
  readonly reason: string
  /** Effect on a user, where it is another one than the check's text says. */
  readonly effect?: string
}

/** One check: arranges a situation, acts, and judges. */
export interface Check {
  /** Group and name, such as `landing/login-csrf`. */
  readonly name: string
  /** Does it wait until a session is old? */
  readonly isSlow?: boolean
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

export const passed = (): Finding => ({ verdict: 'passed', reason: '' })
export const failed = (reason: string): Finding => ({ verdict: 'failed', reason })
export const warning = (reason: string, effect?: string): Finding => ({
  verdict: 'warning',
  reason,
  ...(effect === undefined ? {} : { effect }),
})
export const notApplicable = (reason: string): Finding => ({ verdict: 'not applicable', reason })

/** Judges a list of problems: none of them is a pass. */
export const noneOf = (problems: readonly string[]): Finding =>
  problems.length === 0 ? passed() : failed([...new Set(problems)].join('; '))

/** A check that cannot be judged. It is never counted as passed. */
export class Undecided extends Error {}

/** The check goes on only if this holds. @throws {Undecided} */
export function need(condition: unknown, reason: string): asserts condition {
  if (!condition) throw new Undecided(reason)
}
