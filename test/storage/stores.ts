import { randomUUID } from 'node:crypto'
import type { Kv } from '../../lib/storage/kv'
import { LoginLocks } from '../../lib/storage/login-locks'
import { MemoryKv } from '../../lib/storage/memory-kv'
import { PendingLogouts } from '../../lib/storage/pending-logouts'
import { Records } from '../../lib/storage/records'
import { openRedis } from '../../lib/storage/redis-connection'
import { redisKv } from '../../lib/storage/redis-kv'
import { SessionIndex } from '../../lib/storage/session-index'

/** When these tests begin, in seconds since 1970. */
export const NOW = 1_800_000_000
/** The secret of most sites here, and another one. */
export const [KEY, OTHER_KEY] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)]

/** One site's view of a store. */
export type TestSite = ReturnType<typeof siteOver>

/** The clock of one test; memory and lists go by it, Redis' own expiry by the real one. */
export interface TestClock {
  now: number
}

/** The clock of a test that waits: one that stands still ends no pause in memory. */
export const realClock: TestClock = {
  get now() {
    return Math.floor(Date.now() / 1000)
  },
}

/** Every store that the package has, each to be held to the same contract. */
export const stores: [name: string, open: (clock: TestClock) => Kv][] = [
  ['memory', (clock) => new MemoryKv(() => clock.now * 1000)],
  ['Redis', () => redisKv(openRedis(String(process.env['TEST_REDIS_URL'])), true)],
]

/** A site; of its own unless a prefix is given. */
export function siteOver(kv: Kv, clock: TestClock, prefix = `${randomUUID()}:`, keys = [KEY]) {
  const parts = [kv, prefix, () => keys, () => clock.now * 1000] as const
  return {
    prefix,
    records: new Records(...parts),
    sessionIndex: new SessionIndex(...parts),
    pendingLogouts: new PendingLogouts(...parts),
    logins: new LoginLocks(...parts),
  }
}

/** Sessions in an index, sorted. Reads them as a logout does, and writes the revocation of an index that is not there. */
export async function listedIn(kv: Kv, { prefix }: TestSite, index: string, now: number): Promise<string[]> {
  const read = { now, member: '', most: 10_000 }
  return (await kv.revokeAndList(`${prefix}look:${index}`, 1, `${prefix}${index}`, read)).sort()
}

/** So many at once. @returns the answers that are not false */
export async function winners<T>(count: number, run: (index: number) => Promise<T>): Promise<T[]> {
  const answers = await Promise.all(Array.from({ length: count }, (_, index) => run(index)))
  return answers.filter((answer) => answer !== false)
}
