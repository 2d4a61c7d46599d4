import { spread } from '../figures'
import type { Sample } from './samples'

/** What has to stay as it is, and by how much it may seem to grow all the same: a share of itself, or so much. */
const bounds: readonly (readonly [name: string, of: (sample: Sample) => number, share: number, least: number])[] = [
  ['RSS, MB', ({ rss }) => rss, 0.06, 10],
  ['heap after a collection, MB', ({ heap }) => heap, 0.06, 2],
  ['external memory, MB', ({ external }) => external, 0.2, 4],
  ['handles', ({ handles }) => handles, 0.2, 15],
  ['open files', ({ files }) => files, 0.2, 15],
  ['sockets', ({ sockets }) => sockets, 0.2, 20],
  ['timers', ({ timers }) => timers, 0.2, 30],
  ['p99, ms', ({ p99 }) => p99, 0.5, 150],
]

/** How one figure went over the second half. */
export interface Course {
  readonly name: string
  readonly median: number
  /** What it grew by over the second half, by the slope of most pairs of samples. */
  readonly growth: number
  readonly most: number
  readonly isFlat: boolean
}

/** Judges the second half of the samples. */
export function judgeCourse(samples: readonly Sample[]): Course[] {
  const half = samples.slice(Math.floor(samples.length / 2))
  const [first, last] = [half[0]?.seconds ?? 0, half.at(-1)?.seconds ?? 0]
  return bounds.map(([name, of, share, least]) => {
    const middle = median(half.map(of))
    const growth = slope(half.map((sample) => [sample.seconds, of(sample)])) * (last - first)
    const most = Math.max(share * middle, least)
    return { name, median: middle, growth, most, isFlat: growth <= most }
  })
}

/** Of nothing it is 0. */
const median = (values: readonly number[]) => spread(values).median || 0

/** The median of the slopes between all pairs: a sample that is far off counts no more than another. */
function slope(points: readonly (readonly [at: number, value: number])[]): number {
  const slopes = points.flatMap(([at, value], index) =>
    points.slice(index + 1).map(([later, other]) => (other - value) / (later - at)),
  )
  return median(slopes)
}

export const tellCourse = ({ name, median: middle, growth, most, isFlat }: Course): string =>
  `  ${isFlat ? 'flat' : 'GROWS'}  ${name}: median ${middle.toFixed(1)}, ${growth >= 0 ? '+' : ''}${growth.toFixed(1)} over the second half (most ${most.toFixed(1)})`
