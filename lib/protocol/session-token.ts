/**
 * Reads a verified claim set as a Session Token of one operation: `unknown` in, typed and checked out.
 * Interface: "Session Token (ST), the response JWT" and "Rules for `at`". Anything not documented is refused.
 */
import { TokenError } from '../errors'
import { isServiceErrorCode, type Operation, type SessionStatus, type Sso2ServiceErrorCode } from './claims'
import { isWholeNumber } from './json'
import { own, type VerifiedClaims } from './token'

const MAX_ID_LENGTH = 512
const MAX_TICKET_LENGTH = 4096

/** An `err` as read: a documented code, or `unknown_error` for one that this package does not know. */
export type SessionTokenError = Sso2ServiceErrorCode | 'unknown_error'

/** A Session Token. Interface: "Session Token (ST), the response JWT". Ticket and session ID are readable as `at` and `sid`, and never printed. */
export class SessionToken {
  readonly #sid: string | undefined
  readonly #at: string | undefined
  /** State of the session; `undefined` only where an error left it out. */
  readonly sts: SessionStatus | undefined
  /** What the SSO system refused, or `undefined`. Interface: "SSO2 errors". */
  readonly err: SessionTokenError | undefined
  /** Seconds the account is frozen, with `account_frozen`. */
  readonly frf: number | undefined
  /** Remaining attempts, with `invalid_credentials`. */
  readonly raa: number | undefined
  /** Creation time at the SSO system, in seconds. */
  readonly iat: number
  constructor(fields: SessionTokenFields) {
    this.#sid = fields.sid
    this.#at = fields.at
    this.sts = fields.sts
    this.err = fields.err
    this.frf = fields.frf
    this.raa = fields.raa
    this.iat = fields.iat
  }
  /** SSO2 session ID; absent at Logout all, and where an error left it out. */
  get sid(): string | undefined {
    return this.#sid
  }
  /** Authorization Ticket, to be exchanged once for an access token. Interface: "Rules for `at`". */
  get at(): string | undefined {
    return this.#at
  }
}

/** What a `SessionToken` is made of. */
export interface SessionTokenFields {
  readonly sid: string | undefined
  readonly at: string | undefined
  readonly sts: SessionStatus | undefined
  readonly err: SessionTokenError | undefined
  readonly frf: number | undefined
  readonly raa: number | undefined
  readonly iat: number
}

/** What was asked, so that the answer can be tied to it. */
export interface Question {
  readonly operation: Operation
  /** The `sid` sent; none at the landing page. */
  readonly sid?: string
  /** The `aid` sent with Logout all. */
  readonly aid?: string
  /** The `lks` sent with Session Status. */
  readonly lks?: SessionStatus
}

/**
 * Reads the answer to one question.
 * @throws {TokenError} `claims` for a wrong type or an undocumented combination, `session_mismatch` for another session's answer
 */
export function readSessionToken(claims: VerifiedClaims, question: Question): SessionToken {
  const err = readError(claims)
  const sts = readStatus(claims)
  const at = readText(claims, 'at', MAX_TICKET_LENGTH)
  const sid = readText(claims, 'sid', MAX_ID_LENGTH)
  checkSubject(claims, question, sid, err)
  if (err === undefined) checkCombination(question, sts, at)
  else if (at !== undefined || (sts === 'loggedin' && !mayBeLoggedIn(err, question)))
    throw new TokenError('claims', 'err')
  const frf = readCount(claims, question, 'frf')
  const raa = readCount(claims, question, 'raa')
  return new SessionToken({
    sid,
    at,
    sts,
    err,
    frf: err === 'account_frozen' ? frf : undefined,
    raa: err === 'invalid_credentials' ? raa : undefined,
    iat: claims.iat,
  })
}

/** A refused Authenticate leaves a session that is logged in as it was. No other operation refuses anything to such a session. */
const mayBeLoggedIn = (err: SessionTokenError, { operation }: Question) =>
  operation === 'authenticate' || err === 'unknown_error'

function readError(claims: VerifiedClaims): SessionTokenError | undefined {
  const err = readText(claims, 'err', 128)
  if (err === undefined) return undefined
  return isServiceErrorCode(err) ? err : 'unknown_error'
}

function readStatus(claims: VerifiedClaims): SessionStatus | undefined {
  const sts = own(claims, 'sts')
  if (sts === 'anon' || sts === 'loggedin' || sts === 'terminated') return sts
  if (sts === null || sts === undefined) return undefined // for an error only: see the combinations
  throw new TokenError('claims', 'sts')
}

/** Nothing that a person could see: blanks, format characters, or no character at all. */
const BLANK = /^[\p{Z}\p{Cf}]*$/u

/** A text, or `undefined` for null or absent. Control characters, blank and oversized texts are refused. */
function readText(claims: VerifiedClaims, name: string, maximum: number): string | undefined {
  const value = own(claims, name)
  if (value === null || value === undefined) return undefined
  if (typeof value !== 'string' || value.length > maximum || BLANK.test(value)) throw new TokenError('claims', name)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is refused
  if (/[\u0000-\u001f\u007f]/.test(value)) throw new TokenError('claims', name)
  return value
}

function readCount(claims: VerifiedClaims, { operation }: Question, name: string): number | undefined {
  const value = operation === 'authenticate' ? own(claims, name) : undefined
  if (value === null || value === undefined || value === -1) return undefined
  if (!isWholeNumber(value)) throw new TokenError('claims', name)
  return value
}

/** The answer must be about the session, or account, that was asked about; an error may leave it out. */
function checkSubject(claims: VerifiedClaims, question: Question, sid: string | undefined, err: unknown): void {
  const isLogoutAll = question.operation === 'logoutall'
  const [name, asked, answered] = isLogoutAll
    ? (['aid', question.aid, readText(claims, 'aid', MAX_ID_LENGTH)] as const)
    : (['sid', question.sid, sid] as const)
  if (answered === undefined && err === undefined) throw new TokenError('claims', name)
  if (answered !== undefined && asked !== undefined && answered !== asked)
    throw new TokenError('session_mismatch', name)
}

/** Documented combinations of operation, `sts` and `at` where `err` is null. */
function checkCombination(question: Question, sts: SessionStatus | undefined, at: string | undefined): void {
  const found = `${sts}${at === undefined ? '' : '+at'}`
  if (!COMBINATIONS[question.operation].includes(found)) throw new TokenError('claims', 'sts')
  const mayCarryTicket = question.operation !== 'sessionstatus' || question.lks === 'anon'
  if (at !== undefined && !mayCarryTicket) throw new TokenError('claims', 'at')
}

const COMBINATIONS: Readonly<Record<Operation, readonly string[]>> = {
  identify: ['anon', 'loggedin+at'],
  authenticate: ['loggedin+at'],
  sessionstatus: ['anon', 'loggedin', 'loggedin+at', 'terminated'],
  logout: ['terminated'],
  logoutall: ['terminated'],
}
