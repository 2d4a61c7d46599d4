/**
 * Guards of Redis: one for a single server, or for each master of a Cluster, so that a master that does not answer affects its own users only.
 * A command has a deadline. After three commands without an answer, requests do not wait for that server, and one probe a second asks it.
 */
import calculateSlot from 'cluster-key-slot'
import type { Cluster, Redis } from 'ioredis'
import { withDeadline } from '../deadline'
import { hasCause, isRedisRefusal, NO_ANSWER, type RedisFailure } from '../log/redis-failure-advice'
import { storeUnavailable } from './site-store'

const COMMAND_MS = 300
const PROBE_EVERY_MS = 1000
const MAX_SILENCES = 3
/** Owner of all keys without a Cluster, or until the Cluster is connected. */
const ANY = ''

/** What happens to the servers. */
export interface GuardListener {
  failed(failure: RedisFailure): void
  /** All known servers answer reads and writes again. @param failure the last failure before */
  recovered(failure: RedisFailure): void
}

/** A server, as its guard uses it. */
export interface GuardedServer extends GuardListener {
  readonly node?: string | undefined
  /** Sends one read and one write. */
  probe(): Promise<void>
  /** Ends a connection whose server is silent. */
  cut?(): void
}

/** Sends the commands for one server. */
export class RedisGuard {
  readonly #server: GuardedServer
  #silences = 0
  #connectionError: unknown
  /** When the newest connection was ready, in milliseconds of a monotonic clock. */
  #connectedAt = Number.NEGATIVE_INFINITY
  #timer: NodeJS.Timeout | undefined
  #isClosed = false
  /** The last failure, until a probe has succeeded. */
  failure: RedisFailure | undefined

  constructor(server: GuardedServer) {
    this.#server = server
  }

  /** False while the server is silent or cannot be connected, or has refused a command. */
  get isAvailable(): boolean {
    const isConnected = this.#connectionError === undefined
    return isConnected && this.#silences < MAX_SILENCES && !isRedisRefusal(this.failure?.error)
  }

  /** @throws {Sso2UnavailableError} without an answer, after a refusal, or at once while the server is known to be silent */
  run<T>(command: () => Promise<T>): Promise<T> {
    return this.#silences < MAX_SILENCES ? this.#send(command) : Promise.reject(storeUnavailable())
  }

  /** Tries a read and a write. Their success ends a failure. @throws {Sso2UnavailableError} as `run` */
  async probe(): Promise<void> {
    await this.#send(() => this.#server.probe())
    this.#stopProbing()
    const { failure } = this
    this.failure = undefined
    if (failure && !this.#isClosed) this.#server.recovered(failure)
  }

  /** Commands under way may be lost with the connection before. Their silence says nothing about the new connection. */
  connected(): void {
    this.#connectedAt = performance.now()
    this.probe().catch(() => {})
  }

  connectionFailed(error: unknown): void {
    this.#connectionError = error
    this.#failed(error)
  }

  close(): void {
    this.#isClosed = true
    this.#stopProbing()
  }

  async #send<T>(command: () => Promise<T>): Promise<T> {
    const beganAt = performance.now()
    try {
      const reply = await withDeadline(command(), COMMAND_MS, NO_ANSWER)
      this.#answered()
      return reply
    } catch (error) {
      if (isRedisRefusal(error)) this.#answered()
      else if (beganAt >= this.#connectedAt) this.#silences += 1
      else throw storeUnavailable()
      this.#failed(error)
      throw storeUnavailable()
    }
  }

  #answered(): void {
    this.#silences = 0
    this.#connectionError = undefined
  }

