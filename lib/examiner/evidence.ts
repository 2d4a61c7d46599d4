/** Collects the evidence of a check: its requests and the platform's calls as a flow, with secrets masked. */
import { flowOf } from '../emulator/flow/flow'
import { judgeCall } from '../emulator/flow/requirements'
import type { Flow, FlowParticipant, FlowStep } from '../emulator/flow/types'
import type { Trace } from '../emulator/platform/traces'
import type { Hop } from './browser'
import { showsUser } from './facts'
import type { Platform } from './platform'
import { withoutSecrets } from './secrets'
import type { Settings } from './settings'
import { splitText } from './split'
import type { Run } from './stage'
import { maskedClaims } from './tokens'

/** Maximum of steps. Longer evidence is cut in the middle, so that a browser can open the report. */
const MAX_STEPS = 60

/** Returns the flow of a check. */
export function evidenceOf(
  title: string,
  hops: readonly Hop[],
  traces: readonly Trace[],
  { platform, settings }: Pick<Run, 'platform' | 'settings'>,
): Flow {
  const labels = new CookieLabels()
  const view = (hop: Hop): string => userView(hop, platform, settings)
  const own = traces.filter(({ call }) => call?.operation !== 'identify')
  const timed = [
    ...hops.flatMap((hop) => hopSteps(hop, { platform, labels, view })),
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
  const name = `${steps.length - MAX_STEPS} more steps`
  const gap = steps
    .slice(half, half + 1)
    .map(({ atMs }): FlowStep => ({ atMs, from: 'site', to: 'site', name, claims: {}, verdict: 'ok' }))
  return [...steps.slice(0, half), ...gap, ...steps.slice(-half)]
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

/** The tools for the steps of a check. */
interface Describe {
  readonly platform: Platform
  readonly labels: CookieLabels
  /** Returns what the page shows about the user, or an empty text. */
  view(hop: Hop): string
}

function hopSteps(hop: Hop, { platform, labels, view }: Describe): TimedStep[] {
  const { browser, url, method, at, tick, ms, status, error, location, fields, headers } = hop
  const to = url.origin === new URL(platform.url).origin ? 'platform' : 'site'
  const token = url.searchParams.get('t')
  const sent = hop.cookie ? { cookie: labels.sent(hop.cookie) } : {}
  const back = url.searchParams.get('r')
  const r: Record<string, string> = back === null ? {} : { r: withoutSecrets(back) }
  const claims = { ...fields, ...(token === null ? {} : maskedClaims(token)), ...r, ...sent }
  const isBad = status === 0 || status >= 500
  const cache = headers['cache-control']
  const received: Record<string, string> =
    hop.setCookie.length === 0 ? {} : { 'set-cookie': hop.setCookie.map((line) => labels.received(line)).join(', ') }
  const reply = { ...(cache === undefined ? {} : { 'cache-control': cache }), ...received }
  return pair(
    tick,
    ms,
    { atMs: at, from: browser, to, name: `${method} ${pageOf(url)}`, claims, verdict: 'ok' },
    {
      atMs: at + ms,
      from: to,
      to: browser,
      name:
        status === 0
          ? error
          : `${status}${location === undefined ? '' : ` → ${shortAddress(location)}`}${to === 'site' ? view(hop) : ''}`,
      claims: reply,
      verdict: isBad ? 'fault' : 'ok',
      durationMs: ms,
    },
  )
}

const shortAddress = (location: string) => {
  const page = pageOf(new URL(location))
  return page.length > 1 ? page : new URL(location).origin
}

/** Returns path and query. The parameters t and r of Identify and of the landing page are among the claims. */
function pageOf({ pathname, search }: URL): string {
  const pairs = splitText(search.slice(1), '&').filter((pair) => !/^[tr]=/.test(pair))
  const query = withoutSecrets(pairs.join('&'))
  return query === '' ? pathname : `${pathname}?${query}`
}

/** Gives each value of a cookie a number, so that a report shows changes without the values. */
class CookieLabels {
  readonly #values = new Map<string, string[]>()

  /** Returns a `Cookie` header with labels, such as `session=#2; visit=#1`. */
  sent(header: string): string {
    return header
      .split('; ')
      .map((pair) => this.#label(pair))
      .join('; ')
  }

  /** Returns a `Set-Cookie` line with a label. */
  received(line: string): string {
    const [pair, ...attributes] = splitText(line, ';')
    return [this.#label(pair), ...attributes].join(';')
  }

  #label(pair: string): string {
    const end = pair.indexOf('=')
    const [name, value] = [pair.slice(0, end).trim(), pair.slice(end + 1)]
    if (value === '') return `${name}=`
    const known = this.#values.get(name) ?? []
    const values = known.includes(value) ? known : [...known, value]
    this.#values.set(name, values)
    return `${name}=#${values.indexOf(value) + 1}`
  }
}

/** Returns what a page shows about the user. Redirects, errors and other files show nothing. */
function userView({ status, headers, text }: Hop, { accounts }: Platform, settings: Settings): string {
  if (status !== 200 || !/html/i.test(headers['content-type'] ?? '')) return ''
  const page = { status, text }
  const [first] = accounts
  if (settings.loggedIn !== undefined || settings.loggedOut !== undefined)
    return showsUser(page, first, settings) ? ', shows a user' : ', no user'
  const shown = accounts.find((account) => showsUser(page, account, settings))
  return shown ? `, shows ${shown.name}` : ', no user'
}

function callSteps(trace: Trace, platform: Platform): TimedStep[] {
  const { call, at, tick = 0, durationMs = 0, answer = {} } = trace
  if (!call) return []
  const site = call.clientId === platform.second.clientId ? 'second' : 'site'
  return pair(
    tick,
    durationMs,
    { atMs: at, from: site, to: 'platform', name: call.operation, claims: call.claims, verdict: 'ok' },
    {
      atMs: at + durationMs,
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
