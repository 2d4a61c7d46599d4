/** Makes an HTTP call with a deadline and a size limit. Follows no redirect. */
import http, { type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import https from 'node:https'
import { type Agents, isAgent } from '../config/agents'
import { onTimeout } from '../deadline'
import { Sso2ResponseError, Sso2UnavailableError } from '../errors'
import { isObject } from '../protocol/json'

/** An HTTP call. */
export interface Call {
  /** Name of the operation, for errors and events. */
  readonly operation: string
  readonly url: string
  readonly method: 'GET' | 'POST'
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  /** Limit of the whole call in milliseconds, connection included. */
  readonly timeoutMs: number
  readonly signal?: AbortSignal | undefined
  /** Default: Node's own, which keeps connections open and reads `NODE_USE_ENV_PROXY`. */
  readonly agent?: Agents | undefined
}

/** A response with its body. */
export interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
}

/** A larger body is refused. */
const MAX_KIB = 512

/** Every response of the emulator has this header. In production such a response is refused. Threat O10. */
const EMULATOR_HEADER = 'x-sso2-emulator'

/** Reason why a response of the emulator is refused. Part of the message of the error. */
export const EMULATOR_IN_PRODUCTION = 'this is the emulator, and NODE_ENV is production'

/** Failures before the first byte was sent. A retry cannot repeat an effect. */
const NOT_SENT = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH'])

/**
 * Makes an HTTP call.
 * @throws {Sso2UnavailableError} if there is no response in time. `retryable` if nothing was sent
 * @throws {Sso2ResponseError} for an oversized or compressed body, or the emulator in production
 */
export async function sendCall(call: Call): Promise<Answer> {
  const timeout = new AbortController()
  const cancelTimeout = onTimeout(call.timeoutMs, () => timeout.abort())
  const signal = call.signal ? AbortSignal.any([timeout.signal, call.signal]) : timeout.signal
  try {
    const response = await request(call, signal)
    const { statusCode: status = 0, headers } = response
    const refusal = reasonToRefuse(response)
    if (refusal !== undefined) {
      response.destroy()
      throw new Sso2ResponseError(call.operation, status, refusal)
    }
    return { status, headers, text: await readCapped(call, response) }
  } catch (error) {
    if (call.signal?.aborted) throw call.signal.reason
    throw error instanceof Sso2ResponseError ? error : callUnavailable(call, error, timeout.signal.aborted)
  } finally {
    cancelTimeout()
  }
}

function request({ url, method, headers, body, agent }: Call, signal: AbortSignal): Promise<IncomingMessage> {
  const scheme = /^https:/i.test(url) ? 'https' : 'http'
  // a firewall may refuse a request without a user agent
  const all = { accept: 'application/json', 'accept-encoding': 'identity', 'user-agent': 'express-sso2', ...headers }
  return new Promise((resolve, reject) => {
    const init = { method, headers: all, signal, agent: isAgent(agent) ? agent : agent?.[scheme] }
    const sent = (scheme === 'https' ? https : http).request(url, init, resolve)
    sent.on('error', reject)
    // an answer that changes the protocol (101) ends the connection, and is neither a response nor an error
    sent.on('close', () => reject(new Error('the connection has ended without a response')))
    sent.end(body)
  })
}

function reasonToRefuse({ headers }: IncomingMessage) {
  if (headers[EMULATOR_HEADER] !== undefined && process.env['NODE_ENV'] === 'production') return EMULATOR_IN_PRODUCTION
  const isCompressed = (headers['content-encoding'] ?? 'identity').toLowerCase() !== 'identity'
  return isCompressed ? 'the body has a content-encoding, which the request did not ask for' : undefined
}

/** Makes an error without its cause, because the cause may contain address and body of the request. */
function callUnavailable({ operation, timeoutMs }: Call, error: unknown, isTimeout: boolean): Sso2UnavailableError {
  if (isTimeout) return new Sso2UnavailableError(operation, false, `no answer within ${timeoutMs} ms`, true)
  const code = String((isObject(error) ? error['code'] : undefined) ?? 'no connection') // not `instanceof`, because Jest has another realm
  return new Sso2UnavailableError(operation, NOT_SENT.has(code), `no answer (${code})`, false, code)
}

async function readCapped({ operation }: Call, response: IncomingMessage) {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.byteLength
    if (size > MAX_KIB * 1024)
      throw new Sso2ResponseError(operation, response.statusCode, `the body is larger than ${MAX_KIB} KiB`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}
