import { once } from 'node:events'
import net, { type AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { keepBack, letPass } from './patience'
import { listenAnywhere } from './ports'

/** Something that stands in front of a server: it can be taken away, stand still, be slow, or lead elsewhere. */
export type Front = Awaited<ReturnType<typeof startFront>>

/** Passes every connection on to a port of this machine. @param target may be another one for each connection */
export async function startFront(target: number | (() => number)) {
  const sockets = new Set<net.Socket>()
  const state = {
    target: typeof target === 'number' ? () => target : target,
    isStalled: false,
    delayMs: 0,
    generation: 0,
  }
  const cut = () => {
    for (const socket of sockets) socket.destroy()
  }
  const open = (port: number) => net.createServer((socket) => pass(socket, state, sockets)).listen(port, '127.0.0.1')
  let server = await listenAnywhere(open)
  const { port } = server.address() as AddressInfo
  return {
    port,
    /** Connections are refused, and those that were open are cut. */
    down: async () => {
      if (!server.listening) return
      const closed = once(server, 'close')
      server.close()
      cut()
      await closed
    },
    up: async () => {
      if (server.listening) return
      server = open(port)
      await once(server, 'listening')
    },
    /** Connections are accepted and nothing comes through, for good. Those that were open hang. */
    stall: () => {
      state.isStalled = true
    },
    /** Connections that are open pass nothing on any more, and are not cut; new ones work. */
    silence: () => {
      state.generation += 1
    },
    /** Answers come so many milliseconds late. */
    delay: (ms: number) => {
      state.delayMs = ms
    },
    /** All is passed on again, at once; connections that have hung are cut. */
    heal: () => {
      if (state.isStalled) cut()
      Object.assign(state, { isStalled: false, delayMs: 0 })
    },
    /** New connections lead to another port; those that were open are cut. */
    lead: (other: number) => {
      state.target = () => other
      cut()
    },
  }
}

/** A front of Redis. While it lets nothing through, a command of Redis has its usual time. */
export async function startRedisFront(target: number): Promise<Front> {
  const front = await startFront(target)
  const { port } = front
  const after = <A extends unknown[], R>(note: (by: string) => void, how: string, act: (...args: A) => R) => {
    return (...args: A) => {
      note(`${how} ${port}`)
      return act(...args)
    }
  }
  return {
    ...front,
    down: after(keepBack, 'down', front.down),
    stall: after(keepBack, 'slow', front.stall),
    silence: after(keepBack, 'slow', front.silence),
    delay: after(keepBack, 'slow', front.delay),
    up: after(letPass, 'down', front.up),
    heal: after(letPass, 'slow', front.heal),
  }
}

interface State {
  readonly target: () => number
  readonly isStalled: boolean
  readonly delayMs: number
  /** Connections of an earlier one are silent. */
  readonly generation: number
}

function pass(socket: net.Socket, state: State, sockets: Set<net.Socket>): void {
  const inner = net.connect(state.target(), '127.0.0.1')
  const { generation } = state
  const isMute = () => state.isStalled || generation < state.generation
  for (const [end, other] of [
    [socket, inner],
    [inner, socket],
  ] as const) {
    sockets.add(end)
    end.on('error', () => end.destroy())
    end.once('close', () => {
      sockets.delete(end)
      other.destroy()
    })
  }
  socket.on('data', (chunk) => void (isMute() || inner.write(chunk)))
  let last = Promise.resolve()
  inner.on('data', (chunk) => {
    if (isMute()) return
    const wait = state.delayMs > 0 ? sleep(state.delayMs) : undefined
    last = last.then(async () => {
      await wait
      socket.write(chunk)
    })
  })
}
