import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Redis } from 'ioredis'
import { startRedisFront } from '../../test/support/front'
import { startRedis, type TestRedis } from '../../test/support/redis'
import type { Fault } from './faults'
import { type StoreAddress, startCluster, startSentinels, type Topology } from './masters'

/** Where the site keeps its sessions, and what breaks there. */
export interface Store {
  /** As the processes of the site are told it: a URL, or nodes that they make a client for. */
  readonly address: string | StoreAddress
  readonly faults: readonly Fault[]
  /** Connections to all servers, past all fronts. */
  readonly servers: readonly Redis[]
  mend(): Promise<void>
  close(): Promise<void>
}

/** A Redis behind a front; it comes back with all that was written, or with nothing. */
export async function oneRedis(): Promise<Store> {
  const folder = mkdtempSync(path.join(tmpdir(), 'express-sso2-lasting-'))
  let server: TestRedis = await startRedis({ folder })
  const { port, url } = server
  const front = await startRedisFront(port)
  const redis = new Redis(url, { maxRetriesPerRequest: null })
  redis.on('error', () => {})
  const restart = async (isEmpty: boolean) => {
    await server.stop()
    if (isEmpty) rmSync(path.join(folder, 'appendonlydir'), { recursive: true, force: true })
    server = await startRedis({ folder, port })
  }
  return {
    address: `redis://127.0.0.1:${front.port}`,
    faults: [
      { part: 'store', name: 'Redis restarts', begin: () => restart(false), isShort: true },
      { part: 'loss', name: 'Redis restarts empty', begin: () => restart(true), isShort: true },
      { part: 'store', name: 'Redis refuses connections', begin: front.down },
      { part: 'store', name: 'Redis hangs', begin: front.stall },
      { part: 'store', name: 'Redis is slow', begin: () => front.delay(120) },
      { part: 'store', name: 'connections to Redis go silent', begin: front.silence },
      {
        part: 'store',
        name: 'Redis takes no writes',
        begin: () => redis.config('SET', 'maxmemory', '1'),
        end: () => redis.config('SET', 'maxmemory', '0'),
      },
    ],
    servers: [redis],
    mend: async () => {
      front.heal()
      await front.up()
    },
    close: async () => {
      await front.down()
      redis.disconnect()
      await server.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Masters with replicas, of which one after another takes the place of its master. What a master has not passed on is lost. */
export async function manyMasters(kind: string, program: string): Promise<Store> {
  const topology: Topology = await (kind === 'cluster' ? startCluster : startSentinels)(program)
  return {
    address: topology.address,
    faults: [
      { part: 'store', also: 'loss', name: 'a master stands still', begin: topology.freeze, end: topology.thaw },
    ],
    servers: topology.servers,
    mend: async () => {},
    close: topology.stop,
  }
}
