/** What a question to Session Status makes of a record: a claim, an answer, or none. Pure. Carried out by lib/web/actions/check.ts. */
import type { EpochSeconds } from '../protocol/claims'
import type { SsoRecord } from './record'

/** The record with the claim "I am asking Session Status now". @param question a name for it that no other has */
export function claimed(record: SsoRecord, question: string, now: EpochSeconds): SsoRecord {
  return { ...record, askingAt: now, asking: question }
}

/** The pause after a first question without an answer, in seconds; it doubles with each further one. */
const FIRST_PAUSE_SECONDS = 4
/** Pauses differ by as much of themselves, so that sessions of one outage do not ask together. */
const PAUSE_SPREAD = 0.25
const MOST_MISSES = 20

/** The record before a question that comes earlier than its pause says. One pause is cut short once. */
export function hurried(record: SsoRecord): SsoRecord {
  return { ...record, hurried: true }
}

/** The record before a question whose pause is over. */
export function unhurried({ hurried: _hurried, ...record }: SsoRecord): SsoRecord {
  return record
}

/**
 * The record after a question that got no usable answer: nobody asks again for a while, longer each time; as long as before where the
 * question was hurried.
 * @param spread from 0 to 1, at random @param mostSeconds the longest pause
 */
export function unanswered(
  record: SsoRecord,
  now: EpochSeconds,
  spread: number,
  mostSeconds: number,
  question: string,
): SsoRecord {
  if (record.hurried && record.pauseSeconds !== undefined) return { ...ended(record, question), unansweredAt: now }
  const misses = Math.min((record.misses ?? 0) + 1, MOST_MISSES)
  const pause = Math.ceil(FIRST_PAUSE_SECONDS * 2 ** (misses - 1) * (1 + PAUSE_SPREAD * spread))
  const pauseSeconds = Math.min(pause, Math.max(mostSeconds, FIRST_PAUSE_SECONDS))
  return { ...ended(record, question), unansweredAt: now, misses, pauseSeconds }
}

/** The record after an answer that changed nothing: checked now, nobody asking, nothing pending. */
export function confirmed(record: SsoRecord, now: EpochSeconds, question: string): SsoRecord {
  const {
    unansweredAt: _unanswered,
    misses: _misses,
    pauseSeconds: _pause,
    ...kept
  } = ended(unhurried(record), question)
  if (kept.status === 'loggedin') return { ...kept, checkedAt: now }
  const { pending: _pending, due: _due, ...anonymous } = kept
  return { ...anonymous, checkedAt: now }
}

/** The record after an answer that this request could do nothing with: logged in, but its answer has begun. */
export function stillDue(record: SsoRecord, question: string): SsoRecord {
  const kept = ended(record, question)
  return kept.status === 'anon' ? { ...kept, pending: true, due: true } : kept
}

/** The names of the status checks of a record: the one in progress, and the last one that has ended. */
export type Questions = Pick<SsoRecord, 'askingAt' | 'asking' | 'asked'>

/**
 * The status checks of a record after one of them has ended. A check that another request has started since stays in progress: the
 * response to an earlier one is no response to it.
 * @param question the check that has ended, if any
 */
export function questionsAfter({ askingAt, asking, asked }: Questions, question?: string): Questions {
  if (question !== undefined && asking === question) return { asked: question }
  const last = asked === undefined ? {} : { asked }
  return askingAt === undefined || asking === undefined ? last : { ...last, askingAt, asking }
}

function ended(record: SsoRecord, question: string): SsoRecord {
  const { askingAt: _askingAt, asking: _asking, asked: _asked, ...kept } = record
  return { ...kept, ...questionsAfter(record, question) }
}
