/** Decides the effect of a Session Status call on a login record. Pure. Interface: "POST {sso_url}/sessionstatus". */
import type { TokenFault } from '../errors'
import type { SessionToken } from '../protocol/session-token'
import type { SsoRecord } from './record'

/** `over`: the SSO session has ended, or is another one. `no_answer`: the record stays as it is, for the grace period. */
export type StatusDecision =
  | { readonly action: 'keep' }
  | { readonly action: 'sign_in'; readonly token: SessionToken }
  | { readonly action: 'over'; readonly reason: 'terminated' | 'session_not_found' | 'no_ticket' | 'changed_back' }
  | { readonly action: 'no_answer'; readonly reason: 'no_answer' | 'refused' | TokenFault }

/**
 * @param record before the call
 * @param answer the Session Token, the reason why the token was refused, or `undefined` without a response
 */
export function decideStatus(record: SsoRecord, answer: SessionToken | TokenFault | undefined): StatusDecision {
  if (typeof answer === 'string') return { action: 'no_answer', reason: answer }
  if (!answer) return { action: 'no_answer', reason: 'no_answer' }
  if (answer.err === 'session_not_found') return { action: 'over', reason: 'session_not_found' }
  if (answer.err !== undefined) return { action: 'no_answer', reason: 'refused' }
  if (answer.sts === 'terminated') return { action: 'over', reason: 'terminated' }
  if (answer.sts === 'anon')
    return record.status === 'anon' ? { action: 'keep' } : { action: 'over', reason: 'changed_back' }
  if (answer.at !== undefined) return { action: 'sign_in', token: answer }
  return record.status === 'loggedin' ? { action: 'keep' } : { action: 'over', reason: 'no_ticket' }
}
