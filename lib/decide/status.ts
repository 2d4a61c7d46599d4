/** What a Session Status answer means for the record that asked. Pure. Interface: "POST {sso_url}/sessionstatus". */
import type { TokenFault } from '../errors'
import type { SessionToken } from '../protocol/session-token'
import type { SsoRecord } from './record'

/** One decision about a record after Session Status. */
export type StatusDecision =
  | { readonly do: 'keep' }
  | { readonly do: 'sign_in'; readonly token: SessionToken }
  | { readonly do: 'identify'; readonly because: 'terminated' | 'session_not_found' | 'no_ticket' | 'changed_back' }
  | { readonly do: 'keep_for_now'; readonly because: 'no_answer' | 'refused' | TokenFault }

/**
 * @param record that asked; a login may ask for a ticket too, to have a new access token
 * @param answer the Session Token, why it was refused, or `undefined` when none came
 */
export function decideStatus(record: SsoRecord, answer: SessionToken | TokenFault | undefined): StatusDecision {
  if (typeof answer === 'string') return { do: 'keep_for_now', because: answer }
  if (!answer) return { do: 'keep_for_now', because: 'no_answer' }
  if (answer.err === 'session_not_found') return { do: 'identify', because: 'session_not_found' }
  if (answer.err !== undefined) return { do: 'keep_for_now', because: 'refused' }
  if (answer.sts === 'terminated') return { do: 'identify', because: 'terminated' }
  if (answer.sts === 'anon')
    return record.status === 'anon' ? { do: 'keep' } : { do: 'identify', because: 'changed_back' }
  if (answer.at !== undefined) return { do: 'sign_in', token: answer }
  return record.status === 'loggedin' ? { do: 'keep' } : { do: 'identify', because: 'no_ticket' }
}
