/** What a question to Session Status makes of a record: a claim, an answer, or none. Pure. Carried out by lib/web/actions/check-session.ts. */
import type { EpochSeconds } from '../protocol/claims'
import type { SsoRecord } from './record'

/** The record with the claim "I am asking Session Status now". @param question a name for it that no other has */
export function withCheckLock(record: SsoRecord, question: string, now: EpochSeconds): SsoRecord {
  return { ...record, askingAt: now, asking: question }
}

/**
 * The record after a status check that got no usable response. The pause before the next one counts from the beginning of the check, so that
 * a response that was lost late delays the session no longer.
 */
export function afterFailedCheck(record: SsoRecord, now: EpochSeconds, question: string): SsoRecord {
  return { ...withoutCheck(record, question), unansweredAt: Math.min(record.askingAt ?? now, now) }
}

/** The record after an answer that changed nothing: checked now, nobody asking, nothing pending. */
export function afterUnchangedCheck(record: SsoRecord, now: EpochSeconds, question: string): SsoRecord {
  const { unansweredAt: _unanswered, ...kept } = withoutCheck(record, question)
  if (kept.status === 'loggedin') return { ...kept, checkedAt: now }
  const { pending: _pending, due: _due, ...anonymous } = kept
  return { ...anonymous, checkedAt: now }
}

/** The record after an answer that this request could do nothing with: logged in, but its answer has begun. */
export function afterUnusableLogin(record: SsoRecord, question: string): SsoRecord {
  const kept = withoutCheck(record, question)
  return kept.status === 'anon' ? { ...kept, pending: true, due: true } : kept
}

/** The names of the status checks of a record: the one in progress, and the last one that has ended. */
export type CheckState = Pick<SsoRecord, 'askingAt' | 'asking' | 'asked'>

/**
 * The status checks of a record after one of them has ended. A check that another request has started since stays in progress: the
 * response to an earlier one is no response to it.
 * @param question the check that has ended, if any
 */
export function checkStateAfter({ askingAt, asking, asked }: CheckState, question?: string): CheckState {
  if (question !== undefined && asking === question) return { asked: question }
  const last = asked === undefined ? {} : { asked }
  return askingAt === undefined || asking === undefined ? last : { ...last, askingAt, asking }
}

function withoutCheck(record: SsoRecord, question: string): SsoRecord {
  const { askingAt: _askingAt, asking: _asking, asked: _asked, ...kept } = record
  return { ...kept, ...checkStateAfter(record, question) }
}
