/** Writes the report as a single HTML file without external resources. */
import { flowDiagram, flowList, flowStyle } from '../../emulator/portal/flow-diagram'
import { Html, portalHtml } from '../../emulator/portal/html'
import type { Result } from '../check'
import { reportStyle } from './style'
import { countOf, type Examined, groupsOf, sentenceOf, verdicts } from './summary'

export function htmlReport(examined: Examined): string {
  const { siteUrl, at, seconds, notes, results, skipped } = examined
  const style = new Html(`<style>${reportStyle}${flowStyle}</style>`)
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
    <p class="sentence">${sentenceOf(examined)}</p>
    <p class="muted">${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC, ${Math.round(seconds)} seconds. All users in this report are made up.</p>
    <ul class="counts">${verdicts.map((verdict) => portalHtml`<li class="chip ${classOf(verdict)}">${countOf(results, verdict)} ${verdict}</li>`)}</ul>
  </header>
  <main id="content">
    ${toFix(results)}
    ${groupsOf(results).map(([group, own]) => groupSection(group, own))}
    <section aria-labelledby="found"><h2 id="found">About this examination</h2>
      <ul>${notes.map((note) => portalHtml`<li>${note}</li>`)}
      ${skipped.map(({ name, reason }) => portalHtml`<li><code>${name}</code> was left out: ${reason}</li>`)}</ul>
      <p class="muted">An undecided check is never counted as passed. Passwords, secrets and tickets are masked.</p></section>
  </main>
</body>
</html>
`.text
}

/** Returns the failed checks, each with its finding and its fix. */
function toFix(results: readonly Result[]): Html {
  const failed = results.filter(({ verdict }) => verdict === 'failed')
  if (failed.length === 0) return portalHtml``
  return portalHtml`<section aria-labelledby="first"><h2 id="first">To fix</h2>
<ul class="fixes">${byFix(failed).map(
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

function groupSection(group: string, results: readonly Result[]): Html {
  return portalHtml`<section aria-labelledby="group-${group}"><h2 id="group-${group}">${group}</h2>
${results.map(checkBlock)}</section>`
}

function checkBlock(result: Result): Html {
  const { name, verdict, reason, text, seconds, flow, attempts } = result
  // the attempts of a passed check say all, and their diagram would be cut in the middle
  const hasDiagram = flow.steps.length > 0 && (verdict !== 'passed' || attempts.length === 0)
  const id = idOf(name)
  return portalHtml`<details class="check" id="${id}"><summary><span class="chip ${classOf(verdict)}">${verdict}</span>
<span class="what"><strong>${name}</strong> <span class="muted">${text.good}</span></span></summary>
<div class="body">
${
  verdict !== 'passed' &&
  portalHtml`<dl>
  <dt>Found</dt><dd>${reason}</dd>
  <dt>Effect</dt><dd>${text.effect}</dd>
  <dt>Fix</dt><dd>${text.fix}</dd>
  <dt>With express-sso2</dt><dd>${text.fixHere}</dd>
</dl>`
}
<p class="muted">${text.source}. The check took ${seconds.toFixed(1)} s.</p>
${attempts.length > 0 && portalHtml`<h3>Attempts of ${name}</h3><ul class="attempts">${attempts.map((attempt) => portalHtml`<li>${attempt}</li>`)}</ul>`}
${hasDiagram && portalHtml`<h3>Evidence: ${name}</h3>${flowDiagram(flow, `${id}-`)}<details class="list"><summary>Steps and claims of ${name}</summary>${flowList(flow, `${id}-`)}</details>`}
</div></details>`
}
