/** The package's errors: few classes, a stable `code`, data in fields. No message quotes a token, ticket, password or secret. */

/** Every `code` that an error of this package can have. */
export type Sso2ErrorCode =
  | 'ERR_SSO2_CONFIG'
  | 'ERR_SSO2_TOKEN'
  | 'ERR_SSO2_UNAVAILABLE'
  | 'ERR_SSO2_RESPONSE'
  | 'ERR_SSO2_PLATFORM_API'
  | 'ERR_SSO2_ACCESS_TOKEN_EXPIRED'
  | 'ERR_SSO2_NOT_LOGGED_IN'
  | 'ERR_SSO2_SETUP'

/** Base of all errors of this package. `code` is stable, `message` is for people. */
export abstract class Sso2Error extends Error {
  /** Code of the class. No release changes an existing code. */
  abstract readonly code: Sso2ErrorCode
  /** @internal */
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = new.target.name
  }
}

/** A problem of the configuration: option, environment variable, and fix. */
export interface ConfigProblem {
  /** Name of the option with its path, for example `session.idleSeconds`. */
  readonly option: string
  /** Environment variable of the option, if there is any. */
  readonly variable?: string
  /** Required kind of value. Never contains the current value. */
  readonly message: string
}

/** The options or the environment are wrong. Lists every problem at once, and never a value. */
export class Sso2ConfigError extends Sso2Error {
  override readonly code = 'ERR_SSO2_CONFIG'
  /** At least one problem. A listing of the error's properties leaves the problems out, because the message has them too. */
  declare readonly problems: readonly ConfigProblem[]
  /**
   * @internal
   * @param problems at least one
   * @param hint likely common cause of the problems
   */
  constructor(problems: readonly ConfigProblem[], hint?: string) {
    const lines = problems.map((p) => `  - ${p.option}${p.variable ? ` (${p.variable})` : ''}: ${p.message}`)
    const title = `express-sso2: ${problems.length} problem${problems.length === 1 ? '' : 's'} in the configuration`
    const help =
      'See "Sso2ConfigError" in node_modules/express-sso2/docs/troubleshooting.md. Each option has a heading in docs/options.md.'
    super([title, ...lines, ...(hint === undefined ? [] : [hint]), help].join('\n'))
    Object.defineProperty(this, 'problems', { value: problems })
  }
}

/** A part of the package is mounted in the wrong place, or without a required part. */
export class Sso2SetupError extends Sso2Error {
  override readonly code = 'ERR_SSO2_SETUP'
  /** @internal @param fix names the fault and what to mount where, without a full stop */
  constructor(fix: string) {
    super(`express-sso2: ${fix}. See "Sso2SetupError" in node_modules/express-sso2/docs/troubleshooting.md.`)
  }
}

/** Reason why a token was refused. */
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
  /** @internal */
  constructor(
    /** The check that failed. */
    readonly reason: TokenFault,
    /** What failed the check: the name of a claim, or `header`, `payload`, `segments`, `encoding` or `size`. Never a value. */
    readonly part?: string,
    /** For `expired` and `not_yet_valid`: the site's clock minus the token's time of issue (`iat`), in seconds. */
    readonly offsetSeconds?: number,
  ) {
    super(`token refused: ${reason}${part ? ` (${part})` : ''}`)
  }
}

/** There is no usable response in time: connection refused, deadline passed, 5xx, or the circuit breaker is open. */
export class Sso2UnavailableError extends Sso2Error {
  override readonly code = 'ERR_SSO2_UNAVAILABLE'
  /** @internal */
  constructor(
    /** Name of the operation, for example `sessionstatus`, or `store` for Redis. */
    readonly operation: string,
    /** False if the other system may have acted on the request, so that a retry could repeat the effect. */
    readonly retryable: boolean,
    why: string,
    /** True if the time limit passed, false if the connection failed. */
    readonly timedOut = false,
    /** Cause of the failure, if known: `ECONNREFUSED`, `CERT_HAS_EXPIRED`, `HTTP 503`. */
    readonly reason?: string,
  ) {
    super(`${operation}: ${why}`)
  }
}

/** The interface does not document the response. */
export class Sso2ResponseError extends Sso2Error {
  override readonly code = 'ERR_SSO2_RESPONSE'
  /** @internal */
  constructor(
    /** Name of the operation, for example `sessionstatus` or `loadUser`. */
    readonly operation: string,
    /** HTTP status, if there is any. */
    readonly httpStatus: number | undefined,
    why: string,
  ) {
    super(`${operation}: ${why}${httpStatus === undefined ? '' : ` (HTTP ${httpStatus})`}`)
  }
}

/** The REST API refused a call: any status but 200 to 299. */
export class PlatformApiError extends Sso2Error {
  override readonly code: 'ERR_SSO2_PLATFORM_API' | 'ERR_SSO2_ACCESS_TOKEN_EXPIRED' = 'ERR_SSO2_PLATFORM_API'
  /** Code in the platform's body, for example `unknown_campaign`. `undefined` if the body has none. */
  readonly reason: string | undefined
  /** @internal */
  constructor(
    /** The method that was called. */
    readonly operation: string,
    /** HTTP status of the response. Not `status`, because Express would answer the page with it. */
    readonly httpStatus: number,
    /** Body of the response: the parsed value of JSON, else the text. */
    readonly body: unknown,
    /** Scope that the call needs, if the interface names a scope. The message names it at 403 only. */
    readonly scope: string | undefined,
  ) {
    const reason = reasonIn(body)
    const needed = httpStatus === 403 && scope ? `; the call needs the scope ${scope}` : ''
    super(`${operation}: the REST API answered HTTP ${httpStatus}${reason ? ` (${reason})` : ''}${needed}`)
    this.reason = reason
  }
}

/** Finds the code in the body of a refusal: `{ error: { code } }`, `{ error }` or `{ code }`. */
function reasonIn(body: unknown): string | undefined {
  const { error, code } = (body ?? {}) as { readonly error?: unknown; readonly code?: unknown }
  const candidates = [typeof error === 'object' && error !== null && 'code' in error ? error.code : error, code]
  return candidates.find((found): found is string => typeof found === 'string' && /^[\w.-]{1,64}$/.test(found))
}

/**
 * The user's access token has expired, and no new token was available. A later call, or a redirect to `req.sso2.identifyUrl()`, brings a new
 * token.
 */
export class AccessTokenExpiredError extends PlatformApiError {
  override readonly code = 'ERR_SSO2_ACCESS_TOKEN_EXPIRED'
  /**
   * @internal
   * @param operation the method that was called
   * @param body body of the 401 response of the REST API
   * @param scope scope that the call needs, if the interface names a scope
   */
  constructor(operation: string, body: unknown, scope: string | undefined) {
    super(operation, 401, body, scope)
  }
}

/** Thrown by `req.sso2.api` on a request without a user, and by the calls of `sso.api` that need a user. */
export class NotLoggedInError extends Sso2Error {
  override readonly code = 'ERR_SSO2_NOT_LOGGED_IN'
  /** @internal @param why what happened, without a full stop */
  constructor(why = 'No user is logged in on this request, so there is no access token') {
    super(`${why}. See "NotLoggedInError" in node_modules/express-sso2/docs/troubleshooting.md.`)
  }
}
