import { number } from '../support/figures'

/*
 * What a site needs, by its readers in a month: computed from measured figures, as docs/deployment.md says.
 */

/** Measured at 32 connections with ten thousand sessions. */
export interface Figures {
  readonly cpuMicroseconds: number
  /** Of a logged-in session in Redis, its lists included. */
  readonly bytes: number
}

const VISITS_A_MONTH = 8
const PAGES_A_VISIT = 5
const CHECKS_A_VISIT = 2
/** Redis commands of a check, as `bench:flow` counts them. */
const COMMANDS_A_CHECK = 10
const LOGGED_IN = 0.3
/** An anonymous session is gone after a day: this part of the month's anonymous readers is there at once. */
const ANONYMOUS_THERE = VISITS_A_MONTH / 30
/** The busiest minute against the mean. */
const PEAK = 6
/** Busy part of a process at the peak. */
const BUSY = 0.5
/** Redis grows in steps and copies when it saves. */
const SPARE = 1.5
const MONTH_SECONDS = 30 * 86_400

/** The table, from ten thousand to a hundred million readers. The page's own work is not in it: add it to the CPU time. */
export function capacity({ cpuMicroseconds, bytes }: Figures): Record<string, string>[] {
  return [1e4, 1e5, 1e6, 1e7, 1e8].map((readers) => {
    const visits = (readers * VISITS_A_MONTH * PEAK) / MONTH_SECONDS
    const requests = visits * PAGES_A_VISIT
    const sessions = readers * (LOGGED_IN + (1 - LOGGED_IN) * ANONYMOUS_THERE)
    return {
      'readers a month': number(readers),
      'requests/s at the peak': number(requests, requests < 10 ? 1 : 0),
      processes: number(Math.ceil((requests * cpuMicroseconds) / 1e6 / BUSY) + 1),
      sessions: number(sessions),
      'Redis memory': memory(sessions * bytes * SPARE),
      'Redis commands/s': number(Math.ceil(requests + visits * CHECKS_A_VISIT * COMMANDS_A_CHECK)),
      'Session Status calls/s': number(Math.ceil(visits * CHECKS_A_VISIT)),
    }
  })
}

function memory(bytes: number): string {
  return bytes < 2 ** 30 ? `${number(bytes / 2 ** 20)} MiB` : `${number(bytes / 2 ** 30, 1)} GiB`
}
