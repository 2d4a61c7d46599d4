/** Renders the page that a browser gets if Identify refuses the request. */
import { portalHtml } from './html'

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
    <aside class="banner" aria-label="What this is">This is an emulator of the SSO2 platform, for development and tests.</aside>
    <main>
      <h1>The SSO system refuses this request</h1>
      <p>${message}</p>
      <p>HTTP ${status}. <a href="/">The emulator's admin portal</a> shows the call and its claims.</p>
    </main>
  </body>
</html>
`.text
}
