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
import { connectionAdvice } from './connection-advice'
import { describeError } from './describe-error'
import { LOG_LINES, type LogLine } from './log-lines'

/** A step that can fail: a hook, its default, or an operation of the SSO system. */
export type Step = 'exchangeTicket' | 'loadUser' | Operation

/** Kind of a failure. `token`: the site refused the response. `unreadable`: the response is of something else. */
type FailureKind = 'no_answer' | 'slow' | 'failing' | 'too_many' | 'refused' | 'unreadable' | 'token' | 'thrown'

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

type AdviceTexts = Readonly<Record<Exclude<FailureKind, 'token' | 'thrown'>, string>>

/** What to check about a system: the address that the site has of it, and what it must accept. */
const looksAt = (system: string, address: string, accepted: string): AdviceTexts => ({
  no_answer: `that ${system} works, and that this machine reaches it`,
  slow: `whether ${system} is slow, or a firewall drops the packets`,
  failing: system,
  too_many: 'how many calls your sites send. The package pauses them for a while',
  refused: accepted,
  unreadable: address,
})

const TOKEN_LOOKS = looksAt(
  'the authorization server at tokenUrl (SSO2_TOKEN_URL)',
  'that tokenUrl (SSO2_TOKEN_URL) is the token endpoint of the authorization server',
  'that the authorization server accepts clientId (SSO2_CLIENT_ID), clientSecret (SSO2_CLIENT_SECRET) and ticketExchange',
)
const USER_LOOKS = looksAt(
  'the REST API at apiUrl (SSO2_API_URL)',
  'that userPath (SSO2_USER_PATH) below apiUrl (SSO2_API_URL) returns the user of an access token',
  'the scopes of the API client, and that apiUrl (SSO2_API_URL) accepts the access tokens of tokenUrl (SSO2_TOKEN_URL)',
)
const SSO_LOOKS = looksAt(
  'the SSO system at ssoUrl (SSO2_URL)',
  'that ssoUrl (SSO2_URL) is the base address of the SSO system',
  "clientId (SSO2_CLIENT_ID), clientSecret (SSO2_CLIENT_SECRET), organisationId (SSO2_ORGANISATION_ID), this machine's clock, and that the API client is enabled for SSO2 in the admin portal",
)

/** Steps whose limit is the option `timeoutMs`. */
const STEPS_WITH_OPTION: readonly Step[] = ['sessionstatus', 'identify']
const OPTION = 'The option timeoutMs (SSO2_TIMEOUT_MS) sets the limit'

const looksOf = (step: Step): AdviceTexts =>
  step === 'exchangeTicket' ? TOKEN_LOOKS : step === 'loadUser' ? USER_LOOKS : SSO_LOOKS

const ONE_SYSTEM = 'that ssoUrl (SSO2_URL) and clientSecret (SSO2_CLIENT_SECRET) belong to one SSO system'
const CLOCK = "this machine's clock (use NTP), then the SSO system's"
const TOKEN_LOOK: Readonly<Record<TokenFault, string>> = {
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
export const tokenAdvice = (reason: TokenFault): string => TOKEN_LOOK[reason]

const { ticketExchangeFailed, userNotLoaded, ssoCallFailed } = LOG_LINES
const LOGOUT_WAITS = 'Users are logged out of this site. The logout is retried until the SSO system confirms it'
const LINES: Readonly<Record<Step, LogLine>> = {
  exchangeTicket: ticketExchangeFailed,
  loadUser: userNotLoaded,
  identify: { ...ssoCallFailed, users: 'New visitors get pages without a session' },
  authenticate: { ...ssoCallFailed, users: 'Logins get 503' },
  sessionstatus: ssoCallFailed,
  logout: { ...ssoCallFailed, users: LOGOUT_WAITS },
  logoutall: { ...ssoCallFailed, users: LOGOUT_WAITS },
}

/** Faults of every token: a wrong secret, client ID, identifier or clock. The SSO system then refuses new visitors too. */
const SETUP_FAULTS: readonly TokenFault[] = ['signature', 'issuer', 'audience', 'expired', 'not_yet_valid']
const SETUP_USERS =
  'New visitors get an error page of the SSO system at first, then pages without login. Logged-in users stay logged in for {grace}'

/** Describes a failure. */
export function failureAdvice(failure: FailedStep): FailureAdvice {
  const { step, error, isHookOfSite } = failure
  const kind = failureKindOf(error)
  const { text, frames } = describeError(error)
  const isOurs = error instanceof Sso2Error && !isHookOfSite
  const place = kind === 'thrown' ? frames[0] : undefined
  const happened = `Step ${step} failed: ${isOurs ? error.message.replace(/^\w+: /, '') : text}`
  return {
    cause: [step, kind, detailOf(error), place].filter(Boolean).join(':'),
    line: { ...LINES[step], ...usersOf(failure, kind), happened, check: adviceFor(failure, kind) },
    frames: isOurs ? [] : frames,
  }
}

/** Returns the effect on users if the failure is about every request token. */
function usersOf({ step, error }: FailedStep, kind: FailureKind): Partial<LogLine> {
  const isSetup = kind === 'refused' || (error instanceof TokenError && SETUP_FAULTS.includes(error.reason))
  return step === 'sessionstatus' && isSetup ? { users: SETUP_USERS } : {}
}

function adviceFor({ step, error, isHookOfSite }: FailedStep, kind: FailureKind): string {
  if (isHookOfSite) return `the hook ${step} of your site`
  if (error instanceof TokenError) return tokenAdvice(error.reason)
  if (kind === 'thrown' || kind === 'token') return 'the stack below'
  const look = looksOf(step)[kind]
  if (kind === 'slow' && STEPS_WITH_OPTION.includes(step)) return `${look}. ${OPTION}`
  const fix = error instanceof Sso2UnavailableError ? connectionAdvice(error.detail ?? '') : undefined
  return fix === undefined ? look : `${looksOf(step).failing}: ${fix}`
}

function failureKindOf(error: unknown): FailureKind {
  if (error instanceof TokenError) return 'token'
  if (error instanceof PlatformApiError) return kindOfStatus(error.httpStatus)
  if (error instanceof Sso2ResponseError)
    return isRefusedByApi(error) ? 'refused' : kindOfStatus(error.httpStatus ?? 200)
  if (error instanceof Sso2UnavailableError) return error.timedOut ? 'slow' : 'no_answer'
  return 'thrown'
}

const isRefusedByApi = ({ httpStatus, message }: Sso2ResponseError) =>
  httpStatus === undefined && message.includes('invalid_token')

function kindOfStatus(status: number): FailureKind {
  if (status >= 500) return 'failing'
  if (status === 429) return 'too_many'
  return [400, 401, 403].includes(status) ? 'refused' : 'unreadable'
}

/** Returns the detail that distinguishes two failures of the same kind. Each detail is logged once a minute. */
function detailOf(error: unknown): string {
  if (error instanceof TokenError) return error.reason
  if (error instanceof Sso2UnavailableError) return error.timedOut ? 'timeout' : (error.detail ?? '')
  const status = error instanceof PlatformApiError || error instanceof Sso2ResponseError ? error.httpStatus : undefined
  return status === undefined ? '' : String(status)
}
