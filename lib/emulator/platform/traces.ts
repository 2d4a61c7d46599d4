/** Keeps the log behind the flows: calls with responses and times, and events without a call. The length is limited. */
import { type Call, printable } from './calls'
import type { Claims } from './claims'

/** A call, or an event of the admin portal, about a session or an account. */
export interface Trace {
  /** Time by the emulator's clock, in milliseconds. */
  readonly at: number
  /** Arrival of the request by the process's monotonic clock, which orders traces of the same millisecond. */
  readonly tick?: number
  /** Time until the response, in milliseconds. */
  readonly durationMs?: number
  readonly sid: string | null
  /** Key of the user's browser, if the session has a browser. */
  readonly browser?: string | undefined
  /** Account that is logged in after the call. */
  readonly accountId?: string | undefined
  readonly call?: Call
  /** Claims of the Session Token in the response, with the ticket masked. */
  readonly answer?: Call['claims'] | undefined
  /** An event without a call, such as "session pruned". */
  readonly event?: string
}

/** Maximum of traces in the log. */
const MAX_TRACES = 10_000

/** Keeps the latest traces of an emulator. */
export class TraceLog {
  private traces: Trace[] = []

  /** Adds a trace. Drops the oldest traces, many at a time. */
  add(trace: Trace): void {
    this.traces.push(trace)
    if (this.traces.length >= 2 * MAX_TRACES) this.traces = this.traces.slice(-MAX_TRACES)
  }

  /** Returns the traces of a session, oldest first, with each Logout all of an account that was logged in. */
  ofSession(sid: Trace['sid']): Trace[] {
    const accounts = new Set<unknown>()
    return this.traces.slice(-MAX_TRACES).filter((trace) => {
      if (trace.sid === sid && trace.accountId !== undefined) accounts.add(trace.accountId)
      return trace.sid === sid || (trace.call?.operation === 'logoutall' && accounts.has(trace.call.claims['aid']))
    })
  }

  /** Returns the traces of every session of a browser, oldest first. */
  ofBrowser(browser: string): Trace[] {
    const kept = this.traces.slice(-MAX_TRACES)
    const sids = new Set(kept.filter((trace) => trace.browser === browser).map(({ sid }) => sid))
    const found = new Set([...sids].flatMap((sid) => this.ofSession(sid)))
    return kept.filter((trace) => found.has(trace))
  }

  /** Returns the traces of requests since a time of the emulator's clock. */
  since(at: number): Trace[] {
    return this.traces.filter((trace) => trace.at >= at)
  }

  /** Removes all traces. */
  clear(): void {
    this.traces = []
  }
}

/** Returns the claims of a Session Token for the log, with the ticket masked. */
export function answerForLog(token: string): Call['claims'] {
  const payload = token.slice(token.indexOf('.') + 1, token.lastIndexOf('.'))
  const claims: Claims = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8'))
  const shown = (name: string, value: unknown) => (name === 'at' && value !== null ? '***' : printable(value))
  return Object.fromEntries(Object.entries(claims).map(([name, value]) => [name, shown(name, value)]))
}
