/** The claim tables of the interface as types and constants. All times are whole seconds since 1970. */

/** Time in whole seconds since 1970. */
export type EpochSeconds = number

/** Milliseconds since 1970. */
export type EpochMs = number

/** The five operations of SSO2. Interface: "SSO2 endpoints". */
export type Operation = 'identify' | 'authenticate' | 'sessionstatus' | 'logout' | 'logoutall'

/** States of an SSO2 session. Interface: "SSO2 session states". */
export type SessionStatus = 'anon' | 'loggedin' | 'terminated'

/** Seconds from the creation of a token to its `exp`. Interface: "Limits". */
export const TOKEN_LIFETIME_SECONDS = 10

/** `aud` of requests and `iss` of Session Tokens, unless configured otherwise. */
export const DEFAULT_SSO_IDENTIFIER = 'sso-service'

/** Every documented `err` and its meaning. Interface: "SSO2 errors". */
export const sso2ErrorCodes = Object.freeze({
  invalid_token: 'the JWT supplied in the call failed validation',
  session_not_found: 'the session ID is incorrect, or the session was removed after inactivity',
  invalid_credentials: 'wrong username or password; raa holds the remaining attempts before the account is frozen',
  account_frozen: 'too many failed attempts; frf holds the seconds until the account is unlocked',
  account_not_active: 'the account is not active and cannot log in',
  session_terminated: 'the session is terminated and cannot be used',
  session_limit_reached: 'the user has reached the maximum number of active sessions',
  session_already_logged_in_on_another_account: 'the session is already logged in as another account',
  invalid_otp: 'the one-time password was rejected',
  otp_consumed_or_expired: 'the one-time password was already used, or has expired',
} as const)

/** A documented value of `err`. */
export type Sso2ServiceErrorCode = keyof typeof sso2ErrorCodes

/** Is the text a documented `err`? Only own keys count, `toString` does not. */
export function isServiceErrorCode(text: string): text is Sso2ServiceErrorCode {
  return Object.hasOwn(sso2ErrorCodes, text)
}

/** Claims that every request token has. Interface: "Request JWT claims, common to all operations". */
export interface RequestClaims {
  readonly cid: string
  readonly nbf: EpochSeconds
  readonly exp: EpochSeconds
  readonly iat: EpochSeconds
  readonly iss: string
  readonly aud: string
}

/** The user's device, as the site saw it. */
export interface Device {
  /** The user's IP address. */
  readonly ipa: string
  /** The user's User-Agent string. */
  readonly uas: string
}

/** Claims that Authenticate adds. Interface: "POST {sso_url}/authenticate". */
export interface AuthenticateClaims extends Device {
  /** SSO2 session ID, from a Session Token. */
  readonly sid: string
  /** The user name as it was typed. */
  readonly usr: string
  /** The password, or a one-time password. */
  readonly pwd: string
}

/** Claims that Session Status adds. Interface: "POST {sso_url}/sessionstatus". */
export interface SessionStatusClaims extends Device {
  /** SSO2 session ID, from a Session Token. */
  readonly sid: string
  /** Last known status. With `'anon'` the response has a ticket if the session is logged in by now. */
  readonly lks: SessionStatus
}

/** Claims that Logout adds. Interface: "POST {sso_url}/logout". */
export interface LogoutClaims extends Device {
  /** SSO2 session ID, from a Session Token. */
  readonly sid: string
}

/** Claims that Logout all adds. Interface: "POST {sso_url}/logoutall". */
export interface LogoutAllClaims extends Device {
  /** Account ID. */
  readonly aid: string
}
