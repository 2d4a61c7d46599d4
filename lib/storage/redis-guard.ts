/**
 * Guards the commands of Redis. Each has a deadline. After three commands without an answer, requests do not wait, and one probe a second
 * asks. In a Cluster each command is sent, because another master may answer it.
 */
import type { Cluster, Redis } from 'ioredis'
import { withDeadline } from '../deadline'
import { hasCause, isRedisRefusal, NO_ANSWER, type RedisFailure } from '../log/redis-failure-advice'
import { storeUnavailable } from './site-store'

const COMMAND_MS = 300
const PROBE_EVERY_MS = 1000
const MAX_SILENCES = 3
const ANY = 'any'

/** What happens to Redis. */
export interface GuardListener {
  failed(failure: RedisFailure): void
  /** Redis answers reads and writes again. @param failure the last failure before */
  recovered(failure: RedisFailure): void
}

/** How a guard probes and reports. */
export interface GuardOptions {
  /** Begins the keys of probes, because a user of Redis may be limited to the keys of its site. */
  readonly prefix: string
  /** Reads and writes a key. */
  probe(key: string): Promise<unknown>
  readonly listener?: GuardListener | undefined
}

/** The guard of a client. Listens to the errors of the client, so that the site does not need a listener. */
export class RedisGuard {
  readonly #redis: Redis | Cluster
  readonly #options: GuardOptions
  #silences = 0
  /** The last command that failed was for this key. In a Cluster, the probe asks the same master. */
  #failedKey = ANY
  #timer: NodeJS.Timeout | undefined
  #isClosed = false
  /** The last failure, until a probe has succeeded. */
  failure: RedisFailure | undefined

  constructor(redis: Redis | Cluster, options: GuardOptions) {
    this.#redis = redis
    this.#options = options
    redis.on('error', this.#onError).on('ready', this.#tryAgain)
    if (redis.status === 'ready') this.#tryAgain()
  }

  /** False while Redis is silent or cannot be connected, or has refused a command. In a Cluster, only while no master is connected. */
  get isAvailable(): boolean {
    if (isReconnecting(this.#redis) || this.#redis.status === 'end') return false
    return this.#redis.isCluster || (this.#silences < MAX_SILENCES && !isKnown(this.failure))
  }

  /** Sends a command for a key. @throws {Sso2UnavailableError} without an answer in time, or after a refusal */
  async run<T>(key: string, command: () => Promise<T>): Promise<T> {
    if (this.#silences >= MAX_SILENCES && !this.#redis.isCluster) throw storeUnavailable()
    return this.#send(key, command)
  }

  /** Reads and writes a key on the master of this one. @throws {Sso2UnavailableError} if one of both fails */
  async probe(key = ANY): Promise<void> {
    const { prefix, probe, listener } = this.#options
    const [, tag = key] = /\{([^}]+)\}/.exec(key) ?? []
    await this.#send(key, () => probe(`${prefix}probe:{${tag}}`))
    if (this.#redis.isCluster && key !== this.#failedKey) return
    this.#stopProbing()
    const { failure } = this
    this.failure = undefined
    if (failure) listener?.recovered(failure)
  }

  /** Ends probes and reports. */
  close(): void {
    this.#isClosed = true
    this.#redis.off('error', this.#onError).off('ready', this.#tryAgain)
    this.#stopProbing()
  }

  async #send<T>(key: string, command: () => Promise<T>): Promise<T> {
    try {
      const reply = await withDeadline(command(), COMMAND_MS, NO_ANSWER)
      this.#silences = 0
      return reply
    } catch (error) {
      this.#silences = isRedisRefusal(error) ? 0 : this.#silences + 1
      this.#failed(error, key)
      throw storeUnavailable()
    }
  }

  /** A failure keeps its cause while later commands are silent. After a lost connection, the cause is known when the next one fails. */
  #failed(error: unknown, key: string): void {
    if (this.#isClosed) return
    this.#failedKey = key
    if (!this.failure || isKnown({ error })) this.failure = { error }
    if (hasCause(this.failure) || !isReconnecting(this.#redis)) this.#options.listener?.failed(this.failure)
    this.#timer ??= setInterval(this.#tryAgain, PROBE_EVERY_MS).unref()
  }

  #stopProbing(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  readonly #onError = (error: unknown) => this.#failed(error, this.#failedKey)
  readonly #tryAgain = () => void this.probe(this.#failedKey).catch(() => {})
}

const isReconnecting = ({ status }: Redis | Cluster) => status === 'close' || status === 'reconnecting'

/** Has the server refused a command, or the connection? */
const isKnown = (failure: RedisFailure | undefined) =>
  failure !== undefined && hasCause(failure) && (failure.error as Error).message !== NO_ANSWER
