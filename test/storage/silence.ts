import type { Cluster, Redis } from 'ioredis'
import { timed, untilAnswered } from '../support/wait'

const COMMAND_MS = 300

/** Asks all the time, and the last command begins in time. @returns after how many milliseconds it was answered */
export async function answeredWithin(ms: number, ask: () => Promise<unknown>): Promise<number> {
  const start = performance.now()
  const [, ran] = await timed(() => untilAnswered(ask))
  expect(ran).toBeLessThan(ms + COMMAND_MS)
  return performance.now() - start
}

/** Notes the reads of a key that a client sends. Only those may wait: the breaker refuses the others at once. */
export function readsOf(client: Redis | Cluster, key: string): unknown[] {
  const sent: unknown[] = []
  const read = client.mget.bind(client) as (...args: unknown[]) => Promise<(string | null)[]>
  client.mget = ((...args: unknown[]) => {
    if (args.includes(key)) sent.push(args)
    return read(...args)
  }) as typeof client.mget
  return sent
}
