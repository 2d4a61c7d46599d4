/** Writes reports for programs: JUnit XML and JSON. */
import { portalHtml } from '../../emulator/portal/html'
import type { Result } from '../check'
import { splitText } from '../split'
import { countOf, type Examined, groupsOf } from './summary'

/** Returns the report as JSON. */
export function jsonReport(examined: Examined): string {
  const results = examined.results.map(({ flow, ...rest }) => ({
    ...rest,
    seconds: Number(rest.seconds.toFixed(3)),
    evidence: { participants: flow.participants, steps: flow.steps },
  }))
  return `${JSON.stringify({ ...examined, results }, undefined, 2)}\n`
}

/** Returns the report as JUnit XML. A failed check is a failure, and a check without a verdict is skipped. */
export function junitReport({ results, seconds }: Examined): string {
  const suites = groupsOf(results).map(
    ([group, own]) =>
      `  <testsuite name="${group}" tests="${own.length}" failures="${countOf(own, 'failed')}" skipped="${own.filter(isSkipped).length}">\n${own.map(testCase).join('')}  </testsuite>\n`,
  )
  const head = `tests="${results.length}" failures="${countOf(results, 'failed')}" time="${seconds.toFixed(1)}"`
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="express-sso2 examine" ${head}>\n${suites.join('')}</testsuites>\n`
}

const isSkipped = ({ verdict }: Result) => verdict === 'undecided' || verdict === 'not applicable'

function testCase(result: Result): string {
  const { name, verdict, reason, seconds, text } = result
  const [group, ...rest] = splitText(name, '/')
  const head = `    <testcase classname="${group}" name="${xml(rest.join('/'))}" time="${seconds.toFixed(3)}"`
  if (verdict === 'passed') return `${head} />\n`
  const words = `${reason}\n${text.effect}\nFix: ${text.fix}\n${String(result.flow)}`
  const tag = verdict === 'failed' ? 'failure' : isSkipped(result) ? 'skipped' : 'system-out'
  const message = tag === 'system-out' ? '' : ` message="${xml(`${verdict}: ${reason}`)}"`
  return `${head}>\n      <${tag}${message}>${xml(words)}</${tag}>\n    </testcase>\n`
}

/** Escapes a text as in HTML, and removes characters that XML cannot hold. */
function xml(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what XML cannot hold
  const possible = text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f]/g, '')
  return portalHtml`${possible}`.text
}
