/**
 * The health of a system that the site depends on: its circuit breaker and a monitor. The monitor sends a probe once a second while a
 * call is unanswered. A success of any call ends the probing. Rules of the breaker: lib/decide/breaker.ts.
 */
import { afterFailure, afterSuccess, breakerPause, type CallKind, CLOSED, isOpen } from '../decide/breaker'
import { PlatformApiError, Sso2ResponseError, Sso2UnavailableError } from '../errors'

/** Time between the starts of two probes. A hanging probe does not delay the next probe. */
const PROBE_EVERY_MS = 1000
/** Time from a failure to the first probe. A success of another call in this time makes the probe unnecessary. */
const FIRST_PROBE_MS = 300
/** Maximum random delay of a probe, because several processes should not probe at once. */
const SPREAD_MS = 100

const OPEN = 'the circuit breaker is open'

/** Options for the watch over a system. */
export interface DependencyOptions {
  /** Sends a request that concerns no account and no session. Rejects unless the system works. */
  readonly probe: () => Promise<unknown>
  /** Is this error the system's fault? Default: no response, a failure, too many calls, or an unexpected kind of response. */
  readonly isFault?: (error: unknown) => boolean
  /** Is the response a sign of a broken system? Default: no. */
  readonly isFaulty?: (response: unknown) => boolean
  /** Called for each success. @param hasRecovered a probe had failed before, or the breaker was open */
  readonly onSuccess: (hasRecovered: boolean) => void
}

/** A refusal (400, 401, 403) is a response of a working system. Errors of the site itself say nothing about the system. */
export function isOutage(error: unknown): boolean {
  if (error instanceof PlatformApiError) return error.httpStatus === 429 || error.httpStatus >= 500
  if (error instanceof Sso2ResponseError) return ![400, 401, 403].includes(error.httpStatus ?? 500)
  return error instanceof Sso2UnavailableError
}

/** Was the call refused by an open breaker, and not sent? Its cause has been logged already. */
export function isNotSent(error: unknown): boolean {
  return error instanceof Sso2UnavailableError && error.message.endsWith(OPEN)
}

/** Health of a single system. */
export class Dependency {
  readonly #options: DependencyOptions
  #breaker = CLOSED
  #timer: NodeJS.Timeout | undefined
  #probedAt = Number.NEGATIVE_INFINITY
  #lastProbe: Promise<unknown> = Promise.resolve()
  #isClosed = false

  constructor(options: DependencyOptions) {
    this.#options = options
  }

  /** False while the breaker is open: from several failures in a row until a probe succeeds. */
  get isAvailable(): boolean {
    return !isOpen(this.#breaker)
  }

  /** False from the first failed probe until a success, so sooner than {@link isAvailable}. */
  get isHealthy(): boolean {
    return !this.#breaker.hasFailedProbe
  }

  /**
   * Sends a call, unless the breaker is open.
   * @param attempt `user_call` if the failure of this call may be about its user or its operation alone
   * @throws {Sso2UnavailableError} if the breaker is open, or the error of the call
   */
  async run<T>(operation: string, call: () => Promise<T>, attempt: CallKind = 'call'): Promise<T> {
    if (!this.isAvailable) throw new Sso2UnavailableError(operation, true, OPEN)
    return this.#recordOutcome(call, attempt)
  }

  /** Probes now. Callers within a second share a probe. @throws the error of the probe */
  probe(): Promise<unknown> {
    const now = performance.now()
    if (now - this.#probedAt < PROBE_EVERY_MS) return this.#lastProbe
    this.#probedAt = now
    this.#lastProbe = this.#recordOutcome(this.#options.probe, 'probe')
    return this.#lastProbe
  }

  /** Probes after so many milliseconds, then once a second until any call succeeds. Never begins two probes within a second. */
  startProbing(inMs = 0): void {
    if (this.#timer || this.#isClosed) return
    const now = performance.now()
    const wait = Math.max(inMs, this.#probedAt + PROBE_EVERY_MS - now, breakerPause(this.#breaker, now))
    this.#timer = setTimeout(() => this.#probeAndRepeat(), wait + Math.min(wait, Math.random() * SPREAD_MS)).unref()
  }

  /** Notes that the system works, and ends the probing. @param beganAt start of the call that succeeded, by `performance.now()` */
  noteSuccess(beganAt = performance.now()): void {
    const isBack = this.#breaker.hasFailedProbe || !this.isAvailable
    this.#breaker = afterSuccess(this.#breaker, beganAt)
    this.#stop()
    this.#options.onSuccess(isBack)
  }

  close(): void {
    this.#isClosed = true
    this.#stop()
  }

  #stop(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  #probeAndRepeat(): void {
    this.#timer = undefined
    if (breakerPause(this.#breaker, performance.now()) === 0) this.probe().catch(() => {})
    this.startProbing() // also if the probe hangs
  }

  async #recordOutcome<T>(call: () => Promise<T>, attempt: CallKind): Promise<T> {
    const { isFault = isOutage, isFaulty } = this.#options
    const beganAt = performance.now()
    try {
      const response = await call()
      if (isFaulty?.(response)) this.#noteFailure(attempt, beganAt)
      else this.noteSuccess(beganAt)
      return response
    } catch (error) {
      if (isFault(error)) this.#noteFailure(attempt, beganAt, error)
      else if (error instanceof PlatformApiError || error instanceof Sso2ResponseError) this.noteSuccess(beganAt)
      throw error
    }
  }

  #noteFailure(attempt: CallKind, beganAt: number, error?: unknown): void {
    const seconds = error instanceof Sso2ResponseError ? (error.retryAfterSeconds ?? 0) : 0
    const failed = { attempt, beganAt, endedAt: performance.now(), pauseMs: seconds * 1000 }
    const next = afterFailure(this.#breaker, failed)
    if (next === this.#breaker) return
    this.#breaker = next
    this.startProbing(FIRST_PROBE_MS)
  }
}
