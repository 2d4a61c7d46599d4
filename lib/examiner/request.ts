/** Sends an HTTP request as a browser does, without following redirects. */
import http from 'node:http'
import https from 'node:https'

export interface RequestOptions {
  readonly method: string
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | undefined
  /** Address of this machine that the request comes from. */
  readonly from?: string | undefined
  /** Keeps the connection for later requests. Default: a new connection. */
  readonly agent?: http.Agent | undefined
}

/** A response, or the reason for the missing response. */
export interface Response {
  /** HTTP status, or 0 without a response. */
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly setCookie: readonly string[]
  readonly text: string
  /** The reason for the missing response, or an empty text. */
  readonly error: string
  readonly ms: number
  /** Was the request sent over the connection of an earlier one? */
  readonly isReused?: boolean
}

const PATIENCE_MS = 20_000
const MAX_TEXT = 2_000_000

/**
 * Sends a request.
 * @returns a response with status 0 after a failure
 */
export function sendRequest({ method, url, headers, body, from, agent }: RequestOptions): Promise<Response> {
  const begin = performance.now()
  const failure = (error: string): Response => {
    return { status: 0, headers: {}, setCookie: [], text: '', error, ms: performance.now() - begin }
  }
  return new Promise((resolve) => {
    const { request } = url.protocol === 'https:' ? https : http
    const length: Record<string, string> =
      body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }
    const options = {
      method,
      headers: { host: url.host, ...headers, ...length },
      agent: agent ?? false,
      ...loopback(url),
      ...(from === undefined ? {} : { localAddress: from, family: 4 }),
    } as const
    const sent = request(url, options, (answer) => {
      let text = ''
      answer.setEncoding('utf8')
      answer.on('data', (chunk: string) => {
        if (text.length < MAX_TEXT) text += chunk
      })
      answer.once('error', (error) => resolve(failure(requestErrorCode(error))))
      answer.once('end', () => {
        const { headers: received } = answer
        const { 'set-cookie': setCookie = [], ...others } = received
        const plain = Object.entries(others).map(([name, value]) => [name, String(value)])
        resolve({
          status: Number(answer.statusCode),
          headers: Object.fromEntries(plain),
          setCookie,
          text,
          error: '',
          ms: performance.now() - begin,
          isReused: sent.reusedSocket,
        })
      })
    })
    sent.setTimeout(PATIENCE_MS, () => sent.destroy(new Error(`no response within ${PATIENCE_MS / 1000} s`)))
    sent.once('error', (error) => resolve(failure(requestErrorCode(error))))
    sent.end(body)
  })
}

/** Returns an agent that sends all requests to a site over one connection, as a proxy does with those of many users. */
export const oneConnection = ({ protocol }: URL): http.Agent =>
  new (protocol === 'https:' ? https : http).Agent({ keepAlive: true, maxSockets: 1 })

/** Resolves names below `localhost` to this machine without DNS. Accepts self-signed certificates on loopback addresses. */
function loopback({ hostname }: URL): { hostname?: string; rejectUnauthorized?: boolean } {
  if (!isLoopbackHost(hostname)) return {}
  return { rejectUnauthorized: false, ...(hostname.endsWith('.localhost') ? { hostname: '127.0.0.1' } : {}) }
}

/** Does the host name mean this machine? */
export function isLoopbackHost(hostname: string): boolean {
  return (
    hostname === 'localhost' ||
    hostname.endsWith('.localhost') ||
    hostname === '[::1]' ||
    /^127(\.\d+){3}$/.test(hostname)
  )
}

const requestErrorCode = (error: Error) => ('code' in error ? String(error.code) : error.message)
