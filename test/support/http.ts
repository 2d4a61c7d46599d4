import http, { type IncomingHttpHeaders } from 'node:http'
import https from 'node:https'

interface HttpRequest {
  method: string
  url: URL
  /** Goes out as it is, in the place of the one of `url`. */
  path?: string
  headers: Record<string, string>
  body?: string | undefined
  /** How long to wait for the whole answer, in milliseconds. Default: for ever. */
  patienceMs?: number | undefined
  /** Keeps connections. Default: each request has one of its own. */
  agent?: http.Agent | undefined
}

export interface HttpAnswer {
  status: number
  headers: IncomingHttpHeaders
  setCookie: string[]
  body: string
}

/** Sends one request and reads the whole answer. Follows nothing. */
export function send({ method, url, path, headers, body, patienceMs, agent }: HttpRequest): Promise<HttpAnswer> {
  const transport = url.protocol === 'https:' ? https : http
  return new Promise((resolve, reject) => {
    const options = {
      method,
      headers: { host: url.host, ...headers },
      agent: agent ?? false,
      maxHeaderSize: 65_536,
      ...(path === undefined ? {} : { path }),
      ...(patienceMs === undefined ? {} : { signal: AbortSignal.timeout(patienceMs) }),
    }
    const request = transport.request(address(url), options)
    request.once('error', reject)
    request.once('response', (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.once('error', reject)
      response.once('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          setCookie: response.headers['set-cookie'] ?? [],
          body: Buffer.concat(chunks).toString('utf8'),
        }),
      )
    })
    request.end(body)
  })
}

/** Browsers resolve every `*.localhost` to loopback; not every system does. */
function address(url: URL): URL {
  if (!url.hostname.endsWith('.localhost')) return url
  const loopback = new URL(url)
  loopback.hostname = '127.0.0.1'
  return loopback
}
