import type { Redis } from 'ioredis'

/** What a Redis has done since it began. */
export interface Counts {
  readonly commands: number
  /** Times that it sent answers to somebody: with one request at a time, the round trips that the request waited for. */
  readonly trips: number
  /** `used_memory`. */
  readonly bytes: number
}

/** Counts of one Redis, or of all masters of a Cluster together. */
export async function countsOf(masters: readonly Redis[]): Promise<Counts> {
  const all = await Promise.all(masters.map(countsOfOne))
  const sum = (name: keyof Counts) => all.reduce((total, one) => total + one[name], 0)
  return { commands: sum('commands'), trips: sum('trips'), bytes: sum('bytes') }
}

async function countsOfOne(redis: Redis): Promise<Counts> {
  const text = await redis.info()
  const of = (name: RegExp) => Number(name.exec(text)?.[1] ?? 0)
  return {
    commands: of(/total_commands_processed:(\d+)/),
    trips: of(/total_writes_processed:(\d+)/),
    bytes: of(/used_memory:(\d+)/),
  }
}

/** What happened between two counts, without the first question itself. */
export function between(before: Counts, after: Counts, masters = 1): Counts {
  return {
    commands: after.commands - before.commands - masters,
    trips: after.trips - before.trips - masters,
    bytes: after.bytes - before.bytes,
  }
}
