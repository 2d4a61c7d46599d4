import { once } from 'node:events'
import net, { type AddressInfo, type Socket } from 'node:net'

/**
 * Stands in front of the site's processes: connections go to them in turn, and past one that takes none.
 * @param ports of the processes that run now, asked for each connection
 */
export async function startBalancer(ports: () => readonly number[]) {
  const sockets = new Set<Socket>()
  let turn = 0
  const server = net.createServer({ pauseOnConnect: true }, (socket) => {
    track(sockets, socket)
    turn += 1
    const running = ports()
    const inTurn = running.map((_, index) => running[(index + turn) % running.length] ?? 0)
    pass(socket, inTurn, sockets)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    close: () => {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}

function track(sockets: Set<Socket>, socket: Socket): void {
  sockets.add(socket)
  socket.on('error', () => socket.destroy())
  socket.once('close', () => sockets.delete(socket))
}

function pass(socket: Socket, [port, ...others]: readonly number[], sockets: Set<Socket>): void {
  if (port === undefined) {
    socket.destroy()
    return
  }
  const inner = net.connect(port, '127.0.0.1')
  track(sockets, inner)
  const refused = () => pass(socket, others, sockets)
  inner.once('error', refused)
  inner.once('connect', () => {
    inner.off('error', refused)
    inner.once('close', () => socket.destroy())
    socket.once('close', () => inner.destroy())
    inner.pipe(socket)
    socket.pipe(inner)
    socket.resume()
  })
}
