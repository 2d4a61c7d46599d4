/** The result of a check, and functions that make one. */

/** The verdict of one check. */
export type Verdict = 'passed' | 'failed' | 'warning' | 'not applicable' | 'undecided'

/** A verdict with its reason, which is empty where the check passed. */
export interface Finding {
  readonly verdict: Verdict
  readonly reason: string
  /** Effect on a user, where it is another one than the check's text says. */
  readonly effect?: string
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
