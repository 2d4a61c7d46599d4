/** Describes a failed step in the site's log, with what to check. Pure. Threats O6, O8. Table: docs/internals/decision-tables.md, "Log lines". */
import { Sso2Error, TokenError, type TokenFault } from '../errors'
import type { Operation } from '../protocol/claims'
import type { Heading } from './log-lines'

/** A step that can fail: a hook, its default, or an operation of the SSO system. */
export type Step = 'exchangeTicket' | 'loadUser' | 'onLogin' | 'onLogout' | 'views.problem' | Operation

/** A failed step. */
export interface FailedStep {
  readonly step: Step
  readonly error: unknown
  readonly isHookOfSite: boolean
}

/** What the log says about a failure. */
export interface FailureAdvice {
  /** Names the cause, with few values: each is logged once a minute. */
  readonly cause: string
  readonly heading: Heading
  /** Step, name and message of the error and of its causes. May hold secrets, which the log masks. */
  readonly detail: string
  /** Completes "Check …", unless the text of the heading does. */
  readonly check: string | undefined
  /** Stack of an error of the site, innermost first. */
  readonly frames: readonly string[]
}

const HEADINGS: Partial<Record<Step, Heading>> = {
  exchangeTicket: 'The ticket could not be exchanged',
  loadUser: 'The user could not be loaded',
  onLogin: 'onLogin or onLogout failed',
  onLogout: 'onLogin or onLogout failed',
  'views.problem': 'A view failed',
}

const CLOCK = "this machine's clock (use NTP), then the SSO system's"
const TOKEN_CHECKS: Partial<Record<TokenFault, string>> = {
  signature: 'that clientSecret (SSO2_CLIENT_SECRET) is the secret of this client in the admin portal',
  issuer: 'that ssoIdentifier (SSO2_IDENTIFIER) is the identifier of the SSO system',
  audience: 'that clientId (SSO2_CLIENT_ID) is the client ID of this secret',
  expired: CLOCK,
  not_yet_valid: CLOCK,
}

/** Says what to check if the site refuses tokens of the SSO system. */
export const tokenAdvice = (reason: TokenFault): string =>
  TOKEN_CHECKS[reason] ?? 'ssoUrl (SSO2_URL), and the reason under "TokenError"'

/** Describes a failure. */
export function failureAdvice({ step, error, isHookOfSite }: FailedStep): FailureAdvice {
  const isOurs = error instanceof Sso2Error && !isHookOfSite
  const frames = isOurs ? [] : framesOf(error)
  const text = isOurs ? error.message.replace(/^\w+: /, '') : errorText(error)
  return {
    cause: `${step}:${isOurs ? text : frames[0]}`,
    heading: HEADINGS[step] ?? 'A call to the SSO system failed',
    detail: `${step}: ${text}`,
    check: isHookOfSite
      ? `the hook ${step} of your site`
      : error instanceof TokenError
        ? tokenAdvice(error.reason)
        : undefined,
    frames,
  }
}

interface ErrorLike {
  readonly name?: unknown
  readonly message: string
  readonly code?: unknown
  readonly cause?: unknown
  readonly stack?: unknown
}

/** Not `instanceof`, because errors of another realm are errors too. */
const isErrorLike = (error: unknown): error is ErrorLike =>
  typeof error === 'object' && error !== null && 'message' in error && typeof error.message === 'string'

const MAX_CAUSES = 3
const MAX_FRAMES = 8

/** A hook may throw anything, and reading the value may throw again. */
function errorText(error: unknown, causes = MAX_CAUSES): string {
  try {
    if (typeof error === 'string') return `the text "${error}"`
    if (!isErrorLike(error)) return error === undefined ? 'nothing' : `what is no error (${typeof error})`
    const { name, message, code, cause } = error
    const codeText = typeof code === 'string' && !message.includes(code) ? ` (${code})` : ''
    const text = `${name ?? 'Error'}: ${message}${codeText}`
    return cause === undefined || causes === 0 ? text : `${text}; caused by ${errorText(cause, causes - 1)}`
  } catch {
    return 'an error that cannot be read'
  }
}

/** Returns the stack without the message and without frames of Node.js itself. */
function framesOf(error: unknown): string[] {
  try {
    if (!isErrorLike(error) || typeof error.stack !== 'string') return []
    const lines = error.stack.replace(error.message, '').split('\n')
    return lines.filter((line) => /^\s+at /.test(line) && !line.includes('node:internal')).slice(0, MAX_FRAMES)
  } catch {
    return []
  }
}
