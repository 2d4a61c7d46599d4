/** The result of an examination, counted and grouped. */
import type { Result, Verdict } from '../check'

/** A finished examination. */
export interface Examined {
  readonly siteUrl: string
  /** Epoch milliseconds. */
  readonly at: number
  readonly seconds: number
  /** How the pages and forms of the site were found. */
  readonly notes: readonly string[]
  readonly results: readonly Result[]
  /** Checks that were left out, with the reason. */
  readonly skipped: readonly { readonly name: string; readonly reason: string }[]
}

export const verdicts: readonly Verdict[] = ['failed', 'warning', 'undecided', 'not applicable', 'passed']

/** Number of results by verdict. */
export function countOf(results: readonly Result[], verdict: Verdict): number {
  return results.filter((result) => result.verdict === verdict).length
}

/** One line that says it all. */
export function summaryOf({ results, skipped }: Examined): string {
  const counts = verdicts.map((verdict) => `${countOf(results, verdict)} ${verdict}`)
  return [...counts.reverse(), ...(skipped.length > 0 ? [`${skipped.length} left out`] : [])].join(', ')
}

/** A sentence that any reader understands. */
export function sentenceOf({ results }: Examined): string {
  const failed = countOf(results, 'failed')
  const undecided = countOf(results, 'undecided')
  const open = undecided === 0 ? '' : ` ${undecided} of the checks could not be judged. They are not counted as passed.`
  if (failed > 0) return `${failed} of ${results.length} checks failed. Users or their data may be at risk.${open}`
  return `No check failed.${open}`
}

/** Results by group, in the order of the checks. */
export function groupsOf(results: readonly Result[]): [group: string, results: Result[]][] {
  const groups = new Map<string, Result[]>()
  for (const result of results) {
    const [group = ''] = result.name.split('/')
    groups.set(group, [...(groups.get(group) ?? []), result])
  }
  return [...groups]
}
