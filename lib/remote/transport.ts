/** Sends HTTP requests over connections that are kept open. `fetch` does the same for two to four times the CPU time. */
import http, { type IncomingMessage } from 'node:http'
import https from 'node:https'
import { pipeline, type Readable } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'

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
