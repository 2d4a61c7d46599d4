/** A client of ioredis that a site gives: its `Redis` or `Cluster`, of whichever version the site has beside ours. */

/** What of such a client is the same in all versions, and tells it from other clients of Redis. */
export interface RedisClient {
  readonly isCluster: boolean
  readonly status: string
  defineCommand(name: string, definition: { lua: string; numberOfKeys?: number }): void
  mget(...keys: string[]): Promise<(string | null)[]>
  disconnect(reconnect?: boolean): void
}
