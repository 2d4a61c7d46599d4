/** Writes a flow as text. */
import type { Flow, FlowParticipant, FlowStep } from './types'

/** Writes the flow, a line for each step. Below a refusal or a fault, adds the requirement. */
export function flowText({ title, participants, steps }: Omit<Flow, 'toString'>): string {
  const rows = steps.map((step) => ({ step, way: wayText(participants, step) }))
  const width = Math.max(0, ...rows.map(({ way }) => way.length))
  const lines = rows.flatMap(({ step, way }) => {
    const line = `${clockText(step.atMs)}  ${way.padEnd(width)}  ${markOf(step)} ${step.name}${tookText(step)}`
    const claims = claimsText(step)
    return [line, ...(claims === '' ? [] : [`${' '.repeat(16)}${claims}`]), ...requirementLines(step)]
  })
  return [title, ...(lines.length === 0 ? ['no call was about it'] : lines), ''].join('\n')
}

/** Returns the names of both ends of a step. An event has only one. */
export function wayText(participants: readonly FlowParticipant[], { from, to }: FlowStep): string {
  const names = new Map(participants.map(({ id, name }) => [id, name]))
  return [...new Set([from, to])].map((id) => names.get(id)).join(' → ')
}

/** Returns the time of day in UTC, to the millisecond. */
export const clockText = (atMs: number): string => new Date(atMs).toISOString().slice(11, 23)

/** Returns the sign of a step's verdict. */
const markOf = ({ verdict }: FlowStep): string => ({ ok: '·', refused: '✗', fault: '!' })[verdict]

/** Returns a duration with two digits that say something, such as `0.42 ms`, `7.3 ms`, `704 ms` or `1.2 s`. */
export function durationText(ms: number): string {
  if (ms >= 1000) return `${(ms / 1000).toFixed(1)} s`
  return `${ms >= 10 ? Math.round(ms) : ms.toFixed(ms >= 1 ? 1 : 2)} ms`
}

const tookText = ({ durationMs }: FlowStep) => (durationMs === undefined ? '' : ` (${durationText(durationMs)})`)

/** Returns the claims in a single line. */
function claimsText({ claims }: FlowStep): string {
  return Object.entries(claims)
    .map(([name, value]) => `${name}=${String(value)}`)
    .join(' ')
}

function requirementLines({ requirement }: FlowStep): string[] {
  return requirement === undefined ? [] : [`${' '.repeat(16)}${requirement}`]
}
