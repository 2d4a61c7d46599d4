/** Defines HTTP responses as plain data, and the responses of faults. */

import type { FaultOptions } from '../faults/rules'
import type { Call } from '../platform/calls'
import { portalProblemPage } from '../portal/problem'

/** An HTTP response, with the name of its outcome in the log. */
export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Buffer
  readonly outcome: string
  /** Reason of a refusal, for people. */
  readonly detail?: string
  /** Session that the call concerned, if the request did not name the session. */
  readonly sid?: string
  /** Claims of the Session Token in the response, masked for the log. */
  readonly claims?: Call['claims']
}

/** A parsed call, ready for the log, for a fault, and for its execution. */
export interface Work {
  readonly operation: Call['operation']
  readonly clientId: string | null
  readonly sid: string | null
  readonly claims: Call['claims']
  /** Carries out the call. `fault` changes the Session Token of the response. */
  respond(fault?: FaultOptions): Answer
  /** Returns the response of the fault `garbage`. */
  garbage(): Answer
}

const noStore = { 'cache-control': 'no-store', pragma: 'no-cache' }

/** Creates a JSON response that no cache may store. */
export function json(status: number, body: unknown, outcome: string, detail?: string): Answer {
  const headers = { ...noStore, 'content-type': 'application/json; charset=utf-8' }
  const answer = { status, headers, body: JSON.stringify(body), outcome }
  return detail === undefined ? answer : { ...answer, detail }
}

/** Creates an error response of the REST API, the back channel and the controls. */
export function jsonError(status: number, code: string, message: string): Answer {
  return json(status, { error: { code, message } }, code, message)
}

/** Creates an error page for a browser. */
export function htmlError(status: number, code: string, message: string): Answer {
  const headers = {
    ...noStore,
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': "default-src 'none'; style-src 'self'; base-uri 'none'; frame-ancestors 'none'",
    'referrer-policy': 'no-referrer',
  }
  return { status, headers, body: portalProblemPage(status, message), outcome: code, detail: message }
}

/** Creates a JSON response that was damaged on the way. */
export function garbledJson(): Answer {
  return { ...json(200, {}, 'garbage'), body: '{"t":"eyJhbGciOi\u0000<html>' }
}

/** Returns the response of the fault `empty`. */
export const emptyJson = (): Answer => ({ ...json(200, {}, 'empty'), body: '' })

/** Returns the response of the fault `null`. */
export const nullJson = (): Answer => json(200, null, 'null')

/** Returns the response of the fault `status`: JSON for a refusal (400 to 499), as the REST API refuses, and otherwise text. */
export function bareStatus(code: number, retryAfter?: number | 'date'): Answer {
  const headers = { ...noStore, 'content-type': 'text/plain; charset=utf-8' }
  const location: Record<string, string> = code < 400 ? { location: '/' } : {}
  const retry: Record<string, string> = retryAfter === undefined ? {} : { 'retry-after': retryAfterText(retryAfter) }
  const refusal = jsonError(code, `status_${code}`, `HTTP ${code} by request`)
  if (code >= 400 && code < 500) return { ...refusal, headers: { ...refusal.headers, ...retry } }
  return {
    status: code,
    headers: { ...headers, ...location, ...retry },
    body: `HTTP ${code} by request`,
    outcome: `status_${code}`,
  }
}

const retryAfterText = (retryAfter: number | 'date') =>
  retryAfter === 'date' ? new Date(Date.now() + 1000).toUTCString() : String(retryAfter)
