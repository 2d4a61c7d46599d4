/** Defines the result of a check, and creates results. */

/** The verdict of a check. */
export type Verdict = 'passed' | 'failed' | 'warning' | 'not applicable' | 'undecided'

/** A verdict with its reason. The reason is empty for a passed check. */
export interface Finding {
  readonly verdict: Verdict
  readonly reason: string
  /** Effect on a user, if the effect differs from the check's text. */
  readonly effect?: string
  /** The fix, if the fix differs from the check's text. */
  readonly fix?: string
  /** Keys of `examine.json` that the check needs. Only for a check that was not told them. */
  readonly missingKeys?: readonly string[]
}

export const passed = (): Finding => ({ verdict: 'passed', reason: '' })
export const failed = (reason: string): Finding => ({ verdict: 'failed', reason })
export const warning = (reason: string, effect?: string): Finding => ({
  verdict: 'warning',
  reason,
  ...(effect === undefined ? {} : { effect }),
})
export const notApplicable = (reason: string): Finding => ({ verdict: 'not applicable', reason })

/** The check does not apply, because `examine.json` lacks a key: whether the site has this part is unknown. */
export const notTold = (keys: readonly string[], what: string): Finding => ({
  verdict: 'not applicable',
  reason: `not told: examine.json has no ${keys.join(' or ')} (${what})`,
  missingKeys: keys,
})

/** Effect and fix of a problem, if those of the check's texts do not fit. */
export type Advice = Pick<Finding, 'effect' | 'fix'>

/** A problem that carries its advice. */
export interface AdvisedProblem {
  readonly sentence: string
  readonly advice: Advice
}

/** Gives problems the same advice. */
export const advised = (sentences: readonly string[], advice: Advice): AdvisedProblem[] =>
  sentences.map((sentence) => ({ sentence, advice }))

/** Passes without problems, and otherwise fails with the list of problems. The advice is that of the first problem. */
export function noneOf(problems: readonly (string | AdvisedProblem)[]): Finding {
  const [first] = problems
  if (first === undefined) return passed()
  const sentences = problems.map((problem) => (typeof problem === 'string' ? problem : problem.sentence))
  return { ...failed([...new Set(sentences)].join('; ')), ...(typeof first === 'string' ? {} : first.advice) }
}

/** Fails for the reason if the problem is there, and otherwise passes. */
export const failedIf = (isProblem: boolean, reason: string): Finding => (isProblem ? failed(reason) : passed())

/** A possible problem: is the problem there, and its sentence. */
export type Problem = readonly [isThere: boolean, sentence: string]

/** Returns the sentences of the problems that are there. */
export const problemsIn = (problems: readonly Problem[]): string[] =>
  problems.filter(([isThere]) => isThere).map(([, sentence]) => sentence)

/** Fails with the sentences of the problems that are there, and otherwise passes. */
export const failedIfAny = (problems: readonly Problem[]): Finding => noneOf(problemsIn(problems))

/** A check without a verdict, which never counts as passed. */
export class Undecided extends Error {}

/**
 * Continues the check only if the condition is true.
 * @throws {Undecided} if the condition is false
 */
export function need(condition: unknown, reason: string): asserts condition {
  if (!condition) throw new Undecided(reason)
}
