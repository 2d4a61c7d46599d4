/** The style sheet of the HTML report as text, for light, dark and print. */
export const reportStyle = `
:root {
  color-scheme: light dark;
  --ground: #f4f3ef; --card: #fffefb; --ink: #23211d; --soft: #5f5a53; --line: #dedacf; --hair: #ebe8df; --accent: #23527c;
  --code: #efece3; --good: #17603f; --good-ground: #dff1e6; --bad: #8f2323; --bad-ground: #fbe3e0; --warn: #734c00;
  --warn-ground: #fbecc8; --plain-ground: #e9e6dd; --open: #5b2a86; --open-ground: #efe3fa;
}
@media screen and (prefers-color-scheme: dark) {
  :root {
    --ground: #16181b; --card: #1f2226; --ink: #ecebe7; --soft: #b0aea7; --line: #383c42; --hair: #2c3035; --accent: #8fc0ee;
    --code: #2a2e34; --good: #8fdcb2; --good-ground: #17382a; --bad: #ffb3ab; --bad-ground: #4a2020; --warn: #f5cf7c;
    --warn-ground: #43340f; --plain-ground: #30343a; --open: #d9b8f7; --open-ground: #3a2350;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink); font: 16px/1.5 system-ui, "Segoe UI", Roboto, sans-serif; }
header, main { max-width: 70rem; margin: auto; padding: 1rem 1.25rem; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0.5rem 0; overflow-wrap: anywhere; }
h2 { font-size: 1.15rem; margin: 0 0 0.6rem; }
h2::first-letter { text-transform: uppercase; }
h3 { font-size: 0.95rem; margin: 1rem 0 0.4rem; }
p { margin: 0.3rem 0; }
a { color: var(--accent); text-underline-offset: 0.15em; }
.sentence { font-size: 1.15rem; font-weight: 600; }
.muted { color: var(--soft); font-size: 0.92rem; }
.skip { position: absolute; left: -100vw; }
.skip:focus { left: 1rem; top: 0.5rem; background: var(--card); padding: 0.4rem 0.8rem; }
section { background: var(--card); border: 1px solid var(--line); border-radius: 12px; padding: 1rem 1.1rem; margin-bottom: 1rem; }
code, pre, time { font-family: ui-monospace, Menlo, Consolas, monospace; font-size: 0.86em; }
pre { background: var(--code); border-radius: 6px; padding: 0.6rem 0.75rem; margin: 0.4rem 0; white-space: pre-wrap; overflow-wrap: anywhere; }
.counts { border: 0; padding: 0; margin: 1rem 0 0; display: flex; flex-wrap: wrap; gap: 0.5rem; align-items: center; }
.counts legend { float: left; padding: 0; margin-right: 0.5rem; color: var(--soft); }
.counts label { cursor: pointer; padding: 0.2rem 0.75rem 0.2rem 0.5rem; }
.counts label:has(:checked) { outline: 2px solid currentColor; }
.counts input { margin: 0 0.25rem 0 0; vertical-align: -0.1em; accent-color: currentColor; }
.group { background: var(--card); border: 1px solid var(--line); border-radius: 12px; padding: 0.2rem 1.1rem; margin-bottom: 0.75rem; }
.group > summary { cursor: pointer; padding: 0.6rem 0; }
.group > summary h2 { display: inline-block; margin: 0 0.5rem 0 0; }
.chip { display: inline-block; border-radius: 999px; padding: 0.05rem 0.65rem; font-size: 0.85rem; font-weight: 650; background: var(--plain-ground); white-space: nowrap; place-self: start; }
.chip.passed { background: var(--good-ground); color: var(--good); }
.chip.failed { background: var(--bad-ground); color: var(--bad); }
.chip.warning { background: var(--warn-ground); color: var(--warn); }
.chip.undecided { background: var(--open-ground); color: var(--open); }
.fixes { margin: 0; padding-left: 1.2rem; }
.fixes li { margin: 0.25rem 0; overflow-wrap: anywhere; }
.check { border-top: 1px solid var(--hair); }
.check > summary { cursor: pointer; padding: 0.4rem 0; }
.check > summary { display: grid; grid-template-columns: 8.2rem 1fr; gap: 0.25rem 0.75rem; list-style: none; }
.check > summary::-webkit-details-marker { display: none; }
.what { min-width: 0; overflow-wrap: anywhere; }
.body { padding: 0.25rem 0 0.75rem; }
dl { display: grid; grid-template-columns: minmax(6rem, max-content) 1fr; gap: 0.3rem 1rem; margin: 0.25rem 0 0.5rem; }
dt { font-weight: 650; }
dd { margin: 0; overflow-wrap: anywhere; }
.attempts { font-size: 0.92rem; overflow-wrap: anywhere; padding-left: 1.2rem; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
@media (max-width: 40rem) { .check > summary, dl { grid-template-columns: 1fr; } }
@media print {
  :root { color-scheme: light; --ground: #fff; --card: #fff; }
  body { background: #fff; font-size: 11pt; }
  details::details-content { display: block; content-visibility: visible; block-size: auto; }
  section, .group { border: 0; padding: 0; break-inside: auto; }
  .counts { display: none; }
  .skip { display: none; }
  .check { break-inside: avoid; }
}
`
