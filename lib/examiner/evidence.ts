/** Collects the evidence of a check: its requests and the platform's calls as a flow, with secrets masked. */
import { flowOf } from '../emulator/flow/flow'
import { judgeCall } from '../emulator/flow/requirements'
import type { Flow, FlowParticipant, FlowStep } from '../emulator/flow/types'
import type { Trace } from '../emulator/platform/traces'
import type { Hop } from './browser'
import type { Platform } from './platform'
import { maskedClaims } from './tokens'

/** Maximum of steps. Longer evidence is cut in the middle, so that a browser can open the report. */
const MAX_STEPS = 60

/** Returns the flow of a check. */
export function evidenceOf(title: string, hops: readonly Hop[], traces: readonly Trace[], platform: Platform): Flow {
  const own = traces.filter(({ call }) => call?.operation !== 'identify')
  const timed = [
    ...hops.flatMap((hop) => hopSteps(hop, platform)),
    ...own.flatMap((trace) => callSteps(trace, platform)),
  ]
  const steps = timed.sort((a, b) => a.tick - b.tick).map(({ step }) => step)
  const ordered = shortenFlow(steps).map((step) => scrubbed(step, platform))
  const browsers = [...new Set(hops.map(({ browser }) => browser))].map((id) => ({ id, name: id }))
  const second = own.some(({ call }) => call?.clientId === platform.second.clientId) ? [SECOND] : []
  return flowOf(title, [...browsers, SITE, ...second, PLATFORM], ordered)
}

const SITE: FlowParticipant = { id: 'site', name: 'Site' }
const SECOND: FlowParticipant = { id: 'second', name: 'Second site' }
const PLATFORM: FlowParticipant = { id: 'platform', name: 'Platform' }

function shortenFlow(steps: readonly FlowStep[]): readonly FlowStep[] {
  if (steps.length <= MAX_STEPS) return steps
  const half = MAX_STEPS / 2
  const [first] = steps
  const gap: FlowStep = {
    at: steps[half]?.at ?? 0,
    from: 'site',
    to: 'site',
    name: `${steps.length - MAX_STEPS} more steps`,
    claims: {},
    verdict: 'ok',
  }
  return first ? [...steps.slice(0, half), gap, ...steps.slice(-half)] : []
}

/** A step with its time. */
interface TimedStep {
  readonly tick: number
  readonly step: FlowStep
}

/** Returns a request and its response as steps. */
const pair = (tick: number, ms: number, request: FlowStep, response: FlowStep): TimedStep[] => [
  { tick, step: request },
  { tick: tick + ms, step: response },
]

function hopSteps(hop: Hop, platform: Platform): TimedStep[] {
  const { browser, url, method, at, tick, ms, status, error, location, fields, headers } = hop
  const to = url.origin === new URL(platform.url).origin ? 'platform' : 'site'
  const token = url.searchParams.get('t')
  const claims = { ...fields, ...(token === null ? {} : maskedClaims(token)) }
  const isBad = status === 0 || status >= 500
  const cache = headers['cache-control']
  const reply = { ...(cache === undefined ? {} : { 'cache-control': cache }), ...receivedCookieNames(hop) }
  return pair(
    tick,
    ms,
    { at, from: browser, to, name: `${method} ${url.pathname}`, claims, verdict: 'ok' },
    {
      at: at + ms,
      from: to,
      to: browser,
      name:
        status === 0
          ? (error ?? 'no response')
          : `${status}${location === undefined ? '' : ` → ${shortAddress(location)}`}`,
      claims: reply,
      verdict: isBad ? 'fault' : 'ok',
      durationMs: ms,
    },
  )
}

const shortAddress = (location: string) => {
  const { origin, pathname } = new URL(location)
  return pathname.length > 1 ? pathname : origin
}

/** Returns the names of cookies without their values. */
function receivedCookieNames({ setCookie }: Hop): Record<string, string> {
  const names = setCookie.map((line) => line.replace(/=[^;]*/, '=***'))
  return names.length === 0 ? {} : { 'set-cookie': names.join(', ') }
}

function callSteps(trace: Trace, platform: Platform): TimedStep[] {
  const { call, at, tick = 0, durationMs = 0, answer = {} } = trace
  if (!call) return []
  const site = call.clientId === platform.second.clientId ? 'second' : 'site'
  return pair(
    tick,
    durationMs,
    { at, from: site, to: 'platform', name: call.operation, claims: call.claims, verdict: 'ok' },
    {
      at: at + durationMs,
      from: 'platform',
      to: site,
      name: call.outcome,
      claims: answer,
      durationMs,
      ...judgeCall(call),
    },
  )
}

/** Masks the passwords of the examiner's accounts and the client secrets in every field. */
function scrubbed(step: FlowStep, { accounts, site, second }: Platform): FlowStep {
  const secrets = new Set([...accounts.map(({ password }) => password), site.clientSecret, second.clientSecret])
  const claims = Object.entries(step.claims).map(([name, value]) => [name, secrets.has(String(value)) ? '***' : value])
  return { ...step, claims: Object.fromEntries(claims) }
}
