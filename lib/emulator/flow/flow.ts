/** Makes flows from traces. */
import type { EmulatedOperation } from '../faults/rules'
import type { Call } from '../platform/calls'
import type { Trace } from '../platform/traces'
import { judgeCall } from './requirements'
import { flowText } from './text'
import type { Flow, FlowParticipant, FlowStep } from './types'

/** Name and client ID of a site. */
export interface FlowSite {
  readonly clientId: string
  readonly name: string
}

const BROWSER: FlowParticipant = { id: 'browser', name: 'Browser' }
const PLATFORM: FlowParticipant = { id: 'platform', name: 'Platform' }

/** A site without a client ID that the platform knows. */
const UNKNOWN: FlowParticipant = { id: 'unknown', name: 'Unknown site' }

const names: Readonly<Record<EmulatedOperation, string>> = {
  identify: 'Identify',
  authenticate: 'Authenticate',
  sessionstatus: 'Session Status',
  logout: 'Logout',
  logoutall: 'Logout all',
  token: 'ticket exchange',
  me: 'REST API: user',
  marketplace: 'REST API: marketplace groups',
  gift: 'REST API: gift receiver',
  administrators: 'REST API: administrators',
}

/** Makes the flow of traces. `sites` are API clients, which give the sites their names. */
export function makeFlow(title: string, traces: readonly Trace[], sites: readonly FlowSite[]): Flow {
  const used = new Set(traces.flatMap(({ call }) => (call ? [call.clientId ?? UNKNOWN.id] : [])))
  const known = sites.filter(({ clientId }) => used.has(clientId)).map(({ clientId, name }) => ({ id: clientId, name }))
  const participants = [BROWSER, ...known, ...(used.has(UNKNOWN.id) ? [UNKNOWN] : []), PLATFORM]
  return flowOf(title, participants, traces.flatMap(stepsOf))
}

/** Makes a flow of given steps. */
export function flowOf(title: string, participants: readonly FlowParticipant[], steps: readonly FlowStep[]): Flow {
  const flow = { title, participants, steps }
  return { ...flow, toString: () => flowText(flow) }
}

function stepsOf(trace: Trace): FlowStep[] {
  const { at, call, event = '' } = trace
  if (call) return call.operation === 'identify' ? identifySteps(trace, call) : serverSteps(trace, call)
  return [{ atMs: at, from: PLATFORM.id, to: PLATFORM.id, name: event, claims: {}, verdict: 'ok' }]
}

const request = { claims: {}, verdict: 'ok' } as const

/** Assigns a redirect to the site that made its token, even if another browser brings the token. */
function identifySteps(trace: Trace, call: Call): FlowStep[] {
  const { at } = trace
  const { id } = flowParticipant(call)
  return [
    { ...request, atMs: at, from: id, to: BROWSER.id, name: 'redirect to Identify' },
    { ...request, atMs: at, from: BROWSER.id, to: PLATFORM.id, name: names.identify, claims: call.claims },
    { ...response(trace, call), to: BROWSER.id },
  ]
}

/** Each Authenticate has a login form before it. The emulator does not see the form, because it goes from browser to site. */
function serverSteps(trace: Trace, call: Call): FlowStep[] {
  const { id } = flowParticipant(call)
  const { at } = trace
  const isLogin = call.operation === 'authenticate'
  return [
    ...(isLogin ? [{ ...request, atMs: at, from: BROWSER.id, to: id, name: 'login form (POST)' }] : []),
    { ...request, atMs: at, from: id, to: PLATFORM.id, name: names[call.operation], claims: call.claims },
    { ...response(trace, call), to: id },
  ]
}

const flowParticipant = ({ clientId }: Call) => (clientId === null ? UNKNOWN : { id: clientId })

function response({ at, durationMs = 0, answer = {} }: Trace, call: Call): Omit<FlowStep, 'to'> {
  const isLanding = call.operation === 'identify' && answer['sts'] !== undefined
  const { outcome } = call
  const name =
    outcome === 'no_answer' ? 'no response' : isLanding ? `redirect to the landing page: ${outcome}` : outcome
  return { atMs: at + Math.round(durationMs), from: PLATFORM.id, name, claims: answer, durationMs, ...judgeCall(call) }
}
