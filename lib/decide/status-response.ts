/** What a Session Status answer means for the record that asked. Pure. Interface: "POST {sso_url}/sessionstatus". */
import type { TokenFault } from '../errors'
import type { SessionToken } from '../protocol/session-token'
import type { SsoRecord } from './record'

/** One decision about a record after Session Status. */
export type StatusDecision =
  | { readonly action: 'keep' }
  | { readonly action: 'sign_in'; readonly token: SessionToken }
  | { readonly action: 'identify'; readonly reason: 'terminated' | 'session_not_found' | 'no_ticket' | 'changed_back' }
  | { readonly action: 'keep_for_now'; readonly reason: 'no_answer' | 'refused' | TokenFault }

/**
 * @param record that asked; a login may ask for a ticket too, to have a new access token
 * @param answer the Session Token, why it was refused, or `undefined` when none came
 */
export function decideStatus(record: SsoRecord, answer: SessionToken | TokenFault | undefined): StatusDecision {
  if (typeof answer === 'string') return { action: 'keep_for_now', reason: answer }
  if (!answer) return { action: 'keep_for_now', reason: 'no_answer' }
  if (answer.err === 'session_not_found') return { action: 'identify', reason: 'session_not_found' }
  if (answer.err !== undefined) return { action: 'keep_for_now', reason: 'refused' }
  if (answer.sts === 'terminated') return { action: 'identify', reason: 'terminated' }
  if (answer.sts === 'anon')
    return record.status === 'anon' ? { action: 'keep' } : { action: 'identify', reason: 'changed_back' }
  if (answer.at !== undefined) return { action: 'sign_in', token: answer }
  return record.status === 'loggedin' ? { action: 'keep' } : { action: 'identify', reason: 'no_ticket' }
}
