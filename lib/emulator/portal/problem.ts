/** Renders the page that a browser gets if Identify refuses the request. */
import { portalHtml } from './html'
import { pageBanner } from './page-head'

/** Returns a page with the status and the reason. */
export function portalProblemPage(status: number, message: string): string {
  return portalHtml`<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>${status}: the SSO2 emulator cannot do that</title>
    <link rel="stylesheet" href="/_emulator/portal.css" />
  </head>
  <body class="problem">
    ${pageBanner()}
    <main>
      <div class="card">
        <p class="muted">SSO system, HTTP ${status}</p>
        <h1>The SSO system refuses this request</h1>
        <p>${message}</p>
        <p><a class="button" href="/">Open the admin portal</a> <span class="muted">It shows the call and its claims.</span></p>
      </div>
    </main>
  </body>
</html>
`.text
}
