/** Renders the portal's page of a flow. */
import type { Flow } from '../flow/types'
import { flowDiagram, flowList } from './flow-diagram'
import { type Html, portalHtml } from './html'
import { pageHead } from './page-head'
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
  <aside class="banner" aria-label="What this is">This is an emulator of the SSO2 platform, for development and tests. Nothing here is real.</aside>
  <header>
    <h1><span class="mark" aria-hidden="true"></span>${flow.title}</h1>
    <p class="muted">${links.map(({ href, text }) => portalHtml`<a href="${href}">${text}</a> `)}<span id="live" class="chip plain" role="status">connecting</span></p>
  </header>
  <p id="notice" role="status" aria-live="polite"></p>
  <main id="content">${flowSection(flow)}</main>
  <footer class="muted">The emulator sees each request that reaches it. Requests between the browser and a site alone are not shown.
    Passwords and tickets are masked. An arrow in the diagram opens its claims in the list.</footer>
</body>
</html>
`.text
}

function flowSection(flow: Flow): Html {
  if (flow.steps.length === 0) return section('flow', 'Flow', 0, empty('No call has been about it yet.'))
  const content = portalHtml`${flowDiagram(flow, 'step-')}${flowList(flow, 'step-')}`
  return section('flow', 'Flow', `${flow.steps.length} steps`, content)
}
