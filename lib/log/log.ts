/**
 * Writes the log lines of a site to the site's logger, without secrets. Each cause is logged at most once a minute, so a system that fails and
 * recovers all the time does not fill the log.
 */
import { type FailedStep, failureAdvice } from './failure-advice'
import { type Heading, LOG_LINES } from './log-lines'
import { maskSecrets, onOneLine } from './masking'

/** Receives the log lines. Default: the console. pino and winston fit. */
export interface Logger {
  /** Logs a problem with an effect on logins, now or soon. */
  warn(message: string): void
  /** Logs a recovery. */
  info(message: string): void
}

/** Parts of a line that differ. */
export interface LineParts {
  /** What happened exactly. */
  readonly detail?: string
  /** Completes "Check …", in place of the text of the heading. */
  readonly check?: string | undefined
  readonly frames?: readonly string[]
  /** Secrets that the line may contain besides the site's own: ticket, tokens, session ID. */
  readonly secrets?: readonly (string | undefined)[]
}

const EVERY_MS = 60_000
/** A longer detail is cut off, after its secrets are masked. */
const MAX_DETAIL = 1000

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
  readonly #logged = new Map<string, LoggedCause>()
  /** Topics with a log line since their last recovery. */
  readonly #open = new Set<string>()

  constructor(logger: Logger, secrets: readonly string[] = []) {
    this.#logger = logger
    this.#secrets = secrets
  }

  /** Logs a problem. @param cause key of the problem. The part before the first colon is the topic */
  warn(cause: string, heading: Heading, { detail, check, frames = [], secrets = [] }: LineParts = {}): void {
    const now = performance.now()
    const last = this.#logged.get(cause)
    if (last && now - last.at < EVERY_MS) {
      last.suppressed += 1
      return
    }
    this.#logged.set(cause, { at: now, suppressed: 0 })
    this.#open.add(cause.split(':', 1)[0] ?? '')
    const known = [...this.#secrets, ...secrets.filter((secret) => secret !== undefined)]
    const masked = (text: string) => maskSecrets(onOneLine(text), known)
    const happened = detail === undefined ? heading : `${heading}: ${masked(detail).slice(0, MAX_DETAIL)}`
    const { users, check: usual } = LOG_LINES[heading]
    const text = `${happened.replace(/\.$/, '')}. ${users}. Check ${check ?? usual}. See docs/troubleshooting.md.`
    const more = last && last.suppressed > 0 ? ` (${last.suppressed} more like it since the last line)` : ''
    this.#say('warn', [text, ...frames.map((frame) => `    ${masked(frame).trim()}`)].join('\n') + more)
  }

  /** Logs a failed step. @param secrets as in {@link LineParts} */
  failed(topic: string, failure: FailedStep, secrets: readonly (string | undefined)[] = []): void {
    const { cause, heading, ...parts } = failureAdvice(failure)
    this.warn(`${topic}:${cause}`, heading, { ...parts, secrets })
  }

  /** Logs the recovery of a topic with an earlier log line. */
  recovered(topic: string, message: string): void {
    if (this.#open.delete(topic)) this.#say('info', message)
  }

  /** Writes a line. A logger that fails breaks no page and ends no process. */
  #say(level: keyof Logger, text: string): void {
    try {
      const done: unknown = this.#logger[level](`express-sso2: ${text}`)
      if (done instanceof Promise) done.catch(() => {})
    } catch {}
  }
}
