/** Tells the operator of one site what he must know: one line a minute for each cause, through the site's own logger. */

/** Where lines go; default is the console. pino and winston fit. */
export interface Logger {
  warn(message: string): void
  info(message: string): void
}

const EVERY_MS = 60_000

/** @see the head of the file */
export class Log {
  readonly #logger: Logger
  readonly #told = new Map<string, number>()

  constructor(logger: Logger) {
    this.#logger = logger
  }

  /** @param cause names what went wrong, however it is worded */
  warn(cause: string, message: string): void {
    const now = performance.now()
    if (now - (this.#told.get(cause) ?? Number.NEGATIVE_INFINITY) < EVERY_MS) return
    this.#told.set(cause, now)
    this.#logger.warn(`express-sso2: ${message}`)
  }
}
