/** The servers behind a client, each with a guard of its own: one, or the masters of a Cluster. */
import calculateSlot from 'cluster-key-slot'
import type { Cluster, Redis } from 'ioredis'
import { giveUp, type StoreWatch } from './redis-connection'
import { Guard } from './redis-guard'

/** Which guard stands before the server of a key. */
export interface Servers {
  of(key: string): Guard
  /** Does any server answer? */
  readonly areSomeWell: boolean
  /** The guard that speaks for all: of one that is not well, where there is one. */
  ofAll(): Guard
  close(): void
}

/** The guards of a client's servers. */
export function serversOf(redis: Redis | Cluster, watch?: StoreWatch): Servers {
  return redis.isCluster ? mastersOf(redis as Cluster, watch) : oneServer(redis as Redis, watch)
}

function oneServer(redis: Redis, watch?: StoreWatch): Servers {
  const guard = new Guard({ ask: () => redis.ping(), reconnect: () => giveUp(redis) }, watch)
  return {
    of: () => guard,
    get areSomeWell() {
      return guard.isWell
    },
    ofAll: () => guard,
    close: () => guard.close(),
  }
}

/** By the owner of a key's slot: a master that is away degrades nobody but the readers whose sessions it has. */
function mastersOf(cluster: Cluster, watch?: StoreWatch): Servers {
  const guards = new Map<string, Guard>()
  const guardOf = (owner: string, key: string) => {
    const known = guards.get(owner)
    if (known) return known
    // the Cluster is asked for a key of this server: where it has moved to another one meanwhile, that one answers
    const guard = new Guard({ ask: () => cluster.exists(key), reconnect: () => reconnect(cluster, owner) }, watch)
    guards.set(owner, guard)
    return guard
  }
  return {
    of: (key) => guardOf(cluster.slots[calculateSlot(key)]?.[0] ?? '', key),
    get areSomeWell() {
      return guards.size === 0 || [...guards.values()].some(({ isWell }) => isWell)
    },
    ofAll: () => [...guards.values()].find(({ isWell }) => !isWell) ?? guardOf(cluster.slots[0]?.[0] ?? '', ''),
    close: () => {
      for (const guard of guards.values()) guard.close()
    },
  }
}

/** A Cluster makes the connection to a node anew when it is needed. */
function reconnect(cluster: Cluster, owner: string): void {
  for (const node of cluster.nodes()) {
    if (`${node.options.host}:${node.options.port}` === owner) giveUp(node, true)
  }
}
