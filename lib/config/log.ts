/** Writes the log lines of one site: one line a minute for each cause, anew after an all-clear, through the site's own logger, and never a secret. */

import { describeError } from '../decide/describe-error'
import { type FailedStep, failureAdvice } from '../decide/failure-advice'
import { type LogLine, logText } from '../decide/log-lines'
import { maskSecrets, onOneLine } from '../decide/masking'

/** Where lines go; default is the console. pino and winston fit. */
export interface Logger {
  /** What stops a login, or soon will. */
  warn(message: string): void
  /** That it is over, and what is worth knowing. */
  info(message: string): void
}

/** Before the places of a stack. */
const NEXT_LINE = '\n    '
const EVERY_MS = 60_000
/** More causes than a site has; a log that meets more forgets the oldest. */
const MAX_CAUSES = 500

/** So many all-clears of one topic a minute let the next failure be logged at once: a system that fails and recovers all the time fills no log. */
const MAX_ALL_CLEARS = 3

/** A secret that may be in a text; `undefined` where there is none. */
type Secret = string | undefined

const topicOf = (cause: string) => cause.split(':', 1)[0] ?? ''

interface LoggedCause {
  readonly at: number
  /** How often it has happened since, untold. */
  suppressed: number
}

/** @see the head of the file */
export class Log {
  readonly #logger: Logger
  /** The site's own, which no line may hold. */
  readonly #secrets: readonly string[]
  readonly #told = new Map<string, LoggedCause>()
  /** Topics of which something was told that may be over. */
  readonly #open = new Set<string>()
  /** When the last all-clears of a topic were logged. */
  readonly #allClears = new Map<string, readonly number[]>()
  /** When the last recovery of a topic was logged. */
  readonly #overAt = new Map<string, number>()

  constructor(logger: Logger, secrets: readonly string[] = []) {
    this.#logger = logger
    this.#secrets = secrets
  }

  /** @param cause names what went wrong, however it is worded; up to a colon it is the topic */
  warn(cause: string, line: LogLine): void {
    this.#tell('warn', cause, () => onOneLine(logText(line)))
  }

  /** As {@link warn}, for what is worth knowing and no fault. */
  info(cause: string, line: LogLine): void {
    this.#tell('info', cause, () => onOneLine(logText(line)))
  }

  /** A step has failed. @param secrets what the error may hold besides the site's own: ticket, tokens, password, session ID */
  failed(topic: string, failure: FailedStep, secrets: readonly Secret[] = []): void {
    const { beganAt = Number.POSITIVE_INFINITY } = failure
    if (beganAt < (this.#overAt.get(topic) ?? 0)) return
    const { cause, line, frames } = failureAdvice(failure)
    this.#tell('warn', `${topic}:${cause}`, () => [logText(line), ...frames].join(NEXT_LINE), secrets)
  }

  /** As {@link warn}, with what was thrown. */
  broken(cause: string, line: LogLine, error: unknown): void {
    const { text, frames } = describeError(error)
    const first = logText({ ...line, happened: `${line.happened}: ${text}` })
    this.#tell('warn', cause, () => [first, ...frames].join(NEXT_LINE))
  }

  /** Logs that what was logged of a topic is over. Its next failure is then logged at once, also within the minute. */
  over(topic: string, message: string): void {
    if (!this.#open.delete(topic)) return
    this.#say('info', message)
    const now = performance.now()
    this.#overAt.set(topic, now)
    const recent = (this.#allClears.get(topic) ?? []).filter((at) => now - at < EVERY_MS)
    if (recent.length >= MAX_ALL_CLEARS) return
    this.#allClears.set(topic, [...recent, now])
    for (const [cause, told] of this.#told)
      if (topicOf(cause) === topic) this.#told.set(cause, { ...told, at: Number.NEGATIVE_INFINITY })
  }

  #tell(level: keyof Logger, cause: string, textOf: () => string, secrets: readonly Secret[] = []): void {
    const now = performance.now()
    const last = this.#told.get(cause)
    if (last && now - last.at < EVERY_MS) {
      last.suppressed += 1
      return
    }
    this.#note(cause, now)
    const more = last && last.suppressed > 0 ? ` (${last.suppressed} more like it since the last line)` : ''
    const known = [...this.#secrets, ...secrets.filter((secret) => secret !== undefined)]
    this.#say(level, `${maskSecrets(textOf(), known)}${more}`)
  }

  #note(cause: string, now: number): void {
    this.#told.delete(cause) // the newest stands last
    this.#told.set(cause, { at: now, suppressed: 0 })
    this.#open.add(topicOf(cause))
    const [oldest] = this.#told.keys()
    if (this.#told.size > MAX_CAUSES && oldest !== undefined) this.#told.delete(oldest)
  }

  /** A logger that fails costs no visitor his page, and no process its life. */
  #say(level: keyof Logger, text: string): void {
    try {
      const done: unknown = this.#logger[level](`express-sso2: ${text}`)
      if (done instanceof Promise) done.catch(() => {})
    } catch {}
  }
}
