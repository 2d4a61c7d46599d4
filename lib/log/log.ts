/**
 * Writes the log lines of a site to the site's logger, without secrets. Each cause is logged at most once a minute, so a system that fails and
 * recovers all the time does not fill the log.
 */
import { Sso2Error } from '../errors'
import type { Operation } from '../protocol/claims'
import { type Heading, LOG_LINES } from './log-lines'
import { maskSecrets, onOneLine } from './masking'

/** Receives the log lines. Default: the console. pino and winston fit. */
export interface Logger {
  /** Logs a problem with an effect on logins, now or soon. */
  warn(message: string): void
  /** Logs a recovery. */
  info(message: string): void
}

/** A step that can fail: a hook, its default, or an operation of the SSO system. */
type Step = 'exchangeTicket' | 'loadUser' | 'onLogin' | 'onLogout' | 'views.problem' | Operation

const HEADINGS: Partial<Record<Step, Heading>> = {
  exchangeTicket: 'The ticket could not be exchanged',
  loadUser: 'The user could not be loaded',
  onLogin: 'onLogin or onLogout failed',
  onLogout: 'onLogin or onLogout failed',
  'views.problem': 'A view failed',
}

/** Parts of a line that differ. */
export interface LineParts {
  /** What happened exactly. */
  readonly detail?: string
  readonly frames?: readonly string[]
  /** Secrets that the line may contain besides the site's own: ticket, tokens, session ID. */
  readonly secrets?: readonly (string | undefined)[] | undefined
}

/** Parts of the line of a failed step. `topic` is that of its recovery, by default the step. */
type FailureParts = Pick<LineParts, 'secrets'> & { readonly topic?: string }

const EVERY_MS = 60_000
/** A longer detail is cut off, after its secrets are masked. */
const MAX_DETAIL = 1000

/** The log of a site. */
export class Log {
  readonly #logger: Logger
  /** Secrets of the site. No line may contain any of them. */
  readonly #secrets: readonly string[]
  /** By cause: the time of the last line, and the number of occurrences since. */
  readonly #logged = new Map<string, { readonly at: number; suppressed: number }>()
  /** Topics with a log line since their last recovery. */
  readonly #open = new Set<string>()

  constructor(logger: Logger, secrets: readonly string[] = []) {
    this.#logger = logger
    this.#secrets = secrets
  }

  /** Logs a problem. @param cause key of the problem. The part before the first colon is the topic */
  warn(cause: string, heading: Heading, { detail, frames = [], secrets = [] }: LineParts = {}): void {
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
    const { users, check } = LOG_LINES[heading]
    const text = `${happened.replace(/\.$/, '')}. ${users}. Check ${check}. See node_modules/express-sso2/docs/troubleshooting.md#${anchorOf(heading)}`
    const more = last && last.suppressed > 0 ? ` (${last.suppressed} more like it since the last line)` : ''
    this.#say('warn', [text, ...frames.map((frame) => `    ${masked(frame).trim()}`)].join('\n') + more)
  }

  /** Logs a failed step. */
  failed(step: Step, error: unknown, { secrets, topic = step }: FailureParts = {}): void {
    const isOurs = error instanceof Sso2Error
    const { text, frames } = isOurs ? { text: error.message.replace(/^\w+: /, ''), frames: [] } : describeError(error)
    const heading = HEADINGS[step] ?? 'A call to the SSO system failed'
    const status = isOurs && 'httpStatus' in error ? error.httpStatus : undefined // a text of another system may differ each time
    const kind = status ?? (isOurs ? text : frames[0])
    this.warn(`${topic}:${step}:${kind}`, heading, { detail: `${step}: ${text}`, frames, secrets })
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

/** Returns the anchor of a heading in a Markdown file. */
const anchorOf = (heading: Heading) => heading.toLowerCase().replace(/[^a-z]+/g, '-')

/** Describes what a hook has thrown: its text with its causes, and its stack, innermost first. Reading the value may throw again. */
function describeError(error: unknown): { text: string; frames: readonly string[] } {
  try {
    const { stack = '', message = '' }: Partial<Error> = Object(error)
    const lines = String(stack).replace(message, '').split('\n') // without the message, and without frames of Node.js itself
    const frames = lines.filter((line) => /^\s+at /.test(line) && !line.includes('node:internal'))
    return { text: errorText(error, 3), frames: frames.slice(0, 8) }
  } catch {
    return { text: 'an error that cannot be read', frames: [] }
  }
}

/** Not `instanceof`, because errors of another realm are errors too. */
const isErrorLike = (error: unknown): error is Error & { readonly code?: unknown } =>
  typeof error === 'object' && error !== null && 'message' in error && typeof error.message === 'string'

function errorText(error: unknown, causes: number): string {
  if (!isErrorLike(error)) return Object(error) === error ? 'what is no error' : String(error)
  const { name, message, code, cause } = error
  const codeText = typeof code === 'string' && !message.includes(code) ? ` (${code})` : ''
  const text = `${name || 'Error'}: ${message}${codeText}`
  return cause === undefined || causes === 0 ? text : `${text}; caused by ${errorText(cause, causes - 1)}`
}
