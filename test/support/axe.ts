import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'

interface Violation {
  id: string
  nodes: { target: string[]; failureSummary?: string }[]
}

const source = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8')
/** What it has to say of what is in order is long, and stays in the browser. */
const RUN = `axe.run(document, { resultTypes: ['violations'], rules: { 'target-size': { enabled: true } } })
  .then(({ violations }) => violations.map(({ id, nodes }) => ({ id, nodes: nodes.map(({ target, failureSummary }) => ({ target, failureSummary })) })))`

/** What axe-core has against the page as it stands: every rule that it has, good habits included. Nothing: an empty list. */
export async function violations(page: Page): Promise<string[]> {
  if (!(await page.evaluate("typeof axe === 'object'"))) await page.evaluate(`${source}; undefined`)
  const found = await page.evaluate<Violation[]>(RUN)
  return found.flatMap(({ id, nodes }) =>
    nodes.map(
      ({ target, failureSummary = '' }) => `${id}: ${target.join(' ')}: ${failureSummary.replace(/\s+/g, ' ')}`,
    ),
  )
}
