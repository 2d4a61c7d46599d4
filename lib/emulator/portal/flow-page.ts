/** Renders the portal's page of a flow. */
import type { Flow } from '../flow/types'
import { flowDiagram } from './flow-diagram'
import { type Html, portalHtml } from './html'
import { pageBanner, pageHead } from './page-head'
import { empty, section } from './parts'

/** A link to another flow, or back to the portal. */
export interface FlowLink {
  readonly href: string
  readonly text: string
}

/** Returns the page, which updates itself while the page is open. */
export function flowPage(flow: Flow, links: readonly FlowLink[]): string {
  return portalHtml`<!doctype html>
<html lang="en">
${pageHead(flow.title)}
<body class="flow">
  <a class="skip" href="#content">To the content</a>
  ${pageBanner()}
  <header>
    <h1><span class="mark" aria-hidden="true"></span>${flow.title}</h1>
    <nav class="links" aria-label="Other pages">${links.map(({ href, text }) => portalHtml`<a href="${href}">${text}</a> `)}</nav>
    <span id="live" class="chip plain" role="status">connecting</span>
  </header>
  <p id="notice" role="status" aria-live="polite"></p>
  <main id="content">${flowSection(flow)}</main>
  <footer class="muted">The emulator sees each request that reaches it. It concludes the redirect to Identify and the login form from what follows;
    other requests between browser and site are not shown. Times are those of the emulator's clock. Passwords and tickets are masked.</footer>
</body>
</html>
`.text
}

function flowSection(flow: Flow): Html {
  if (flow.steps.length === 0)
    return section(
      'flow',
      'Flow',
      0,
      empty('No call has been about it yet. This page shows the first one as it comes.'),
    )
  const content = portalHtml`<p class="muted">Open a step to see its claims.</p>${flowDiagram(flow, 'step-')}`
  return section('flow', 'Flow', `${flow.steps.length} steps`, content)
}
