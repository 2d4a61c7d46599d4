/** Describes a failed step of a login in the site's log, with what to check. Pure. Table: docs/internals/decision-tables.md, "Trouble". */
import {
  PlatformApiError,
  Sso2Error,
  Sso2ResponseError,
  Sso2UnavailableError,
  TokenError,
  type TokenFault,
} from '../errors'
import { describeError } from './describe-error'

/** A step that can fail: a hook, its default, or an operation of the SSO system. */
export type Step =
  | 'exchangeTicket'
  | 'loadUser'
  | 'identify'
  | 'authenticate'
  | 'sessionstatus'
  | 'logout'
  | 'logoutall'

/** Kind of a failure. `token`: this site refused the response. */
type FailureKind = 'no_answer' | 'failing' | 'too_many' | 'nowhere' | 'refused' | 'unreadable' | 'token' | 'thrown'

/** A failed step. */
export interface FailedStep {
  readonly step: Step
  readonly error: unknown
  /** Is the step a hook of the site? */
  readonly isOwn: boolean
}

/** Parts of a log line. */
export interface FailureAdvice {
  /** Name of the cause. It has few values. */
  readonly cause: string
  /** Failed step and error. */
  readonly what: string
  /** Settings or systems to check, and the effect on users. */
  readonly advice: string
  /** Stack frames, if they help. */
  readonly frames: readonly string[]
}

const TOKEN_ENDPOINT = 'tokenUrl (SSO2_TOKEN_URL): is it the token endpoint of the authorization server?'
const TOKEN_CLIENT =
  'clientId (SSO2_CLIENT_ID), clientSecret (SSO2_CLIENT_SECRET) and ticketExchange: are they what the authorization server expects?'
const USER_PATH = 'userPath (SSO2_USER_PATH) below apiUrl (SSO2_API_URL): does it name the user of an access token?'
const SSO_URL = 'ssoUrl (SSO2_URL): is it the base address of the SSO system?'
const CLIENT =
  "clientId (SSO2_CLIENT_ID), clientSecret (SSO2_CLIENT_SECRET), organisationId (SSO2_ORGANISATION_ID), this machine's clock, and the admin portal: is it an API client that is flagged for SSO2?"
const BUSY = 'how much is asked of it; it is left alone for a while'

const works = (what: string) => `${what}: does it work, and does this machine reach it?`

type AdviceTexts = Readonly<Record<Exclude<FailureKind, 'token' | 'thrown'>, string>>

const TOKEN_LOOKS: AdviceTexts = {
  no_answer: works('the authorization server at tokenUrl (SSO2_TOKEN_URL)'),
  failing: 'the authorization server at tokenUrl (SSO2_TOKEN_URL)',
  too_many: BUSY,
  nowhere: TOKEN_ENDPOINT,
  refused: TOKEN_CLIENT,
  unreadable: TOKEN_ENDPOINT,
}
const USER_LOOKS: AdviceTexts = {
  no_answer: works('the REST API at apiUrl (SSO2_API_URL)'),
  failing: 'the REST API at apiUrl (SSO2_API_URL)',
  too_many: BUSY,
  nowhere: USER_PATH,
  refused: 'the scopes of the API client, and apiUrl (SSO2_API_URL): does it take the access tokens of tokenUrl?',
  unreadable: USER_PATH,
}
const SSO_LOOKS: AdviceTexts = {
  no_answer: works('the SSO system at ssoUrl (SSO2_URL)'),
  failing: 'the SSO system at ssoUrl (SSO2_URL)',
  too_many: BUSY,
  nowhere: SSO_URL,
  refused: CLIENT,
  unreadable: SSO_URL,
}

const looksOf = (step: Step): AdviceTexts =>
  step === 'exchangeTicket' ? TOKEN_LOOKS : step === 'loadUser' ? USER_LOOKS : SSO_LOOKS

