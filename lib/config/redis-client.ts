/** A client of ioredis that a site gives: its `Redis` or `Cluster`, of whichever version the site has beside ours. */

/** What of a `Redis` or `Cluster` is the same in all versions of ioredis, and tells it from other clients of Redis. */
export interface RedisClient {
  /** Are there several masters behind it? */
  readonly isCluster: boolean
  /** Of the connection, in the words of ioredis. */
  readonly status: string
  /** Makes a script a command. */
  defineCommand(name: string, definition: { lua: string; numberOfKeys?: number }): void
  /** Reads several keys at once. */
  mget(...keys: string[]): Promise<(string | null)[]>
  /** Ends the connection. */
  disconnect(reconnect?: boolean): void
}
