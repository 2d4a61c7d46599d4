/** The portal's style sheet as text. */

import { flowStyle } from './flow-diagram'

/** Styles for light and dark, from the width of a phone to a wide screen. */
export const portalStyle = `
:root {
  color-scheme: light dark;
  --ground: #f4f3ef; --card: #fffefb; --ink: #23211d; --soft: #66615a; --line: #dedacf; --hair: #ebe8df;
  --accent: #23527c; --accent-hover: #1a3f61; --accent-ink: #ffffff; --button: #fffefb; --hover: #f1efe8; --code: #f1eee6; --edge: #8d887c;
  --good: #17603f; --good-ground: #dff1e6; --bad: #8f2323; --bad-ground: #fbe3e0; --warn: #734c00; --warn-ground: #fbecc8;
  --plain-ground: #e9e6dd; --shadow: 0 1px 2px rgb(40 35 20 / 8%), 0 6px 18px rgb(40 35 20 / 5%);
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #16181b; --card: #1f2226; --ink: #ecebe7; --soft: #a6a49d; --line: #383c42; --hair: #2c3035;
    --accent: #8fc0ee; --accent-hover: #b3d6f6; --accent-ink: #10202f; --button: #2a2e34; --hover: #363b43; --code: #2a2e34; --edge: #7d828a;
    --good: #8fdcb2; --good-ground: #17382a; --bad: #ffb3ab; --bad-ground: #4a2020; --warn: #f5cf7c; --warn-ground: #43340f;
    --plain-ground: #30343a; --shadow: none;
  }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body { margin: 0; background: var(--ground); color: var(--ink); font: 15px/1.5 system-ui, "Segoe UI", Roboto, "Helvetica Neue", sans-serif; }
h1 { font-size: 1.4rem; line-height: 1.2; letter-spacing: -0.015em; margin: 0; display: flex; align-items: center; gap: 0.6rem; }
h2 { font-size: 1rem; margin: 0 0 0.75rem; display: flex; align-items: baseline; gap: 0.5rem; }
h3 { font-size: 0.92rem; margin: 0; grid-column: 1 / -1; }
p { margin: 0; }
a { color: var(--accent); text-underline-offset: 0.15em; }
a:has(> code) { text-underline-offset: 0.35em; }
code, pre, time { font-family: ui-monospace, "SF Mono", "Cascadia Mono", Menlo, Consolas, monospace; font-size: 0.86em; }
code { background: var(--code); border-radius: 4px; padding: 0.1em 0.35em; overflow-wrap: anywhere; }
pre { background: var(--code); border-radius: 6px; padding: 0.6rem 0.75rem; margin: 0.5rem 0 0; white-space: pre-wrap; overflow-wrap: anywhere; }
.skip { position: absolute; left: -100vw; }
.skip:focus { left: 1rem; top: 0.5rem; background: var(--card); padding: 0.4rem 0.8rem; z-index: 2; }
.sr { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.banner { background: var(--warn-ground); color: var(--warn); padding: 0.35rem 1.25rem; font-weight: 550; font-size: 0.85rem; text-align: center; }
header { display: flex; flex-wrap: wrap; gap: 0.5rem 1rem; align-items: center; padding: 1.1rem 1.25rem 0.9rem; max-width: 100rem; margin: auto; }
header > :nth-child(2) { margin-inline-start: auto; }
.mark { width: 1.6rem; height: 1.6rem; border-radius: 50%; border: 0.4rem solid var(--accent); box-shadow: inset 0 0 0 0.16rem var(--card); background: var(--accent); }
main { padding: 0 1.25rem 1rem; max-width: 100rem; margin: auto; }
.portal { display: grid; gap: 1rem; grid-template-columns: minmax(0, 1fr); align-items: start; }
.column { display: grid; gap: 1rem; min-width: 0; }
#start:empty { display: none; }
section, .card { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 1rem 1.1rem; box-shadow: var(--shadow); min-width: 0; }
.card section { border: 0; padding: 0; box-shadow: none; }
.count { color: var(--soft); font-weight: 500; font-size: 0.9rem; }
.muted, .empty { color: var(--soft); font-size: 0.88rem; }
.wrap { overflow-wrap: anywhere; }
.start { border-color: var(--accent); }
.start ol { display: grid; gap: 1rem; margin: 0; padding: 0; list-style: none; counter-reset: step; }
.start li { display: grid; grid-template: 1.7rem auto / 2.4rem minmax(0, 1fr); align-content: start; gap: 0.1rem 0; counter-increment: step; font-size: 0.92rem; }
.start li::before { content: counter(step); grid-row: span 2; display: grid; place-items: center; width: 1.7rem; height: 1.7rem; border-radius: 50%; background: var(--accent); color: var(--accent-ink); font-weight: 650; }
.start h3 { grid-column: 2; line-height: 1.7rem; }
.start p { grid-column: 2; color: var(--soft); }
.start p code { color: var(--ink); }
.sites { display: flex; flex-wrap: wrap; gap: 0.4rem; margin-top: 0.5rem; }
table { width: 100%; border-collapse: collapse; font-size: 0.92rem; }
th { text-align: start; font-size: 0.78rem; font-weight: 600; color: var(--soft); padding: 0 0.75rem 0.4rem 0; white-space: nowrap; }
td { border-top: 1px solid var(--hair); padding: 0.5rem 0.75rem 0.5rem 0; vertical-align: middle; overflow-wrap: anywhere; }
th:last-child, td:last-child { padding-inline-end: 0; }
td .buttons { flex-wrap: nowrap; }
#sessions td:not([data-heading="Sites"]) { white-space: nowrap; }
td[data-heading=""] { width: 1%; }
#accounts .chip { white-space: normal; }
#accounts td[data-heading="Password"] { min-width: 9.5rem; }
.chips:empty { display: none; }
.chips { display: flex; flex-wrap: wrap; gap: 0.25rem; }
.time time { font-size: 1.1rem; font-weight: 600; letter-spacing: -0.01em; }
.rows { list-style: none; margin: 0; padding: 0; }
.rows > li { padding: 0.6rem 0; border-top: 1px solid var(--hair); display: grid; gap: 0.4rem; }
.rows > li:first-child { border-top: 0; padding-top: 0; }
.rows > li:last-child { padding-bottom: 0; }
.rows > .split { grid-template-columns: minmax(0, 1fr) auto; align-items: center; }
.rows.calls > li { padding: 0.3rem 0; }
.head { display: flex; flex-wrap: wrap; align-items: center; gap: 0.3rem 0.5rem; }
.chip { display: inline-block; border-radius: 0.75rem; padding: 0.05rem 0.6rem; font-size: 0.78rem; font-weight: 600; background: var(--plain-ground); color: var(--ink); white-space: nowrap; }
.chip.good { background: var(--good-ground); color: var(--good); }
.chip.bad { background: var(--bad-ground); color: var(--bad); }
.chip.warn { background: var(--warn-ground); color: var(--warn); }
.buttons { display: flex; flex-wrap: wrap; gap: 0.35rem; }
.rows + .buttons { border-top: 1px solid var(--hair); margin-top: 0.6rem; padding-top: 0.6rem; }
table + .muted { margin-top: 0.6rem; }
.time + .muted { margin-bottom: 0.7rem; }
button, .button { font: inherit; font-size: 0.82rem; font-weight: 550; line-height: 1.2; color: var(--ink); background: var(--button); border: 1px solid var(--line); border-radius: 7px; padding: 0.3rem 0.6rem; min-height: 1.95rem; cursor: pointer; white-space: nowrap; text-decoration: none; display: inline-flex; align-items: center; justify-content: center; }
button:hover, .button:hover { background: var(--hover); }
button.primary { background: var(--accent); border-color: var(--accent); color: var(--accent-ink); }
button.primary:hover { background: var(--accent-hover); }
button.danger { background: transparent; border-color: var(--bad); color: var(--bad); }
button.danger:hover { background: var(--bad-ground); }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
section:focus { outline: none; }
.calls summary { cursor: pointer; display: flex; flex-wrap: wrap; align-items: baseline; gap: 0.1rem 0.6rem; padding: 0.15rem 0; border-radius: 6px; font-size: 0.92rem; }
.calls summary strong { font-weight: 600; overflow-wrap: anywhere; }
.calls summary time { color: var(--soft); }
.calls summary .chip { margin-left: auto; white-space: normal; overflow-wrap: anywhere; }
.calls summary .site { flex-basis: 100%; overflow-wrap: anywhere; }
.calls summary .site + .chip { margin-left: 0; }
summary::-webkit-details-marker { display: none; }
.calls summary:hover strong { text-decoration: underline; }
details > p { font-size: 0.9rem; padding-top: 0.25rem; }
form { display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 0.7rem; align-content: start; }
label { display: grid; gap: 0.2rem; font-size: 0.84rem; color: var(--soft); }
label[hidden] { display: none; }
form button { grid-column: 1 / -1; justify-self: start; }
form .wide { grid-column: 1 / -1; }
input, select { font: inherit; font-size: 0.9rem; width: 100%; min-height: 2.2rem; color: var(--ink); background: var(--card); border: 1px solid var(--edge); border-radius: 7px; padding: 0.25rem 0.5rem; }
#notice { position: fixed; bottom: 1rem; inset-inline: 0; z-index: 2; max-width: 36rem; margin: 0 auto; width: calc(100% - 1.5rem); text-align: center; }
#notice:not(:empty) { border-radius: 9px; padding: 0.55rem 1rem; font-weight: 600; border: 1px solid currentcolor; box-shadow: 0 8px 30px rgb(0 0 0 / 22%); }
#notice.good { background: var(--good-ground); color: var(--good); }
#notice.bad { background: var(--bad-ground); color: var(--bad); }
footer { max-width: 100rem; margin: auto; padding: 0.5rem 1.25rem 4rem; }
.problem main { display: block; max-width: 44rem; padding-top: 2.5rem; }
.problem main > * + *, .problem .card > * + * { margin-top: 1rem; }
.problem pre { margin: 0; }
.faults { display: grid; gap: 1rem 1.5rem; }
.links { display: flex; flex-wrap: wrap; gap: 0.2rem 1rem; font-size: 0.9rem; }
@media (min-width: 48rem) {
  .faults { grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); }
  .start ol { grid-template-columns: repeat(3, minmax(0, 1fr)); gap: 1.5rem; }
}
@media (min-width: 76rem) {
  .portal { grid-template-columns: minmax(0, 1fr) 24rem; }
  #start { grid-column: 1 / -1; }
}
@media (max-width: 55.99rem) {
  main, header, footer { padding-inline: 0.75rem; }
  header > :nth-child(2) { margin-inline-start: 0; flex: 1 1 10rem; order: 1; }
  header > button { order: 2; }
  header > #live { margin-inline-start: auto; }
  section, .card { padding: 0.9rem; }
  table, tbody, tr, td { display: block; }
  thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  tr { padding: 0.6rem 0; border-top: 1px solid var(--hair); }
  tbody > tr:first-child { border-top: 0; padding-top: 0; }
  td { border: 0; padding: 0.15rem 0; display: grid; grid-template-columns: 6rem minmax(0, 1fr); align-items: baseline; }
  td::before { content: attr(data-heading); color: var(--soft); font-size: 0.84rem; }
  td[data-heading=""] { display: block; width: auto; padding-top: 0.45rem; }
  td[data-heading=""]::before { content: none; }
  #sessions td { white-space: normal; }
  .buttons, td .buttons { flex-wrap: wrap; }
  .buttons > * { flex: 1 1 auto; }
  .calls summary { grid-template-columns: auto minmax(0, 1fr); }
  .calls summary .chip, .calls summary .site { grid-column: 2; justify-self: start; }
  button, .button, form button { min-height: 2.75rem; font-size: 0.88rem; }
  form button { justify-self: stretch; }
}
${flowStyle}
@media (prefers-reduced-motion: no-preference) { button, .button { transition: background 0.12s; } }
`
