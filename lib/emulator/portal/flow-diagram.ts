/** Renders a flow as a list of steps, each an arrow between the lanes of the participants. A step opens its claims. */
import { clockText, durationText, wayText } from '../flow/text'
import type { Flow, FlowStep } from '../flow/types'
import { type Html, portalHtml } from './html'
import { spanText } from './time'

/** Lanes with a style. A flow of more participants has no arrows, but the names of both ends at each step. */
const MAX_LANES = 12
const GAP_MS = 2000

/** Claims beside the arrow. */
const shownClaims = ['sts', 'err', 'raa', 'frf', 'lks', 'usr', 'grant_type']

/**
 * Returns the diagram.
 * @param prefix begins the IDs of the flow's steps, so that a page can hold several flows
 */
export function flowDiagram(flow: Flow, prefix: string): Html {
  const { participants, steps, title } = flow
  const lanes = participants.length <= MAX_LANES ? `lanes-${participants.length}` : ''
  return portalHtml`<div class="diagram ${lanes}">
<div class="who" aria-hidden="true">${participants.map(({ name }) => portalHtml`<span>${name}</span>`)}</div>
<ol class="steps" aria-label="Steps of ${title}">${steps.map((step, index) =>
    stepItem(flow, step, { index, id: `${prefix}${index + 1}` }),
  )}</ol></div>`
}

interface Place {
  readonly index: number
  readonly id: string
}

function stepItem(flow: Flow, step: FlowStep, { index, id }: Place): Html {
  const { atMs, verdict, durationMs } = step
  const gap = atMs - (flow.steps[index - 1]?.atMs ?? atMs)
  const took = durationMs === undefined ? '' : durationText(durationMs)
  return portalHtml`<li class="step ${verdict}">${gap >= GAP_MS && portalHtml`<p class="gap">${spanText(gap / 1000)} later</p>`}
<details data-key="${id}"><summary><span class="number">${index + 1}</span><time>${clockText(atMs)}</time>
${arrow(flow, step)}<span class="took">${took}</span></summary>
<div class="claims" id="${id}">${claimsOf(step)}</div></details></li>`
}

/** Draws the arrow from lane to lane, or the event of a participant on its lane. */
function arrow({ participants }: Flow, step: FlowStep): Html {
  const { from, to, name, verdict, requirement, durationMs } = step
  const lane = (id: string) =>
    Math.max(
      0,
      participants.findIndex((one) => one.id === id),
    )
  const [start, end] = [lane(from), lane(to)]
  // each lane has two columns, and its line is between them
  const margin = start === end ? 1 : 0
  const first = 2 * Math.min(start, end) + 2 - margin
  const last = 2 * Math.max(start, end) + 2 + margin
  const kind = start === end ? 'event' : `${start < end ? 'right' : 'left'}${durationMs === undefined ? '' : ' reply'}`
  const mark = { ok: '', refused: '✗ ', fault: '! ' }[verdict]
  return portalHtml`<span class="lanes"><span class="way ${kind} from-${first} to-${last}">
<span class="between">${wayText(participants, step)}</span>
<span class="label">${mark}${name}</span><span class="line"></span>
<span class="detail">${requirement ?? claimsInShort(step)}</span></span></span>`
}

/** Returns the most important claims, without empty values. */
function claimsInShort({ claims }: FlowStep): string {
  const shown = shownClaims.filter(
    (name) => Object.hasOwn(claims, name) && claims[name] !== null && claims[name] !== -1,
  )
  return shown.map((name) => `${name} ${String(claims[name])}`).join(', ')
}

function claimsOf({ claims, requirement }: FlowStep): Html {
  const hasClaims = Object.keys(claims).length > 0
  return portalHtml`${requirement !== undefined && portalHtml`<p class="wrong">${requirement}</p>`}
${hasClaims ? portalHtml`<pre>${JSON.stringify(claims, undefined, 2)}</pre>` : portalHtml`<p class="muted">No token and no claims.</p>`}`
}

const upTo = (count: number, rule: (index: number) => string) =>
  Array.from({ length: count }, (_none, index) => rule(index + 1)).join('\n')

