import { once } from 'node:events'
import http, { type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'

interface Stored {
  status: number
  headers: IncomingHttpHeaders
  body: Buffer
}

/** A cache for everybody before one site: keeps by address alone whatever `Cache-Control` allows, cookies and all. */
export interface SharedCache {
  readonly url: string
  /** Addresses whose answers are kept. */
  kept(): string[]
  /** Answers given from the cache. */
  hits(): number
  clear(): void
  /** The site behind it. */
  forwardTo(site: string): void
  close(): void
}

export async function startSharedCache(host: string): Promise<SharedCache> {
  const store = new Map<string, Stored>()
  let origin = ''
  let hits = 0
  const server = http.createServer((request, response) => {
    const { url = '', method = '' } = request
    const give = ({ status, headers, body }: Stored) => void response.writeHead(status, headers).end(body)
    const found = method === 'GET' ? store.get(url) : undefined
    if (found) {
      hits += 1
      return give(found)
    }
    const { port } = new URL(origin)
    const options = { host: '127.0.0.1', port, method, path: url, headers: request.headers, agent: false }
    const onward = http.request(options, (answer) => {
      const chunks: Buffer[] = []
      answer.on('data', (chunk: Buffer) => chunks.push(chunk))
      answer.once('end', () => {
        const got = { status: answer.statusCode ?? 0, headers: answer.headers, body: Buffer.concat(chunks) }
        if (method === 'GET' && mayKeep(got)) store.set(url, got)
        give(got)
      })
    })
    request.pipe(onward)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://${host}:${(server.address() as AddressInfo).port}`,
    kept: () => [...store.keys()],
    hits: () => hits,
    clear: () => store.clear(),
    forwardTo: (site) => {
      origin = site
    },
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}

/** Statuses that may be kept without a word about it. */
const heuristic = new Set([200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501])

function mayKeep({ status, headers }: Stored): boolean {
  const control = headers['cache-control'] ?? ''
  if (/no-store|private|no-cache|max-age=0/i.test(control)) return false
  return /public|max-age/i.test(control) || heuristic.has(status)
}
