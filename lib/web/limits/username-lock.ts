/** Allows one attempt at a user name at a time, and stops before the platform freezes the account. Threats F3, F16 to F18. */
import { setTimeout as sleep } from 'node:timers/promises'
import {
  ATTEMPTS_SECONDS,
  type AttemptFacts,
  type AttemptResult,
  type Attempts,
  beginAttempt,
  endAttempt,
} from '../../decide/attempts'
import type { LoginLocks, StoredAttempts } from '../../storage/login-locks'
import type { Unavailable } from '../../storage/unavailable'
import type { Refusal } from '../site'

const WAIT_MS = 5000
/** Waiting requests poll at growing intervals, so that many of them cost Redis little. */
const POLL_MS = 40
const MAX_POLL_MS = 250
const MAX_WRITES = 8

/** An attempt at a user name. */
export interface NameAttempt extends Omit<AttemptFacts, 'now'> {
  readonly logins: LoginLocks
  /** Hash of the normalised user name. */
  readonly name: string
  /** Seconds since 1970. */
  readonly now: () => number
}

/** An attempt that has begun. */
export interface OpenAttempt {
  /** The value that was written at its beginning. */
  readonly written: string
  readonly attempts: Attempts
}

const factsOf = (of: NameAttempt): AttemptFacts => ({ ...of, now: of.now() })
const secondsOf = ({ limit }: NameAttempt) => Math.max(ATTEMPTS_SECONDS, limit.perSeconds)

/** Begins an attempt, after the attempt in progress. Writes before it reads, because most user names have no value. */
export async function openAttempt(of: NameAttempt): Promise<OpenAttempt | Refusal | Unavailable> {
  const end = performance.now() + WAIT_MS
  let known: StoredAttempts = { raw: null, attempts: undefined }
  for (let pause = POLL_MS; performance.now() < end; ) {
    const decision = beginAttempt(known.attempts, factsOf(of))
    if (decision.action === 'refuse') return { reason: decision.reason, seconds: decision.seconds }
    if (decision.action === 'wait') {
      await sleep(pause * (1 + Math.random()))
      pause = Math.min(pause * 1.3, MAX_POLL_MS)
    }
    const found =
      decision.action === 'wait'
        ? await of.logins.readAttempts(of.name)
        : await of.logins.writeAttempts(of.name, known.raw, decision.next, secondsOf(of))
    if (found === 'unavailable') return found
    if ('written' in found && decision.action === 'try') return { written: found.written, attempts: decision.next }
    if ('raw' in found) known = found
  }
  return { reason: 'turn', seconds: 1 }
}

/** Ends an attempt. If Redis does not store the end, the attempt stays subtracted, and its lock expires. */
export async function closeAttempt(of: NameAttempt, open: OpenAttempt, result: AttemptResult): Promise<void> {
  let known: StoredAttempts = { raw: open.written, attempts: open.attempts }
  for (let writes = 0; writes < MAX_WRITES; writes += 1) {
    const next = endAttempt(known.attempts, factsOf(of), result)
    const found = await of.logins.writeAttempts(of.name, known.raw, next, secondsOf(of))
    if (found === 'unavailable' || 'written' in found) return
    known = found
  }
}
