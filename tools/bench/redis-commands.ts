import { once } from 'node:events'
import net from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { startFront } from '../../test/support/front'

/*
 * What a step asks of Redis: the commands that are sent, by MONITOR, without those inside scripts; and how many of them wait for one another.
 * For these a way to Redis holds each answer back: the time of the response, divided by that. What no response waits for is no wait.
 */

/** Longer than all else that a step does, and shorter than the deadline of a command. */
const DELAY_MS = 80
const QUIET_MS = 40

/** Counts commands as sites send them, by a MONITOR. The look for pending logouts, once in ten seconds, belongs to no step. */
export async function countCommands(port: number) {
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
    /** @returns how many commands were sent meanwhile, with those that nothing waited for */
    during: async (run: () => Promise<void>) => {
      count = 0
      await run()
      await sleep(QUIET_MS)
      return count
    },
    stop: () => socket.destroy(),
  }
}

/** Opens a way to Redis. It is as fast as any until it is measured. */
export async function openSlowWay(port: number) {
  const front = await startFront(port)
  return {
    url: `redis://127.0.0.1:${front.port}`,
    /** Runs something while each command takes longer. @returns how many of its waits were one after the other */
    during: async (run: () => Promise<void>) => {
      front.delay(DELAY_MS)
      const begun = performance.now()
      await run()
      const took = performance.now() - begun
      await sleep(2 * DELAY_MS) // what nothing waits for
      front.heal()
      return Math.floor(took / DELAY_MS)
    },
    close: () => front.down(),
  }
}
