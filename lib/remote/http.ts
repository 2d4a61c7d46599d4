/** One HTTP call: deadline, size cap, no redirects. Milliseconds appear here and nowhere else. */

import http, { type IncomingMessage } from 'node:http'
import https from 'node:https'
import { pipeline, type Readable } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import { whenLate } from '../deadline'
import { Sso2ResponseError, Sso2UnavailableError } from '../errors'
import { isObject } from '../protocol/json'

/** One request. */
interface TransportRequest {
  readonly url: string
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
  /** Ends the request and its connection. */
  readonly signal: AbortSignal
}

/** A response whose body is still to be read, decompressed. Whoever does not read it discards it. */
export interface TransportResponse {
  readonly status: number
  readonly headers: Pick<Headers, 'get' | 'has' | 'getSetCookie'>
  readonly body: AsyncIterable<Uint8Array>
  discard(): void
}

/** An idle connection is closed after so long, before most servers do: one that has closed it would lose the next request. */
const IDLE_MS = 4000
const options = { keepAlive: true, timeout: IDLE_MS }
const agents = { http: new http.Agent(options), https: new https.Agent(options) }

/** Servers are told that compression is not wanted. Some compress all the same. */
const decoders: Readonly<Record<string, () => NodeJS.ReadWriteStream & Readable>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
}

function bodyOf(response: IncomingMessage): Readable {
  const decoder = decoders[response.headers['content-encoding']?.toLowerCase() ?? '']?.()
  return decoder ? pipeline(response, decoder, () => {}) : response
}

function headersOf({ headers }: IncomingMessage): TransportResponse['headers'] {
  const get = (name: string) => {
    const value = headers[name.toLowerCase()]
    return Array.isArray(value) ? value.join(', ') : (value ?? null)
  }
  return { get, has: (name) => get(name) !== null, getSetCookie: () => headers['set-cookie'] ?? [] }
}

function request({ url, method, headers, body, signal }: TransportRequest): Promise<TransportResponse> {
  const isSecure = /^https:/i.test(url)
  const all = { 'accept-encoding': 'identity', ...headers }
  return new Promise((resolve, reject) => {
    const init = { method, headers: all, signal, agent: isSecure ? agents.https : agents.http }
    const sent = (isSecure ? https : http).request(url, init, (response) => {
      const read = bodyOf(response)
      resolve({
        status: response.statusCode ?? 0,
        headers: headersOf(response),
        body: read,
        discard: () => void response.destroy(),
      })
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

/** A property, so that tests can stand between the package and the network. */
export const transport = { request }

/** One call. */
export interface Call {
  /** Name for errors and events. */
  readonly operation: string
  readonly url: string
  readonly method: 'GET' | 'POST'
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  /** Bound on the whole call, connecting included. */
  readonly timeoutMs: number
  /** A larger body is refused, counted after decompression; default 64 KiB. */
  readonly maxBytes?: number
  readonly signal?: AbortSignal | undefined
  /** A redirect is an answer here; it is not followed all the same. */
  readonly takesRedirect?: boolean
}

/** What came back. */
export interface Answer {
  readonly status: number
  readonly headers: TransportResponse['headers']
  readonly text: string
}

/** Bound on an answer that holds a token. */
const MAX_BODY_BYTES = 65_536

/** The emulator marks every answer; in production none of them counts. Threat O10. */
const EMULATOR_HEADER = 'x-sso2-emulator'

/** Failures before a byte was sent: asking again cannot do anything twice. */
const NOT_SENT = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH'])

/**
 * Makes one call.
 * @throws {Sso2UnavailableError} no answer in time; `retryable` when nothing was sent
 * @throws {Sso2ResponseError} a redirect or an oversized body
 */
export async function send(call: Call): Promise<Answer> {
  const late = new AbortController()
  const callOff = whenLate(call.timeoutMs, () => late.abort())
  const signal = call.signal ? AbortSignal.any([late.signal, call.signal]) : late.signal
  try {
    const headers = { accept: 'application/json', ...call.headers }
    const response = await transport.request({ url: call.url, method: call.method, headers, body: call.body, signal })
    if (response.status >= 300 && response.status < 400 && !call.takesRedirect) {
      response.discard()
      throw new Sso2ResponseError(call.operation, response.status, 'a redirect is not followed')
    }
    if (response.headers.has(EMULATOR_HEADER) && process.env['NODE_ENV'] === 'production') {
      response.discard()
      throw new Sso2ResponseError(call.operation, response.status, 'this is the emulator, and NODE_ENV is production')
    }
    return { status: response.status, headers: response.headers, text: await readCapped(call, response) }
  } catch (error) {
    if (call.signal?.aborted) throw call.signal.reason
    throw error instanceof Sso2ResponseError ? error : unavailable(call, error, late.signal.aborted)
  } finally {
    callOff()
  }
}

/** The cause is dropped on purpose: it may hold the address and the body. */
function unavailable({ operation, timeoutMs }: Call, error: unknown, isLate: boolean): Sso2UnavailableError {
  if (isLate) return new Sso2UnavailableError(operation, false, `no answer within ${timeoutMs} ms`, true)
  const code = String((isObject(error) ? error['code'] : undefined) ?? 'no connection') // not `instanceof`: of another realm inside Jest
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

/** How many seconds the other side asks to be left alone, where it does. */
export function retryAfterSeconds({ headers }: Answer): number | undefined {
  const asked = headers.get('retry-after')
  if (asked === null) return undefined
  const seconds = /^\d+$/.test(asked) ? Number(asked) : (Date.parse(asked) - Date.now()) / 1000
  return Number.isFinite(seconds) ? Math.max(0, seconds) : undefined
}

/** Text as a JSON value. @throws {Sso2ResponseError} not JSON */
export function readJson(operation: string, answer: Answer): unknown {
  try {
    return JSON.parse(answer.text)
  } catch {
    throw new Sso2ResponseError(operation, answer.status, 'the body is not JSON')
  }
}
