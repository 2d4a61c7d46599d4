/** The package's errors: few classes, a stable `code`, data in fields. No message quotes a token, ticket, password or secret. */

/** Every `code` that an error of this package can have. */
export type Sso2ErrorCode =
  | 'ERR_SSO2_CONFIG'
  | 'ERR_SSO2_TOKEN'
  | 'ERR_SSO2_UNAVAILABLE'
  | 'ERR_SSO2_RESPONSE'
  | 'ERR_SSO2_PLATFORM_API'
  | 'ERR_SSO2_ACCESS_TOKEN'
  | 'ERR_SSO2_NOT_LOGGED_IN'
  | 'ERR_SSO2_SETUP'

/** Base of all errors of this package; `code` is stable, `message` is for people. */
export abstract class Sso2Error extends Error {
  /** One for each class; a release changes none of them. */
  abstract readonly code: Sso2ErrorCode
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = new.target.name
  }
}

/** One thing that is wrong with the configuration: which option, which variable, and what to do. */
export interface ConfigProblem {
  /** With its path, for example `session.idleSeconds`. */
  readonly option: string
  /** Environment variable of the option, where it has one. */
  readonly variable?: string
  /** What it must be; never the value that is there. */
  readonly message: string
}

/** The options or the environment are wrong; lists every problem at once and never a value. */
export class Sso2ConfigError extends Sso2Error {
  override readonly code = 'ERR_SSO2_CONFIG'
  /** At least one. The message has them too, so that a listing of the error's properties leaves them out. */
  declare readonly problems: readonly ConfigProblem[]
  /**
   * @param problems at least one
   * @param hint what they may have in common
   */
  constructor(problems: readonly ConfigProblem[], hint?: string) {
    const lines = problems.map((p) => `  - ${p.option}${p.variable ? ` (${p.variable})` : ''}: ${p.message}`)
    const title = `express-sso2: ${problems.length} problem${problems.length === 1 ? '' : 's'} in the configuration`
    const help = 'See "Sso2ConfigError" in docs/errors.md. Each option has a heading in docs/options.md.'
    super([title, ...lines, ...(hint === undefined ? [] : [hint]), help].join('\n'))
    Object.defineProperty(this, 'problems', { value: problems })
  }
}

/** A part of the package is mounted in the wrong place, or without the part that it needs. */
export class Sso2SetupError extends Sso2Error {
  override readonly code = 'ERR_SSO2_SETUP'
  /** @param fix names the fault and what to mount where, without a full stop */
  constructor(fix: string) {
    super(`express-sso2: ${fix}. See "Sso2SetupError" in docs/errors.md.`)
  }
}

/** Why a token was refused. */
export type TokenFault =
  | 'malformed'
  | 'algorithm'
  | 'signature'
  | 'expired'
  | 'not_yet_valid'
  | 'issuer'
  | 'audience'
  | 'claims'
  | 'session_mismatch'
  | 'replayed'

/** A token was refused. Interface: "SSO JSON Web Token (JWT)" and "Session Token (ST), the response JWT". */
export class TokenError extends Sso2Error {
  override readonly code = 'ERR_SSO2_TOKEN'
  /**
   * @param reason the check that it did not pass
   * @param detail which claim, never its value
   * @param offsetSeconds with `expired` and `not_yet_valid`: our clock minus the time at which the token says it was made
   */
  constructor(
    readonly reason: TokenFault,
    readonly detail?: string,
    readonly offsetSeconds?: number,
  ) {
    super(`token refused: ${reason}${detail ? ` (${detail})` : ''}`)
  }
}

/** No usable answer in time: connection refused, deadline passed, 5xx, or the circuit breaker is open. */
export class Sso2UnavailableError extends Sso2Error {
  override readonly code = 'ERR_SSO2_UNAVAILABLE'
  /**
   * @param operation what was asked, for example `sessionstatus`, or `store` for Redis
   * @param retryable false when the question may have been acted upon, so that asking again could do it twice
   * @param why goes into the message
   * @param timedOut true when the time was up rather than the connection gone
   * @param detail tells it from other failures, where known: `ECONNREFUSED`, `CERT_HAS_EXPIRED`, `HTTP 503`
   */
  constructor(
    readonly operation: string,
    readonly retryable: boolean,
    why: string,
    readonly timedOut = false,
    readonly detail?: string,
  ) {
    super(`${operation}: ${why}`)
  }
}

/** An answer came, but not one that the interface documents. */
export class Sso2ResponseError extends Sso2Error {
  override readonly code = 'ERR_SSO2_RESPONSE'
  /**
   * @param operation what was asked, for example `sessionstatus` or `loadUser`
   * @param status of HTTP, where it came to one
   * @param why goes into the message
   * @param retryAfterSeconds how long the other side asked to be left alone, where it did
   */
  constructor(
    readonly operation: string,
    readonly status: number | undefined,
    why: string,
    readonly retryAfterSeconds?: number,
  ) {
    super(`${operation}: ${why}${status === undefined ? '' : ` (HTTP ${status})`}`)
  }
}

/** The REST API refused a call: any status but 200 to 299. */
export class PlatformApiError extends Sso2Error {
  override readonly code: 'ERR_SSO2_PLATFORM_API' | 'ERR_SSO2_ACCESS_TOKEN' = 'ERR_SSO2_PLATFORM_API'
  /**
   * @param operation the method that was called
   * @param status of HTTP
   * @param body what it answered: parsed where it is JSON, else the text
   * @param scope what the call needs, where the interface says so; a 403 mostly means that the token has not got it
   */
  constructor(
    readonly operation: string,
    readonly status: number,
    readonly body: unknown,
    readonly scope: string | undefined,
  ) {
    super(`${operation}: the REST API answered HTTP ${status}${scope ? `; the call needs the scope ${scope}` : ''}`)
  }
}

/** The user's access token has run out and a new one could not be had silently: the next page load, or `req.sso2.identifyUrl()`, brings one. */
export class AccessTokenExpiredError extends PlatformApiError {
  override readonly code = 'ERR_SSO2_ACCESS_TOKEN'
  /**
   * @param operation the method that was called
   * @param body what the REST API answered with its 401
   * @param scope what the call needs, where the interface says so
   */
  constructor(operation: string, body: unknown, scope: string | undefined) {
    super(operation, 401, body, scope)
  }
}

/** Thrown by `req.sso2.api` on a request without a user. */
export class NotLoggedInError extends Sso2Error {
  override readonly code = 'ERR_SSO2_NOT_LOGGED_IN'
  constructor() {
    super(
      'No user is logged in on this request, so there is no access token. See "NotLoggedInError" in docs/errors.md.',
    )
  }
}
