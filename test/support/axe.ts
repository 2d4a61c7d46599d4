import { source } from 'axe-core'
import type { Page } from 'playwright-core'

interface Violation {
  id: string
  nodes: { target: string[]; failureSummary?: string }[]
}

/** What axe-core has against the page as it stands: every rule that it has, good habits included. Nothing: an empty list. */
export async function violations(page: Page): Promise<string[]> {
  await page.evaluate(`${source}; undefined`)
  const found = await page.evaluate<{ violations: Violation[] }>(
    "axe.run(document, { resultTypes: ['violations'], rules: { 'target-size': { enabled: true } } })",
  )
  return found.violations.flatMap(({ id, nodes }) =>
    nodes.map(
      ({ target, failureSummary = '' }) => `${id}: ${target.join(' ')}: ${failureSummary.replace(/\s+/g, ' ')}`,
    ),
  )
}
