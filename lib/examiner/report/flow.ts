/** Fits a flow into a report: all browsers share a lane, and long flows are cut in the middle. */
import type { Flow, FlowStep } from '../../emulator/flow/types'
import { USER_AGENT } from '../browser'

const BROWSERS = { id: 'browsers', name: 'Browsers' }

/** Returns the flow with at most four lanes and some steps, so that its diagram fits a page. */
export function reportFlow(flow: Flow, maxSteps: number): Flow {
  const servers = flow.participants.filter(({ id }) => ['site', 'second', 'platform'].includes(id))
  const browsers = flow.participants.filter((one) => !servers.includes(one))
  const steps = shortened(flow.steps, maxSteps).map(withoutUsual)
  if (browsers.length < 2) return { ...flow, steps }
  const names = new Map(browsers.map(({ id, name }) => [id, name.replace(/^Browser (?=.)/, '')]))
  return { ...flow, participants: [BROWSERS, ...servers], steps: steps.map((step) => inOneLane(step, names)) }
}

/** Claims of nearly every token, which tell something at the landing page only. */
const usual = ['cid', 'iss', 'aud', 'nbf', 'iat', 'exp']

/** Leaves out the claims that are the same in each call of the platform. */
function withoutUsual(step: FlowStep): FlowStep {
  const isCall = [step.from, step.to].includes('platform')
  const isKept = ([name, value]: [string, unknown]) => !(isCall && usual.includes(name)) && value !== USER_AGENT
  return { ...step, claims: Object.fromEntries(Object.entries(step.claims).filter(isKept)) }
}

/** Names the browser in the step, because its lane has many. */
function inOneLane(step: FlowStep, names: ReadonlyMap<string, string>): FlowStep {
  const name = names.get(step.from) ?? names.get(step.to)
  if (name === undefined) return step
  const lane = (id: string) => (names.has(id) ? BROWSERS.id : id)
  return { ...step, from: lane(step.from), to: lane(step.to), name: `${name}: ${step.name}` }
}

function shortened(steps: readonly FlowStep[], maxSteps: number): readonly FlowStep[] {
  if (steps.length <= maxSteps) return steps
  const begin = Math.floor(maxSteps / 3) // the end of a flow tells more than its beginning
  const left = `${steps.length - maxSteps} more steps, see the JSON report`
  const gap = steps
    .slice(begin, begin + 1)
    .map(({ atMs }): FlowStep => ({ atMs, from: 'site', to: 'site', name: left, claims: {}, verdict: 'ok' }))
  return [...steps.slice(0, begin), ...gap, ...steps.slice(begin - maxSteps)]
}
