/** How old a mark is, on the clocks of several machines. Pure. */
import type { EpochSeconds } from '../protocol/claims'

/** A clock may be set back by as much as tokens may be off, in seconds; a mark further ahead was written by one that is wrong, and is none. */
const MAX_CLOCK_SKEW_SECONDS = 60

/** Age of a mark in seconds; infinite where there is no mark, or one that lies in the future. */
export function ageOf(moment: EpochSeconds | undefined, now: EpochSeconds): number {
  if (moment === undefined || moment - now > MAX_CLOCK_SKEW_SECONDS) return Number.POSITIVE_INFINITY
  return Math.max(0, now - moment)
}

/** Is there a mark, younger than so many seconds? */
export function isYoungerThan(moment: EpochSeconds | undefined, now: EpochSeconds, seconds: number): boolean {
  return ageOf(moment, now) < seconds
}
