/** Status checks of a login record: the decision after a Session Status call, and the records before and after it. Pure. Carried out by lib/web/actions/resolve-user.ts. */
import type { TokenFault } from '../errors'
import type { EpochSeconds } from '../protocol/claims'
import type { SessionToken } from '../protocol/session-token'
import { type SsoRecord, withRecordedClaims } from './record'

/** Returns the record with the lock of a status check. @param checkId unique name of the check */
export function withCheckLock(record: SsoRecord, checkId: string, now: EpochSeconds): SsoRecord {
  return { ...record, checkBeganAt: now, currentCheckId: checkId }
}

/**
 * Returns the record after a status check without a usable response.
 * The pause before the next check counts from the beginning of the failed check. So a response that was lost late delays the
 * session no longer.
 */
export function afterFailedCheck(record: SsoRecord, now: EpochSeconds, checkId: string): SsoRecord {
  return { ...withoutCheck(record, checkId), unansweredAt: Math.min(record.checkBeganAt ?? now, now) }
}

/** Returns the record after a response that neither began nor ended a login. @param token of the response */
export function afterUnchangedCheck(
  record: SsoRecord,
  token: SessionToken,
  now: EpochSeconds,
  checkId: string,
): SsoRecord {
  const { unansweredAt: _unanswered, ...others } = withoutCheck(record, checkId)
  if (others.status === 'loggedin') return { ...withRecordedClaims(others, token), checkedAt: now }
  const { pending: _pending, mustCheck, ...anonymous } = others
  const isOlder = mustCheck === true && record.currentCheckId !== checkId // than the login whose outcome is unknown
  return { ...anonymous, ...(isOlder ? { mustCheck } : {}), checkedAt: now }
}

/**
 * Returns the record after a response that reports a login, if the request cannot complete the login because its own response has
 * begun.
 */
export function afterUnusableLogin(record: SsoRecord, checkId: string): SsoRecord {
  const others = withoutCheck(record, checkId)
  return others.status === 'anon' ? { ...others, pending: true, mustCheck: true } : others
}

/**
 * Returns the record after a login of the SSO session whose outcome is unknown. A later request checks the status. The response to a
 * check in progress does not count, because it may be older than the login.
 * @returns `undefined` if the record stays as it is
 */
export function afterUnknownLogin(record: SsoRecord, sidHash: string): SsoRecord | undefined {
  if (record.status !== 'anon' || record.sidHash !== sidHash) return undefined
  const { checkBeganAt: _beganAt, currentCheckId: _currentCheckId, ...others } = record
  return { ...others, mustCheck: true }
}

/** Names of the status check in progress, and of the last check that has ended. */
export type CheckState = Pick<SsoRecord, 'checkBeganAt' | 'currentCheckId' | 'lastCheckId'>

/**
 * Returns the status checks of a record after a check has ended. A check that another request has started since stays in progress.
 * @param checkId the ended check, if any
 */
export function checkStateAfter(
  { checkBeganAt, currentCheckId, lastCheckId }: CheckState,
  checkId?: string,
): CheckState {
  if (checkId !== undefined && currentCheckId === checkId) return { lastCheckId: checkId }
  const last = lastCheckId === undefined ? {} : { lastCheckId }
  return checkBeganAt === undefined || currentCheckId === undefined ? last : { ...last, checkBeganAt, currentCheckId }
}

function withoutCheck(record: SsoRecord, checkId: string): SsoRecord {
  const { checkBeganAt: _beganAt, currentCheckId: _currentCheckId, lastCheckId: _lastCheckId, ...others } = record
  return { ...others, ...checkStateAfter(record, checkId) }
}

/** Decision about a record after Session Status. */
export type StatusDecision =
  | { readonly action: 'keep'; readonly token: SessionToken }
  | { readonly action: 'sign_in'; readonly token: SessionToken }
  | { readonly action: 'identify'; readonly reason: 'terminated' | 'session_not_found' | 'no_ticket' | 'changed_back' }
  | { readonly action: 'keep_for_now'; readonly reason: 'no_answer' | 'refused' | TokenFault }

/**
 * Decides the effect of a Session Status call on a record. Interface: "POST {sso_url}/sessionstatus".
 * @param record before the call
 * @param answer the Session Token, the reason why the token was refused, or `undefined` without a response
 */
export function decideStatus(record: SsoRecord, answer: SessionToken | TokenFault | undefined): StatusDecision {
  if (typeof answer === 'string') return { action: 'keep_for_now', reason: answer }
  if (!answer) return { action: 'keep_for_now', reason: 'no_answer' }
  if (answer.err === 'session_not_found') return { action: 'identify', reason: 'session_not_found' }
  if (answer.err !== undefined) return { action: 'keep_for_now', reason: 'refused' }
  if (answer.sts === 'terminated') return { action: 'identify', reason: 'terminated' }
  if (answer.sts === 'anon')
    return record.status === 'anon' ? { action: 'keep', token: answer } : { action: 'identify', reason: 'changed_back' }
  if (answer.at !== undefined) return { action: 'sign_in', token: answer }
  return record.status === 'loggedin' ? { action: 'keep', token: answer } : { action: 'identify', reason: 'no_ticket' }
}
