import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { Log } from '../../lib/log/log'
import { AccountIndex } from '../../lib/storage/account-index'
import type { Kv } from '../../lib/storage/kv'
import { Locks } from '../../lib/storage/locks'
import { MemoryKv } from '../../lib/storage/memory-kv'
import { PendingLogouts } from '../../lib/storage/pending-logouts'
import { Records } from '../../lib/storage/records'
import { RedisKv } from '../../lib/storage/redis-kv'
import { startCluster } from '../support/cluster'

/** When these tests begin, in seconds since 1970. */
export const NOW = 1_800_000_000
/** The secret of most sites here, and another one. */
export const [KEY, OTHER_KEY] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)]

const quiet = { prefix: 'site:', log: new Log({ warn: () => {}, info: () => {} }) }

/** One site's view of a store. */
export type TestSite = ReturnType<typeof siteOver>

export interface OpenedStore {
  readonly kv: Kv
  close(): Promise<void>
}

const openMemory = async (): Promise<OpenedStore> => {
  const kv = new MemoryKv(() => Date.now())
  return { kv, close: () => kv.close() }
}

const openOneRedis = async (): Promise<OpenedStore> => {
  const kv = new RedisKv(String(process.env['TEST_REDIS_URL']), quiet)
  await once(kv.client, 'ready')
  return { kv, close: () => kv.close() }
}

const openCluster = async (): Promise<OpenedStore> => {
  const cluster = await startCluster()
  const client = cluster.client()
  const kv = new RedisKv(client, quiet)
  await once(client, 'ready')
  const close = async () => {
    await kv.close()
    client.disconnect()
    await cluster.stop()
  }
  return { kv, close }
}

type Store = [name: string, open: () => Promise<OpenedStore>]
export const stores: Store[] = [
  ['memory', openMemory],
  ['Redis', openOneRedis],
]
/** Every store that the package has. Each is held to the same contract. */
export const allStores: Store[] = [...stores, ['a Cluster', openCluster]]

export function useStore(open: () => Promise<OpenedStore>) {
  let store: OpenedStore
  beforeAll(async () => {
    store = await open()
  })
  afterAll(() => store.close())
  return { kv: () => store.kv, site: (keys?: Keys, prefix?: string) => siteOver(store.kv, keys, prefix) }
}

type Keys = [Buffer, ...Buffer[]]

/** A site; of its own unless a prefix is given. */
export function siteOver(kv: Kv, keys: Keys = [KEY], prefix = `${randomUUID()}:`) {
  const parts = { kv, prefix, keys: () => keys }
  return {
    prefix,
    records: new Records(parts),
    accounts: new AccountIndex(parts),
    locks: new Locks(parts),
    pendingLogouts: new PendingLogouts(parts),
  }
}

/** So many at once. @returns the answers */
export const atOnce = <T>(count: number, run: (index: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, index) => run(index)))