const ONE_SYSTEM = 'ssoUrl (SSO2_URL) and the client secret (SSO2_CLIENT_SECRET): are both of one SSO system?'
const CLOCK = "this machine's clock"
const TOKEN_LOOK: Readonly<Record<TokenFault, string>> = {
  malformed: ONE_SYSTEM,
  algorithm: ONE_SYSTEM,
  signature: 'clientSecret (SSO2_CLIENT_SECRET): is it the client secret that the SSO system uses for this client?',
  issuer: "ssoIdentifier (SSO2_IDENTIFIER): is it the SSO system's own?",
  audience: 'clientId (SSO2_CLIENT_ID): is it the client ID that this secret belongs to?',
  expired: CLOCK,
  not_yet_valid: CLOCK,
  claims: 'the SSO system: its answer is not of the documented interface',
  session_mismatch: 'the SSO system, and what stands before it: the answer is about another session',
  replayed: 'the SSO system: the answer was used before',
}

/** Says what to check if this site refuses tokens of the SSO system. */
export const tokenAdvice = (reason: TokenFault): string => TOKEN_LOOK[reason]

const EFFECT: Readonly<Record<Step, string>> = {
  exchangeTicket: 'the visitor is anonymous here, and asked about again in 30 s',
  loadUser: 'the visitor is anonymous here, and asked about again in 30 s',
  identify: 'new visitors are served without a session',
  authenticate: 'the login is answered with "not now"',
  sessionstatus: 'sessions are served as they were known, logins for graceSeconds at most',
  logout: 'the logout holds here, and is told again until it is confirmed',
  logoutall: 'the logout holds here, and is told again until it is confirmed',
}

/** Describes one failure. */
export function failureAdvice(failure: FailedStep): FailureAdvice {
  const { step, error, isOwn } = failure
  const kind = failureKindOf(error)
  const { text, frames } = describeError(error)
  const isOurs = error instanceof Sso2Error && !isOwn
  const place = kind === 'thrown' ? frames[0] : undefined
  return {
    cause: [step, kind, detailOf(error), place].filter(Boolean).join(':'),
    what: `${step} failed: ${isOurs ? error.message.replace(/^\w+: /, '') : text}`,
    advice: `Look at ${asSentence(adviceFor(failure, kind))} Meanwhile: ${EFFECT[step]}.`,
    frames: isOurs ? [] : frames,
  }
}

const asSentence = (text: string) => (text.endsWith('?') ? text : `${text}.`)

function adviceFor({ step, error, isOwn }: FailedStep, kind: FailureKind): string {
  if (isOwn) return `the hook ${step} of the site`
  if (error instanceof TokenError) return tokenAdvice(error.reason)
  return kind === 'thrown' || kind === 'token' ? 'where it was thrown' : looksOf(step)[kind]
}

function failureKindOf(error: unknown): FailureKind {
  if (error instanceof TokenError) return 'token'
  if (error instanceof PlatformApiError) return kindOfStatus(error.status)
  if (error instanceof Sso2ResponseError) return isRefusal(error) ? 'refused' : kindOfStatus(error.status ?? 200)
  return error instanceof Sso2UnavailableError ? 'no_answer' : 'thrown'
}

/** Has the SSO system refused the request token? */
const isRefusal = ({ status, message }: Sso2ResponseError) => status === undefined && message.includes('invalid_token')

function kindOfStatus(status: number): FailureKind {
  if (status >= 500) return 'failing'
  if (status === 429) return 'too_many'
  if ([400, 401, 403].includes(status)) return 'refused'
  return status < 300 ? 'unreadable' : 'nowhere'
}

/** Returns what distinguishes two failures of one kind. Each is logged once a minute. */
function detailOf(error: unknown): string {
  if (error instanceof TokenError) return error.reason
  if (error instanceof Sso2UnavailableError) return error.timedOut ? 'timeout' : (error.detail ?? '')
  const status = error instanceof PlatformApiError || error instanceof Sso2ResponseError ? error.status : undefined
  return status === undefined ? '' : String(status)
}
