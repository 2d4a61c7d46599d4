/** Carries out the five operations of SSO2 on the platform's state. Interface: "SSO2 endpoints". */
import type { EpochSeconds, Operation, SessionStatus, Sso2ServiceErrorCode } from '../../protocol/claims'
import { type Claims, text } from './claims'
import { checkCredentials, consumeOtpAndResetAttempts } from './credentials'
import {
  endSessionsOfAccount,
  endSsoSession,
  findSession,
  logInSsoSession,
  openSession,
  sessionOfBrowser,
  sessionsOfAccount,
  touch,
} from './sessions'
import { issueTicket } from './tickets'
import { limitsOf, type SsoSession, type World } from './world'

/** Content of a Session Token, without issuer, audience and times. The token has each field beside `subject` and `attempts` as a claim. */
export interface TokenContent {
  /** Session ID, or account ID for Logout all. Null if a refused request named neither of them. */
  readonly subject: { readonly sid: string | null } | { readonly aid: string | null }
  readonly sts: SessionStatus
  readonly at: string | null
  readonly err: Sso2ServiceErrorCode | null
  /** Authenticate only: seconds until the account is unlocked, and remaining attempts. */
  readonly attempts?: { readonly frf: number; readonly raa: number }
}

/** A verified request of the back channel. */
export interface BackChannelCall {
  readonly operation: Exclude<Operation, 'identify'>
  readonly clientId: string
  readonly claims: Claims
}

/** Carries out Identify: returns the browser's session, or a new anonymous session if the browser has no usable session. */
export function identify(
  world: World,
  clientId: string,
  browser: string | undefined,
  now: EpochSeconds,
): { session: SsoSession; outcome: TokenContent } {
  const found = sessionOfBrowser(world, browser, now)
  const session = touch(world, usable(found) ?? openSession(world, found?.browser, now), now)
  return { session, outcome: contentOfSession(session, ticketFor(world, clientId, session, now)) }
}

/** Carries out a call of the back channel. */
export function answerCall(world: World, call: BackChannelCall, now: EpochSeconds): TokenContent {
  const { operation, clientId, claims } = call
  if (operation === 'logoutall') return logoutAll(world, text(claims, 'aid'), now)
  const sid = text(claims, 'sid')
  const session = findSession(world, sid, now)
  if (!session) return contentOfRefusal(operation, sid, 'session_not_found')
  switch (operation) {
    case 'authenticate':
      return answerAuthenticate(world, clientId, session, claims, now)
    case 'sessionstatus':
      return sessionStatus(world, clientId, session, claims, now)
    case 'logout':
      return contentOfSession(endSsoSession(world, session))
  }
}

/** Returns an error outcome, with the status that belongs to the error in the interface's tables. */
export function contentOfRefusal(
  operation: Operation,
  subject: string | null,
  err: Sso2ServiceErrorCode,
): TokenContent {
  if (operation === 'logoutall') return { subject: { aid: subject }, sts: statusOfError(err), at: null, err }
  const outcome: TokenContent = { subject: { sid: subject }, sts: statusOfError(err), at: null, err }
  return operation === 'authenticate' ? { ...outcome, attempts: { frf: -1, raa: -1 } } : outcome
}

function statusOfError(err: Sso2ServiceErrorCode): SessionStatus {
  if (err === 'session_not_found' || err === 'session_terminated') return 'terminated'
  return err === 'session_already_logged_in_on_another_account' ? 'loggedin' : 'anon'
}

function answerAuthenticate(
  world: World,
  clientId: string,
  before: SsoSession,
  claims: Claims,
  now: EpochSeconds,
): TokenContent {
  const session = touch(world, before, now)
  const refuse = (err: Sso2ServiceErrorCode) => contentOfRefusal('authenticate', session.sid, err)
  if (session.status === 'terminated') return refuse('session_terminated')
  // Checked before the password, so that a session of an account cannot be used to guess passwords of other accounts.
  const named = world.accountsByName.get(text(claims, 'usr'))?.account.accountId
  if (session.status === 'loggedin' && session.accountId !== named) {
    return refuse('session_already_logged_in_on_another_account')
  }
  const result = checkCredentials(world, text(claims, 'usr'), text(claims, 'pwd'), now)
  if (!result.ok) {
    const { err, frf, raa } = result
    return { ...refuse(err), attempts: { frf, raa } }
  }
  const { accountId } = result.state.account
  if (session.status === 'anon' && isAtLimit(world, accountId, now)) return refuse('session_limit_reached')
  consumeOtpAndResetAttempts(result.state, result.otp)
  const next = logInSsoSession(world, session, accountId)
  return { ...contentOfSession(next, ticketFor(world, clientId, next, now)), attempts: { frf: -1, raa: -1 } }
}

function isAtLimit(world: World, accountId: string, now: EpochSeconds): boolean {
  return sessionsOfAccount(world, accountId, now).length >= limitsOf(world).sessionsPerAccount
}

/** Carries out Session Status. Issues a ticket only if the site's last known status is `anon`. */
function sessionStatus(
  world: World,
  clientId: string,
  before: SsoSession,
  claims: Claims,
  now: EpochSeconds,
): TokenContent {
  const session = touch(world, before, now)
  const isAnonymousAtSite = text(claims, 'lks') === 'anon'
  return contentOfSession(session, isAnonymousAtSite ? ticketFor(world, clientId, session, now) : null)
}

/** Carries out Logout all. The response for an unknown account is the same, so that accounts are not revealed. */
function logoutAll(world: World, aid: string, now: EpochSeconds): TokenContent {
  endSessionsOfAccount(world, aid, now)
  return { subject: { aid }, sts: 'terminated', at: null, err: null }
}

function contentOfSession({ sid, status }: SsoSession, at: string | null = null): TokenContent {
  return { subject: { sid }, sts: status, at, err: null }
}

function ticketFor(world: World, clientId: string, session: SsoSession, now: EpochSeconds): string | null {
  return session.status === 'loggedin' ? issueTicket(world, clientId, session, now) : null
}

function usable(session: SsoSession | undefined): SsoSession | undefined {
  return session?.status === 'terminated' ? undefined : session
}
