/**
 * One user name under attack: strangers try it one at a time, what it has left before a freeze is noted after each wrong password,
 * and with one try left it is closed to them. Threats F3, F13.
 */
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { heldFor, isLastTry, type LoginResult } from '../../decide/login'
import type { StoredTries } from '../../storage/logins'
import type { Unavailable } from '../../storage/unavailable'
import type { LimitedLogin, LimitReason } from '../site'
import { type Before, conclude, concludeAtLast, type Name } from './tries'

const TURN_WAIT_MS = 5000
/** Who waits asks less and less often, so that a crowd costs the store little. */
const TURN_POLL_MS = 40
const TURN_POLL_MOST_MS = 250
const BEAT_MS = 500

/** Whoever is needed did not answer. */
export const UNAVAILABLE: LoginResult = { ok: false, error: 'unavailable' }

/** Not asked, for now. */
export function tooMany(seconds: number, reason: LimitReason, refused: Name['refused']): LoginResult {
  refused(reason)
  return { ok: false, error: 'too_many_attempts', retryAfterSeconds: Math.max(1, Math.ceil(seconds)) }
}

/** What a stranger is told where the name is held, or nobody knows. */
export async function refusalOf({ logins, now, name, refused }: Name): Promise<LoginResult | undefined> {
  const until = await logins.heldUntil(name)
  if (until === 'unavailable') return UNAVAILABLE
  const seconds = heldFor(until, now())
  return seconds > 0 ? tooMany(seconds, 'held', refused) : undefined
}

/** What the marks of a session's turns begin with. */
const ownerOf = ({ session }: Name) => `${session}.`

/** @returns what a stranger is told who does not get his turn */
async function waitForTurn(of: Name, mark: string): Promise<LoginResult | undefined> {
  if (of.isSuccessor && (await of.logins.inheritTurn(of.name, ownerOf(of), mark)) === true) return undefined
  const end = performance.now() + TURN_WAIT_MS
  for (let pause = TURN_POLL_MS; ; pause = Math.min(pause * 1.3, TURN_POLL_MOST_MS)) {
    const turn = await of.logins.takeTurn(of.name, mark)
    if (turn === 'unavailable') return UNAVAILABLE
    if (turn) return undefined
    if (performance.now() > end) return tooMany(1, 'turn', of.refused)
    await sleep(pause * (1 + Math.random()))
    const held = await refusalOf(of)
    if (held) return held
  }
}

/** One stranger at a time on one name, so that the platform's count of what is left is known before the next try. */
export async function asStranger(of: Name, login: LimitedLogin): Promise<LoginResult> {
  const { logins, name } = of
  const mark = `${ownerOf(of)}${randomUUID()}`
  const refusal = await waitForTurn(of, mark)
  if (refusal) return refusal
  const beat = setInterval(() => logins.holdTurn(name, mark), BEAT_MS).unref()
  const leave = () => {
    clearInterval(beat)
    return logins.leaveTurn(name, mark)
  }
  const seen: { before?: Before<StoredTries> } = {}
  let isNoted = true
  const refusalNow = async () => {
    const held = await refusalOf(of) // the turn before this one may have made it so
    if (held) return held
    const stored = await logins.tries(name)
    if (stored === 'unavailable') return UNAVAILABLE
    const isOurs = await logins.holdTurn(name, mark) // a process that stood still has lost it
    if (isOurs === 'unavailable') return UNAVAILABLE
    if (!isOurs) return tooMany(1, 'turn', of.refused)
    seen.before = { stored, until: 0 }
    return undefined
  }
  try {
    const result = await login(refusalNow)
    isNoted = seen.before === undefined || (await conclude(of, result, seen.before))
    // nobody's turn comes before it is known what the name has left; the answer need not wait for a store that is late
    if (seen.before && !isNoted) inBackground(concludeAtLast(of, result, seen.before).finally(leave))
    return result
  } finally {
    if (isNoted) await leave()
  }
}

/** Waits for nobody; what strangers may still try follows from it all the same. */
export async function asKnown(of: Name, login: LimitedLogin): Promise<LoginResult> {
  const seen: { before?: Before<StoredTries | Unavailable> } = {}
  const result = await login(async () => {
    seen.before = await readBefore(of)
    return undefined
  })
  if (seen.before && !(await conclude(of, result, seen.before))) inBackground(concludeAtLast(of, result, seen.before))
  return result
}

/** The hold as well, where there is likely to be one: the login may release it. */
async function readBefore({ logins, name }: Name): Promise<Before<StoredTries | Unavailable>> {
  const stored = await logins.tries(name)
  const isHeld = stored !== 'unavailable' && isLastTry(stored.tries?.left)
  const until = isHeld ? await logins.heldUntil(name) : 0
  return { stored, until: until === 'unavailable' ? 0 : until }
}

function inBackground(work: Promise<unknown>): void {
  work.catch(() => undefined)
}
