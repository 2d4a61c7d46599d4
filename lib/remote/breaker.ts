/**
 * The circuit breaker of a system: of the calls of the SSO system, and of Identify. Three failures in a row open it. A failure starts a probe
 * once a second, until a success. Table: docs/internals/decision-tables.md, "Breaker".
 */

const OPENING_FAILURES = 3
/** Time from a failure to a probe, and between the starts of two probes. A hanging probe does not delay the next probe. */
const PROBE_EVERY_MS = 1000

export class Breaker {
  readonly #probe: () => Promise<unknown>
  #failures = 0
  #timer: NodeJS.Timeout | undefined
  #isStopped = false

  /** @param probe sends a request that concerns no account and no session, and notes its outcome */
  constructor(probe: () => Promise<unknown>) {
    this.#probe = probe
  }

  /** False while the breaker is open: from three failures in a row until a success. */
  get isAvailable(): boolean {
    return this.#failures < OPENING_FAILURES
  }

  /** Notes that the system works, and ends the probing. */
  noteSuccess(): void {
    this.#failures = 0
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  noteFailure(): void {
    this.#failures += 1
    this.startProbing()
  }

  /** Probes after so many milliseconds, then once a second until a success. */
  startProbing(inMs = PROBE_EVERY_MS): void {
    if (this.#timer || this.#isStopped) return
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      this.startProbing()
      this.#probe().catch(() => {})
    }, inMs).unref()
  }

  /** Probes no more. */
  stop(): void {
    this.#isStopped = true
    clearTimeout(this.#timer)
  }
}
