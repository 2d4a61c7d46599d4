import { once } from 'node:events'
import net, { type Server } from 'node:net'

/**
 * Ports that the system gives to no program by chance: a server that is taken down for a while finds its own free again, and no other
 * program answers there meanwhile.
 */
const FIRST = 10_000
/** Each of Jest's workers has its own, or a slow program finds its port taken by a test of another worker. */
const SPAN = 4000
const WORKERS = 5
const TRIES = 20

const taken = new Set<number>()

/** A port that this process has not tried lately: who was told of one may still be about to listen there. */
function anyPort(): number {
  if (taken.size > SPAN / 2) taken.clear()
  const worker = (Number(process.env['JEST_WORKER_ID'] ?? 1) - 1) % WORKERS
  let port: number
  do port = FIRST + SPAN * worker + Math.floor(Math.random() * SPAN)
  while (taken.has(port))
  taken.add(port)
  return port
}

/** Listens somewhere. @param listen makes a server that is about to listen on a port */
export async function listenAnywhere(listen: (port: number) => Server): Promise<Server> {
  for (let tries = 1; ; tries += 1) {
    const server = listen(anyPort())
    try {
      await once(server, 'listening')
      return server
    } catch (error) {
      if (tries === TRIES) throw error
    }
  }
}

export async function freePort(): Promise<number> {
  const server = await listenAnywhere((port) => net.createServer().listen(port, '127.0.0.1'))
  const { port } = server.address() as net.AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
