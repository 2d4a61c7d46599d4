/** Shows the list of controls at `/_emulator`: a page for a browser, JSON for programs. */
import type { Control } from '../control/request'
import { type Html, portalHtml } from './html'
import { ICON_URL, pageBanner } from './page-head'
import { chip } from './parts'

/** Returns the JSON of a control. */
export const controlSummary = ({ method, path, does, body }: Control) => ({
  method,
  path: `/_emulator${path}`,
  does,
  ...(body ? { body } : {}),
})

const head = portalHtml`<head>
  <meta charset="utf-8" />
  <meta name="viewport" content="width=device-width, initial-scale=1" />
  <meta name="color-scheme" content="light dark" />
  <title>SSO2 emulator: controls</title>
  <link rel="icon" href="${ICON_URL}" />
  <link rel="stylesheet" href="/_emulator/portal.css" />
</head>`

/**
 * Returns the page.
 * @param url base address of the emulator, as the browser sees the address
 */
export function controlsPage(controls: readonly Control[], url: string): string {
  return portalHtml`<!doctype html>
<html lang="en">
${head}
<body class="problem">
  ${pageBanner()}
  <main>
    <h1>Controls</h1>
    <p class="muted">What tests do to the platform from outside, in any language: JSON in and out. The <a href="/">admin portal</a> has buttons for them.</p>
    <div class="card"><ul class="rows">${controls.map((control) => controlTableRow(control, url))}</ul></div>
  </main>
</body>
</html>
`.text
}

function controlTableRow({ method, path, does, body }: Control, url: string): Html {
  const address = `${url}/_emulator${path}`
  const data = body ? ` -H 'content-type: application/json' -d '${JSON.stringify(body)}'` : ''
  return portalHtml`<li>
    <div class="head">${chip(method)} <code>/_emulator${path}</code> <span class="muted">${does}</span></div>
    <pre>${method === 'GET' ? `curl ${address}` : `curl -X ${method} ${address}${data}`}</pre>
  </li>`
}
