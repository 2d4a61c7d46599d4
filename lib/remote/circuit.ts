/** One circuit breaker with retry of what was never sent; it probes by itself while it is open. */
import { setTimeout as sleep } from 'node:timers/promises'
import { CircuitState, ConsecutiveBreaker, circuitBreaker, handleWhen } from 'cockatiel'
import { Sso2ResponseError, Sso2UnavailableError } from '../errors'

const FAILURES = 5
const OPEN_MS = 5000
const PAUSE_MS = 100

/** A breaker around the calls to one system. */
export interface Circuit {
  /** Runs a call; a failure that never reached the other side is tried once more. */
  run<T>(operation: string, call: () => Promise<T>): Promise<T>
  /** Runs calls until one succeeds or the circuit opens: what nobody waits for. */
  tryOut(call: () => Promise<unknown>): Promise<void>
  /** False while the circuit is open. */
  readonly isClosed: boolean
  close(): void
}

const counts = (error: Error) =>
  error instanceof Sso2UnavailableError || (error instanceof Sso2ResponseError && (error.status ?? 500) >= 500)

/** @param probe asks the system something harmless, while the circuit is open */
export function makeCircuit(probe?: () => Promise<unknown>): Circuit {
  const breaker = circuitBreaker(handleWhen(counts), {
    halfOpenAfter: OPEN_MS,
    breaker: new ConsecutiveBreaker(FAILURES),
  })
  let timer: NodeJS.Timeout | undefined
  let isDone = false
  const watch = () => {
    clearTimeout(timer)
    if (!probe || isDone || breaker.state !== CircuitState.Open) return
    timer = setTimeout(
      async () => {
        await breaker.execute(probe).catch(() => {})
        watch() // still open: the probe failed, or a clock that was set back put it off
      },
      OPEN_MS + Math.random() * 250,
    )
    timer.unref()
  }
  breaker.onStateChange(watch)
  const once = async <T>(operation: string, call: () => Promise<T>): Promise<T> => {
    try {
      return await breaker.execute(call)
    } catch (error) {
      const isOpen = error instanceof Error && 'isBrokenCircuitError' in error
      throw isOpen ? new Sso2UnavailableError(operation, true, 'the circuit breaker is open') : error
    }
  }
  return {
    run: (operation, call) =>
      once(operation, async () => {
        try {
          return await call()
        } catch (error) {
          if (error instanceof Sso2UnavailableError && error.retryable) return await call()
          throw error
        }
      }),
    tryOut: async (call) => {
      for (let tries = 0; tries < FAILURES; tries += 1) {
        try {
          await breaker.execute(call)
          return
        } catch {
          await sleep(PAUSE_MS, undefined, { ref: false })
        }
      }
    },
    get isClosed() {
      return breaker.state !== CircuitState.Open && breaker.state !== CircuitState.Isolated
    },
    close: () => {
      isDone = true
      clearTimeout(timer)
    },
  }
}
