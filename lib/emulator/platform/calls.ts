/** The log of calls: what was asked and how it went, without passwords, tokens and tickets. Bounded. */
import type { EpochSeconds } from '../../protocol/claims'
import type { EmulatedOperation, FaultKind } from '../faults/rules'
import type { Claims } from './claims'

/** One call of an operation. */
export interface Call {
  /** The emulator's time, in seconds. */
  readonly at: EpochSeconds
  /** Of SSO2, the token endpoint, or the REST API. */
  readonly operation: EmulatedOperation
  /** Who called; null where nobody can tell. */
  readonly clientId: string | null
  /** SSO session of the request, the browser's session at Identify, the ticket's or access token's elsewhere. */
  readonly sid: string | null
  /** Claims of the request as they came, checked or not; `pwd` is masked. At the REST API, what was asked for. */
  readonly claims: Readonly<Record<string, string | number | boolean | null>>
  /** `sts` or `err` of the answer; `ok` or the error's code elsewhere; `no_answer`, `garbage`, `status_503` by a fault. */
  readonly outcome: string
  /** Why a request was refused, for people. */
  readonly detail?: string
  /** The fault that hit the call. */
  readonly fault?: FaultKind['kind']
}

/** Which calls to give; what is left out does not matter. */
export interface CallFilter {
  /** Calls of this operation. */
  readonly operation?: string | undefined
  /** Calls about this SSO2 session. */
  readonly sid?: string | undefined
  /** Calls of this API client. */
  readonly clientId?: string | undefined
}

/** How many calls the log keeps. */
export const CALLS_KEPT = 10_000

/** The latest calls of one emulator. */
export class CallLog {
  private calls: Call[] = []
  private count = 0

  /** Adds a call; drops the oldest ones, many at a time, so that adding costs nothing. */
  add(call: Call): void {
    this.calls.push(call)
    this.count += 1
    if (this.calls.length >= 2 * CALLS_KEPT) this.calls = this.calls.slice(-CALLS_KEPT)
  }

  /** Calls that fit, oldest first. */
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

  /** The latest calls, newest first, each with its number since the start. */
  latest(count: number): { call: Call; number: number }[] {
    const newestFirst = this.calls.slice(-count).reverse()
    return newestFirst.map((call, index) => ({ call, number: this.count - index }))
  }

  /** Forgets all calls. */
  clear(): void {
    this.calls = []
    this.count = 0
  }
}

const loggedClaims = ['cid', 'nbf', 'iat', 'exp', 'iss', 'aud', 'sid', 'aid', 'usr', 'pwd', 'ipa', 'uas', 'lks']
const MAX_LOGGED_TEXT = 300

/** The known claims of a request, fit for the log: the password masked, long texts cut, structures named. */
export function claimsForLog(claims: Claims): Call['claims'] {
  const present = loggedClaims.filter((name) => Object.hasOwn(claims, name))
  return Object.fromEntries(present.map((name) => [name, name === 'pwd' ? '***' : printable(claims[name])]))
}

/** A claim as the log shows it: long texts cut, structures named. */
export function printable(value: unknown): string | number | boolean | null {
  if (typeof value === 'string') return value.slice(0, MAX_LOGGED_TEXT)
  if (typeof value === 'number' || typeof value === 'boolean' || value === null) return value
  return Array.isArray(value) ? '[array]' : `[${typeof value}]`
}