  #failed(error: unknown): void {
    if (this.#isClosed) return
    if (this.#silences >= MAX_SILENCES) this.#server.cut?.()
    const cause = isRedisRefusal(error) ? error : (this.#connectionError ?? error)
    const failure = { error: cause, node: this.#server.node }
    if (hasCause(failure) || !this.failure) this.failure = failure
    this.#server.failed(failure)
    this.#timer ??= setTimeout(() => this.#probeLater(), PROBE_EVERY_MS).unref()
  }

  #probeLater(): void {
    this.#timer = undefined
    this.probe().catch(() => {})
  }

  #stopProbing(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }
}

/** How the guards of a client probe and report. */
export interface GuardOptions {
  /** Begins the keys of probes, because a user of Redis may be limited to the keys of its site. */
  readonly prefix: string
  /** Reads and writes a key. */
  probe(key: string): Promise<unknown>
  /** Ends a silent connection, if this package opened it. */
  readonly cut?: (() => void) | undefined
  readonly listener?: GuardListener | undefined
}

/** The guards of a client. Listens to the errors of the client, so that the site does not need a listener. */
export class RedisGuards {
  readonly #redis: Redis | Cluster
  readonly #options: GuardOptions
  readonly #guards = new Map<string, RedisGuard>()
  readonly #anyKey: string

  constructor(redis: Redis | Cluster, options: GuardOptions) {
    this.#redis = redis
    this.#options = options
    this.#anyKey = `${options.prefix}any`
    allowListeners(redis, 1) // many sites may share a client
    redis.on('error', this.#onError).on('node error', this.#onNodeError).on('ready', this.#onReady)
    if (redis.status === 'ready') this.#onReady()
  }

  /** Sends a command for a key. @throws {Sso2UnavailableError} without an answer in time, or after a refusal */
  run<T>(key: string, command: () => Promise<T>): Promise<T> {
    return this.#guardOf(key).run(command)
  }

  /** Returns the address of the master that has a key. */
  ownerOf(key: string): string {
    return (this.#redis as Partial<Cluster>).slots?.[calculateSlot(key)]?.[0] ?? ANY
  }

  get isAvailable(): boolean {
    if (isReconnecting(this.#redis) || this.#redis.status === 'end') return false
    return this.#guards.size === 0 || this.#all().some((guard) => guard.isAvailable)
  }

  get failure(): RedisFailure | undefined {
    return this.#all().find(({ failure }) => failure)?.failure
  }

  /** Reads and writes one key. @throws {Sso2UnavailableError} if one of both fails */
  probe(): Promise<void> {
    return this.#guardOf(this.#anyKey).probe()
  }

  /** Ends probes and reports. */
  close(): void {
    this.#redis.off('error', this.#onError).off('node error', this.#onNodeError).off('ready', this.#onReady)
    allowListeners(this.#redis, -1)
    for (const guard of this.#all()) guard.close()
  }

  #all(): RedisGuard[] {
    return [...this.#guards.values()]
  }

  /** Returns the guard of the server that has a key. */
  #guardOf(key: string): RedisGuard {
    const owner = this.ownerOf(key)
    const known = this.#guards.get(owner)
    if (known) return known
    const { cut } = this.#options
    const guard = new RedisGuard({
      node: owner === ANY ? undefined : owner,
      probe: () => this.#probe(owner, key),
      failed: this.#onFailure,
      recovered: (failure) => this.failure ?? this.#options.listener?.recovered(failure),
      ...(cut && { cut }),
    })
    this.#guards.set(owner, guard)
    return guard
  }

  /** Probes a server with a key in the slot of one of its keys. A server that the slot has left is forgotten. */
  async #probe(owner: string, key: string): Promise<void> {
    const [, tag = key] = /\{([^}]+)\}/.exec(key) ?? []
    if (this.ownerOf(key) === owner) return void (await this.#options.probe(`${this.#options.prefix}probe:{${tag}}`))
    this.#guards.get(owner)?.close()
    this.#guards.delete(owner)
  }

  readonly #onError = (error: unknown) => {
    for (const guard of this.#guards.size === 0 ? [this.#guardOf(this.#anyKey)] : this.#all())
      guard.connectionFailed(error)
  }

  /** Reports failures of known masters. Replicas and masters without slots do not concern the site. */
  readonly #onNodeError = (error: unknown, node: string) => this.#guards.get(node)?.connectionFailed(error)

  readonly #onReady = () => {
    if (this.#guards.size === 0) this.#guardOf(this.#anyKey)
    for (const guard of this.#all()) guard.connected()
  }

  /** Reports a failure with its cause. After a lost connection, the client knows the cause when the next connection fails. */
  readonly #onFailure = (failure: RedisFailure) => {
    if (hasCause(failure) || !isReconnecting(this.#redis)) this.#options.listener?.failed(failure)
  }
}

const isReconnecting = ({ status }: Redis | Cluster) => status === 'close' || status === 'reconnecting'

function allowListeners(redis: Redis | Cluster, more: number): void {
  const limit = redis.getMaxListeners()
  if (limit > 0) redis.setMaxListeners(limit + more)
}
