import type { Entry } from '../histories/entries'
import type { Figures } from '../histories/processes'
import type { Setup } from '../histories/setup'

/** What was measured of all processes together, and since the sample before. Memory is in megabytes, `loopMs` that of the slower process. */
export interface Sample extends Figures {
  readonly seconds: number
  readonly perSecond: number
  /** Answers of the site, in milliseconds. */
  readonly p50: number
  readonly p99: number
  /** Pages that knew less than they should, in a hundred. */
  readonly degraded: number
  readonly storeMegabytes: number
  readonly storeKeys: number
}

const MEGABYTE = 1_048_576

/** Takes samples, each after a garbage collection. */
export class Sampler {
  readonly samples: Sample[] = []
  readonly #begin = performance.now()
  #last = this.#begin
  #seen = 0

  constructor(
    private readonly setup: Setup,
    private readonly entries: readonly Entry[],
  ) {}

  /** @returns nothing while a process is not there to be asked */
  async take(): Promise<Sample | undefined> {
    const found = await Promise.all(this.setup.processes.map((one) => one.figures()))
    const all = found.filter((figures): figures is Figures => figures !== undefined)
    if (all.length < found.length) return undefined
    const sum = (name: keyof Figures) => all.reduce((total, figures) => total + figures[name], 0)
    const sample = {
      rss: sum('rss') / MEGABYTE,
      heap: sum('heap') / MEGABYTE,
      external: sum('external') / MEGABYTE,
      handles: sum('handles'),
      files: sum('files'),
      sockets: sum('sockets'),
      timers: sum('timers'),
      loopMs: Math.max(...all.map(({ loopMs }) => loopMs)),
      ...this.#answers(),
      ...(await storeFigures(this.setup)),
    }
    this.samples.push(sample)
    return sample
  }

  #answers() {
    const now = performance.now()
    const entries = this.entries.slice(this.#seen)
    this.#seen = this.entries.length
    const times = entries.filter(({ slowest }) => slowest > 0).map(({ slowest }) => slowest)
    times.sort((a, b) => a - b)
    const at = (part: number) => times[Math.floor(times.length * part)] ?? 0
    const pages = entries.filter(({ view }) => view !== undefined)
    const asked = entries.reduce((total, entry) => total + entry.asked, 0)
    const perSecond = asked / ((now - this.#last) / 1000)
    this.#last = now
    const degraded = (100 * pages.filter((entry) => entry.degraded !== undefined).length) / Math.max(1, pages.length)
    return { seconds: (now - this.#begin) / 1000, perSecond, p50: at(0.5), p99: at(0.99), degraded }
  }
}

async function storeFigures({ store: { servers } }: Setup) {
  const bytes = Number(/used_memory:(\d+)/.exec((await servers[0]?.info('memory')) ?? '')?.[1] ?? 0)
  return { storeMegabytes: bytes / MEGABYTE, storeKeys: (await servers[0]?.dbsize()) ?? 0 }
}

/** Column heads, and how a sample is printed below them. */
const columns: readonly (readonly [head: string, of: (sample: Sample) => number, digits: number])[] = [
  ['s', ({ seconds }) => seconds, 0],
  ['req/s', ({ perSecond }) => perSecond, 0],
  ['p50 ms', ({ p50 }) => p50, 1],
  ['p99 ms', ({ p99 }) => p99, 0],
  ['degraded %', ({ degraded }) => degraded, 0],
  ['RSS MB', ({ rss }) => rss, 1],
  ['heap MB', ({ heap }) => heap, 1],
  ['external MB', ({ external }) => external, 1],
  ['handles', ({ handles }) => handles, 0],
  ['files', ({ files }) => files, 0],
  ['sockets', ({ sockets }) => sockets, 0],
  ['timers', ({ timers }) => timers, 0],
  ['loop ms', ({ loopMs }) => loopMs, 0],
  ['Redis MB', ({ storeMegabytes }) => storeMegabytes, 1],
  ['Redis keys', ({ storeKeys }) => storeKeys, 0],
]

export const tableHead = (): string =>
  `| ${columns.map(([head]) => head).join(' | ')} |\n| ${columns.map(() => '---:').join(' | ')} |`

export const tableLine = (sample: Sample): string =>
  `| ${columns.map(([, of, digits]) => of(sample).toFixed(digits)).join(' | ')} |`
