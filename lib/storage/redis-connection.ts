/** Connections to Redis: whether one is lost, and how one that has gone silent is given up. */
import type { Cluster, Redis } from 'ioredis'

/** A connection is given so long before it is given up for the next one. */
const PATIENCE_MS = 2000

const connections = new WeakMap<Redis | Cluster, { isLost: boolean }>()

/** Is the connection lost? One that is only being made for the first time is not. Many sites may share a client: it is watched once. */
export function watchConnection(redis: Redis | Cluster): { readonly isLost: boolean } {
  const watched = connections.get(redis)
  if (watched) return watched
  const state = { isLost: false }
  connections.set(redis, state)
  redis.on('close', () => {
    state.isLost = true
  })
  redis.on('ready', () => {
    state.isLost = false
  })
  return state
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
