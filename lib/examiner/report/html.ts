/** Writes the report as a single HTML file without external resources and without scripts. */
import { flowDiagram, flowStyle } from '../../emulator/portal/flow-diagram'
import { Html, portalHtml } from '../../emulator/portal/html'
import type { Result, Verdict } from '../check'
import { reportFlow } from './flow'
import { reportStyle } from './style'
import { bySeverity, countOf, type Examined, groupsOf, sentenceOf, verdicts } from './summary'

/** Maximum size of a report in characters. A longer one shows fewer steps of each check. */
const MAX_SIZE = 480_000
/** Steps of the evidence of a check, from the fullest report to the shortest one. */
const STEPS = [40, 30, 24, 20, 16, 12, 10, 8, 6, 4, 2, 0]
/** Steps of a check whose fix an earlier check of its group has too. */
const STEPS_OF_SAME = 4

export function htmlReport(examined: Examined): string {
  let report = ''
  for (const steps of STEPS) {
    report = reportWith(examined, steps)
    if (report.length <= MAX_SIZE) break
  }
  return report
}

function reportWith(examined: Examined, steps: number): string {
  const { siteUrl, at, seconds, results } = examined
  const style = new Html(`<style>${reportStyle}${flowStyle}${filterStyle()}</style>`)
  const [outcome, ...rest] = sentenceOf(examined).split(/(?<=\.) /)
  const groups = groupsOf(results).sort(([, a], [, b]) => rankOf(a) - rankOf(b))
  return portalHtml`<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8" />
  <meta name="viewport" content="width=device-width, initial-scale=1" />
  <meta name="color-scheme" content="light dark" />
  <title>SSO2 examination of ${siteUrl}</title>
  <link rel="icon" href="data:," />
  ${style}
</head>
<body>
  <a class="skip" href="#content">To the content</a>
  <header>
    <h1>SSO2 examination of ${siteUrl}</h1>
    <p class="sentence">${outcome}</p>
    ${rest.length > 0 && portalHtml`<p>${rest.join(' ')}</p>`}
    <p class="muted">${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC, ${Math.round(seconds)} seconds. All users in this report are made up.</p>
    ${filter(results)}
  </header>
  <main id="content">
    ${toFix(results, 'failed', 'To fix')}
    ${toFix(results, 'warning', 'To look at')}
    ${groups.map(([group, own]) => groupSection(group, own, { examined, steps }))}
    ${about(examined)}
  </main>
</body>
</html>
`.text
}

/** Returns the counts, which show the checks of one verdict. Works without scripts. */
function filter(results: readonly Result[]): Html {
  const choice = (id: string, text: string, isChosen: boolean) =>
    portalHtml`<label class="chip ${id}"><input type="radio" name="show" id="show-${id}"${isChosen && new Html(' checked')} /> ${text}</label>`
  return portalHtml`<fieldset class="counts"><legend>Show</legend>
${choice('all', `all ${results.length}`, true)}
${verdicts
  .filter((verdict) => countOf(results, verdict) > 0)
  .map((verdict) => choice(classOf(verdict), `${countOf(results, verdict)} ${verdict}`, false))}</fieldset>`
}

/** Hides the checks, and the groups and lists, that have none of the chosen verdict. Opens the groups that are left. */
function filterStyle(): string {
  return verdicts
    .map(classOf)
    .map((name) => {
      const chosen = `body:has(#show-${name}:checked)`
      return `${chosen} .check:not(.is-${name}), ${chosen} .group:not(:has(.is-${name})), ${chosen} .fix-list { display: none; }
${chosen} .group::details-content { content-visibility: visible; block-size: auto; }`
    })
    .join('\n')
}

const rankOf = (results: readonly Result[]) => Math.min(...results.map(({ verdict }) => verdicts.indexOf(verdict)))

/** Returns the checks of a verdict, each with its finding and its fix. */
function toFix(results: readonly Result[], verdict: Verdict, title: string): Html {
  const chosen = results.filter((result) => result.verdict === verdict)
  if (chosen.length === 0) return portalHtml``
  return portalHtml`<section class="fix-list" aria-labelledby="list-${verdict}"><h2 id="list-${verdict}">${title}</h2>
<ul class="fixes">${byFix(chosen).map(
    (
      same,
    ) => portalHtml`<li>${same.map(({ name }) => portalHtml`<a href="#${idOf(name)}">${name}</a> `)}${same[0]?.text.effect}
${same.map(({ reason }) => portalHtml`<br /><strong>Found:</strong> ${reason}`)}
<br /><strong>Fix:</strong> ${same[0]?.text.fix}</li>`,
  )}</ul></section>`
}

