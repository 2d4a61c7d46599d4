/** Writes the report for a terminal. */
import type { Result, Verdict } from '../check'
import { type Examined, groupsOf, sentenceOf, summaryOf } from './summary'

const colors: Readonly<Record<Verdict, string>> = {
  passed: '32',
  failed: '31;1',
  warning: '33',
  undecided: '35',
  'not applicable': '2',
}
const marks: Readonly<Record<Verdict, string>> = {
  passed: '✓',
  failed: '✗',
  warning: '!',
  undecided: '?',
  'not applicable': '-',
}

/** Colours a text if the terminal has colours. */
export const paint = (text: string, code: string, hasColors: boolean): string =>
  hasColors ? `\u001b[${code}m${text}\u001b[0m` : text

export function terminalReport(examined: Examined, hasColors: boolean): string {
  const { hasPackage } = examined
  const groups = groupsOf(examined.results).map(
    ([group, results]) =>
      `${paint(group, '1', hasColors)}\n${results.map((result, index) => block(result, { hasColors, hasPackage, before: results.slice(0, index) })).join('')}`,
  )
  const skipped = examined.skipped.map(({ name, reason }) => `  - ${name}: left out (${reason})\n`)
  const notes = examined.notes.map((note) => `  ${note}\n`)
  return `${paint(`Examination of ${examined.siteUrl}`, '1', hasColors)}\n${notes.join('')}\n${groups.join('\n')}${skipped.length > 0 ? `\nleft out\n${skipped.join('')}` : ''}
${failedAgain(examined, hasColors)}${sentenceOf(examined)}
${summaryOf(examined)}; ${Math.round(examined.seconds)} s
`
}

/** Returns failures and warnings once more, because the end of the output is what a terminal shows. */
function failedAgain({ results }: Examined, hasColors: boolean): string {
  const listOf = (title: string, chosen: Verdict) => {
    const found = results.filter(({ verdict }) => verdict === chosen)
    if (found.length === 0) return ''
    const mark = paint(marks[chosen], colors[chosen], hasColors)
    return `${paint(title, '1', hasColors)}\n${found.map(({ name, reason }) => `  ${mark} ${name}: ${reason}\n`).join('')}\n`
  }
  return listOf('warnings', 'warning') + listOf('failed', 'failed')
}

interface BlockOptions {
  readonly hasColors: boolean
  readonly hasPackage: boolean
  /** Earlier results of the group, whose fixes are not printed again. */
  readonly before: readonly Result[]
}

function block({ name, verdict, reason, text }: Result, { hasColors, hasPackage, before }: BlockOptions): string {
  const head = `  ${paint(marks[verdict], colors[verdict], hasColors)} ${name}`
  if (verdict === 'passed') return `${head}\n`
  const words = `${head}: ${paint(verdict, colors[verdict], hasColors)}, ${reason}\n`
  if (verdict !== 'failed' && verdict !== 'warning') return words
  const same = before.find((one) => one.verdict === verdict && one.text.fix === text.fix)
  if (same) return `${words}      Fix: as for ${same.name}\n`
  const here = hasPackage ? `      With express-sso2: ${text.fixHere}\n` : ''
  return `${words}      Should be: ${text.good}\n      Effect: ${text.effect}\n      Fix: ${text.fix}\n${here}      ${text.source}\n`
}
