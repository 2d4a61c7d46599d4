/** Judges how often a page load goes through Identify. */
import type { Page } from '../browser'
import type { Stage } from '../stage'

/**
 * Judges the number of Identify redirects before a page. Notes the steps of a chain that the examiner has stopped.
 * @returns the problem without its subject, or undefined
 */
export function redirectProblem(stage: Stage, page: Page, most: number): string | undefined {
  const times = stage.identifies(page)
  if (times <= most) return undefined
  if (page.next === undefined) return `goes through Identify ${times} times`
  const firstTwo = page.hops.flatMap(({ url }, at) => (stage.platform.isIdentify(url) ? [at] : [])).slice(0, 2)
  const steps = page.hops
    .slice(Math.min(...firstTwo), Math.max(...firstTwo) + 1)
    .map(({ method, url, status }) => `${method} ${url.pathname} ${status}`)
  stage.tried(`these steps repeat: ${steps.join(' → ')}`)
  return `redirects to Identify without end, stopped after ${times} times`
}
