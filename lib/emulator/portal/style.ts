/** The portal's style sheet as text. */

import { flowStyle } from './flow-diagram'

/** Styles for light and dark, from the width of a phone to a wide screen. */
export const portalStyle = `
:root {
  color-scheme: light dark;
  --ground: #f4f3ef; --card: #fffefb; --ink: #23211d; --soft: #66615a; --line: #dedacf; --hair: #ebe8df;
  --accent: #23527c; --accent-ink: #ffffff; --button: #f1efe8; --hover: #e5e1d5; --code: #efece3;
  --good: #17603f; --good-ground: #dff1e6; --bad: #8f2323; --bad-ground: #fbe3e0; --warn: #734c00; --warn-ground: #fbecc8;
  --plain-ground: #e9e6dd; --shadow: 0 1px 2px rgb(40 35 20 / 8%), 0 6px 18px rgb(40 35 20 / 5%);
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #16181b; --card: #1f2226; --ink: #ecebe7; --soft: #a6a49d; --line: #383c42; --hair: #2c3035;
    --accent: #8fc0ee; --accent-ink: #10202f; --button: #2a2e34; --hover: #363b43; --code: #2a2e34;
    --good: #8fdcb2; --good-ground: #17382a; --bad: #ffb3ab; --bad-ground: #4a2020; --warn: #f5cf7c; --warn-ground: #43340f;
    --plain-ground: #30343a; --shadow: none;
  }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body { margin: 0; background: var(--ground); color: var(--ink); font: 15px/1.5 system-ui, "Segoe UI", Roboto, "Helvetica Neue", sans-serif; }
h1 { font-size: 1.5rem; line-height: 1.2; letter-spacing: -0.01em; margin: 0; display: flex; align-items: center; gap: 0.6rem; }
h2 { font-size: 1.05rem; margin: 0 0 0.75rem; display: flex; align-items: baseline; gap: 0.5rem; }
h3 { font-size: 0.95rem; margin: 0; grid-column: 1 / -1; }
p { margin: 0; }
a { color: var(--accent); text-underline-offset: 0.15em; }
code, pre, time { font-family: ui-monospace, "SF Mono", "Cascadia Mono", Menlo, Consolas, monospace; font-size: 0.86em; }
code { background: var(--code); border-radius: 4px; padding: 0.1em 0.35em; overflow-wrap: anywhere; }
pre { background: var(--code); border-radius: 6px; padding: 0.6rem 0.75rem; margin: 0.5rem 0 0; white-space: pre-wrap; overflow-wrap: anywhere; }
.skip { position: absolute; left: -100vw; }
.skip:focus { left: 1rem; top: 0.5rem; background: var(--card); padding: 0.4rem 0.8rem; z-index: 2; }
.banner { background: var(--warn-ground); color: var(--warn); padding: 0.5rem 1.25rem; font-weight: 600; font-size: 0.9rem; text-align: center; }
header { display: flex; flex-wrap: wrap; gap: 0.5rem 2rem; align-items: center; justify-content: space-between; padding: 1.25rem 1.25rem 0.75rem; max-width: 96rem; margin: auto; }
.mark { width: 1.7rem; height: 1.7rem; border-radius: 50%; border: 0.42rem solid var(--accent); box-shadow: inset 0 0 0 0.16rem var(--card); background: var(--accent); }
main { display: grid; gap: 1rem; grid-template-columns: repeat(auto-fit, minmax(min(100%, 24rem), 1fr)); align-items: start; padding: 0.5rem 1.25rem 1rem; max-width: 96rem; margin: auto; }
.column { display: grid; gap: 1rem; min-width: 0; }
section, .card { background: var(--card); border: 1px solid var(--line); border-radius: 12px; padding: 1rem 1.1rem; box-shadow: var(--shadow); min-width: 0; }
.card section { border: 0; padding: 0; box-shadow: none; }
.count { color: var(--soft); font-weight: 500; font-size: 0.9rem; }
.muted, .empty { color: var(--soft); font-size: 0.9rem; }
.wrap { overflow-wrap: anywhere; }
.time time { font-size: 1.15rem; font-weight: 600; }
.rows { list-style: none; margin: 0; padding: 0; }
.rows > li { padding: 0.7rem 0; border-top: 1px solid var(--hair); display: grid; gap: 0.4rem; }
.rows > li:first-child { border-top: 0; padding-top: 0; }
.rows > li:last-child { padding-bottom: 0; }
.rows.calls > li { padding: 0.35rem 0; }
.head { display: flex; flex-wrap: wrap; align-items: center; gap: 0.3rem 0.5rem; }
.chip { display: inline-block; border-radius: 999px; padding: 0.05rem 0.6rem; font-size: 0.8rem; font-weight: 600; background: var(--plain-ground); color: var(--ink); }
.chip.good { background: var(--good-ground); color: var(--good); }
.chip.bad { background: var(--bad-ground); color: var(--bad); }
.chip.warn { background: var(--warn-ground); color: var(--warn); }
.buttons { display: flex; flex-wrap: wrap; gap: 0.4rem; }
.rows + .buttons, .rows + .muted { border-top: 1px solid var(--hair); margin-top: 0.7rem; padding-top: 0.7rem; }
section .time + .muted { margin-bottom: 0.7rem; }
button { font: inherit; font-size: 0.86rem; font-weight: 550; color: var(--ink); background: var(--button); border: 1px solid var(--line); border-radius: 7px; padding: 0.3rem 0.7rem; min-height: 2.1rem; cursor: pointer; }
button:hover { background: var(--hover); }
button.primary { background: var(--accent); border-color: var(--accent); color: var(--accent-ink); }
button.primary:hover { filter: brightness(1.1); }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
section:focus { outline: none; }
summary { cursor: pointer; display: flex; flex-wrap: wrap; align-items: center; gap: 0.25rem 0.5rem; padding: 0.15rem 0; border-radius: 6px; }
summary::before { content: ""; border: 0.28rem solid transparent; border-left-color: var(--soft); margin-right: -0.2rem; }
details[open] > summary::before { border-left-color: transparent; border-top-color: var(--soft); margin-top: 0.25rem; }
summary::-webkit-details-marker { display: none; }
details > p { font-size: 0.9rem; padding-top: 0.25rem; }
form { display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 0.7rem; border-top: 1px solid var(--hair); margin-top: 1rem; padding-top: 1rem; }
label { display: grid; gap: 0.2rem; font-size: 0.86rem; color: var(--soft); }
label[hidden] { display: none; }
form button { grid-column: 1 / -1; justify-self: start; }
form .wide { grid-column: 1 / -1; }
input, select { font: inherit; font-size: 0.9rem; width: 100%; min-height: 2.2rem; color: var(--ink); background: var(--card); border: 1px solid var(--line); border-radius: 7px; padding: 0.25rem 0.5rem; }
#notice { position: fixed; bottom: 1rem; inset-inline: 0; z-index: 1; max-width: 36rem; margin: 0 auto; width: calc(100% - 1.5rem); text-align: center; }
#notice:not(:empty) { border-radius: 9px; padding: 0.55rem 1rem; font-weight: 600; border: 1px solid currentcolor; box-shadow: 0 8px 30px rgb(0 0 0 / 22%); }
#notice.good { background: var(--good-ground); color: var(--good); }
#notice.bad { background: var(--bad-ground); color: var(--bad); }
footer { max-width: 96rem; margin: auto; padding: 0.5rem 1.25rem 5rem; }
.problem main { display: block; max-width: 40rem; padding-top: 3rem; }
.problem main > * + * { margin-top: 1rem; }
@media (min-width: 51.5rem) and (max-width: 76.49rem) {
  main { grid-template-columns: repeat(2, minmax(0, 1fr)); }
  .calls-column { grid-column: 2; grid-row: 1 / span 2; }
}
@media (max-width: 30rem) {
  main, header, footer { padding-inline: 0.75rem; }
  form { grid-template-columns: minmax(0, 1fr); }
  .buttons { display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); }
  .buttons button, form button { min-height: 2.7rem; }
  form button { justify-self: stretch; }
}
${flowStyle}
.flow main { display: block; max-width: 96rem; }
.links { display: flex; flex-wrap: wrap; gap: 0.2rem 0.9rem; font-size: 0.9rem; }
@media (prefers-reduced-motion: no-preference) { button { transition: background 0.12s; } }
`
