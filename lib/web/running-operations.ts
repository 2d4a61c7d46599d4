/** Operations that a site finishes before it closes: logins, logouts and landings up to the end of their responses, and status checks. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Response } from 'express'

/** The operations in progress of one site. */
export class RunningOperations {
  readonly #running = new Set<Promise<unknown>>()

  /** Runs an operation. @param res the response counts too, until sent or until the connection is closed */
  run<T>(operation: () => Promise<T>, res?: Response): Promise<T> {
    const sent = whenSent(res) // listens from the start, because a host without connections, for example a serverless host, emits no later event
    const result = operation()
    const over: Promise<unknown> = Promise.allSettled([result, sent]).then(() => this.#running.delete(over))
    this.#running.add(over)
    return result
  }

  /** Resolves when no operation is in progress, or after `maxMs` milliseconds. */
  async idle(maxMs: number): Promise<void> {
    const timer = new AbortController()
    const late = sleep(maxMs, true, { signal: timer.signal }).catch(() => true)
    while (this.#running.size > 0 && (await Promise.race([Promise.all(this.#running), late])) !== true);
    timer.abort()
  }
}

/** Waits for the end of a response. @returns `undefined` if there is no response, as for an upgrade */
function whenSent(res: Response | undefined): Promise<void> | undefined {
  if (typeof res?.once !== 'function' || res.writableFinished || res.closed || res.destroyed) return undefined
  return new Promise((resolve) => {
    const over = () => {
      res.off('finish', over).off('close', over)
      resolve()
    }
    res.once('finish', over).once('close', over) // a response to a closed connection never emits finish
  })
}
