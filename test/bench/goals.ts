import { number, ratio, spread, table } from '../support/figures'
import { type Measured, series } from './rounds'
import { measureOf, type Results } from './warm'

/*
 * What the figures have to show. A goal that is missed is printed as such; it fails nothing, for the machine has a say in it.
 */

interface Goal {
  readonly what: string
  readonly row: string
  /** Against which row: the one that all are measured by, when left out. */
  readonly against?: string
  readonly of: keyof Measured
  readonly connections: number
  readonly goal: number
  readonly stretch?: number
}

const cpu = { of: 'cpu', connections: 32 } as const
const timesLess = (goal: number, stretch: number) => ({ row: 'page', ...cpu, goal: 1 / goal, stretch: 1 / stretch })
const goals: readonly Goal[] = [
  { what: 'CPU against plain, page without req.session', row: 'page', ...cpu, goal: 0.72, stretch: 0.62 },
  { what: 'CPU against plain, page that reads it', row: 'read', ...cpu, goal: 0.95, stretch: 0.85 },
  { what: 'requests/s against plain, 32', row: 'page', of: 'perSecond', connections: 32, goal: 1.35, stretch: 1.5 },
  { what: 'requests/s against plain, 1', row: 'page', of: 'perSecond', connections: 1, goal: 1.15, stretch: 1.4 },
  { what: 'p50 against plain, 1', row: 'page', of: 'p50', connections: 1, goal: 0.85, stretch: 0.7 },
  { what: 'p99 against plain, 1', row: 'page', of: 'p99', connections: 1, goal: 0.85, stretch: 0.7 },
  { what: 'p50 against plain, 32', row: 'page', of: 'p50', connections: 32, goal: 0.85, stretch: 0.7 },
  { what: 'p99 against plain, 32', row: 'page', of: 'p99', connections: 32, goal: 0.85, stretch: 0.7 },
  { what: 'CPU against express-openid-connect, Redis', against: 'oidc-redis', ...timesLess(1.5, 1.8) },
  { what: 'CPU against express-openid-connect, cookie', against: 'oidc-cookie', ...timesLess(2.3, 2.8) },
  { what: 'CPU against clerk', against: 'clerk', ...timesLess(4.5, 5.9) },
  { what: 'CPU against keycloak-connect', against: 'keycloak', ...timesLess(3.5, 4.6) },
  { what: 'CPU of an anonymous reader against a logged-in one', row: 'anonymous', against: 'page', ...cpu, goal: 1.05 },
]

/** The goals beside what was measured; rows that were not run are left out. */
export function judge(all: readonly Results[]): string {
  const lines = goals.flatMap(({ what, row, against = measureOf(all).row.name, of, connections, goal, stretch }) => {
    const [own, other] = [row, against].map((name) => all.find((one) => one.row.name === name))
    if (!own || !other) return []
    const { median } = ratio(series(own, connections, of), series(other, connections, of))
    const reaches = (bound: number) => (of === 'perSecond' ? median >= bound : median <= bound)
    const verdict = stretch !== undefined && reaches(stretch) ? 'stretch' : reaches(goal) ? 'goal' : 'missed'
    return [
      { what, measured: number(median, 2), goal: number(goal, 2), stretch: number(stretch ?? Number.NaN, 2), verdict },
    ]
  })
  return `${table([...lines, ...absolutes(all)])}\n`
}

/** What is not a ratio. */
function absolutes(all: readonly Results[]): Record<string, string>[] {
  const page = all.find(({ row }) => row.name === 'page')
  if (!page) return []
  const line = (what: string, value: number, goal: number, digits = 2) => ({
    what,
    measured: number(value, digits),
    goal: number(goal, digits),
    stretch: '',
    verdict: value <= goal ? 'goal' : 'missed',
  })
  const median = (connections: number, of: keyof Measured) => spread(series(page, connections, of)).median
  const bare = all.find(({ row }) => row.name === 'bare')?.memory
  const over = bare && page.memory ? [line('MiB over bare express', (page.memory.rss - bare.rss) / 2 ** 20, 10, 1)] : []
  return [
    line('Redis commands a request, 32', median(32, 'commands'), 1.05),
    line('Redis round trips a request, 1', median(1, 'trips'), 1.05),
    line('answers with Set-Cookie', median(32, 'setCookies'), 0),
    ...over,
  ]
}
