/** Makes a call of the REST API: with a deadline for the whole call, a retry, and a new access token after a 401. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Agents } from '../config/agents'
import { AccessTokenExpiredError, PlatformApiError, Sso2UnavailableError } from '../errors'
import { parseForeignJson } from '../protocol/json'
import { type Answer, retryAfterSeconds, sendCall } from './http'

/** Options of a call. */
export interface CallOptions {
  /** Aborts the call, which then throws the signal's reason. */
  readonly signal?: AbortSignal | undefined
  /** Limit of the whole call in milliseconds, retry included. Default: 3000. */
  readonly timeoutMs?: number | undefined
}

/**
 * Returns an access token, or `undefined` if there is none. `refused` is a token that the REST API has answered with a 401, so that the
 * call needs another token.
 */
export type AccessTokenSource = (refused?: string) => Promise<string | undefined>

/** A request to the REST API. All requests only read data, even the POST, so a retry changes nothing. */
export interface RestRequest {
  readonly operation: string
  readonly method: 'GET' | 'POST'
  readonly url: string
  readonly body?: object
  readonly scope?: string
  readonly agent?: Agents | undefined
}

const DEFAULT_MS = 3000
const MAX_MS = 600_000
/** Limit of the body. Lists are longer than tokens. */
const MAX_BYTES = 524_288
const TRY_AGAIN = new Set([502, 503, 504])
const MAX_RETRY_AFTER_SECONDS = 2

interface Bounds {
  readonly signal: AbortSignal | undefined
  /** Returns the milliseconds before the deadline, at least 1. */
  readonly left: () => number
}

/** @throws {TypeError} that names the wrong option */
function boundsOf(operation: string, options: CallOptions): Bounds {
  if (typeof options !== 'object' || options === null) throw new TypeError(`${operation}: options must be an object`)
  const { signal, timeoutMs = DEFAULT_MS } = options
  if (!Number.isInteger(timeoutMs) || timeoutMs < 1 || timeoutMs > MAX_MS)
    throw new TypeError(`${operation}: timeoutMs must be a whole number from 1 to ${MAX_MS} (milliseconds)`)
  if (signal !== undefined && !(signal instanceof AbortSignal))
    throw new TypeError(`${operation}: signal must be an AbortSignal`)
  const end = performance.now() + timeoutMs
  return { signal, left: () => Math.max(1, Math.ceil(end - performance.now())) }
}

/**
 * Makes a call.
 * @param canRenew may the source have another token after a 401?
 * @returns a response with a status of 200 to 299
 * @throws {PlatformApiError} for any other status
 * @throws {AccessTokenExpiredError} if there is no access token, or no other token after a 401
 * @throws {Sso2UnavailableError} if there is no response in time
 * @throws {TypeError} for wrong options
 */
export async function callRest(
  request: RestRequest,
  source: AccessTokenSource,
  canRenew: boolean,
  options: CallOptions = {},
): Promise<Answer> {
  const { operation, scope } = request
  const bounds = boundsOf(operation, options)
  let token = await withinTimeout(request, bounds, () => source())
  if (token === undefined) throw new AccessTokenExpiredError(operation, undefined, scope)
  let answer = await sendTwice(request, bounds, token)
  if (answer.status === 401 && canRenew) {
    const refused = { token, body: parseBody(answer, token) }
    token = await withinTimeout(request, bounds, () => source(refused.token))
    if (token === undefined) throw new AccessTokenExpiredError(operation, refused.body, scope)
    answer = await sendTwice(request, bounds, token)
  }
  if (answer.status < 300) return answer
  throw new PlatformApiError(operation, answer.status, parseBody(answer, token), scope)
}

async function withinTimeout<T>(
  { operation }: RestRequest,
  { signal, left }: Bounds,
  get: () => Promise<T>,
): Promise<T> {
  signal?.throwIfAborted()
  const done = new AbortController()
  const stop = signal ? AbortSignal.any([signal, done.signal]) : done.signal
  const timeout = sleep(left(), undefined, { signal: stop }).then(
    () => Promise.reject(new Sso2UnavailableError(operation, false, 'no access token in time', true)),
    () => Promise.reject(signal?.reason),
  )
  try {
    return await Promise.race([get(), timeout])
  } finally {
    timeout.catch(() => {})
    done.abort()
  }
}

/** Sends a request. Retries once after a connection failure, a 502, 503 or 504, or the short `Retry-After` of a 429. */
async function sendTwice(request: RestRequest, bounds: Bounds, token: string): Promise<Answer> {
  let wait = jitter()
  try {
    const answer = await sendOnce(request, bounds, token)
    const delay = retryDelay(answer)
    if (delay === undefined || delay >= bounds.left()) return answer
    wait = delay
  } catch (error) {
    if (!(error instanceof Sso2UnavailableError) || error.timedOut || wait >= bounds.left()) throw error
  }
  const { signal } = bounds
  await sleep(wait, undefined, signal ? { signal } : {}).catch(() => {}) // if aborted, the next call throws before it sends anything
  return sendOnce(request, bounds, token)
}

function sendOnce({ operation, method, url, body, agent }: RestRequest, { signal, left }: Bounds, token: string) {
  return sendCall({
    operation,
    url,
    method,
    headers: { authorization: `Bearer ${token}`, ...(body ? { 'content-type': 'application/json' } : {}) },
    ...(body ? { body: JSON.stringify(body) } : {}),
    timeoutMs: left(),
    maxBytes: MAX_BYTES,
    signal,
    agent,
  })
}

const jitter = () => 50 + Math.random() * 150

function retryDelay(answer: Answer): number | undefined {
  if (TRY_AGAIN.has(answer.status)) return jitter()
  const delay = answer.status === 429 ? retryAfterSeconds(answer) : undefined
  return delay !== undefined && delay <= MAX_RETRY_AFTER_SECONDS ? delay * 1000 : undefined
}

/** Returns the response body for an error. If the body repeats the token, in any encoding, the token is masked. */
function parseBody({ text }: Answer, token: string): unknown {
  const forms = [token, encodeURIComponent(token), Buffer.from(token).toString('base64').replaceAll('=', '')]
  const mask = (said: string) => forms.reduce((masked, form) => masked.replaceAll(form, '***'), said)
  try {
    return JSON.parse(mask(JSON.stringify(parseForeignJson(text)))) // parsed and written again, so that no escape hides the token
  } catch {
    return mask(text).slice(0, 500)
  }
}
