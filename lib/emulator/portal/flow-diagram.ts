/** Renders a flow as a sequence diagram (SVG), and as a list of steps with their claims. */
import { clockText } from '../flow/text'
import type { Flow, FlowStep } from '../flow/types'
import { type Html, portalHtml } from './html'

const GUTTER = 110
const LANE = 270
const ROW = 52
const TOP = 58
const HALF_BOX = 82
const CHARACTER = 7.2

/** Claims beside the arrow. */
const shownClaims = ['sts', 'err', 'raa', 'frf', 'lks', 'usr', 'grant_type']

/**
 * Returns the diagram. Each arrow links to its step in the list.
 * @param prefix begins the IDs of the flow's steps, so that a page can hold several flows
 */
export function flowDiagram(flow: Flow, prefix: string): Html {
  const { participants, steps, title } = flow
  const width = GUTTER + 2 * HALF_BOX + LANE * (participants.length - 1) + 20
  const height = TOP + ROW * steps.length + 24
  const lanes = participants.map(({ name }, index) => lane(name, laneX(index), height))
  return portalHtml`<div class="diagram" tabindex="0" role="region" aria-label="Sequence diagram: ${title}">
<svg viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="group" aria-label="Steps of ${title}">
${lanes}
${steps.map((step, index) => arrow(flow, step, { index, prefix }))}
</svg></div>`
}

const laneX = (index: number) => GUTTER + HALF_BOX + LANE * index

function lane(name: string, x: number, height: number): Html {
  return portalHtml`<line class="lane" x1="${x}" y1="40" x2="${x}" y2="${height}" />
<rect class="who" x="${x - HALF_BOX}" y="6" width="${2 * HALF_BOX}" height="34" rx="8" />
<text class="name" x="${x}" y="28" text-anchor="middle">${fitText(name, 2 * HALF_BOX - 12)}</text>`
}

interface Place {
  readonly index: number
  readonly prefix: string
}

function arrow({ participants, steps }: Flow, step: FlowStep, { index, prefix }: Place): Html {
  const at = (id: string) =>
    laneX(
      Math.max(
        0,
        participants.findIndex((one) => one.id === id),
      ),
    )
  const [from, to] = [at(step.from), at(step.to)]
  const y = TOP + ROW * index + 28
  const isReply = index > 0 && step.durationMs !== undefined
  const first = steps[0]?.at ?? step.at
  return portalHtml`<a href="#${prefix}${index + 1}" class="step ${step.verdict}">
<text class="when" x="8" y="${y + 4}">+${((step.at - first) / 1000).toFixed(2)} s</text>
${from === to ? event(step, from, y) : line({ ...step, name: `${index + 1}. ${step.name}` }, { from, to, y, isReply })}
</a>`
}

/** Draws an event of a participant beside its lane. */
function event({ name }: FlowStep, x: number, y: number): Html {
  return portalHtml`<circle class="head" cx="${x}" cy="${y}" r="5" /><text class="label" x="${x - 12}" y="${y + 4}" text-anchor="end">${name}</text>`
}

interface Line {
  readonly from: number
  readonly to: number
  readonly y: number
  readonly isReply: boolean
}

function line(step: FlowStep, { from, to, y, isReply }: Line): Html {
  const side = from < to ? -1 : 1
  const room = Math.abs(to - from) - 16
  const middle = (from + to) / 2
  const mark = step.verdict === 'ok' ? '' : step.verdict === 'fault' ? '! ' : '✗ '
  return portalHtml`<line class="${isReply ? 'arrow reply' : 'arrow'}" x1="${from}" y1="${y}" x2="${to + side * 8}" y2="${y}" />
<path class="head" d="M${to} ${y}l${side * 10} -5v10z" />
<text class="label" x="${middle}" y="${y - 8}" text-anchor="middle">${fitText(mark + step.name, room)}</text>
<text class="detail" x="${middle}" y="${y + 15}" text-anchor="middle">${fitText(step.requirement ?? claimsInShort(step), room)}</text>`
}

/** Returns the most important claims, without empty values. */
function claimsInShort({ claims }: FlowStep): string {
  const shown = shownClaims.filter(
    (name) => Object.hasOwn(claims, name) && claims[name] !== null && claims[name] !== -1,
  )
  return shown.map((name) => `${name} ${String(claims[name])}`).join(', ')
}

function fitText(text: string, room: number): string {
  const most = Math.floor(room / CHARACTER)
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`
}

/** Returns the list of steps. A click on a step, or on its arrow in the diagram, opens the claims. */
export function flowList({ participants, steps }: Flow, prefix: string): Html {
  const nameOf = (id: string) => participants.find((one) => one.id === id)?.name ?? id
  return portalHtml`<ol class="steps">${steps.map((step, index) => {
    const { from, to, name, verdict, claims, requirement, at, durationMs } = step
    const way = from === to ? nameOf(from) : `${nameOf(from)} → ${nameOf(to)}`
    const hasClaims = Object.keys(claims).length > 0
    return portalHtml`<li><details data-key="${prefix}${index + 1}"><summary>
<time>${clockText(at)}</time> <span>${way}</span> <strong class="${verdict === 'ok' ? 'fine' : 'wrong'}">${name}</strong>${
      durationMs !== undefined && portalHtml` <span class="muted">${Math.round(durationMs)} ms</span>`
    }</summary>
<div id="${prefix}${index + 1}">${requirement !== undefined && portalHtml`<p class="wrong">${requirement}</p>`}
${hasClaims ? portalHtml`<pre>${JSON.stringify(claims, undefined, 2)}</pre>` : portalHtml`<p class="muted">No token and no claims.</p>`}</div>
</details></li>`
  })}</ol>`
}

/** Styles diagrams and lists for light and dark. Needs the CSS variables of the page. */
export const flowStyle = `
.diagram { overflow-x: auto; margin-bottom: 0.75rem; }
.diagram svg { display: block; max-width: none; font: 13px system-ui, "Segoe UI", Roboto, sans-serif; }
.diagram .lane { stroke: var(--line); stroke-width: 1.5; stroke-dasharray: 3 4; }
.diagram .who { fill: var(--plain-ground); stroke: var(--line); }
.diagram text { fill: var(--ink); paint-order: stroke; stroke: var(--card); stroke-width: 4px; stroke-linejoin: round; }
.diagram .name { font-weight: 650; stroke: none; }
.diagram .detail, .diagram .when { fill: var(--soft); font-size: 11.5px; }
.diagram .when { font-family: ui-monospace, Menlo, Consolas, monospace; }
.diagram .arrow { stroke: var(--accent); stroke-width: 1.8; }
.diagram .reply { stroke-dasharray: 6 4; }
.diagram .head { fill: var(--accent); }
.diagram .refused .arrow, .diagram .fault .arrow { stroke: var(--bad); }
.diagram .refused .head, .diagram .fault .head, .diagram .refused .label, .diagram .fault .label { fill: var(--bad); }
.diagram .refused .label, .diagram .fault .label { font-weight: 650; }
.diagram a:hover .label, .diagram a:focus-visible .label { text-decoration: underline; }
.diagram a:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
.steps { margin: 0; padding: 0; list-style: none; font-size: 0.92rem; }
.steps > li { border-top: 1px solid var(--hair); padding: 0.3rem 0; }
.wrong { color: var(--bad); }
.steps .wrong::before { content: "✗ "; }
`
