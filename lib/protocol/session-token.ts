/**
 * Reads verified claims as the Session Token of an operation, and checks each claim and their combination.
 * Interface: "Session Token (ST), the response JWT" and "Rules for `at`". Undocumented values are refused.
 */
import { TokenError } from '../errors'
import { isServiceErrorCode, type Operation, type SessionStatus, type Sso2ServiceErrorCode } from './claims'
import { isNonNegativeInteger } from './json'
import { ownValue, type VerifiedClaims } from './token'

const MAX_ID_LENGTH = 512
const MAX_TICKET_LENGTH = 4096

/** An `err` as read: a documented code, or `unknown_error` for any other code. */
export type SessionTokenError = Sso2ServiceErrorCode | 'unknown_error'

/** A Session Token. Interface: "Session Token (ST), the response JWT". Ticket and session ID are readable as `at` and `sid`, and never printed. */
export class SessionToken {
  readonly #sid: string | undefined
  readonly #at: string | undefined
  /** State of the session. `undefined` only if an error response has no state. */
  readonly sts: SessionStatus | undefined
  /** Error of the SSO system, or `undefined`. Interface: "SSO2 errors". */
  readonly err: SessionTokenError | undefined
  /** Seconds the account is frozen, with `account_frozen`. */
  readonly frf: number | undefined
  /** Remaining attempts, with `invalid_credentials`. */
  readonly raa: number | undefined
  /** Creation time at the SSO system, in seconds. */
  readonly iat!: number
  constructor({ sid, at, ...shown }: SessionTokenFields) {
    this.#sid = sid
    this.#at = at
    Object.assign(this, shown)
  }
  /** SSO2 session ID. Absent at Logout all, and in errors without a session ID. */
  get sid(): string | undefined {
    return this.#sid
  }
  /** Authorization Ticket, to be exchanged once for an access token. Interface: "Rules for `at`". */
  get at(): string | undefined {
    return this.#at
  }
}

/** A Session Token with a ticket. The rules for `at` give it a session ID, the state `loggedin` and no error. */
export type TicketToken = SessionToken & { readonly sid: string; readonly at: string }

/** Does the token carry a ticket? */
export const hasTicket = (token: SessionToken): token is TicketToken => token.at !== undefined

/** Values of the claims. Only `iat` is always there. */
export type SessionTokenFields = Partial<Pick<SessionToken, keyof SessionToken>> & Pick<SessionToken, 'iat'>

/** Reads each claim. A new claim needs a field of {@link SessionToken} and a row here. The compiler demands the row. */
const READERS: {
  readonly [name in keyof SessionToken]: (claims: VerifiedClaims, request: SentRequest) => SessionToken[name]
} = {
  err: readError,
  sts: readStatus,
  at: (claims) => readText(claims, 'at', MAX_TICKET_LENGTH),
  sid: (claims) => readText(claims, 'sid', MAX_ID_LENGTH),
  frf: (claims, request) => readCount(claims, request, 'frf', 'account_frozen'),
  raa: (claims, request) => readCount(claims, request, 'raa', 'invalid_credentials'),
  iat: ({ iat }) => iat,
}

/** The request that a Session Token answers. */
export interface SentRequest {
  readonly operation: Operation
  /** The `sid` of the request. Absent at the landing page. */
  readonly sid?: string
  /** The `aid` of Logout all. */
  readonly aid?: string
  /** The last known status (`lks`) that was sent with Session Status. */
  readonly lks?: SessionStatus
}

/**
 * Reads the Session Token of a response.
 * @throws {TokenError} `claims` for a wrong type or an undocumented combination, `session_mismatch` for the response to another
 * session
 */
export function readSessionToken(claims: VerifiedClaims, request: SentRequest): SessionToken {
  const values = Object.entries(READERS).map(([name, read]) => [name, read(claims, request)])
  const token = new SessionToken(Object.fromEntries(values))
  const { sid, at, sts, err } = token
  checkSubject(claims, request, sid, err)
  if (err === undefined) checkCombination(request, sts, at)
  else if (at !== undefined || (sts === 'loggedin' && !mayBeLoggedIn(err, request)))
    throw new TokenError('claims', 'err')
  return token
}

/** A refused Authenticate leaves a logged-in session logged in. No other operation has an error for such a session. */
const mayBeLoggedIn = (err: SessionTokenError, { operation }: SentRequest) =>
  operation === 'authenticate' || err === 'unknown_error'

function readError(claims: VerifiedClaims): SessionTokenError | undefined {
  const err = readText(claims, 'err', 128)
  if (err === undefined) return undefined
  return isServiceErrorCode(err) ? err : 'unknown_error'
}

function readStatus(claims: VerifiedClaims): SessionStatus | undefined {
  const sts = ownValue(claims, 'sts')
  if (sts === 'anon' || sts === 'loggedin' || sts === 'terminated') return sts
  if (sts === null || sts === undefined) return undefined // only with an error: see the combinations
  throw new TokenError('claims', 'sts')
}

/** Only blanks and format characters, or no character at all. */
const BLANK = /^[\p{Z}\p{Cf}]*$/u

/** Reads a text, or `undefined` for null or absent. Control characters, blank and oversized texts are refused. */
function readText(claims: VerifiedClaims, name: string, maximum: number): string | undefined {
  const value = ownValue(claims, name)
  if (value === null || value === undefined) return undefined
  if (typeof value !== 'string' || value.length > maximum || BLANK.test(value)) throw new TokenError('claims', name)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are refused
  if (/[\u0000-\u001f\u007f]/.test(value)) throw new TokenError('claims', name)
  return value
}

/** Reads a count of Authenticate. @param err the error to which the count belongs */
function readCount(
  claims: VerifiedClaims,
  { operation }: SentRequest,
  name: string,
  err: SessionTokenError,
): number | undefined {
  const value = operation === 'authenticate' ? ownValue(claims, name) : undefined
  if (value === null || value === undefined || value === -1) return undefined
  if (!isNonNegativeInteger(value)) throw new TokenError('claims', name)
  return ownValue(claims, 'err') === err ? value : undefined
}

/** Checks that the response concerns the requested session or account. An error response may name neither of them. */
function checkSubject(claims: VerifiedClaims, request: SentRequest, sid: string | undefined, err: unknown): void {
  const isLogoutAll = request.operation === 'logoutall'
  const [name, requested, answered] = isLogoutAll
    ? (['aid', request.aid, readText(claims, 'aid', MAX_ID_LENGTH)] as const)
    : (['sid', request.sid, sid] as const)
  if (answered === undefined && err === undefined) throw new TokenError('claims', name)
  if (answered !== undefined && requested !== undefined && answered !== requested)
    throw new TokenError('session_mismatch', name)
}

/** Checks the documented combinations of operation, `sts` and `at` without an error. */
function checkCombination(request: SentRequest, sts: SessionStatus | undefined, at: string | undefined): void {
  const found = `${sts}${at === undefined ? '' : '+at'}`
  if (!COMBINATIONS[request.operation].includes(found)) throw new TokenError('claims', 'sts')
  const mayCarryTicket = request.operation !== 'sessionstatus' || request.lks === 'anon'
  if (at !== undefined && !mayCarryTicket) throw new TokenError('claims', 'at')
}

const COMBINATIONS: Readonly<Record<Operation, readonly string[]>> = {
  identify: ['anon', 'loggedin+at'],
  authenticate: ['loggedin+at'],
  sessionstatus: ['anon', 'loggedin', 'loggedin+at', 'terminated'],
  logout: ['terminated'],
  logoutall: ['terminated'],
}
