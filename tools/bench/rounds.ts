import type { Redis } from 'ioredis'
import { type Burst, type Load, untilGood } from './load'
import type { Server } from './machine'
import { between, countsOf } from './redis-counts'

/*
 * Servers take turns in short bursts, so that what disturbs a round disturbs all of them.
 */

/** A server, those who ask it, and what came of it. */
export interface Contestant {
  readonly server: Server
  readonly load: Load
  /** The Redis of the server, or all masters of its Cluster. */
  readonly masters: readonly Redis[]
  readonly rounds: Measured[]
}

/** One burst of one server. What is counted is counted a request. */
export interface Measured extends Burst {
  readonly connections: number
  /** Microseconds of the server's CPU time. */
  readonly cpu: number
  readonly commands: number
  readonly trips: number
}

/** Nobody comes first in every round. The first round is thrown away. */
export async function compete(all: readonly Contestant[], rounds: number, connections: number, requests: number) {
  for (let round = -1; round < rounds; round += 1) {
    const first = (round + 1) % all.length
    for (const one of [...all.slice(first), ...all.slice(0, first)]) {
      const measured = await untilGood(() => burst(one, connections, requests))
      if (round >= 0) one.rounds.push(measured)
    }
  }
}

/** One burst, over connections that are open before. */
export async function burst({ server, load, masters }: Contestant, connections: number, requests: number) {
  await load.open(connections)
  const [before, used] = [await countsOf(masters), await server.usage()]
  const done = await load.run(requests)
  const cpu = (await server.usage()).cpu - used.cpu
  const { commands, trips } = between(before, await countsOf(masters), masters.length)
  load.close()
  const each = (total: number) => total / requests
  const setCookies = each(done.setCookies)
  return { ...done, connections, cpu: each(cpu), commands: each(commands), trips: each(trips), setCookies }
}

/** Figures at so many connections, round by round. */
export function series({ rounds }: Pick<Contestant, 'rounds'>, connections: number, name: keyof Measured): number[] {
  return rounds.filter((round) => round.connections === connections).map((round) => round[name])
}
