import { once } from 'node:events'
import net from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/*
 * What a step asks of Redis: the commands that are sent, by MONITOR, without those inside scripts; and how many of them wait for one another,
 * by a way to Redis that takes its time.
 */

/** Longer than all else that a step does, and shorter than the deadline of a command. */
const DELAY_MS = 80
const QUIET_MS = 40

/** Counts commands as sites send them. */
export interface CommandCount {
  /** Runs something. @returns how many commands were sent meanwhile, with those that nothing waited for */
  during(run: () => Promise<void>): Promise<number>
  stop(): void
}

/** Opens a MONITOR. The look for pending logouts, once in ten seconds, belongs to no step. */
export async function countCommands(port: number): Promise<CommandCount> {
  const socket = net.connect(port, '127.0.0.1').setEncoding('utf8')
  await once(socket, 'connect')
  let count = 0
  let rest = ''
  socket.on('data', (text: string) => {
    const lines = (rest + text).split('\r\n')
    rest = lines.pop() ?? ''
    count += lines.filter((line) => /^\+[\d.]+ \[\d+ (?!lua)/.test(line) && !line.includes(':logouts:')).length
  })
  socket.write('MONITOR\r\n')
  await sleep(QUIET_MS)
  return {
    during: async (run) => {
      count = 0
      await run()
      await sleep(QUIET_MS)
      return count
    },
    stop: () => socket.destroy(),
  }
}

/** A way to Redis. */
export interface SlowWay {
  readonly url: string
  /** Runs something while each command takes longer. @returns how many of its waits were one after the other */
  waitsOf(run: () => Promise<void>): Promise<number>
  close(): void
}

/** Opens the way. It is as fast as any until it is measured. */
export async function openSlowWay(port: number): Promise<SlowWay> {
  let delay = 0
  const sockets = new Set<net.Socket>()
  const server = net.createServer((from) => {
    const to = net.connect(port, '127.0.0.1')
    for (const one of [from, to]) sockets.add(one.on('error', () => {}).on('close', () => sockets.delete(one)))
    from.on('data', (data) => setTimeout(() => to.write(data), delay)).on('close', () => to.destroy())
    to.on('data', (data) => from.write(data)).on('close', () => from.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `redis://127.0.0.1:${(server.address() as net.AddressInfo).port}`,
    waitsOf: async (run) => {
      delay = DELAY_MS
      const begun = performance.now()
      await run()
      const took = performance.now() - begun
      await sleep(2 * DELAY_MS) // what nothing waits for
      delay = 0
      return Math.floor(took / DELAY_MS)
    },
    close: () => {
      for (const one of sockets) one.destroy()
      server.close()
    },
  }
}
