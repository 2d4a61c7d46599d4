/** Describes a failed step of a login in the site's log, with what to check. Pure. Table: docs/internals/decision-tables.md, "Log lines". */
import {
  PlatformApiError,
  Sso2Error,
  Sso2ResponseError,
  Sso2UnavailableError,
  TokenError,
  type TokenFault,
} from '../errors'
import type { Operation } from '../protocol/claims'
import { describeError } from './describe-error'
import { LOG_LINES, type LogLine } from './log-lines'

/** A step that can fail: a hook, its default, or an operation of the SSO system. */
export type Step = 'exchangeTicket' | 'loadUser' | Operation

/** A failed step. */
export interface FailedStep {
  readonly step: Step
  readonly error: unknown
  readonly isHookOfSite: boolean
}

/** The log line of a failure. */
export interface FailureAdvice {
  /** Names the cause, with few values: each is logged once a minute. */
  readonly cause: string
  readonly line: LogLine
  /** Stack of an error of the site, a line for each place. */
  readonly frames: readonly string[]
}

/** What to check if a system does not answer (`outage`), or answers otherwise than it should (`refusal`). */
interface Checks {
  readonly outage: string
  readonly refusal: string
}

const TOKEN_ENDPOINT: Checks = {
  outage: 'that the authorization server at tokenUrl (SSO2_TOKEN_URL) works, and that this machine reaches it',
  refusal:
    'that tokenUrl (SSO2_TOKEN_URL) is the token endpoint, and accepts clientId (SSO2_CLIENT_ID), clientSecret (SSO2_CLIENT_SECRET) and ticketExchange',
}
const USER_PATH: Checks = {
  outage: 'that the REST API at apiUrl (SSO2_API_URL) works, and that this machine reaches it',
  refusal:
    'that userPath (SSO2_USER_PATH) below apiUrl (SSO2_API_URL) returns the user of an access token of tokenUrl, and the scopes of the API client',
}
const SSO_SYSTEM: Checks = {
  outage: 'that the SSO system at ssoUrl (SSO2_URL) works, and that this machine reaches it: npx express-sso2 doctor',
  refusal:
    "ssoUrl (SSO2_URL), clientId (SSO2_CLIENT_ID), clientSecret (SSO2_CLIENT_SECRET), organisationId (SSO2_ORGANISATION_ID), this machine's clock, and that the API client is enabled for SSO2 in the admin portal",
}

const ONE_SYSTEM = 'that ssoUrl (SSO2_URL) and clientSecret (SSO2_CLIENT_SECRET) belong to one SSO system'
const CLOCK = "this machine's clock (use NTP), then the SSO system's"
const TOKEN_CHECKS: Readonly<Record<TokenFault, string>> = {
  malformed: ONE_SYSTEM,
  algorithm: ONE_SYSTEM,
  signature: 'that clientSecret (SSO2_CLIENT_SECRET) is the secret of this client in the admin portal',
  issuer: 'that ssoIdentifier (SSO2_IDENTIFIER) is the identifier of the SSO system',
  audience: 'that clientId (SSO2_CLIENT_ID) is the client ID of this secret',
  expired: CLOCK,
  not_yet_valid: CLOCK,
  claims: 'the SSO system: the response is not documented. Report this line to the platform team',
  session_mismatch: 'proxies in front of the SSO system: the response is about another session',
  replayed: 'the SSO system: the response was used before',
}

/** Says what to check if the site refuses tokens of the SSO system. */
export const tokenAdvice = (reason: TokenFault): string => TOKEN_CHECKS[reason]

/** Describes a failure. */
export function failureAdvice({ step, error, isHookOfSite }: FailedStep): FailureAdvice {
  const { text, frames } = describeError(error)
  const isOurs = error instanceof Sso2Error && !isHookOfSite
  const happened = `Step ${step} failed: ${isOurs ? error.message.replace(/^\w+: /, '') : text}`
  const check = isHookOfSite ? `the hook ${step} of your site` : checkOf(step, error)
  return {
    cause: [step, detailOf(error) ?? (isOurs ? undefined : frames[0])].filter(Boolean).join(':'),
    line: { ...lineOf(step), happened, check },
    frames: isOurs ? [] : frames,
  }
}

function lineOf(step: Step): LogLine {
  if (step === 'exchangeTicket') return LOG_LINES.ticketExchangeFailed
  return step === 'loadUser' ? LOG_LINES.userNotLoaded : LOG_LINES.ssoCallFailed
}

function checkOf(step: Step, error: unknown): string {
  if (error instanceof TokenError) return tokenAdvice(error.reason)
  const { outage, refusal } = step === 'exchangeTicket' ? TOKEN_ENDPOINT : step === 'loadUser' ? USER_PATH : SSO_SYSTEM
  if (error instanceof Sso2UnavailableError || (statusOf(error) ?? 0) >= 500) return outage
  return error instanceof PlatformApiError || error instanceof Sso2ResponseError ? refusal : 'the stack below'
}

const statusOf = (error: unknown) =>
  error instanceof PlatformApiError || error instanceof Sso2ResponseError ? error.httpStatus : undefined

/** Returns what distinguishes two failures of a step: each is logged once a minute. */
function detailOf(error: unknown): string | undefined {
  if (error instanceof TokenError) return error.reason
  if (error instanceof Sso2UnavailableError) return error.timedOut ? 'timeout' : error.detail
  return statusOf(error)?.toString()
}