/** Groups results with the same fix. */
function byFix(results: readonly Result[]): Result[][] {
  const fixes = new Map<string, Result[]>()
  for (const result of results) fixes.set(result.text.fix, [...(fixes.get(result.text.fix) ?? []), result])
  return [...fixes.values()]
}

const classOf = (verdict: string) => verdict.replace(' ', '-')
const idOf = (name: string) => `check-${name.replace('/', '-')}`

/** What all checks of a report share. */
interface Shared {
  readonly examined: Examined
  readonly steps: number
}

/** Returns a group, folded if each of its checks has passed or does not apply. */
function groupSection(group: string, results: readonly Result[], shared: Shared): Html {
  const counts = verdicts
    .filter((verdict) => countOf(results, verdict) > 0)
    .map((verdict) => `${countOf(results, verdict)} ${verdict}`)
  const inOrder = bySeverity(results)
  const isOpen = results.some(({ verdict }) => !['passed', 'not applicable'].includes(verdict))
  return portalHtml`<details class="group"${isOpen && new Html(' open')}><summary><h2>${group}</h2> <span class="muted">${counts.join(', ')}</span></summary>
${inOrder.map((result, index) => checkBlock(result, hasEarlier(inOrder.slice(0, index), result) ? { ...shared, steps: Math.min(shared.steps, STEPS_OF_SAME) } : shared))}</details>`
}

const hasEarlier = (earlier: readonly Result[], { verdict, text }: Result) =>
  earlier.some((one) => one.verdict === verdict && one.text.fix === text.fix)

function checkBlock(result: Result, { examined, steps }: Shared): Html {
  const { name, verdict, reason, text, seconds } = result
  const isPassed = verdict === 'passed'
  return portalHtml`<details class="check is-${classOf(verdict)}" id="${idOf(name)}"><summary><span class="chip ${classOf(verdict)}">${verdict}</span>
<span class="what"><strong>${name}</strong> <span class="muted">${text.good}</span></span></summary>
<div class="body">
${
  !isPassed &&
  portalHtml`<dl>
  <dt>Found</dt><dd>${reason}</dd>
  <dt>Effect</dt><dd>${text.effect}</dd>
  <dt>Fix</dt><dd>${text.fix}</dd>
  ${examined.hasPackage && portalHtml`<dt>With express-sso2</dt><dd>${text.fixHere}</dd>`}
</dl>`
}
<p class="muted">${text.source}. The check took ${seconds.toFixed(1)} s.</p>
${attemptList(result)}
${!isPassed && evidence(result, steps)}
</div></details>`
}

const MAX_ATTEMPTS = 40

function attemptList({ name, attempts }: Result): Html {
  if (attempts.length === 0) return portalHtml``
  const more = attempts.length - MAX_ATTEMPTS
  return portalHtml`<h3>Attempts of ${name}</h3><ul class="attempts">${attempts
    .slice(0, MAX_ATTEMPTS)
    .map((attempt) => portalHtml`<li>${attempt}</li>`)}${more > 0 && portalHtml`<li>and ${more} more</li>`}</ul>`
}

/** Returns the requests of a check as a diagram and as a list. A passed check has none: the report would be too long. */
function evidence(result: Result, steps: number): Html {
  if (result.flow.steps.length === 0 || steps === 0) return portalHtml``
  const flow = reportFlow(result.flow, steps)
  const prefix = `${idOf(result.name)}-`
  return portalHtml`<h3>Evidence: ${result.name}</h3>${flowDiagram(flow, prefix)}`
}

function about({ notes, skipped }: Examined): Html {
  return portalHtml`<section aria-labelledby="found"><h2 id="found">About this examination</h2>
<ul>${notes.map((note) => portalHtml`<li>${note}</li>`)}</ul>
${
  skipped.length > 0 &&
  portalHtml`<details class="list"><summary>${skipped.length} checks were left out</summary><ul>${skipped.map(({ name, reason }) => portalHtml`<li><code>${name}</code>: ${reason}</li>`)}</ul></details>`
}
<p class="muted">An undecided check is never counted as passed. Passwords, secrets and tickets are masked. The JSON report has the requests of all checks.</p></section>`
}
