/**
 * A circuit breaker around the calls to one system, with retry of what was never sent. cockatiel judges, counts and refuses;
 * when an open circuit is tried again is decided here, by a clock that nobody can set, and only one call goes through then.
 */
import { CircuitState, ConsecutiveBreaker, circuitBreaker, handleWhen } from 'cockatiel'
import { PlatformApiError, Sso2ResponseError, Sso2UnavailableError } from '../errors'

const FAILURES = 5
/** So many in a row are a reason to ask what is the matter. */
const DOUBTS = 2
const OPEN_MS = 5000
/** A system may ask for a longer pause, up to this. */
const MOST_OPEN_MS = 60_000
const PAUSE_MS = 100
/** Between the probes of a doubt. */
const DOUBT_MS = 1000
/** Probes that nobody has answered for so long are enough, however few. */
const LONG_MS = 4000

/** How a circuit judges and probes. */
export interface CircuitOptions {
  /** So many failures in a row open it, default 5. */
  readonly failures?: number
  /** Asks the system something harmless while the circuit is open; without one, one of the calls does. */
  readonly probe?: () => Promise<unknown>
  /** Which errors are the system's fault, and not the question's. */
  readonly isFault?: (error: Error) => boolean
  /** Is this answer one of a system that is out of order? */
  readonly isFaulty?: (answer: unknown) => boolean
  /** It answers again: the circuit has closed, or did not have to open. */
  readonly onBack?: () => void
}

/** No answer, a page instead of one, too many calls, or a failure of the system: whatever 400, 401 and 403 refuse is the question. */
function isOutage(error: Error): boolean {
  if (error instanceof Sso2UnavailableError) return true
  if (error instanceof PlatformApiError) return error.status === 429 || error.status >= 500
  return error instanceof Sso2ResponseError && ![400, 401, 403].includes(error.status ?? 500)
}

const OPEN = 'the circuit breaker is open'

/** Was nobody asked at all? What the breaker opened for has been told. */
export function isUnasked(error: unknown): boolean {
  return error instanceof Sso2UnavailableError && error.message.endsWith(OPEN)
}

/** A breaker around the calls to one system. */
export class Circuit {
  readonly #failures: number
  readonly #count: ConsecutiveBreaker
  readonly #isFault: (error: Error) => boolean
  /** Failures of calls that began before one that was answered: they say nothing of how the system is now. */
  readonly #outdated = new WeakSet<Error>()
  /** When the last of the calls that were answered began. */
  #answeredSince = Number.NEGATIVE_INFINITY
  /** When the probe of a search began that is under way. */
  #probedSince: number | undefined
  readonly #isFaulty: (answer: unknown) => boolean
  readonly #probe: (() => Promise<unknown>) | undefined
  readonly #onBack: () => void
  readonly #policy
  /** When it may be tried again, in milliseconds of the process's own clock; `undefined` while it is closed. */
  #openUntil: number | undefined
  #held: { dispose(): void } | undefined
  #isTrying = false
  #timer: NodeJS.Timeout | undefined
  #isDone = false

