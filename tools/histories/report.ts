import { writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { History } from './entries'
import type { Violation } from './promises'
import { groupBy } from './view'

const SHOWN = 5

/** One history in a few lines: what was done, what was wrong, and which promises were broken. */
export function tell(seed: number, history: History, violations: readonly Violation[], ms: number): string {
  const { entries, troubles, ends, calls } = history
  const count = (list: readonly string[]) =>
    [...groupBy(list, (one) => one)]
      .sort(([, a], [, b]) => b.length - a.length)
      .map(([name, { length }]) => `${length} ${name}`)
      .join(', ')
  const slowest = entries.reduce((most, entry) => Math.max(most, entry.slowest), 0) // as arguments, a soak's would be too many
  const isSeen = entries.flatMap(({ degraded }) => degraded ?? [])
  return [
    `seed ${seed}: ${entries.length} steps in ${Math.round(ms / 1000)} s, ${violations.length} violations`,
    `  steps: ${count(entries.map(({ what }) => what))}`,
    `  logged in on ${entries.filter(({ user }) => user !== undefined).length} pages; degraded: ${count(isSeen)}`,
    `  troubles: ${count(troubles.map(({ part }) => part))}; ${ends.length} times sessions ended elsewhere`,
    `  calls: ${count(calls.map(({ operation }) => operation))}; slowest answer ${Math.round(slowest)} ms`,
    ...[...groupBy(violations, ({ promise }) => promise)].flatMap(([promise, found]) => [
      `  BROKEN ${promise}: ${found.length}`,
      ...found.slice(0, SHOWN).map(({ text }) => `    ${text}`),
    ]),
  ].join('\n')
}

/** Leaves everything that was seen as JSON, because its moments do not come again. @returns where */
export function keepSeen(name: string, seen: object): string {
  const file = path.join(tmpdir(), `express-sso2-${name}.json`)
  writeFileSync(file, JSON.stringify(seen))
  return `\nall that was seen: ${file}`
}
