/** Counts and groups the results of an examination. */
import type { Result, Verdict } from '../check'
import { splitText } from '../split'

/** A finished examination. */
export interface Examined {
  readonly siteUrl: string
  /** Epoch milliseconds. */
  readonly at: number
  readonly seconds: number
  /** Notes about the discovery of pages and forms. */
  readonly notes: readonly string[]
  readonly results: readonly Result[]
  /** Omitted checks, with the reason. */
  readonly skipped: readonly { readonly name: string; readonly reason: string }[]
  /** Does the site use this package, so that a fix with the package is of use? */
  readonly hasPackage: boolean
}

export const verdicts: readonly Verdict[] = ['failed', 'warning', 'undecided', 'not applicable', 'passed']

/** Returns the number of results with the verdict. */
export function countOf(results: readonly Result[], verdict: Verdict): number {
  return results.filter((result) => result.verdict === verdict).length
}

/** Returns the number of results for each verdict, in a line. */
export function summaryOf({ results, skipped }: Examined): string {
  const counts = verdicts.map((verdict) => `${countOf(results, verdict)} ${verdict}`)
  return [...counts.reverse(), ...(skipped.length > 0 ? [`${skipped.length} left out`] : [])].join(', ')
}

/** Orders results: what needs a look comes first. */
export const bySeverity = (results: readonly Result[]): Result[] =>
  [...results].sort((a, b) => verdicts.indexOf(a.verdict) - verdicts.indexOf(b.verdict))

/** Returns the overall result as a sentence. */
export function sentenceOf({ results }: Examined): string {
  const failed = countOf(results, 'failed')
  const warnings = countOf(results, 'warning')
  const undecided = countOf(results, 'undecided')
  const lackingKeys = results.flatMap(({ missingKeys }) => (missingKeys === undefined ? [] : [missingKeys]))
  const unfit = countOf(results, 'not applicable') - lackingKeys.length
  const judged = results.length - undecided - countOf(results, 'not applicable')
  const keys = [...new Set(lackingKeys.flat())].sort()
  const open = [
    warnings === 0 ? '' : warnings === 1 ? ' 1 check gave a warning.' : ` ${warnings} checks gave warnings.`,
    undecided === 0 ? '' : ` ${undecided} of the checks could not be judged. They are not counted as passed.`,
    unfit === 0 ? '' : ` ${unfit} did not apply: look whether they should.`,
    lackingKeys.length === 0
      ? ''
      : ` ${lackingKeys.length} were not told what they need in examine.json: ${keys.join(', ')}.`,
  ].join('')
  if (failed > 0) return `${failed} of ${judged} checks failed. Users or their data may be at risk.${open}`
  return `No check failed.${open}`
}

/** Groups results in the order of the checks. */
export function groupsOf(results: readonly Result[]): [group: string, results: Result[]][] {
  const groups = new Map<string, Result[]>()
  for (const result of results) {
    const [group] = splitText(result.name, '/')
    groups.set(group, [...(groups.get(group) ?? []), result])
  }
  return [...groups]
}
