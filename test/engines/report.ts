import { number, table } from '../support/figures'
import type { Fault, Round } from './failover'
import type { Evidence } from './judge'
import { QUIET_MS } from './promises'
import type { Step } from './rollout'

/*
 * The tables that are printed.
 */

const seconds = (ms: number | undefined) => (ms === undefined ? '' : `${number(ms / 1000, 1)} s`)

/** A master that went, and where. */
export interface FailoverRun {
  readonly engine: string
  readonly topology: string
  readonly fault: Fault
  /** Or why there was none. */
  readonly round: Round | string
}

const faults: Readonly<Record<Fault, string>> = { kill: 'killed', freeze: 'frozen, then back' }

const placeOf = ({ engine, topology, fault }: Omit<FailoverRun, 'round'>) => {
  return { engine: `${engine} ${topology}`, master: faults[fault] }
}

/** Failovers, two tables: promises, and what it took. */
export function failoverTables(runs: readonly FailoverRun[]): string {
  const rows = runs.map(({ round, ...run }) => {
    const place = placeOf(run)
    if (typeof round === 'string') return { ...place, pages: round }
    const { figures, oldCookiesOpen, oldCookiesStayOpen } = round
    return {
      ...place,
      pages: number(figures.pages),
      failed: number(figures.failed),
      'over 3 s': number(figures.slow),
      'wrong user': number(figures.wrongUser),
      'logout undone': `${figures.undone}, ${figures.undoneElsewhere} elsewhere`,
      logins: number(figures.logins),
      'of them lost': number(figures.lost),
      'password again': number(figures.passwordAgain),
      'old cookies that open, before and after the check': `${oldCookiesOpen}, ${oldCookiesStayOpen}`,
    }
  })
  const times = runs.map(({ round, ...run }) => {
    const place = placeOf(run)
    if (typeof round === 'string') return { ...place, 'new master after': round }
    const { figures, replacedAfter, normalAfter, normalAfterThaw, stalledMs, perSecond } = round
    return {
      ...place,
      'new master after': seconds(replacedAfter),
      'as ever after': seconds(normalAfter),
      'as ever after its return': seconds(normalAfterThaw),
      'slowest page': seconds(figures.slowestMs),
      'pages without a user': number(figures.degraded),
      '"not now"': number(figures.refused),
      'actions a second': number(perSecond),
      machine: machineOf(stalledMs),
    }
  })
  return `${table(rows)}\n\n${table(times)}`
}

const machineOf = (stalledMs: number) =>
  stalledMs < QUIET_MS ? 'had time' : `busy: ${seconds(stalledMs)} for a page without a store`

const may = { nothing: 'nothing', moment: 'for a moment, at the platform', trip: 'a trip' }

/** The rolling deploy, step by step. */
export function rolloutTable(steps: readonly Step[]): string {
  return table(
    steps.map(({ name, promise, figures, stalledMs }) => ({
      step: name,
      'may be noticed': may[promise],
      pages: number(figures.pages),
      failed: number(figures.failed),
      'wrong user': number(figures.wrongUser),
      'logged out': number(figures.passwordAgain),
      'needed a trip': number(figures.lost),
      'left at the platform': number(figures.stranded),
      'logins done': number(figures.logins),
      refused: number(figures.refused),
      'slowest page': seconds(figures.slowestMs),
      machine: machineOf(stalledMs),
    })),
  )
}

/** What led to something that must not be, for whoever looks into it. @param zero when the fault was, or the step began */
export function stories(evidence: readonly Evidence[], zero: number): string {
  const told = evidence.map(({ of, story }) => {
    const [last] = story.slice(-1)
    const lines = story.map(({ begin, end, device, what, status, who, degraded, trips, logout }) => {
      const ago = seconds(begin - zero)
      const seen = [who ?? 'nobody', degraded, logout, trips > 0 ? `${trips} trips` : undefined]
        .filter(Boolean)
        .join(', ')
      return `    ${ago} browser ${device}: ${what} ${status}, ${seen}, ${number(end - begin)} ms`
    })
    return `  reader ${last?.reader}, ${of}:\n${lines.join('\n')}`
  })
  return told.join('\n')
}
