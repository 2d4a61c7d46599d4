/**
 * Writes the log lines of a site to the site's logger, without secrets. Each cause is logged at most once a minute, so a system that fails and
 * recovers all the time does not fill the log.
 */
import { describeError } from './describe-error'
import { type FailedStep, failureAdvice } from './failure-advice'
import { type LogLine, logText } from './log-lines'
import { maskSecrets, onOneLine } from './masking'

/** Receives the log lines. Default: the console. pino and winston fit. */
export interface Logger {
  /** Logs a problem with an effect on logins, now or soon. */
  warn(message: string): void
  /** Logs a recovery, or another fact worth knowing. */
  info(message: string): void
}

/** Precedes each frame of a stack. */
const NEXT_LINE = '\n    '
const EVERY_MS = 60_000

interface LoggedCause {
  readonly at: number
  /** Number of occurrences since `at` without a log line. */
  suppressed: number
}

/** The log of a site. */
export class Log {
  readonly #logger: Logger
  /** Secrets of the site. No line may contain any of them. */
  readonly #secrets: readonly string[]
  /** How long users stay logged in during an outage, for the lines. */
  readonly #grace: string
  readonly #logged = new Map<string, LoggedCause>()
  /** Topics with a log line since their last recovery. */
  readonly #open = new Set<string>()

  constructor(logger: Logger, secrets: readonly string[] = [], grace = 'a while') {
    this.#logger = logger
    this.#secrets = secrets
    this.#grace = grace
  }

  /** Logs a problem. @param cause key of the problem. The part before the first colon is the topic */
  warn(cause: string, line: LogLine): void {
    this.#logOnce('warn', cause, () => onOneLine(logText(line)))
  }

  /** As {@link warn}, for a fact without a problem. */
  info(cause: string, line: LogLine): void {
    this.#logOnce('info', cause, () => onOneLine(logText(line)))
  }

  /** Logs a failed step. @param secrets that the error may contain besides the site's own: ticket, tokens, password, session ID */
  failed(topic: string, failure: FailedStep, secrets: readonly (string | undefined)[] = []): void {
    const { cause, line, frames } = failureAdvice(failure)
    this.#logOnce('warn', `${topic}:${cause}`, () => [logText(line), ...frames].join(NEXT_LINE), secrets)
  }

  /** As {@link warn}, with the thrown error. */
  broken(cause: string, line: LogLine, error: unknown): void {
    const { text, frames } = describeError(error)
    const first = logText({ ...line, happened: `${line.happened}: ${text}` })
    this.#logOnce('warn', cause, () => [first, ...frames].join(NEXT_LINE))
  }

  /** Logs the recovery of a topic with an earlier log line. */
  recovered(topic: string, message: string): void {
    if (this.#open.delete(topic)) this.#say('info', message)
  }

  #logOnce(level: keyof Logger, cause: string, textOf: () => string, secrets: readonly (string | undefined)[] = []) {
    const now = performance.now()
    const last = this.#logged.get(cause)
    if (last && now - last.at < EVERY_MS) {
      last.suppressed += 1
      return
    }
    this.#logged.set(cause, { at: now, suppressed: 0 })
    this.#open.add(cause.split(':', 1)[0] ?? '')
    const more = last && last.suppressed > 0 ? ` (${last.suppressed} more like it since the last line)` : ''
    const known = [...this.#secrets, ...secrets.filter((secret) => secret !== undefined)]
    this.#say(level, `${maskSecrets(textOf().replace('{grace}', this.#grace), known)}${more}`)
  }

  /** Writes a line. A logger that fails breaks no page and ends no process. */
  #say(level: keyof Logger, text: string): void {
    try {
      const done: unknown = this.#logger[level](`express-sso2: ${text}`)
      if (done instanceof Promise) done.catch(() => {})
    } catch {}
  }
}
