/** A Redis that evicts drops what it was given to keep: it is looked at once, and whoever runs it is told. */
import type { Cluster, Redis } from 'ioredis'

/**
 * What is to be said of a server's eviction policy.
 * @param info what INFO answers
 * @returns nothing where it evicts nothing
 */
function evictionOf(info: string): string | undefined {
  const field = (name: string) => new RegExp(`^${name}:(.*)$`, 'm').exec(info)?.[1] ?? ''
  const policy = field('maxmemory_policy')
  if (policy === 'noeviction' || field('maxmemory') === '0') return undefined
  return `eviction policy ${policy || 'unknown'}: under pressure sessions are dropped, and used tokens forgotten; use noeviction`
}

/**
 * Looks at the servers of a client, in the background; one that does not say is left alone.
 * @returns what looks, when the client is connected, and does nothing after the first time
 */
export function evictionWatch(client: Redis | Cluster, tell: (says: string) => void): () => void {
  let hasLooked = false
  return () => {
    if (hasLooked || client.status !== 'ready') return
    hasLooked = true
    const servers = client.isCluster ? (client as Cluster).nodes('master') : [client as Redis]
    for (const server of servers)
      server.info().then(
        (info) => {
          const says = evictionOf(info)
          if (says !== undefined) tell(says)
        },
        () => {},
      )
  }
}
