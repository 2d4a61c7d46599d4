/** Renders the HTML head that all live pages of the portal share. */
import { type Html, portalHtml } from './html'

/** Returns the HTML head of a page. */
export function pageHead(title: string): Html {
  return portalHtml`<head>
  <meta charset="utf-8" />
  <meta name="viewport" content="width=device-width, initial-scale=1" />
  <meta name="color-scheme" content="light dark" />
  <title>SSO2 emulator: ${title}</title>
  <link rel="icon" href="data:," />
  <link rel="stylesheet" href="/_emulator/portal.css" />
  <script src="/_emulator/portal.js" defer></script>
</head>`
}

/** Returns the line at the top of each page. @param more words for an emulator that other machines reach */
export function pageBanner(more = ''): Html {
  return portalHtml`<aside class="banner" aria-label="What this is">This is an emulator of the SSO2 platform, for development and tests. Nothing here is real.${more}</aside>`
}
