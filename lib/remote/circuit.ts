/** One circuit breaker with retry of what was never sent; it probes by itself while it is open. */
import { setTimeout as sleep } from 'node:timers/promises'
import { CircuitState, ConsecutiveBreaker, circuitBreaker, handleWhen } from 'cockatiel'
import { PlatformApiError, Sso2ResponseError, Sso2UnavailableError } from '../errors'

const FAILURES = 5
const OPEN_MS = 5000
const PAUSE_MS = 100

const counts = (error: Error) =>
  error instanceof Sso2UnavailableError ||
  ((error instanceof Sso2ResponseError || error instanceof PlatformApiError) && (error.status ?? 500) >= 500)

/** A breaker around the calls to one system. */
export class Circuit {
  readonly #breaker = circuitBreaker(handleWhen(counts), {
    halfOpenAfter: OPEN_MS,
    breaker: new ConsecutiveBreaker(FAILURES),
  })
  readonly #probe: (() => Promise<unknown>) | undefined
  #timer: NodeJS.Timeout | undefined
  #isDone = false

  /** @param probe asks the system something harmless, while the circuit is open; without one the next call does */
  constructor(probe?: () => Promise<unknown>) {
    this.#probe = probe
    this.#breaker.onStateChange(() => this.#watch())
  }

  /** Runs a call; a failure that never reached the other side is tried once more. */
  run<T>(operation: string, call: () => Promise<T>): Promise<T> {
    return this.runOnce(operation, async () => {
      try {
        return await call()
      } catch (error) {
        if (error instanceof Sso2UnavailableError && error.retryable) return await call()
        throw error
      }
    })
  }

  /** Runs a call, and never twice. */
  async runOnce<T>(operation: string, call: () => Promise<T>): Promise<T> {
    try {
      return await this.#breaker.execute(call)
    } catch (error) {
      const isOpen = error instanceof Error && 'isBrokenCircuitError' in error
      throw isOpen ? new Sso2UnavailableError(operation, true, 'the circuit breaker is open') : error
    }
  }

  /** Runs calls until one succeeds or the circuit opens: what nobody waits for. */
  async tryOut(call: () => Promise<unknown>): Promise<void> {
    for (let tries = 0; tries < FAILURES; tries += 1) {
      try {
        await this.#breaker.execute(call)
        return
      } catch {
        await sleep(PAUSE_MS, undefined, { ref: false })
      }
    }
  }

  /** False while the circuit is open. */
  get isClosed(): boolean {
    return this.#breaker.state !== CircuitState.Open && this.#breaker.state !== CircuitState.Isolated
  }

  close(): void {
    this.#isDone = true
    clearTimeout(this.#timer)
  }

  #watch(): void {
    clearTimeout(this.#timer)
    const probe = this.#probe
    if (!probe || this.#isDone || this.#breaker.state !== CircuitState.Open) return
    this.#timer = setTimeout(
      async () => {
        await this.#breaker.execute(probe).catch(() => {})
        this.#watch() // still open: the probe failed, or a clock that was set back put it off
      },
      OPEN_MS + Math.random() * 250,
    )
    this.#timer.unref()
  }
}
