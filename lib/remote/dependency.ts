/**
 * The health of one system that the site depends on: its circuit breaker, and a monitor that sends a probe once a second while something
 * is unanswered. A success of any call ends the probing. Judgements: lib/decide/breaker.ts.
 */
import { afterFailure, afterSuccess, type CallKind, CLOSED, isMoreRecent, isOpen, pauseOf } from '../decide/breaker'
import { PlatformApiError, Sso2ResponseError, Sso2UnavailableError } from '../errors'

/** Between the beginnings of two probes. A probe that hangs does not delay the next one. */
const PROBE_EVERY_MS = 1000
/** After a failure, other calls have so long to succeed, which makes a probe unnecessary. */
const FIRST_PROBE_MS = 300
/** Probes of several processes spread over this much more. */
const SPREAD_MS = 100

const OPEN = 'the circuit breaker is open'

/** How to watch a system. */
export interface DependencyOptions {
  /** Asks the system a question about no account and no session. Rejects unless the system works. */
  readonly probe: () => Promise<unknown>
  /** Is this error the system's fault? Default: no answer, a failure, too many calls, or a response of another kind than expected. */
  readonly isFault?: (error: unknown) => boolean
  /** Is this a response of a system that does not work? Default: no. */
  readonly isFaulty?: (response: unknown) => boolean
  /** Called for each success. @param isBack a probe had failed before, or the breaker was open */
  readonly onSuccess?: (isBack: boolean) => void
}

/** A refusal (400, 401, 403) is a response of a system that works. Errors of the site itself say nothing about the system. */
export function isOutage(error: unknown): boolean {
  if (error instanceof PlatformApiError) return error.status === 429 || error.status >= 500
  if (error instanceof Sso2ResponseError) return ![400, 401, 403].includes(error.status ?? 500)
  return error instanceof Sso2UnavailableError
}

/** Was the call refused by an open breaker, and not sent? Its cause has been logged already. */
export function isNotSent(error: unknown): boolean {
  return error instanceof Sso2UnavailableError && error.message.endsWith(OPEN)
}

/** @see the head of the file */
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

  /** False while the breaker is open: from a row of failures until a probe succeeds. */
  get isAvailable(): boolean {
    return !isOpen(this.#breaker)
  }

  /** False from the first failed probe until a success, so sooner than {@link isAvailable}. */
  get isWell(): boolean {
    return !this.#breaker.hasFailedProbe
  }

  /**
   * Sends a call, unless the breaker is open.
   * @param attempt `user_call` if the failure of this call may be about its user alone
   * @throws {Sso2UnavailableError} the breaker is open; else what the call throws
   */
  async run<T>(operation: string, call: () => Promise<T>, attempt: CallKind = 'call'): Promise<T> {
    if (!this.isAvailable) throw new Sso2UnavailableError(operation, true, OPEN)
    return this.#judge(call, attempt)
  }

  /** Probes now. Callers within a second share one probe. @throws what the probe throws */
  probe(): Promise<unknown> {
    const now = performance.now()
    if (now - this.#probedAt < PROBE_EVERY_MS) return this.#lastProbe
    this.#probedAt = now
    this.#lastProbe = this.#judge(this.#options.probe, 'probe')
    return this.#lastProbe
  }

  /** Probes in so many milliseconds, and then once a second until something succeeds. At most one probe begins in a second. */
  look(inMs = 0): void {
    if (this.#timer || this.#isClosed) return
    const now = performance.now()
    const wait = Math.max(inMs, this.#probedAt + PROBE_EVERY_MS - now, pauseOf(this.#breaker, now))
    this.#timer = setTimeout(() => this.#lookNow(), wait + Math.min(wait, Math.random() * SPREAD_MS)).unref()
  }

  /** Notes that the system works, and ends the probing. @param beganAt when the call began that shows it */
  noteSuccess(beganAt = performance.now()): void {
    const isBack = this.#breaker.hasFailedProbe || !this.isAvailable
    this.#breaker = afterSuccess(this.#breaker, beganAt)
    this.#stop()
    this.#options.onSuccess?.(isBack)
  }

  /** Ends the probing for good. */
  close(): void {
    this.#isClosed = true
    this.#stop()
  }

  #stop(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  #lookNow(): void {
    this.#timer = undefined
    if (pauseOf(this.#breaker, performance.now()) === 0) this.probe().catch(() => {})
    this.look() // also where this probe hangs
  }

  async #judge<T>(call: () => Promise<T>, attempt: CallKind): Promise<T> {
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
    if (!isMoreRecent(this.#breaker, failed)) return
    this.#breaker = afterFailure(this.#breaker, failed)
    this.look(FIRST_PROBE_MS)
  }
}
