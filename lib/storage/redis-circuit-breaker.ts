/**
 * Puts a deadline and circuit breakers around the commands of a Redis server.
 * No request waits for a server that is known not to answer.
 * Reads and writes have their own breakers, because a successful read says nothing about writes, and a refused write says nothing
 * about reads.
 */
import { withDeadline } from '../deadline'
import { type Access, hasCause, isRedisRefusal, NO_ANSWER, type RedisFailure } from '../decide/redis-failure-advice'
import { storeUnavailable } from './site-store'

const COMMAND_MS = 300
const PROBE_EVERY_MS = 1000
const MAX_FAILURES = 3
const KINDS: readonly Access[] = ['read', 'write']

/** The server behind a circuit breaker. */
export interface RedisServer {
  readonly node?: string | undefined
  probe(access: Access): Promise<unknown>
  /** Ends the connection to the server, so that the client opens another. @param isSilent the server may not respond any more */
  reconnect(isSilent: boolean): void
}

/** Hears of failures and recoveries. */
export interface BreakerListener {
  failed(failure: RedisFailure): void
  recovered(): void
}

/** Failures of reads, or of writes, since the last success. */
interface Failures {
  count: number
  last: RedisFailure | undefined
}

/** The circuit breaker of a Redis server. */
export class RedisCircuitBreaker {
  readonly #server: RedisServer
  readonly #listener: BreakerListener | undefined
  readonly #failures: Readonly<Record<Access, Failures>> = {
    read: { count: 0, last: undefined },
    write: { count: 0, last: undefined },
  }
  /** Why the connection failed, until the server answers again. */
  #connectionError: unknown
  /** When the newest connection was ready, in milliseconds of a monotonic clock. */
  #connectedAt = Number.NEGATIVE_INFINITY
  #timer: NodeJS.Timeout | undefined
  #isClosed = false

  constructor(server: RedisServer, listener?: BreakerListener) {
    this.#server = server
    this.#listener = listener
  }

  get isHealthy(): boolean {
    return this.failure === undefined
  }

  /** The last failure of reads, else of writes. `undefined` while both work. */
  get failure(): RedisFailure | undefined {
    return this.#failures.read.last ?? this.#failures.write.last
  }

  /**
   * Runs a command. After three failures in a row, sends only probes.
   * @param requests number of requests that wait for the response, and fail together
   */
  run<T>(kind: Access, command: () => Promise<T>, requests = 1): Promise<T> {
    if (this.#failures[kind].count >= MAX_FAILURES) return Promise.reject(storeUnavailable())
    return this.#attempt(kind, command, requests, false)
  }

  /** Sends a harmless read and a harmless write. @throws if a probe fails */
  async probe(): Promise<void> {
    await Promise.all(KINDS.map((kind) => this.#attempt(kind, async () => this.#server.probe(kind), 1, true)))
  }

  /**
   * Records that a new connection is ready. Commands that are under way may be lost with the connection before. Their silence says nothing
   * about the new connection.
   */
  connected(): void {
    this.#connectedAt = performance.now()
  }

  connectionFailed(error: unknown): void {
    if (hasCause({ error })) this.#connectionError = error
    this.#note({ error: this.#causeOf(error), node: this.#server.node }, KINDS, 1)
  }

  close(): void {
    this.#isClosed = true
    this.#stopProbing()
  }

  async #attempt<T>(kind: Access, command: () => Promise<T>, requests: number, isProbe: boolean): Promise<T> {
    const beganAt = performance.now()
    try {
      const result = await withDeadline(command(), COMMAND_MS, NO_ANSWER)
      this.#succeeded(kind, isProbe)
      return result
    } catch (error) {
      if (beganAt >= this.#connectedAt || isRedisRefusal(error)) this.#failed(kind, error, requests)
      throw storeUnavailable()
    }
  }

  /**
   * Closes the breaker. After a refused write, only a probe closes the breaker, because Redis may refuse SET and accept DEL.
   * The probe tries every command.
   */
  #succeeded(kind: Access, isProbe: boolean): void {
    this.#connectionError = undefined
    const failures = this.#failures[kind]
    if (failures.count === 0 || (failures.last?.access === 'write' && !isProbe)) return
    failures.count = 0
    failures.last = undefined
    if (!this.isHealthy) return
    this.#stopProbing()
    if (!this.#isClosed) this.#listener?.recovered()
  }

  /** Counts a failure. A refusal concerns only reads or only writes. A server that does not answer concerns both. */
  #failed(kind: Access, error: unknown, requests: number): void {
    const { node } = this.#server
    if (isRedisRefusal(error)) this.#note({ error, access: kind, node }, [kind], requests)
    else this.#note({ error: this.#causeOf(error), node }, KINDS, requests)
    if (this.#isClosed) return
    if (isDemotion(error)) this.#server.reconnect(false)
    else if (!isRedisRefusal(error) && this.#failures[kind].count >= MAX_FAILURES) this.#server.reconnect(true)
  }

  /** Returns the cause. A command without a connection does not know the cause, but an earlier failure may. */
  #causeOf(error: unknown): unknown {
    const { last } = this.#failures.read
    const before = last?.access === undefined ? last?.error : undefined
    return this.#connectionError ?? (hasCause({ error }) ? error : (before ?? error))
  }

  #note(failure: RedisFailure, kinds: readonly Access[], requests: number): void {
    for (const kind of kinds) {
      const failures = this.#failures[kind]
      failures.count += requests
      if (failure.access !== undefined || failures.last?.access === undefined) failures.last = failure
    }
    if (this.#isClosed) return
    this.#listener?.failed(failure)
    this.#timer ??= setTimeout(() => this.#probeLater(), PROBE_EVERY_MS).unref()
  }

  /** Probes the server. A failed probe starts the timer again. */
  #probeLater(): void {
    this.#timer = undefined
    this.probe().catch(() => {})
  }

  #stopProbing(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }
}

/** Has the server become a replica? Then the address of Redis may point to another master by now. */
function isDemotion(error: unknown): boolean {
  return error instanceof Error && isRedisRefusal(error) && error.message.startsWith('READONLY ')
}
