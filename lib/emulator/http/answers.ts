/** HTTP answers as plain data, and what a fault makes of them. */

import type { FaultOptions } from '../faults/rules'
import type { Call } from '../platform/calls'
import { problemPage } from '../portal/problem'

/** One HTTP answer, and how it is called in the log. */
export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly outcome: string
  /** Why a request was refused, for people. */
  readonly detail?: string
  /** The session that the call turned out to be about, when the request did not name it. */
  readonly sid?: string
  /** Claims of the Session Token in the response, fit for the log. */
  readonly claims?: Call['claims']
}

/** A call that has been read so far that it can be logged, hit by a fault, and carried out. */
export interface Work {
  readonly operation: Call['operation']
  readonly clientId: string | null
  readonly sid: string | null
  readonly claims: Call['claims']
  /** Does the work; `fault` is one that spoils the Session Token of the answer. */
  carryOut(fault?: FaultOptions): Answer
  /** The answer of the fault `garbage`. */
  garbage(): Answer
}

/** Far more than any response of the platform. */
const HUGE_BYTES = 20_000_000

const noStore = { 'cache-control': 'no-store', pragma: 'no-cache' }

/** A JSON answer that no cache may store. */
export function json(status: number, body: unknown, outcome: string, detail?: string): Answer {
  const headers = { ...noStore, 'content-type': 'application/json; charset=utf-8' }
  const answer = { status, headers, body: JSON.stringify(body), outcome }
  return detail === undefined ? answer : { ...answer, detail }
}

/** The one error shape of REST API, back channel and controls. */
export function jsonError(status: number, code: string, message: string): Answer {
  return json(status, { error: { code, message } }, code, message)
}

/** A page for a browser that says what is wrong. */
export function htmlError(status: number, code: string, message: string): Answer {
  const headers = {
    ...noStore,
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': "default-src 'none'; style-src 'self'; base-uri 'none'; frame-ancestors 'none'",
    'referrer-policy': 'no-referrer',
  }
  return { status, headers, body: problemPage(status, message), outcome: code, detail: message }
}

/** What an answer looks like when something on the way has broken it. */
export function garbledJson(): Answer {
  return { ...json(200, {}, 'garbage'), body: '{"t":"eyJhbGciOi\u0000<html>' }
}

/** Returns the response of the faults `empty` and `huge`. */
export function spoiltLength(kind: 'empty' | 'huge'): Answer {
  return { ...json(200, {}, kind), body: kind === 'empty' ? '' : ' '.repeat(HUGE_BYTES) }
}

/** Returns the response of the fault `status`. */
export function bareStatus(code: number, retryAfter?: number): Answer {
  const headers = { ...noStore, 'content-type': 'text/plain; charset=utf-8' }
  const location: Record<string, string> = code < 400 ? { location: '/' } : {}
  const retry: Record<string, string> = retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) }
  return {
    status: code,
    headers: { ...headers, ...location, ...retry },
    body: `HTTP ${code} by request`,
    outcome: `status_${code}`,
  }
}
