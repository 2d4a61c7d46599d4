/** Notices that this process stands still, as on a busy machine. Calls of the site arrive late then, and their tokens have expired. */

const BEAT_MS = 250
/** A beat that is later than this is a standstill. */
const LATE_MS = 1000
/** Time before a call in which a standstill may have delayed the call. */
const LOOK_BACK_MS = 15_000

/** Counts the seconds in which the process has stood still. */
export class Pulse {
  readonly #gaps: { readonly at: number; readonly ms: number }[] = []
  readonly #timer: NodeJS.Timeout
  #last = Date.now()

  constructor() {
    this.#timer = setInterval(() => this.#beat(), BEAT_MS).unref()
  }

  #beat(): void {
    const at = Date.now()
    const ms = at - this.#last - BEAT_MS
    if (ms > LATE_MS) this.#gaps.push({ at, ms })
    this.#last = at
  }

  /** Returns the seconds of standstill shortly before or at a time in epoch milliseconds. */
  secondsBefore(time: number): number {
    const near = this.#gaps.filter(({ at, ms }) => at - ms <= time && at > time - LOOK_BACK_MS)
    return near.reduce((sum, { ms }) => sum + ms / 1000, 0)
  }

  stop(): void {
    clearInterval(this.#timer)
  }
}