  constructor(options: CircuitOptions = {}) {
    const { failures = FAILURES, probe, isFault = isOutage, isFaulty = () => false, onBack = () => {} } = options
    this.#failures = failures
    this.#count = new ConsecutiveBreaker(failures)
    this.#probe = probe
    this.#isFault = isFault
    this.#isFaulty = isFaulty
    this.#onBack = onBack
    const policy = handleWhen((error) => isFault(error) && !this.#outdated.has(error)).orWhenResult(isFaulty)
    this.#policy = circuitBreaker(policy, { halfOpenAfter: Number.POSITIVE_INFINITY, breaker: this.#count })
    this.#policy.onBreak((reason) => {
      if (!('isolated' in reason)) this.#opened('error' in reason ? reason.error : undefined, this.#probedSince)
    })
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
    if (this.#mayTry()) return this.#try(call)
    try {
      return await this.#policy.execute(() => this.#timed(call))
    } catch (error) {
      const isOpen = error instanceof Error && 'isBrokenCircuitError' in error
      throw isOpen ? new Sso2UnavailableError(operation, true, OPEN) : error
    } finally {
      if (this.#count.state >= DOUBTS) this.doubt()
    }
  }

  /** Notes which failures are older than an answer. */
  async #timed<T>(call: () => Promise<T>): Promise<T> {
    const since = performance.now()
    try {
      const answer = await call()
      if (!this.#isFaulty(answer)) this.#answeredSince = Math.max(this.#answeredSince, since)
      return answer
    } catch (error) {
      if (error instanceof Error && since < this.#answeredSince) this.#outdated.add(error)
      throw error
    }
  }

  /** Probes until one probe succeeds or the circuit opens: in the background, and one such search at a time. */
  findOut(): Promise<void> {
    return this.#search(0, PAUSE_MS)
  }

  /** As {@link findOut}, in a moment and with patience: what has failed may be about one question alone. */
  doubt(): Promise<void> {
    return this.#search(DOUBT_MS, DOUBT_MS)
  }

  async #search(firstMs: number, pauseMs: number): Promise<void> {
    const probe = this.#probe
    if (!probe || this.#isTrying || this.#isDone || !this.isClosed) return
    this.#isTrying = true
    let silentMs = 0
    for (let tries = 0; tries < this.#failures; tries += 1) {
      await new Promise((resolve) => setTimeout(resolve, tries === 0 ? firstMs : pauseMs).unref())
      if (!this.isClosed || this.#isDone) break
      const since = performance.now()
      this.#probedSince = since
      const isAnswered = await this.#policy
        .execute(() => this.#timed(probe))
        .then(
          () => true,
          () => false,
        )
      this.#probedSince = undefined
      if (isAnswered) {
        if (this.isClosed) this.#onBack()
        break
      }
      silentMs += performance.now() - since
      if (silentMs >= LONG_MS) this.open()
    }
    this.#isTrying = false
  }

  /** Opens it for a reason of the caller's own; where there is a probe, it is asked at once. */
  open(): void {
    if (!this.isClosed || this.#isDone) return
    this.#held = this.#policy.isolate()
    this.#openUntil = performance.now()
    this.#watch()
  }

  /** False from the opening until a probe, or the one call that was let through, has succeeded. */
  get isClosed(): boolean {
    return this.#policy.state === CircuitState.Closed
  }

  /** Is somebody finding out how the system is? */
  get isLooking(): boolean {
    return this.#isTrying
  }

  close(): void {
    this.#isDone = true
    clearTimeout(this.#timer)
  }

  /** @param since when the call began that says so: a probe that hangs does not put off the next one */
  #opened(reason: unknown, since = performance.now()): void {
    const asked = reason instanceof Sso2ResponseError ? (reason.retryAfterSeconds ?? 0) * 1000 : 0
    this.#openUntil = since + Math.min(Math.max(OPEN_MS, asked), MOST_OPEN_MS)
    this.#watch()
  }

  #mayTry(): boolean {
    if (this.#probe || this.#isTrying || this.isClosed) return false
    return performance.now() >= (this.#openUntil ?? 0)
  }

  /** The one call, or probe, of a half-open circuit. */
  async #try<T>(call: () => Promise<T>): Promise<T> {
    this.#isTrying = true
    const since = performance.now()
    try {
      const answer = await call()
      if (this.#isFaulty(answer)) this.#opened(undefined, since)
      else this.#closed()
      return answer
    } catch (error) {
      if (error instanceof Error && this.#isFault(error)) this.#opened(error, since)
      else this.#closed()
      throw error
    } finally {
      this.#isTrying = false
    }
  }

  #closed(): void {
    const held = this.#held ?? this.#policy.isolate() // letting go is cockatiel's way to close
    this.#held = undefined
    this.#openUntil = undefined
    this.#count.success()
    held.dispose()
    this.#onBack()
  }

  #watch(): void {
    clearTimeout(this.#timer)
    const probe = this.#probe
    if (!probe || this.#isDone) return
    const wait = Math.max(0, (this.#openUntil ?? 0) - performance.now())
    this.#timer = setTimeout(() => this.#try(probe).catch(() => {}), wait + (wait && Math.random() * 250))
    this.#timer.unref()
  }
}
