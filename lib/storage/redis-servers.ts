/**
 * The servers of a client: a single Redis, or the masters of a Cluster.
 * Each server has its own breaker, so that a master that does not answer affects its own users only.
 */
import calculateSlot from 'cluster-key-slot'
import type { Cluster, Redis } from 'ioredis'
import { type Access, hasCause, type RedisFailure } from '../decide/redis-failure-advice'
import { type BreakerListener, RedisCircuitBreaker } from './redis-circuit-breaker'
import { storeUnavailable } from './site-store'

/** Milliseconds until a new connection must be ready. A slower connection is ended too. */
const PATIENCE_MS = 2000
/** Maximum of keys to try for a probe. A master that holds none of the keys has no slots any more. */
const MAX_PROBE_KEYS = 5000
/** Owner of all keys without a Cluster, or until the Cluster is connected. */
const ANY = ''

/** Options of probes. */
export interface Probing {
  /** Begins each key, because a user of Redis may be limited to the keys of its site. */
  readonly prefix: string
  send(access: Access, key: string): Promise<unknown>
}

/** As {@link BreakerListener}, for all servers. */
export interface ServersListener extends BreakerListener {
  connected?(): void
}

/** Finds the breaker of each key. */
export class RedisServers {
  readonly #redis: Redis | Cluster
  readonly #probing: Probing
  readonly #listener: ServersListener | undefined
  readonly #breakers = new Map<string, RedisCircuitBreaker>()

  /** Listens to the errors of the client, so that the site does not need a listener. */
  constructor(redis: Redis | Cluster, probing: Probing, listener?: ServersListener) {
    this.#redis = redis
    this.#probing = probing
    this.#listener = listener
    allowListeners(redis, 1) // many sites may share a client
    redis.on('error', this.#onError).on('node error', this.#onNodeError).on('ready', this.#onReady)
    if (redis.status === 'ready') listener?.connected?.()
  }

  breakerFor(key: string): RedisCircuitBreaker {
    return this.#breakerOf(this.#ownerOf(key))
  }

  get isAnyServerHealthy(): boolean {
    if (isDisconnected(this.#redis)) return false
    return this.#breakers.size === 0 || this.#all().some(({ isHealthy }) => isHealthy)
  }

  get failure(): RedisFailure | undefined {
    return this.#all().find(({ isHealthy }) => !isHealthy)?.failure
  }

  /** Sends a harmless read and a harmless write to every server. @throws if a command fails, or is known to fail */
  async probe(): Promise<void> {
    if (this.failure) throw storeUnavailable() // the server's breaker sends probes already
    const masters = this.#redis.isCluster ? (this.#redis as Cluster).nodes('master').map(nodeAddress) : []
    for (const owner of masters.length > 0 ? masters : [ANY]) this.#breakerOf(owner)
    await Promise.all(this.#all().map((breaker) => breaker.probe()))
  }

  /** Ends probes and reports. @param disconnects ends the client too */
  close(disconnects = false): void {
    this.#redis.off('error', this.#onError).off('node error', this.#onNodeError).off('ready', this.#onReady)
    allowListeners(this.#redis, -1)
    for (const breaker of this.#all()) breaker.close()
    if (disconnects) this.#redis.disconnect()
  }

  #all(): RedisCircuitBreaker[] {
    return [...this.#breakers.values()]
  }

  #ownerOf(key: string): string {
    return (this.#redis as Partial<Cluster>).slots?.[calculateSlot(key)]?.[0] ?? ANY
  }

  #breakerOf(owner: string): RedisCircuitBreaker {
    const known = this.#breakers.get(owner)
    if (known) return known
    const server = {
      node: owner === ANY ? undefined : owner,
      probe: (access: Access) => this.#probe(owner, access),
      reconnect: (isSilent: boolean) => this.#reconnect(owner, isSilent),
    }
    const breaker = new RedisCircuitBreaker(server, { failed: this.#onFailure, recovered: this.#onRecovery })
    this.#breakers.set(owner, breaker)
    return breaker
  }

  /** Searches a key of the server at each probe, because slots move. A server without slots is forgotten. */
  async #probe(owner: string, access: Access): Promise<void> {
    for (let index = 0; index < MAX_PROBE_KEYS; index += 1) {
      const key = `${this.#probing.prefix}probe:${index}`
      if (this.#ownerOf(key) !== owner) continue
      await this.#probing.send(access, key)
      return
    }
    this.#breakers.delete(owner)
  }

  /** Ends the connection of a server. A Cluster opens another connection when needed. */
  #reconnect(owner: string, isSilent: boolean): void {
    if (this.#redis.isCluster) {
      const node = (this.#redis as Cluster).nodes().find((one) => nodeAddress(one) === owner)
      if (node) endConnection(node, isSilent, true)
    } else endConnection(this.#redis as Redis, isSilent)
  }

  readonly #onError = (error: unknown) => {
    for (const breaker of this.#breakers.size === 0 ? [this.#breakerOf(ANY)] : this.#all())
      breaker.connectionFailed(error)
  }

  /** Reports failures of known masters. Replicas and masters without slots do not concern the site. */
  readonly #onNodeError = (error: unknown, node: string) => this.#breakers.get(node)?.connectionFailed(error)

  readonly #onReady = () => {
    this.#listener?.connected?.()
    for (const breaker of this.#all()) {
      breaker.connected()
      if (!breaker.isHealthy) breaker.probe().catch(() => {})
    }
  }

  /** Reports a failure with its cause. After a lost connection, the client knows the cause when the next connection fails. */
  readonly #onFailure = (failure: RedisFailure) => {
    if (hasCause(failure) || !isReconnecting(this.#redis)) this.#listener?.failed(failure)
  }

  readonly #onRecovery = () => {
    if (!this.failure) this.#listener?.recovered()
  }
}

const isReconnecting = ({ status }: Redis | Cluster) => status === 'close' || status === 'reconnecting'
const isDisconnected = (redis: Redis | Cluster) => isReconnecting(redis) || redis.status === 'end'

const nodeAddress = ({ options }: Redis) => `${options.host}:${options.port}`

function allowListeners(redis: Redis | Cluster, more: number): void {
  const limit = redis.getMaxListeners()
  if (limit > 0) redis.setMaxListeners(limit + more)
}

/** Time at which the connection of a client was last ended here. Sites that share a client share the time. */
const lastEnds = new WeakMap<Redis, number>()

/**
 * Ends a connection. The client opens another connection, through its Sentinels if any. A client that does not reconnect is not
 * changed.
 * @param isSilent the server may not answer, so pending responses are not waited for
 */
export function endConnection(
  redis: Redis,
  isSilent: boolean,
  reconnects = typeof redis.options.retryStrategy === 'function',
): void {
  const now = performance.now()
  if (!reconnects || now - (lastEnds.get(redis) ?? Number.NEGATIVE_INFINITY) < PATIENCE_MS) return
  lastEnds.set(redis, now)
  if (isSilent) redis.stream?.destroy()
  else redis.stream?.end()
}
