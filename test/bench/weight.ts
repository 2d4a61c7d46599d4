import { execFileSync } from 'node:child_process'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { number, spread, table } from '../support/figures'
import { dist, USUAL_FLAGS, type Usage } from './machine'
import { type Options, readOptions } from './options'
import { logIn } from './readers'
import { loadOf, measure, type Row, wantedRows } from './rows'
import { openSetup, type Setup } from './setup'

/*
 * What a process of a site weighs: how long it takes to load the package and what it stands on, and where its memory is after
 * many requests. Usage and how to read it: README.md of this folder.
 */

/** V8 gives memory back a while after the last request, in milliseconds. */
const REST_MS = 5000

/** V8 with a young generation that cannot grow, to tell what it takes from what is kept. */
const SMALL_YOUNG = '--max-semi-space-size=1'

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

/** The program. */
export async function main(args: readonly string[]): Promise<void> {
  const options = readOptions(args)
  const wants = (part: string) => options.only === undefined || options.only.includes(part)
  if (wants('loading')) console.log(`${loading(options.quick ? 2 : 25)}\n`)
  if (wants('memory')) await memory(options)
}

/** One process after another; the least time is what the machine can do. */
function loading(processes: number): string {
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
  return table(rows)
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

async function memory({ only, quick, requests }: Options): Promise<void> {
  const readers = quick ? 50 : 1000
  const setup = await openSetup(readers)
  const names = only?.filter((name) => name !== 'memory') ?? []
  const rows = wantedRows(names.length > 0 ? names : ['bare', 'page'], false)
  const looks = [0.01, 0.1, 1].map((part) => Math.round(requests * part))
  try {
    const found: Record<string, string>[] = []
    for (const row of rows.filter(({ name }) => name !== measure || names.includes(name)))
      for (const flags of [[], [SMALL_YOUNG]]) {
        const cookies = await logIn(setup, row.readers, readers)
        const usages = await look(setup, row, cookies, flags.length === 0 ? looks : looks.slice(0, 2), flags)
        for (const [n, usage] of usages.entries())
          found.push({ row: row.title, flags: flags.join(' '), requests: number(looks[n] ?? 0), ...shown(usage) })
      }
    console.log(table(found))
  } finally {
    await setup.close()
  }
}

function shown({ rss, heap, young, old, external }: Usage): Record<string, string> {
  const mebibytes = (bytes: number) => number(bytes / 2 ** 20, 1)
  return {
    'MiB resident': mebibytes(rss),
    'young generation': mebibytes(young),
    'old generation': mebibytes(old),
    'of both, alive': mebibytes(heap),
    'buffers outside': mebibytes(external),
    'code, stacks and what malloc keeps': mebibytes(rss - young - old - external),
  }
}

/** Memory at rest after so many requests each, of a server of its own that nothing else has been asked of. */
export async function look(
  setup: Setup,
  row: Row,
  cookies: readonly string[],
  looks: readonly number[],
  flags: readonly string[] = [],
): Promise<Usage[]> {
  const usages: Usage[] = []
  const server = await setup.start(row.kind, { page: row.page, dist: row.dist }, [...USUAL_FLAGS, ...flags])
  let done = 0
  for (const requests of looks) {
    const load = loadOf(row, server.port, cookies)
    await load.open(32)
    await load.run(requests - done)
    load.close()
    done = requests
    await sleep(REST_MS)
    usages.push(await server.usageAtRest())
  }
  await server.stop()
  return usages
}
