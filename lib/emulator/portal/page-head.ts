/** Renders the HTML head that all live pages of the portal share. */
import { type Html, portalHtml } from './html'

const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16">
<circle cx="8" cy="8" r="8" fill="#23527c"/><circle cx="8" cy="8" r="3.25" fill="none" stroke="#fff" stroke-width="1.5"/></svg>`

/** The icon of the portal as an address, so that a page needs no second request for it. */
export const ICON_URL = `data:image/svg+xml,${encodeURIComponent(icon)}`

/** Returns the HTML head of a page. */
export function pageHead(title: string): Html {
  return portalHtml`<head>
  <meta charset="utf-8" />
  <meta name="viewport" content="width=device-width, initial-scale=1" />
  <meta name="color-scheme" content="light dark" />
  <title>SSO2 emulator: ${title}</title>
  <link rel="icon" href="${ICON_URL}" />
  <link rel="stylesheet" href="/_emulator/portal.css" />
  <script src="/_emulator/portal.js" defer></script>
</head>`
}

/** Returns the line at the top of each page. @param more words for an emulator that other machines reach */
export function pageBanner(more = ''): Html {
  return portalHtml`<aside class="banner" aria-label="What this is">This is an emulator of the SSO2 platform, for development and tests. Nothing here is real.${more}</aside>`
}
