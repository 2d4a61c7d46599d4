/** Connections to Redis: whether one is lost, and how one that has gone silent is given up. */
import { errorMonitor } from 'node:events'
import type { Cluster, Redis } from 'ioredis'

/** A connection is given so long before it is given up for the next one. */
const PATIENCE_MS = 2000

/** What is known of a connection. */
interface Connection {
  isLost: boolean
  /** One for each site that has it. */
  readonly watches: Set<StoreWatch>
}

const connections = new WeakMap<Redis | Cluster, Connection>()

/** Whoever wants to know how the store is. */
export interface StoreWatch {
  /** A connection or a command has failed. */
  failed(error: unknown): void
  /** A server that had failed answers again. */
  back(): void
}

/** A connection, as one site sees it. */
export interface Watched {
  /** Is it lost? One that is only being made for the first time is not. */
  readonly isLost: boolean
  /** No word more of its errors. */
  stop(): void
}

/** Watches a connection. Many sites may share a client: it is listened to once, and only where somebody else listens to its errors as well. */
export function watchConnection(redis: Redis | Cluster, watch?: StoreWatch): Watched {
  const connection = connections.get(redis) ?? listen(redis)
  if (watch) connection.watches.add(watch)
  return {
    get isLost() {
      return connection.isLost
    },
    stop: () => void (watch && connection.watches.delete(watch)),
  }
}

function listen(redis: Redis | Cluster): Connection {
  const connection: Connection = { isLost: false, watches: new Set() }
  connections.set(redis, connection)
  redis.on('close', () => {
    connection.isLost = true
  })
  redis.on('ready', () => {
    connection.isLost = false
    for (const watch of connection.watches) watch.back()
  })
  // a client of the site's that nobody listens to says itself what is wrong with it
  redis.on(errorMonitor, (error: unknown) => {
    for (const watch of connection.watches) watch.failed(error)
  })
  return connection
}

const givenUp = new WeakMap<Redis, number>()

/**
 * Ends a connection whose other end may be gone without a word, at once: a polite end would wait for its answer. The client
 * makes another one, through its Sentinels where it has some; a client that would not is left alone.
 */
export function giveUp(redis: Redis, reconnects = typeof redis.options.retryStrategy === 'function'): void {
  const now = performance.now()
  if (!reconnects || now - (givenUp.get(redis) ?? Number.NEGATIVE_INFINITY) < PATIENCE_MS) return
  givenUp.set(redis, now)
  redis.stream?.destroy()
}
