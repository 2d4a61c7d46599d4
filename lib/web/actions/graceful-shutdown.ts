/** What must not be left half done when a site is closed: logins, logouts and landings, up to the end of their answers, and checks. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Response } from 'express'

/** The operations under way of one site. */
export class RunningOperations {
  #count = 0
  #isIdle = Promise.resolve()
  #rest = () => {}

  /** Runs an operation. @param res where the answer that tells of it counts as well, until it has been sent or has nobody left to go to */
  async run<T>(operation: () => Promise<T>, res?: Response): Promise<T> {
    this.#enter()
    const sent = whenSent(res)
    try {
      return await operation()
    } finally {
      if (sent) sent.then(() => this.#leave())
      else this.#leave()
    }
  }

  /** Resolves when nothing is under way, or after so long. @param most in milliseconds */
  async idle(most: number): Promise<void> {
    const done = new AbortController()
    const late = sleep(most, undefined, { signal: done.signal }).catch(() => {})
    await Promise.race([this.#untilIdle(), late])
    done.abort()
  }

  async #untilIdle(): Promise<void> {
    while (this.#count > 0) await this.#isIdle
  }

  #enter(): void {
    this.#count += 1
    if (this.#count > 1) return
    this.#isIdle = new Promise((resolve) => {
      this.#rest = resolve
    })
  }

  #leave(): void {
    this.#count -= 1
    if (this.#count === 0) this.#rest()
  }
}

/** Listened for from the start: a host without connections, as serverless ones are, tells nothing else of an answer. @returns nothing where there is none */
function whenSent(res: Response | undefined): Promise<void> | undefined {
  // an upgrade has no answer of its own
  if (typeof res?.once !== 'function' || res.writableFinished || res.closed || res.destroyed) return undefined
  return new Promise((resolve) => {
    const over = () => {
      res.off('finish', over).off('close', over)
      resolve()
    }
    res.once('finish', over).once('close', over) // one whose reader has gone is never finished
  })
}
