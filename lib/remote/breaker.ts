/**
 * The circuit breaker of a system, with its probe: of the calls of the SSO system, and of Identify. Five failed calls or three failed probes
 * in a row open it. Only a call or probe with the limit of a probe (`timeoutMs`) opens or closes it, so that a slow system is either
 * available or not. A failure starts a probe once a second, until a success. Table: docs/internals/decision-tables.md, "Breaker".
 */
import { Sso2ResponseError } from '../errors'

/** Total weight of failures that opens the breaker, if nothing succeeds in between. */
const OPENING_WEIGHT = 5
/**
 * Kind of an attempt. A `user_call` may fail for its user or its operation alone, or have another limit. It says nothing about the system,
 * but its failure is a reason to probe. A `probe` concerns no user.
 */
export type Attempt = 'call' | 'user_call' | 'probe'
const WEIGHTS: Readonly<Record<Attempt, number>> = { call: 1, user_call: 0, probe: 2 }

/** Time between the starts of two probes. A hanging probe does not delay the next probe. */
const PROBE_EVERY_MS = 1000
/** Time from a failure to the first probe. A success of another call in this time makes the probe unnecessary. */
const FIRST_PROBE_MS = 300
/** Maximum random delay of a probe, because several processes should not probe at once. */
const SPREAD_MS = 100
/** The longest pause that a system may request (`Retry-After`). */
const MAX_PAUSE_MS = 60_000

/** Options of a breaker. */
export interface BreakerOptions {
  /** Sends a request that concerns no account and no session, and notes its outcome. */
  readonly probe: () => Promise<unknown>
  /** Called for each success. @param hasRecovered a probe had failed before, or the breaker was open */
  readonly onSuccess: (hasRecovered: boolean) => void
}

/** A circuit breaker. Times are milliseconds of `performance.now()`. */
export class Breaker {
  readonly #options: BreakerOptions
  #weight = 0
  #hasFailedProbe = false
  /** Start of the newest attempt that has succeeded. */
  #succeededAt = Number.NEGATIVE_INFINITY
  #pausedUntil = 0
  #timer: NodeJS.Timeout | undefined
  #probedAt = Number.NEGATIVE_INFINITY
  #lastProbe: Promise<unknown> = Promise.resolve()
  #isClosed = false

  constructor(options: BreakerOptions) {
    this.#options = options
  }

  /** False while the breaker is open: from several failures in a row until a success. */
  get isAvailable(): boolean {
    return this.#weight < OPENING_WEIGHT
  }

  /** Notes that the system works, and ends the probing. @param beganAt start of the attempt */
  noteSuccess(beganAt = performance.now()): void {
    const hasRecovered = this.#hasFailedProbe || !this.isAvailable
    this.#weight = 0
    this.#hasFailedProbe = false
    this.#pausedUntil = 0
    this.#succeededAt = Math.max(this.#succeededAt, beganAt)
    this.stopProbing()
    this.#options.onSuccess(hasRecovered)
  }

  /** Notes a failure. One that began before the newest success says nothing about the system now. */
  noteFailure(attempt: Attempt, beganAt: number, error?: unknown): void {
    if (beganAt < this.#succeededAt) return
    this.#weight += WEIGHTS[attempt]
    this.#hasFailedProbe ||= attempt === 'probe'
    const seconds = error instanceof Sso2ResponseError && attempt !== 'user_call' ? (error.retryAfterSeconds ?? 0) : 0
    this.#pausedUntil = Math.max(this.#pausedUntil, performance.now() + Math.min(seconds * 1000, MAX_PAUSE_MS))
    this.startProbing(FIRST_PROBE_MS)
  }

  /** Probes now. Callers within a second share a probe. @throws the error of the probe */
  probe(): Promise<unknown> {
    const now = performance.now()
    if (now - this.#probedAt < PROBE_EVERY_MS) return this.#lastProbe
    this.#probedAt = now
    this.#lastProbe = this.#options.probe()
    return this.#lastProbe
  }

  /** Probes after so many milliseconds, then once a second until a success. Never begins two probes within a second. */
  startProbing(inMs = 0): void {
    if (this.#timer || this.#isClosed) return
    const wait = Math.max(inMs, this.#probedAt + PROBE_EVERY_MS - performance.now(), this.#pauseMs())
    this.#timer = setTimeout(() => this.#probeAndRepeat(), wait + Math.min(wait, Math.random() * SPREAD_MS)).unref()
  }

  stopProbing(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  close(): void {
    this.#isClosed = true
    this.stopProbing()
  }

  #probeAndRepeat(): void {
    this.#timer = undefined
    if (this.#pauseMs() === 0) this.probe().catch(() => {})
    this.startProbing() // also if the probe hangs
  }

  /** Milliseconds until the next probe may be sent. `Retry-After` is respected while the breaker is open. */
  #pauseMs(): number {
    return this.isAvailable ? 0 : Math.max(0, this.#pausedUntil - performance.now())
  }
}
