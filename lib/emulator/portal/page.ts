/** Renders the portal's page. */
import { faultForm } from './fault-form'
import { portalHtml } from './html'
import { pageBanner, pageHead } from './page-head'
import { button } from './parts'
import { callsSection, clientsSection, clockSection, faultsSection, sessionsSection } from './sections'
import { accountsSection } from './sections-accounts'
import type { PortalView } from './shown'
import { startSection } from './start'

const OPEN = ' Everyone who reaches this machine can log in to every account and press every button.'

/** Returns the whole page. */
export function portalPage(view: PortalView): string {
  return portalHtml`<!doctype html>
<html lang="en">
${pageHead(view.organisationId)}
<body>
  <a class="skip" href="#content">To the content</a>
  ${pageBanner(view.isOpen ? OPEN : '')}
  <header>
    <h1><span class="mark" aria-hidden="true"></span>Admin portal</h1>
    <p class="muted">Organisation <code>${view.organisationId}</code>, ${view.production ? 'played as production' : 'not production'}</p>
    <span id="live" class="chip plain" role="status">connecting</span>
    ${button('Reset everything', {
      method: 'POST',
      path: '/reset',
      done: 'Everything is as it was configured. Login limits that a site has counted stay.',
      confirm:
        'Forget all sessions, faults and calls, and set the clock back? Login limits that a site has counted stay.',
      look: 'danger',
    })}
  </header>
  <p id="notice" role="status" aria-live="polite"></p>
  <noscript><aside class="banner" aria-label="What is missing">The buttons and live updates need JavaScript; the same controls are under /_emulator.</aside></noscript>
  <main id="content" class="portal">
    <div id="start" data-live>${startSection(view)}</div>
    <div class="column">
      ${sessionsSection(view)}
      ${accountsSection(view)}
      <div class="card faults">${faultsSection(view)}${faultForm()}</div>
      ${clientsSection(view)}
    </div>
    <div class="column">
      ${clockSection(view)}
      ${callsSection(view)}
    </div>
  </main>
  <footer class="muted">Tests press the same buttons: every one is a call under <a href="/_emulator"><code>/_emulator</code></a>.
    <a href="/_emulator/export">The running state as a configuration file</a> (with passwords).</footer>
</body>
</html>
`.text
}
