import { once } from 'node:events'
import http, { type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/*
 * What stands in front of the processes of a site: requests go to them in turn, whichever are in at the moment.
 */

const DRAIN_MS = 1000

/** A small proxy. */
export interface Proxy {
  readonly port: number
  /** Requests go here from now on, too. */
  add(port: number): void
  /** No request goes here from now on; resolves when those that have begun are answered, or after a second. */
  remove(port: number): Promise<void>
  close(): void
}

/** Starts it on a free port of this machine. */
export async function startProxy(): Promise<Proxy> {
  const agent = new http.Agent({ keepAlive: true })
  let ports: number[] = []
  let turn = 0
  const underWay = new Map<number, number>()
  const server = http.createServer({ keepAliveTimeout: 60_000 }, (req, res) => {
    turn += 1
    const port = ports[turn % ports.length]
    if (port === undefined) return void res.writeHead(503).end('no process is in')
    underWay.set(port, (underWay.get(port) ?? 0) + 1)
    res.once('close', () => underWay.set(port, (underWay.get(port) ?? 0) - 1))
    pass(agent, port, req, res)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    add: (port) => {
      ports = [...ports, port]
    },
    remove: async (gone) => {
      ports = ports.filter((port) => port !== gone)
      const end = performance.now() + DRAIN_MS
      while ((underWay.get(gone) ?? 0) > 0 && performance.now() < end) await sleep(10)
    },
    close: () => {
      server.close()
      server.closeAllConnections()
      agent.destroy()
    },
  }
}

/** A process that cannot be reached is a 502, never a second try: a form must not be sent twice. */
function pass(agent: http.Agent, port: number, req: IncomingMessage, res: ServerResponse): void {
  const headers = { ...req.headers, 'x-forwarded-for': req.headers['x-forwarded-for'] ?? '127.0.0.1' }
  const options = { host: '127.0.0.1', port, method: req.method, path: req.url, headers, agent }
  const inner = http.request(options, (answer) => {
    res.writeHead(answer.statusCode ?? 502, answer.rawHeaders)
    answer.pipe(res)
  })
  inner.once('error', () => {
    if (res.headersSent) res.destroy()
    else res.writeHead(502).end('the process did not answer')
  })
  req.pipe(inner)
}
