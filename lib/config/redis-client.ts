/** The ioredis client that a site may pass in: a `Redis` or `Cluster`, in the site's own version of ioredis. */

/** Members that `Redis` and `Cluster` have in all versions of ioredis. Other Redis clients do not have all of them. */
export interface RedisClient {
  /** Is this a client of several Redis masters? */
  readonly isCluster: boolean
  /** State of the connection, as ioredis names the states. */
  readonly status: string
  /** Defines a command that runs a Lua script. */
  defineCommand(name: string, definition: { lua: string; numberOfKeys?: number }): void
  /** Reads several keys at once. */
  mget(...keys: string[]): Promise<(string | null)[]>
  /** Ends the connection. */
  disconnect(reconnect?: boolean): void
}
