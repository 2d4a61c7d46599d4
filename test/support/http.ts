import http, { type IncomingHttpHeaders } from 'node:http'
import https from 'node:https'

export interface HttpRequest {
  method: string
  url: URL
  headers: Record<string, string>
  body?: string | undefined
}

export interface HttpAnswer {
  status: number
  headers: IncomingHttpHeaders
  setCookie: string[]
  body: string
}

/** Sends one request on a connection of its own and reads the whole answer. Follows nothing. */
export function send({ method, url, headers, body }: HttpRequest): Promise<HttpAnswer> {
  const transport = url.protocol === 'https:' ? https : http
  return new Promise((resolve, reject) => {
    const request = transport.request(address(url), { method, headers: { host: url.host, ...headers }, agent: false })
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
