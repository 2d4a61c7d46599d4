/** Renders the first steps, as long as no site has called. */
import type { Client } from '../config/options'
import { type Html, portalHtml } from './html'
import type { PortalView } from './shown'

/** Returns three steps for somebody who has just started the emulator, or nothing once a site has called. */
export function startSection({ calls, sessionCount, clients, accounts }: PortalView): Html | undefined {
  if (calls.length > 0 || sessionCount > 0) return undefined
  const sites = clients.filter(({ sso2 }) => sso2)
  const account = accounts.find(({ active }) => active)
  return portalHtml`<section class="start" aria-labelledby="start-title">
  <h2 id="start-title">Three steps to the first login</h2>
  <ol>
    <li><h3>Open your site</h3><p>${
      sites.length === 0
        ? 'No API client for SSO2 is configured: start the emulator with --site and the address of your site.'
        : portalHtml`It must run with the environment that the emulator has printed. <span class="sites">${sites.map(siteLink)}</span>`
    }</p></li>
    <li><h3>Log in there</h3><p>${
      account
        ? portalHtml`With <code>${account.username}</code> and <code>${account.password}</code>, or another account below.`
        : 'No account can log in: configure one, or activate one below.'
    }</p></li>
    <li><h3>Watch this page</h3><p>The session and each call of the site appear here at once. <em>Flow</em> shows who has sent what to whom.</p></li>
  </ol>
</section>`
}

function siteLink({ name, landingPage }: Client): Html {
  const address = landingPage.replace(/\/sso2\/landing$/, '/')
  return portalHtml`<a class="button" href="${address === landingPage ? `${new URL(landingPage).origin}/` : address}">${name}</a> `
}
