/** The one style sheet of the built-in pages, inline and named by its hash in the Content-Security-Policy. */
import { createHash } from 'node:crypto'

/** CSS of the built-in pages. */
export const STYLE = `
:root{color-scheme:light dark;--ink:#1c1b1a;--muted:#5d5954;--paper:#f6f4f0;--card:#fff;--line:#8a857d;--accent:#17477a;--on-accent:#fff;--bad:#9b1c1c;--bad-paper:#fdeeee}
@media (prefers-color-scheme:dark){:root{--ink:#f1efec;--muted:#b9b4ac;--paper:#171615;--card:#222120;--line:#8b867e;--accent:#8fbcf0;--on-accent:#0d1b2a;--bad:#ffb4ab;--bad-paper:#3b1c1a}}
*{box-sizing:border-box}
body{margin:0;min-height:100vh;display:grid;place-items:center;padding:1.5rem 1rem;background:var(--paper);color:var(--ink);font:1.0625rem/1.5 system-ui,sans-serif}
main{width:100%;max-width:26rem;background:var(--card);padding:2rem 1.75rem;border-radius:.75rem;box-shadow:0 1px 3px #0003,0 8px 24px #00000014}
h1{font-size:1.5rem;line-height:1.2;margin:0 0 1rem}
p{margin:0 0 1rem}
label{display:block;font-weight:600;margin:1rem 0 .25rem}
input{width:100%;font:inherit;padding:.625rem .75rem;border:1px solid var(--line);border-radius:.375rem;background:transparent;color:inherit}
button{width:100%;margin-top:1.5rem;font:inherit;font-weight:600;padding:.75rem;border:0;border-radius:.375rem;background:var(--accent);color:var(--on-accent);cursor:pointer}
:focus-visible{outline:3px solid var(--accent);outline-offset:2px}
.alert{border-left:.25rem solid var(--bad);background:var(--bad-paper);color:var(--bad);padding:.75rem 1rem;border-radius:.25rem}
.quiet{color:var(--muted);margin:1.25rem 0 0;text-align:center}
a{color:var(--accent)}
`

const hash = createHash('sha256').update(STYLE).digest('base64')

/** The policy of our pages. @param formTargets origins that a form's redirects may lead to, besides the site */
export function contentSecurityPolicy(formTargets: readonly string[]): string {
  const targets = ["'self'", ...formTargets].join(' ')
  return `default-src 'none'; style-src 'sha256-${hash}'; form-action ${targets}; base-uri 'none'; frame-ancestors 'none'`
}
