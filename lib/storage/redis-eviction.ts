/** Warns of a Redis that may evict: it would drop sessions. */
import type { Cluster, Redis } from 'ioredis'

/** Describes the eviction policy of a server. @param info response to INFO @returns `undefined` if it evicts nothing */
function evictionOf(info: string): string | undefined {
  const field = (name: string) => new RegExp(`^${name}:(.*)$`, 'm').exec(info)?.[1] ?? ''
  const policy = field('maxmemory_policy')
  if (policy === 'noeviction' || field('maxmemory') === '0') return undefined
  return `eviction policy ${policy || 'unknown'}: under pressure sessions are dropped, and used tokens forgotten; use noeviction`
}

/** @returns reads the eviction policy of each server in the background, when it is called for the first time */
export function evictionCheck(client: Redis | Cluster, warn: (text: string) => void): () => void {
  let isDone = false
  return () => {
    if (isDone) return
    isDone = true
    const servers = client.isCluster ? (client as Cluster).nodes('master') : [client as Redis]
    for (const server of servers)
      server.info().then(
        (info) => {
          const text = evictionOf(info)
          if (text !== undefined) warn(text)
        },
        () => {}, // it may not be allowed
      )
  }
}
