/** Makes an HTTP call with a deadline and a size limit. Follows no redirect. */

import http, { type IncomingMessage } from 'node:http'
import https from 'node:https'
import { pipeline, type Readable } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import { onTimeout } from '../deadline'
import { Sso2ResponseError, Sso2UnavailableError } from '../errors'
import { isObject, parseForeignJson } from '../protocol/json'

interface TransportRequest {
  readonly url: string
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
  readonly signal: AbortSignal
}

/** A response. The body is decompressed during the read. Without a read, the caller must call `discard()`. */
export interface TransportResponse {
  readonly status: number
  readonly headers: Pick<Headers, 'get' | 'has'>
  readonly body: AsyncIterable<Uint8Array>
  discard(): void
}

/** Time after which an idle connection is closed. Most servers wait longer. If a server closed it first, the next request would be lost. */
const IDLE_MS = 4000
const options = { keepAlive: true, timeout: IDLE_MS }
const agents = { http: new http.Agent(options), https: new https.Agent(options) }

/** Decoders by `Content-Encoding`. Requests ask for no compression, but some servers compress all the same. */
const decoders = new Map<string | undefined, () => NodeJS.ReadWriteStream & Readable>([
  ['gzip', createGunzip],
  ['x-gzip', createGunzip],
  ['deflate', createInflate],
  ['br', createBrotliDecompress],
])

function decodedBody(response: IncomingMessage): Readable {
  const decoder = decoders.get(response.headers['content-encoding']?.toLowerCase())?.()
  return decoder ? pipeline(response, decoder, () => {}) : response
}

function headersOf({ headers }: IncomingMessage): TransportResponse['headers'] {
  const get = (name: string) => {
    const value = headers[name.toLowerCase()]
    return typeof value === 'string' ? value : null // only Set-Cookie is an array, which no call reads
  }
  return { get, has: (name) => get(name) !== null }
}

function request({ url, method, headers, body, signal }: TransportRequest): Promise<TransportResponse> {
  const isSecure = /^https:/i.test(url)
  const all = { 'accept-encoding': 'identity', ...headers }
  return new Promise((resolve, reject) => {
    const init = { method, headers: all, signal, agent: isSecure ? agents.https : agents.http }
    const sent = (isSecure ? https : http).request(url, init, (response) => {
      const read = decodedBody(response)
      resolve({
        status: response.statusCode ?? 0,
        headers: headersOf(response),
        body: read,
        discard: () => void response.destroy(),
      })
    })
    sent.on('error', reject)
    // an answer that changes the protocol (101) ends the connection, and is neither a response nor an error
    sent.on('close', () => reject(new Error('the connection has ended without a response')))
    sent.end(body)
  })
}

/** Sends the requests. A property of an object, so that tests can replace the function. */
export const transport = { request }

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
  /** Limit of the body in bytes after decompression. A larger body is refused. Default: 64 KiB. */
  readonly maxBytes?: number
  readonly signal?: AbortSignal | undefined
  /** Is a redirect a valid response? A redirect is not followed in either case. */
  readonly takesRedirect?: boolean
}

/** A response with its body. */
export interface Answer {
  readonly status: number
  readonly headers: TransportResponse['headers']
  readonly text: string
}

/** Limit of a response with a token. */
const MAX_BODY_BYTES = 65_536

/** Every response of the emulator has this header. In production such a response is refused. Threat O10. */
const EMULATOR_HEADER = 'x-sso2-emulator'

/** Reason why a response of the emulator is refused. Part of the message of the error. */
export const EMULATOR_IN_PRODUCTION = 'this is the emulator, and NODE_ENV is production'

/** Failures before the first byte was sent. A retry cannot repeat an effect. */
const NOT_SENT = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH'])

/**
 * Makes an HTTP call.
 * @throws {Sso2UnavailableError} if there is no response in time. `retryable` if nothing was sent
 * @throws {Sso2ResponseError} for a redirect, an oversized body, or the emulator in production
 */
export async function sendCall(call: Call): Promise<Answer> {
  const timeout = new AbortController()
  const cancelTimeout = onTimeout(call.timeoutMs, () => timeout.abort())
  const signal = call.signal ? AbortSignal.any([timeout.signal, call.signal]) : timeout.signal
  try {
    const headers = { accept: 'application/json', ...call.headers }
    const response = await transport.request({ url: call.url, method: call.method, headers, body: call.body, signal })
    if (response.status >= 300 && response.status < 400 && !call.takesRedirect) {
      response.discard()
      throw new Sso2ResponseError(call.operation, response.status, 'a redirect is not followed')
    }
    if (response.headers.has(EMULATOR_HEADER) && process.env['NODE_ENV'] === 'production') {
      response.discard()
      throw new Sso2ResponseError(call.operation, response.status, EMULATOR_IN_PRODUCTION)
    }
    return { status: response.status, headers: response.headers, text: await readCapped(call, response) }
  } catch (error) {
    if (call.signal?.aborted) throw call.signal.reason
    throw error instanceof Sso2ResponseError ? error : callUnavailable(call, error, timeout.signal.aborted)
  } finally {
    cancelTimeout()
  }
}

/** Makes an error without its cause, because the cause may contain address and body of the request. */
function callUnavailable({ operation, timeoutMs }: Call, error: unknown, isTimeout: boolean): Sso2UnavailableError {
  if (isTimeout) return new Sso2UnavailableError(operation, false, `no answer within ${timeoutMs} ms`, true)
  const code = String((isObject(error) ? error['code'] : undefined) ?? 'no connection') // not `instanceof`, because Jest has another realm
  return new Sso2UnavailableError(operation, NOT_SENT.has(code), `no answer (${code})`, false, code)
}

async function readCapped(
  { operation, maxBytes = MAX_BODY_BYTES }: Call,
  response: TransportResponse,
): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body) {
    size += chunk.byteLength
    if (size > maxBytes)
      throw new Sso2ResponseError(operation, response.status, `the body is larger than ${maxBytes / 1024} KiB`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

/** Returns the `Retry-After` of a response in seconds. `undefined` if the header is missing or not valid. */
export function retryAfterSeconds({ headers }: Answer): number | undefined {
  const header = headers.get('retry-after')
  if (header === null) return undefined
  const seconds = /^\d+$/.test(header) ? Number(header) : (Date.parse(header) - Date.now()) / 1000
  return Number.isFinite(seconds) ? Math.max(0, seconds) : undefined
}

/** Parses the body as JSON. @throws {Sso2ResponseError} if the body is not JSON */
export function readJson(operation: string, answer: Answer): unknown {
  try {
    return parseForeignJson(answer.text)
  } catch {
    throw new Sso2ResponseError(operation, answer.status, 'the body is not JSON')
  }
}
