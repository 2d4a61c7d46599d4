import { once } from 'node:events'
import net, { type Server } from 'node:net'

/**
 * Ports that the system gives to no program by chance: a server that is taken down for a while finds its own free again, and no other
 * program answers there meanwhile.
 */
const anyPort = () => 10_000 + Math.floor(Math.random() * 20_000)
const TRIES = 20

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

/** A port that was free a moment ago. */
export async function freePort(): Promise<number> {
  const server = await listenAnywhere((port) => net.createServer().listen(port, '127.0.0.1'))
  const { port } = server.address() as net.AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
