/** Renders the portal's page. */
import { faultForm } from './fault-form'
import { portalHtml } from './html'
import { pageHead } from './page-head'
import { accountsSection, callsSection, clientsSection, clockSection, faultsSection, sessionsSection } from './sections'
import type { PortalView } from './shown'

/** Returns the whole page. */
export function portalPage(view: PortalView): string {
  return portalHtml`<!doctype html>
<html lang="en">
${pageHead(view.organisationId)}
<body>
  <a class="skip" href="#content">To the content</a>
  <aside class="banner" aria-label="What this is">This is an emulator of the SSO2 platform, for development and tests. Nothing here is real.${
    view.isOpen && ' Everyone who reaches this machine can log in to every account and press every button.'
  }</aside>
  <header>
    <h1><span class="mark" aria-hidden="true"></span>Admin portal</h1>
    <p class="muted">Organisation <code>${view.organisationId}</code>, ${view.production ? 'played as production' : 'not production'}
      <span id="live" class="chip plain" role="status">connecting</span></p>
  </header>
  <p id="notice" role="status" aria-live="polite"></p>
  <noscript><aside class="banner" aria-label="What is missing">The buttons and live updates need JavaScript; the same controls are under /_emulator.</aside></noscript>
  <main id="content">
    <div class="column">
      ${clockSection(view)}
      ${accountsSection(view)}
      ${clientsSection(view)}
    </div>
    <div class="column">
      ${sessionsSection(view)}
      <div class="card">${faultsSection(view)}${faultForm()}</div>
    </div>
    <div class="column calls-column">${callsSection(view)}</div>
  </main>
  <footer class="muted">Tests press the same buttons: every one is a call under <a href="/_emulator"><code>/_emulator</code></a>.
    <a href="/_emulator/export">The running state as a configuration file</a> (with passwords).</footer>
</body>
</html>
`.text
}
