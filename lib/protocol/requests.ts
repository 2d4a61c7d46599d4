/** Claims of the five requests, and the Identify address. Pure. Interface: "Request JWT claims", "SSO2 endpoints". */
import {
  type AuthenticateClaims,
  type EpochSeconds,
  type LogoutAllClaims,
  type LogoutClaims,
  type Operation,
  type RequestClaims,
  type SessionStatusClaims,
  TOKEN_LIFETIME_SECONDS,
} from './claims'

/** The site and the SSO system, as named in request tokens. */
export interface Caller {
  /** API client ID (`cid`). */
  readonly clientId: string
  /** Organisation ID (`iss`). */
  readonly organisationId: string
  /** The SSO system's own identifier (`aud`). */
  readonly ssoIdentifier: string
}

/** Additional claims by operation. */
export interface OperationClaims {
  identify: object
  authenticate: AuthenticateClaims
  sessionstatus: SessionStatusClaims
  logout: LogoutClaims
  logoutall: LogoutAllClaims
}

/** Returns the claims of a request token, which is created at `now` and expires ten seconds later. */
export function requestClaims<O extends Operation>(
  caller: Caller,
  claims: OperationClaims[O],
  now: EpochSeconds,
): RequestClaims & OperationClaims[O] {
  const common: RequestClaims = {
    cid: caller.clientId,
    nbf: now,
    exp: now + TOKEN_LIFETIME_SECONDS,
    iat: now,
    iss: caller.organisationId,
    aud: caller.ssoIdentifier,
  }
  return { ...claims, ...common }
}

/** Returns an address or path without slashes at its end. The pattern reads a run of slashes once. */
export const withoutLastSlashes = (text: string): string => text.replace(/(?<!\/)\/+$/, '')

/** Returns the address of a back-channel operation below `ssoUrl`. */
export function operationUrl(ssoUrl: string, operation: Operation): string {
  return `${withoutLastSlashes(ssoUrl)}/${operation}`
}

/** Returns the Identify address with exactly `t` and `r`. Interface: "Identify: browser redirect". */
export function identifyUrl(ssoUrl: string, token: string, returnTo: string): string {
  return `${operationUrl(ssoUrl, 'identify')}?t=${token}&r=${encodeURIComponent(returnTo)}`
}
