/** The log behind the flows: each call with its response and times, and each event without a call. Bounded. */
import { type Call, printable } from './calls'
import type { Claims } from './claims'

/** One call, or one event in the admin portal, that is about a session or an account. */
export interface Trace {
  /** The emulator's time, in milliseconds. */
  readonly at: number
  /** When the request came, by the process's own monotonic clock: orders traces of one millisecond. */
  readonly tick?: number
  /** Time until the response, in milliseconds. */
  readonly durationMs?: number
  readonly sid: string | null
  /** Key of the user's browser, where the session has one. */
  readonly browser?: string | undefined
  /** The account that is logged in on the session after the call. */
  readonly accountId?: string | undefined
  readonly call?: Call
  /** Claims of the Session Token in the response, the ticket masked. */
  readonly answer?: Call['claims'] | undefined
  /** An event without a call, such as "session pruned". */
  readonly event?: string
}

/** How many traces the log keeps. */
const MAX_TRACES = 10_000

/** The latest traces of one emulator. */
export class TraceLog {
  private traces: Trace[] = []

  /** Adds a trace. Drops the oldest ones, many at a time. */
  add(trace: Trace): void {
    this.traces.push(trace)
    if (this.traces.length >= 2 * MAX_TRACES) this.traces = this.traces.slice(-MAX_TRACES)
  }

  /** Traces about one session, oldest first, with each Logout all of an account that was logged in on it. */
  ofSession(sid: string): Trace[] {
    const accounts = new Set<unknown>()
    return this.traces.slice(-MAX_TRACES).filter((trace) => {
      if (trace.sid === sid && trace.accountId !== undefined) accounts.add(trace.accountId)
      return trace.sid === sid || (trace.call?.operation === 'logoutall' && accounts.has(trace.call.claims['aid']))
    })
  }

  /** Traces about every session of one browser, oldest first. */
  ofBrowser(browser: string): Trace[] {
    const kept = this.traces.slice(-MAX_TRACES)
    const sids = new Set(kept.filter((trace) => trace.browser === browser).map(({ sid }) => sid))
    const found = new Set([...sids].flatMap((sid) => (sid === null ? [] : this.ofSession(sid))))
    return kept.filter((trace) => found.has(trace))
  }

  /** Traces of requests that came at a moment or later, by the emulator's clock. */
  since(at: number): Trace[] {
    return this.traces.filter((trace) => trace.at >= at)
  }

  /** Forgets all traces. */
  clear(): void {
    this.traces = []
  }
}

const answerClaims = ['iss', 'aud', 'nbf', 'iat', 'exp', 'sid', 'aid', 'sts', 'at', 'err', 'frf', 'raa']

/** The claims of a Session Token, fit for the log: a ticket is masked. */
export function answerForLog(token: string): Call['claims'] {
  const claims: Claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8'))
  const present = answerClaims.filter((name) => Object.hasOwn(claims, name))
  return Object.fromEntries(
    present.map((name) => [name, name === 'at' && claims[name] !== null ? '***' : printable(claims[name])]),
  )
}
