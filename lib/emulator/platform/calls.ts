/** Keeps the log of calls with claims and outcomes, without passwords, tokens and tickets. The length is limited. */
import type { EpochSeconds } from '../../protocol/claims'
import type { EmulatedOperation, FaultKind } from '../faults/rules'
import type { Claims } from './claims'

/** A call of an operation. */
export interface Call {
  /** Time by the emulator's clock, in seconds. */
  readonly at: EpochSeconds
  /** Operation of SSO2, of the token endpoint, or of the REST API. */
  readonly operation: EmulatedOperation
  /** Client that made the call, or null if the client is unknown. */
  readonly clientId: string | null
  /** SSO session of the request. At Identify, the browser's session. Elsewhere, the session of the ticket or the access token. */
  readonly sid: string | null
  /** Claims of the request, verified or not, with `pwd` masked. At the REST API, the account of the access token. */
  readonly claims: Readonly<Record<string, string | number | boolean | null>>
  /** `sts` or `err` of the response, or `ok` or an error code elsewhere. By a fault: `no_answer`, `garbage`, `status_503`. */
  readonly outcome: string
  /** Reason of a refusal, for people. */
  readonly detail?: string
  /** Fault that affected the call. */
  readonly fault?: FaultKind['kind']
}

/** Selects calls. Missing members select all. */
export interface CallFilter {
  /** Calls of this operation. */
  readonly operation?: string | undefined
  /** Calls about this SSO2 session. */
  readonly sid?: string | undefined
  /** Calls of this API client. */
  readonly clientId?: string | undefined
}

/** Maximum of calls in the log. */
const CALLS_KEPT = 10_000

/** Keeps the latest calls of an emulator. */
export class CallLog {
  private calls: Call[] = []
  private count = 0

  /** Adds a call. Drops the oldest calls, many at a time, because that is cheaper. */
  add(call: Call): void {
    this.calls.push(call)
    this.count += 1
    if (this.calls.length >= 2 * CALLS_KEPT) this.calls = this.calls.slice(-CALLS_KEPT)
  }

  /** Returns the calls that the filter selects, oldest first. */
  list({ operation, sid, clientId }: CallFilter = {}): Call[] {
    return this.calls
      .slice(-CALLS_KEPT)
      .filter(
        (call) =>
          (operation === undefined || call.operation === operation) &&
          (sid === undefined || call.sid === sid) &&
          (clientId === undefined || call.clientId === clientId),
      )
  }

  /** Returns the latest calls, newest first, each with its number since the start. */
  latest(count: number): { call: Call; number: number }[] {
    const newestFirst = this.calls.slice(-count).reverse()
    return newestFirst.map((call, index) => ({ call, number: this.count - index }))
  }

  /** Removes all calls. */
  clear(): void {
    this.calls = []
    this.count = 0
  }
}

const loggedClaims = ['cid', 'nbf', 'iat', 'exp', 'iss', 'aud', 'sid', 'aid', 'usr', 'pwd', 'ipa', 'uas', 'lks']
const MAX_LOGGED_TEXT = 300

/** Returns the known claims of a request for the log, with the password masked and long texts cut. */
export function claimsForLog(claims: Claims): Call['claims'] {
  const present = loggedClaims.filter((name) => Object.hasOwn(claims, name))
  return Object.fromEntries(present.map((name) => [name, name === 'pwd' ? '***' : printable(claims[name])]))
}

/** Returns a claim for the log. Long texts are cut, and structures are replaced by their type. */
export function printable(value: unknown): string | number | boolean | null {
  if (typeof value === 'string') return value.slice(0, MAX_LOGGED_TEXT)
  if (typeof value === 'number' || typeof value === 'boolean' || value === null) return value
  return Array.isArray(value) ? '[array]' : `[${typeof value}]`
}