/** Styles the diagram for light and dark. Needs the CSS variables of the page. */
export const flowStyle = `
.diagram .who { display: none; }
.diagram .steps { margin: 0; padding: 0; list-style: none; }
.diagram summary { display: grid; grid-template-columns: 1.6rem minmax(0, 1fr) auto; gap: 0 0.5rem; align-items: baseline; padding: 0.55rem 0.25rem; cursor: pointer; border-radius: 6px; }
.diagram summary::before { content: none; }
.diagram summary::-webkit-details-marker { display: none; }
.diagram .step + .step { border-top: 1px solid var(--hair); }
.diagram .number, .diagram time, .diagram .took, .diagram .gap { color: var(--soft); font-size: 0.8rem; font-variant-numeric: tabular-nums; }
.diagram time { display: none; }
.diagram .way { display: grid; gap: 0.1rem; }
.diagram .between, .diagram .detail { color: var(--soft); font-size: 0.82rem; overflow-wrap: anywhere; }
.diagram .label { font-weight: 600; overflow-wrap: anywhere; }
.diagram .gap { margin: 0; padding: 0.3rem 0; text-align: center; background: var(--code); }
.diagram .refused .label, .diagram .fault .label, .wrong { color: var(--bad); }
.diagram .claims { padding: 0.1rem 0.25rem 0.8rem; }
.diagram .claims pre { margin: 0.4rem 0 0; }
.diagram summary:hover .label { text-decoration: underline; }
@media (min-width: 56rem) {
  .diagram[class*="lanes-"] .who, .diagram[class*="lanes-"] .lanes { display: grid; grid-template-columns: repeat(var(--columns), minmax(0, 1fr)); }
  .diagram[class*="lanes-"] .who { position: sticky; top: 0; z-index: 1; padding: 0.5rem 5rem 0.5rem 9.1rem; background: var(--card); border-bottom: 1px solid var(--line); }
  .diagram[class*="lanes-"] .who span { grid-column: span 2; justify-self: center; max-width: calc(100% - 0.75rem); padding: 0.25rem 0.9rem; border: 1px solid var(--line); border-radius: 8px; background: var(--plain-ground); font-size: 0.88rem; font-weight: 600; text-align: center; overflow-wrap: anywhere; }
  .diagram[class*="lanes-"] summary { grid-template-columns: 1.6rem 6rem minmax(0, 1fr) 4.25rem; align-items: center; padding: 0 0.25rem; }
  .diagram[class*="lanes-"] time { display: block; }
  .diagram[class*="lanes-"] .took { text-align: end; }
  .diagram[class*="lanes-"] .lanes { align-items: center; min-height: 3.1rem; background: linear-gradient(90deg, transparent calc(50% - 0.5px), var(--line) calc(50% - 0.5px) calc(50% + 0.5px), transparent calc(50% + 0.5px)) 0 0 / calc(200% / var(--columns)) 100% repeat-x; }
  .diagram[class*="lanes-"] .way { justify-items: center; text-align: center; grid-row: 1; gap: 0.15rem; }
  .diagram[class*="lanes-"] .between { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
  .diagram[class*="lanes-"] .label, .diagram[class*="lanes-"] .detail:not(:empty) { background: var(--card); padding: 0 0.4rem; max-width: calc(100% - 1rem); }
  .diagram[class*="lanes-"] .label { font-size: 0.9rem; font-weight: 500; line-height: 1.25; }
  .diagram[class*="lanes-"] .detail { line-height: 1.3; min-height: 0.4rem; }
  .diagram[class*="lanes-"] .refused .label, .diagram[class*="lanes-"] .fault .label { font-weight: 650; }
  .diagram[class*="lanes-"] .line { position: relative; width: 100%; border-top: 2px solid var(--accent); }
  .diagram[class*="lanes-"] .reply .line { border-top-style: dashed; }
  .diagram[class*="lanes-"] .line::after { content: ""; position: absolute; top: -6px; border: 5px solid transparent; }
  .diagram[class*="lanes-"] .right .line::after { right: 0; border-left: 9px solid var(--accent); border-right: 0; }
  .diagram[class*="lanes-"] .left .line::after { left: 0; border-right: 9px solid var(--accent); border-left: 0; }
  .diagram[class*="lanes-"] .refused .line, .diagram[class*="lanes-"] .fault .line { border-top-color: var(--bad); }
  .diagram .refused .right .line::after, .diagram .fault .right .line::after { border-left-color: var(--bad); }
  .diagram .refused .left .line::after, .diagram .fault .left .line::after { border-right-color: var(--bad); }
  .diagram[class*="lanes-"] .event .line { display: none; }
  .diagram[class*="lanes-"] .event .label { border: 1px solid var(--line); border-radius: 999px; padding: 0.1rem 0.7rem; }
  .diagram[class*="lanes-"] .claims { padding-inline: 8.35rem 4.75rem; }
}
@media (forced-colors: active) {
  .diagram .line::after { forced-color-adjust: none; }
  .diagram[class*="lanes-"] .step .right .line::after { border-left-color: LinkText; }
  .diagram[class*="lanes-"] .step .left .line::after { border-right-color: LinkText; }
}
${upTo(MAX_LANES, (lanes) => `.lanes-${lanes} { --columns: ${2 * lanes}; }`)}
${upTo(2 * MAX_LANES + 1, (line) => `.from-${line} { grid-column-start: ${line}; } .to-${line} { grid-column-end: ${line}; }`)}
`
