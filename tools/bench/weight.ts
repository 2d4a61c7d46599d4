import { execFileSync } from 'node:child_process'
import path from 'node:path'
import { number, spread, table } from '../figures'
import { dist } from './machine'
import type { Options } from './options'

/* How long it takes to load the package and what it stands on, and how much memory that takes. */

const home = path.join(__dirname, '../..')

/** Each is loaded in a process of its own, after express, which a site has anyway. */
const loads: Readonly<Record<string, readonly string[]>> = {
  'this package': [dist],
  'all that it requires, without its own code': [
    ...['connect-redis', 'debug', 'express-session', 'ioredis', 'jsonwebtoken', 'on-headers'],
    'zod',
  ],
  '*plain*: express-session, connect-redis, ioredis': ['express-session', 'connect-redis', 'ioredis'],
  zod: ['zod'],
  ioredis: ['ioredis'],
  'nothing: the control': [],
}

/** What it took to load something. */
interface Loaded {
  readonly ms: number
  readonly files: number
  /** Bytes more that are resident, and alive. */
  readonly rss: number
  readonly heap: number
}

/** One process after another; the least time is what the machine can do. */
export async function weight({ quick }: Options): Promise<void> {
  const processes = quick ? 2 : 25
  const names = Object.keys(loads)
  const runs = Array.from({ length: processes }, () => names.map((name) => load(loads[name] ?? [])))
  const rows = names.map((name, n) => {
    const of = (figure: keyof Loaded) => runs.map((run) => run[n]?.[figure] ?? Number.NaN)
    const mebibytes = (figure: 'rss' | 'heap') => number(spread(of(figure)).median / 2 ** 20, 1)
    return {
      'loaded after express': name,
      'ms, least': number(Math.min(...of('ms'))),
      'ms, median': number(spread(of('ms')).median),
      files: number(spread(of('files')).median),
      'MiB resident': mebibytes('rss'),
      'MiB alive': mebibytes('heap'),
    }
  })
  console.log(table(rows))
}

function load(modules: readonly string[]): Loaded {
  const program = `require('express')
    const look = () => (global.gc(), global.gc(), process.memoryUsage())
    const files = () => Object.keys(require.cache).length
    const [before, filesBefore, begin] = [look(), files(), performance.now()]
    for (const name of ${JSON.stringify(modules)}) require(name)
    const [ms, after] = [performance.now() - begin, look()]
    const [rss, heap] = [after.rss - before.rss, after.heapUsed - before.heapUsed]
    console.log(JSON.stringify({ ms, files: files() - filesBefore, rss, heap }))`
  return JSON.parse(execFileSync(process.execPath, ['--expose-gc', '-e', program], { cwd: home, encoding: 'utf8' }))
}
