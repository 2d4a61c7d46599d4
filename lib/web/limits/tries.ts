/** Notes what a login came to: how many tries its name has left before a freeze, or that it is released. Threats F3, F13. */
import { setTimeout as sleep } from 'node:timers/promises'
import { isGuess, isLastTry, isReleasedBy, type LoginResult, lowerOf, type Tries, triesAfter } from '../../decide/login'
import type { Logins, StoredTries } from '../../storage/logins'
import type { Unavailable } from '../../storage/unavailable'
import type { LimitReason } from '../site'

/** A name with one try left before the freeze is held so long against strangers, in seconds. */
const HOLD_SECONDS = 900
/** How many tries a name had left is known so long, in seconds. */
const LEFT_SECONDS = 3600
const AGAIN_MS = 500

/** A name that is being tried. */
export interface Name {
  readonly logins: Logins
  /** Seconds since 1970. */
  readonly now: () => number
  /** Hash of the name, one for all its spellings. */
  readonly name: string
  /** Digits that stand for this spelling alone. */
  readonly spelling: string
  readonly session: string
  readonly isSuccessor: boolean
  readonly refused: (reason: LimitReason) => void
  /** False once the site has been closed. */
  readonly isOpen: () => boolean
}

/** What was known of a name right before its Authenticate. */
export interface Before<Stored = StoredTries | Unavailable> {
  readonly stored: Stored
  /** Until when it was held; 0: it was not. */
  readonly until: number
}

/** @returns false where the store did not take what a wrong password came to */
export async function conclude(of: Name, result: LoginResult, { stored, until }: Before): Promise<boolean> {
  if (isGuess(result)) return note(of, result, stored)
  if (stored === 'unavailable' || stored.raw === null || !isReleasedBy(result, of.spelling, stored.tries)) return true
  await of.logins.release(of.name, stored.raw, until) // else it waits its time out
  return true
}

/** What is noted again and again meanwhile is gone through anew. */
async function note(of: Name, result: LoginResult, before: StoredTries | Unavailable): Promise<boolean> {
  let known = before === 'unavailable' ? await of.logins.tries(of.name) : before
  while (known !== 'unavailable') {
    const tries = nextTries(of, result, known, before)
    if (tries === undefined) return true
    const written = await write(of, known.raw, tries)
    if (written !== false) return written === true
    known = await of.logins.tries(of.name)
  }
  return false
}

function nextTries(of: Name, result: LoginResult, known: StoredTries, before: StoredTries | Unavailable) {
  const tries = triesAfter(result, of.spelling, known.tries)
  return tries && known !== before ? lowerOf(tries, known.tries) : tries
}

/** @returns false where something else is noted than `before` */
async function write({ logins, now, name }: Name, before: string | null, tries: Tries): Promise<boolean | Unavailable> {
  const [written, held] = await Promise.all([
    logins.noteTries(name, before, tries, LEFT_SECONDS),
    isLastTry(tries.left) ? logins.hold(name, now() + HOLD_SECONDS, HOLD_SECONDS) : undefined,
  ])
  return held === 'unavailable' ? held : written
}

/** Tries again until the store has taken it; what has been noted since is newer, and stays. */
export async function concludeAtLast(of: Name, result: LoginResult, { stored }: Before): Promise<void> {
  const end = performance.now() + LEFT_SECONDS * 1000
  let known = stored
  while (performance.now() < end) {
    await sleep(AGAIN_MS, undefined, { ref: false })
    if (!of.isOpen()) return
    const found = await of.logins.tries(of.name)
    if (found === 'unavailable') continue
    if (known === 'unavailable') known = found
    const tries = nextTries(of, result, known, stored)
    if (tries === undefined || (found.raw !== known.raw && !isSame(found.tries, tries))) return
    if ((await write(of, found.raw, tries)) !== 'unavailable') return
  }
}

/** It may have been written although nobody was told. */
function isSame(one: Tries | undefined, other: Tries): boolean {
  return one?.left === other.left && one.spelling === other.spelling
}
