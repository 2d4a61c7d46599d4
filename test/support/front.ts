import { once } from 'node:events'
import net, { type AddressInfo } from 'node:net'

/** Something that stands in front of a server, and can be taken away: connections are then refused. */
export interface Front {
  readonly port: number
  down(): Promise<void>
  up(): Promise<void>
}

/** Passes every connection on to a port of this machine. */
export async function startFront(target: number): Promise<Front> {
  const sockets = new Set<net.Socket>()
  const open = (port: number) => {
    const server = net.createServer((socket) => {
      const inner = net.connect(target, '127.0.0.1')
      for (const end of [socket, inner]) {
        sockets.add(end)
        end.on('error', () => end.destroy())
        end.once('close', () => sockets.delete(end))
      }
      socket.pipe(inner).pipe(socket)
    })
    return server.listen(port, '127.0.0.1')
  }
  let server = open(0)
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    port,
    down: async () => {
      if (!server.listening) return
      const closed = once(server, 'close')
      server.close()
      for (const socket of sockets) socket.destroy()
      await closed
    },
    up: async () => {
      server = open(port)
      await once(server, 'listening')
    },
  }
}
