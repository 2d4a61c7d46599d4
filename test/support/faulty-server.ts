import { once } from 'node:events'
import http from 'node:http'
import type { AddressInfo } from 'node:net'

/** One request as it came. */
interface Seen {
  readonly method: string
  readonly url: string
  readonly headers: http.IncomingHttpHeaders
  readonly body: string
}

/** Answers one request; `count` is 1 for the first. */
export type Behaviour = (res: http.ServerResponse, seen: Seen, count: number) => void

/** An address where nobody listens: the port of a closed server may be given to another program at once. */
export const nobody = 'http://127.0.0.1:1'

/** A small server that answers as it is told. */
export async function faultyServer() {
  const seen: Seen[] = []
  let behave: Behaviour = (res) => res.end()
  const server = http.createServer(async (req, res) => {
    const chunks: Buffer[] = []
    for await (const chunk of req) chunks.push(chunk)
    const { method = '', url = '', headers } = req
    const request = { method, url, headers, body: String(Buffer.concat(chunks)) }
    seen.push(request)
    behave(res, request, seen.length)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    /** Forgets what came and behaves like this from now on. */
    become(next: Behaviour) {
      seen.length = 0
      behave = next
    },
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

export function useFaultyServer() {
  const server = {} as Awaited<ReturnType<typeof faultyServer>> // is there before the first test
  beforeAll(async () => void Object.assign(server, await faultyServer()))
  afterAll(() => server.close())
  return server
}

export function json(res: http.ServerResponse, status: number, value: unknown, headers: http.OutgoingHttpHeaders = {}) {
  res.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value))
}

/** Half a body, and then a cut. */
export const halfAnswer: Behaviour = (res) => {
  res.writeHead(200, { 'content-length': 100 })
  res.write('{"items"', () => res.destroy())
}

/** How a call has ended so far: with an answer or an error, or `undefined` while it is under way. */
export function outcomeOf(call: Promise<unknown>): () => unknown {
  let outcome: unknown
  const note = (end: unknown) => {
    outcome = end
  }
  call.then(note, note)
  return () => outcome
}

/** What a promise was rejected with. */
export async function failure(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise
  } catch (error) {
    return error
  }
  throw new Error('it was not rejected')
}
